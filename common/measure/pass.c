// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Run a round's loops in all workers at once, while the watch thread minds clock and socket. */
#include <poll.h>

#include "base/phase.h"
#include "endpoint/rail.h"
#include "endpoint/worker.h"
#include "measure/meter.h"
#include "measure/results.h"
#include "measure/together.h"
#include "plan/test.h"
#include "verbs/transport.h"

#define ASYNC_EVENT_MS 50

/*
 * The loop of the program for rounds of KIND that fits its memory: with immediate data, or without.
 * NULL: none.
 */
static round_loop *loop_of(const struct endpoint *ep, unsigned kind, bool follower)
{
	const struct test *t = ep->test;

	if (follower && kind != t->kinds)
		return NULL;
	if (ep->immediate)
		return follower ? t->follow_immediate : t->lead_immediate;
	return follower ? t->follow : t->lead;
}

/*
 * The time of all threads' round trips during the last INTERVAL_NS, in ns. *BEFORE is their sum in
 * ticks up to then, and is updated. 0: unknown, since none is complete, or the leader, the other
 * end if this one ANSWERS, pauses between them.
 */
static uint64_t trips_ns(const struct meter *all, bool answers, uint64_t interval_ns,
			 uint64_t *before)
{
	const struct endpoint *ep = all->ep;
	uint64_t ticks = 0, since;

	for (unsigned i = 0; i < ep->workers; i++)
		ticks += atomic_load_explicit(&ep->control[i].trips_ticks, memory_order_relaxed);
	since = ticks - *before;
	*before = ticks;
	if (ticks)
		return (uint64_t)clock_ticks_to_ns(ep->clock, (double)since);
	return answers && (all->round.gap_ns || all->round.paced) ? 0 : interval_ns * ep->workers;
}

/* The time left of -D; without -D, the time for the rest of so many MESSAGES at the rate so far. */
static uint64_t remaining_ns(const struct endpoint *ep, uint64_t duration_ns, uint64_t messages,
			     uint64_t elapsed_ns)
{
	uint64_t done = endpoint_progress(ep);

	if (duration_ns)
		return duration_ns > elapsed_ns ? duration_ns - elapsed_ns : 0;
	if (!done || done >= messages)
		return 0;
	return (uint64_t)((double)elapsed_ns / (double)done * (double)(messages - done));
}

/* Called by the watch: report the LIVE line, or the interval that P describes. */
static void on_progress(void *arg, struct progress *p, bool live)
{
	struct measurement *meas = arg;
	struct measure *ms = meas->ms;
	uint64_t copies = experiment_copies(&ms->options->experiment);

	p->message_bytes = meas->attr.message_bytes;
	p->run = meas->attr.run;
	if (meas->answered) /* every QP of a group has received them */
		p->messages /= copies;
	p->trips_ns = trips_ns(ms->meter, meas->answered, p->interval_ns, &meas->trips[live]);
	if (live) {
		ms->audience.progress(
			ms->report, p,
			remaining_ns(ms->ep, meas->attr.duration_ns,
				     meas->messages_expected / (meas->answered ? 1 : copies),
				     p->elapsed_ns));
		return;
	}
	if (!p->partial)
		worst_note(&meas->worst, p->interval_ns, p->messages,
			   operation_latency_us(&ms->test->operation, (double)p->trips_ns));
	ms->audience.interval(ms->report, p);
}

/* The loops have sent, or have received, all their messages: stop recording CPU use and conditions. */
static void stop_recording(struct measurement *meas)
{
	usage_stop(&meas->usage);
	conditions_stop(meas);
}

/* Called by the watch when all workers have sent all messages, and may receive: "done". */
static json_t *on_sent(void *arg)
{
	struct measurement *meas = arg;

	stop_recording(meas);
	results_measure(meas);
	return results_message(meas, "done");
}

/* A watch for this round. PASSIVE: no loop runs at this end, so it makes no progress. */
static struct watch new_watch(struct measurement *meas, bool leads, bool follows)
{
	struct measure *ms = meas->ms;
	const struct round_attr *attr = &meas->attr;
	bool passive = !leads && !loop_of(ms->ep, attr->kind, true);
	bool shown = round_is_timed(attr) && !passive;

	meas->messages_expected = attr->target * ms->options->experiment.qps * ms->ep->workers;
	return (struct watch){
		.oob = &ms->link->oob,
		.stop = ms->link->stop,
		.ep = ms->ep,
		.leader = leads,
		.follower = follows,
		.endless = !attr->target && !attr->duration_ns,
		.before = ms->history.messages,
		.passive = passive,
		.rules = {.live = ms->audience.live && shown,
			  .timeout_ns = ms->link->timeout_ns,
			  .peer_timeout_ns = ms->link->peer_timeout_ns,
			  .duration_ns = leads ? attr->duration_ns : 0,
			  .interval_ns = shown ? ms->options->output.interval_ns : 0,
			  .expected_ns = attr->duration_ns,
			  .quiet_ns = transport_quiet_ns(experiment_transport(&ms->options->experiment),
							 attr->message_bytes)},
		.await_over = attr->both && !ms->ep->server,
		.on_progress = on_progress,
		.on_sent = on_sent,
		.arg = meas,
	};
}

/* Run LOOP of worker T, and account its CPU time, and what it slept for others. */
static int run_loop(struct meter *t, round_loop *loop)
{
	int rc;

	account_start(&t->account);
	rc = loop(&t->round);
	account_stop(&t->account);
	t->account.cpu_s += (double)t->turns.slept_ns / 1e9;
	return rc;
}

/* A worker's loops: it leads, follows, or sends all messages and receives meanwhile, then the rest. */
static int run_loops_of(struct measurement *meas, struct meter *t)
{
	struct watch *w = meas->watch;
	round_loop *follow = loop_of(t->ep, meas->attr.kind, true);

	if (!w->leader)
		return run_loop(t, follow);
	if (run_loop(t, loop_of(t->ep, meas->attr.kind, false)))
		return -1;
	if (!w->follower)
		return 0;
	if (atomic_fetch_sub(&meas->sending, 1) == 1)
		watch_sent(w);
	return follow && t->worker->qps.rx_depth ? follow(&t->arrivals) : 0;
}

/* All workers begin together. If one fails, abort all others. */
static int run_part(void *arg, unsigned i)
{
	struct measurement *meas = arg;
	struct meter *t = &meas->ms->meter[i];
	int rc;

	pool_meet(&t->ep->pool);
	rc = meter_turns(t) ? -1 : run_loops_of(meas, t);
	turns_end(&t->turns);
	return rc ? endpoint_abort(t->ep) : 0;
}

/* A device's async event may come just after the failed completions that it explains: await it. */
static void await_async_event(struct watch *w)
{
	for (unsigned i = 0; i < w->ep->rails && !w->device_failed; i++) {
		const struct hca *h = &w->ep->rail[i].hca;
		struct pollfd p = {.fd = h->ctx->async_fd, .events = POLLIN};

		while (!w->device_failed && poll(&p, 1, ASYNC_EVENT_MS) > 0)
			watch_read_event(w, h);
	}
}

/*
 * Loops and watch have ended. If both failed, keep the fault that is the cause: an async event of
 * the device, or an error message of the peer, explains a failed completion here.
 */
static void find_cause(struct endpoint *ep, struct link *l, struct watch *w)
{
	struct fault *f = l->fault;

	l->interrupted |= w->interrupted;
	l->limit_ns = w->limit_ns;
	endpoint_fetch_fault(ep);
	if (fault_is(f) && !fault_is(&w->fault))
		await_async_event(w);
	/* A failed call has an errno; a failed completion (none) may be due to the peer. */
	if (fault_is(f) && !fault_is(&w->fault) && !f->errnum)
		link_await_peer_error(l, &w->fault);
	if (fault_is(&w->fault) &&
	    (!fault_is(f) || w->fault.code == FAULT_PEER || w->device_failed))
		*f = w->fault;
}

/* Run the loops in all threads while the watch watches. Returns -1 if it could not start. */
static int run_parts(struct measurement *meas)
{
	struct measure *ms = meas->ms;
	struct watch *w = meas->watch;
	bool passive = w->passive, ran;

	usage_start(&meas->usage);
	if (watch_start(w, &ms->link->watcher, ms->fault))
		return -1;
	ran = passive || pool_run(&ms->ep->pool, run_part, meas) == 0;
	if (!w->follower)
		stop_recording(meas); /* before the peer can delay this end */
	if (ran && w->follower)
		watch_join(w);
	else
		watch_stop(w);
	find_cause(ms->ep, ms->link, w);
	return 0;
}

/* The loops are over: compute what this end has found, of a follower with what the leader says. */
static int find_results(struct measurement *meas)
{
	struct measure *ms = meas->ms;
	const struct watch *w = meas->watch;
	struct record *mine = &meas->mine.record;
	bool known = meas->attr.both && meas->mine.measured; /* by on_sent() */

	if (w->follower && !known)
		stop_recording(meas);
	loss_count(ms, w->done);
	if (!known)
		results_measure(meas);
	if (fault_is(&meas->clock_fault) && !fault_is(ms->fault))
		*ms->fault = meas->clock_fault;
	mine->interrupted = ms->link->interrupted;
	if (!fault_is(ms->fault))
		fault_phase(ms->fault, PHASE_RESULTS);
	if (!fault_is(ms->fault) && w->follower)
		results_read(meas, w->done);
	results_set_usage(meas, w->leader ? mine->messages / results_copies(ms->meter)
					  : meas->theirs.record.messages);
	return fault_is(ms->fault) ? -1 : 0;
}

/*
 * Tell the peer what this end found, and read what it did. A leader's "done" has what was sent; in
 * both directions the watch has sent it. A follower's "over", when all has arrived, has all that the
 * end found; of two the server's comes first.
 */
static int exchange_results(struct measurement *meas)
{
	struct link *l = meas->ms->link;
	struct watch *w = meas->watch;

	if (!w->follower && link_send(l, results_message(meas, "done")))
		return -1;
	if (meas->attr.both)
		together_count(&meas->both, meas->ms->meter);
	if (w->follower && link_send(l, results_message(meas, "over")))
		return -1;
	if (w->leader &&
	    ((!w->over && link_expect(l, "over", &w->over)) || results_read(meas, w->over)))
		return -1;
	if (meas->attr.both && !meas->attr.warmup)
		meas->mine.record.quality.overlap_percent =
			meas->theirs.record.quality.overlap_percent = together_percent(&meas->both);
	return loss_share(meas, w->over);
}

int pass_run(struct measurement *meas)
{
	struct measure *ms = meas->ms;
	bool both = meas->attr.both, leads = both || meas->attr.reverse == ms->ep->server;
	struct watch w = new_watch(meas, leads, both || !leads);
	int rc = -1;

	if (both && together_begin(&meas->both, ms->link, ms->ep))
		return -1;
	meas->watch = &w;
	meas->answered = !leads && !w.passive;
	atomic_store(&meas->sending, ms->ep->workers);
	if (run_parts(meas) == 0 && find_results(meas) == 0)
		rc = exchange_results(meas);
	json_decref(w.done);
	json_decref(w.over);
	ms->link->interrupted |= meas->theirs.record.interrupted != 0;
	meas->mine.record.interrupted |= rc != 0;
	history_round(&ms->history, meas);
	meas->watch = NULL;
	return rc;
}
