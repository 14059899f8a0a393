// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Run a round's loops in all workers at once, while the watch thread minds clock and socket. */
#include <poll.h>

#include "measure/conditions.h"
#include "measure/load.h"
#include "measure/loss.h"
#include "measure/results.h"
#include "measure/together.h"
#include "verbs/vfault.h"

#define ASYNC_EVENT_MS 50

/* The loop of the program that fits its memory: with immediate data, or without. NULL: none. */
static round_loop *loop_of(const struct measurement *meas, bool follower)
{
	const struct test *t = meas->ms->test;

	if (follower && t->follows && !t->follows(meas->attr.kind))
		return NULL;
	if (meas->ms->ep->immediate)
		return follower ? t->follow_immediate : t->lead_immediate;
	return follower ? t->follow : t->lead;
}

/*
 * The time of all threads' round trips during the last INTERVAL_NS, in ns. *BEFORE is their sum in
 * ticks up to then, and is updated. 0: unknown, since none is complete, or the leader pauses
 * between them.
 */
static uint64_t trips_ns(const struct measurement *meas, uint64_t interval_ns, uint64_t *before)
{
	const struct measure *ms = meas->ms;
	uint64_t ticks = 0, since;

	for (unsigned i = 0; i < ms->ep->workers; i++)
		ticks +=
			atomic_load_explicit(&ms->ep->control[i].trips_ticks, memory_order_relaxed);
	since = ticks - *before;
	*before = ticks;
	if (ticks)
		return (uint64_t)clock_ticks_to_ns(ms->clock, (double)since);
	return (ms->meter[0].round.gap_ns || ms->meter[0].round.paced) && meas->answered
		       ? 0
		       : interval_ns * ms->ep->workers;
}

/* The time left of -D; without -D, the time for the remaining messages at the rate so far. */
static uint64_t remaining_ns(const struct measurement *meas, uint64_t elapsed_ns)
{
	const struct measure *ms = meas->ms;
	uint64_t done = 0;

	if (meas->attr.duration_ns)
		return meas->attr.duration_ns > elapsed_ns ? meas->attr.duration_ns - elapsed_ns
							   : 0;
	for (unsigned i = 0; i < ms->ep->workers; i++)
		done += atomic_load_explicit(&ms->ep->control[i].progress, memory_order_relaxed);
	if (!done || done >= meas->messages_expected)
		return 0;
	return (uint64_t)((double)elapsed_ns / (double)done *
			  (double)(meas->messages_expected - done));
}

/* Called by the watch: report the live line, or the interval that W describes. */
static void on_progress(void *arg, const struct watch_span *w)
{
	struct measurement *meas = arg;
	struct measure *ms = meas->ms;
	struct progress p = {
		.message_bytes = meas->attr.message_bytes,
		.elapsed_ns = w->elapsed_ns,
		.interval_ns = w->interval_ns,
		.messages = w->messages,
		.trips_ns = trips_ns(meas, w->interval_ns, &meas->trips[w->live]),
		.partial = w->partial,
		.run = meas->attr.run,
	};

	if (w->live) {
		ms->audience.progress(ms->report, &p, remaining_ns(meas, w->elapsed_ns));
		return;
	}
	if (!w->partial)
		worst_note(&meas->worst, w->interval_ns, w->messages,
			   operation_latency_us(&ms->test->operation, (double)p.trips_ns));
	ms->audience.interval(ms->report, &p);
}

/* A watch for this round. PASSIVE: no loop runs at this end, so it makes no progress. */
static struct watch new_watch(struct measurement *meas, bool leads, bool follows)
{
	struct measure *ms = meas->ms;
	bool passive = !leads && !loop_of(meas, true);
	bool shown = !meas->attr.warmup && !meas->attr.kind && !passive;
	bool endless = meas->attr.target == ROUND_ENDLESS;
	struct watch w = {
		.oob = &ms->link->oob,
		.stop = ms->link->stop,
		.control = ms->ep->control,
		.controls = ms->ep->workers,
		.loads = ms->ep->loads,
		.devices = ms->ep->rails,
		.leader = leads,
		.follower = follows,
		.endless = endless && !meas->attr.duration_ns,
		.before = ms->history.messages,
		.passive = passive,
		.rules = {.live = ms->audience.live && shown,
			  .timeout_ns = ms->link->timeout_ns,
			  .peer_timeout_ns = ms->link->peer_timeout_ns,
			  .duration_ns = leads && endless ? meas->attr.duration_ns : 0,
			  .interval_ns = shown ? ms->options->output.interval_ns : 0,
			  .expected_ns = endless ? meas->attr.duration_ns : 0,
			  .quiet_ns =
				  transport_quiet_ns(experiment_transport(&ms->options->experiment),
						     meas->attr.message_bytes)},
		.hooks = {.on_progress = on_progress, .arg = meas},
	};

	for (unsigned i = 0; i < ms->ep->rails; i++)
		w.device[i] = &ms->ep->rail[i].hca;
	meas->messages_expected =
		endless ? 0 : meas->attr.target * ms->options->experiment.qps * ms->ep->workers;
	return w;
}

/* Run the loop of worker T, and account its CPU time. If it fails, abort all other workers. */
static int run_loop(const struct measurement *meas, struct meter *t, bool follower)
{
	int rc;

	account_start(&t->account);
	rc = loop_of(meas, follower)(&t->round);
	account_stop(&t->account);
	return rc ? endpoint_abort(meas->ms->ep) : 0;
}

/*
 * A worker of the leader: it sends the load, or runs the leading loop after the load has started.
 */
static int lead_job(void *arg, unsigned i)
{
	struct measurement *meas = arg;
	struct endpoint *ep = meas->ms->ep;
	struct meter *t = &meas->ms->meter[i];
	int rc;

	pool_meet(&ep->pool);
	if (t->worker->is_load)
		return load_run(t) ? endpoint_abort(ep) : 0;
	load_await(t);
	rc = run_loop(meas, t, false);
	load_leave(meas);
	return rc;
}

static int follow_job(void *arg, unsigned i)
{
	struct measurement *meas = arg;
	struct meter *t = &meas->ms->meter[i];

	pool_meet(&meas->ms->ep->pool);
	/* The load is RDMA writes: the end that they reach has nothing to do. */
	return t->worker->is_load ? 0 : run_loop(meas, t, true);
}

/* Both directions: send all messages and receive meanwhile, then receive the rest. */
static int both_job(void *arg, unsigned i)
{
	struct measurement *meas = arg;
	struct endpoint *ep = meas->ms->ep;
	struct meter *t = &meas->ms->meter[i];
	round_loop *then = t->worker->qps.rx_depth ? loop_of(meas, true) : NULL;

	pool_meet(&ep->pool);
	if (run_loop(meas, t, false))
		return -1;
	if (atomic_fetch_sub(&meas->sending, 1) == 1)
		watch_sent(meas->watch);
	return then && then(&t->arrivals) ? endpoint_abort(ep) : 0;
}

/* A device's async event may come just after the failed completions that it explains: await it. */
static void await_async_event(struct watch *w)
{
	for (unsigned i = 0; i < w->devices && !w->device_failed; i++) {
		const struct hca *h = w->device[i];
		struct pollfd p = {.fd = h->ctx->async_fd, .events = POLLIN};

		while (!w->device_failed && poll(&p, 1, ASYNC_EVENT_MS) > 0)
			w->device_failed = vfault_async_event(&w->fault, h->ctx, h->info.port) != 0;
	}
}

/*
 * Loops and watch have ended. If both failed, keep the fault that is the cause: an async event of
 * the device, or an error message of the peer, explains a failed completion here.
 */
static void find_cause(struct measure *ms, struct watch *w)
{
	ms->link->interrupted |= w->interrupted;
	ms->link->limit_ns = w->limit_ns;
	endpoint_fetch_fault(ms->ep);
	if (fault_is(ms->fault) && !fault_is(&w->fault))
		await_async_event(w);
	/* A failed call has an errno; a failed completion (none) may be due to the peer. */
	if (fault_is(ms->fault) && !fault_is(&w->fault) && !ms->fault->errnum)
		link_await_peer_error(ms->link, &w->fault);
	if (fault_is(&w->fault) &&
	    (!fault_is(ms->fault) || w->fault.code == FAULT_PEER || w->device_failed))
		*ms->fault = w->fault;
}

/* The loops have sent all their messages: stop recording CPU use and conditions. */
static void stop_recording(struct measurement *meas)
{
	usage_stop(&meas->usage);
	conditions_stop(meas);
}

/* Run JOB in all threads while W watches. Returns -1 if the watch could not start. */
static int run_jobs(struct measurement *meas, struct watch *w, pool_job *job)
{
	struct measure *ms = meas->ms;
	bool passive = w->passive, ran;

	usage_start(&meas->usage);
	if (watch_start(w, &ms->link->watcher, ms->fault))
		return -1;
	ran = passive || pool_run(&ms->ep->pool, job, meas) == 0;
	if (!w->follower)
		stop_recording(meas); /* before the peer can delay this end */
	if (ran && w->follower)
		watch_join(w);
	else
		watch_stop(w);
	find_cause(ms, w);
	meas->stuck = w->stuck;
	meas->device_failed = w->device_failed;
	return 0;
}

/* The end whose loops decide when the round is over: run them, then exchange the results. */
static int pass_lead(struct measurement *meas)
{
	struct measure *ms = meas->ms;
	struct watch w = new_watch(meas, true, false);
	json_t *done = NULL;
	int rc = -1;

	if (run_jobs(meas, &w, lead_job))
		return -1;
	results_measure(meas);
	results_blame_clock(meas);
	results_set_usage(meas, meas->mine.messages);
	if (fault_is(ms->fault)) {
		meas->mine.interrupted = 1;
		return -1;
	}
	fault_phase(ms->fault, "exchanging the results");
	if (link_send(ms->link, results_message(meas)) == 0 &&
	    link_expect(ms->link, "done", &done) == 0)
		rc = results_read(meas, done) || loss_read(meas, done) ? -1 : 0;
	json_decref(done);
	return rc;
}

/*
 * Follower: read the results in the leader's "done", and answer with this end's. The records that
 * are sent count arrivals only; the losses in the leader's records are set after that.
 */
static int answer_done(struct measurement *meas, const json_t *done)
{
	struct measure *ms = meas->ms;

	if (fault_is(ms->fault))
		return -1;
	fault_phase(ms->fault, "exchanging the results");
	if (results_read(meas, done))
		return -1;
	loss_cap_rate(meas);
	results_set_usage(meas, meas->theirs.messages);
	if (link_send(ms->link, results_message(meas)))
		return -1;
	loss_set_in_peer_records(meas);
	ms->link->interrupted |= meas->theirs.interrupted != 0;
	return 0;
}

/* The end that follows: run the loops until the leader's "done", then exchange the results. */
static int pass_follow(struct measurement *meas)
{
	struct watch w = new_watch(meas, false, true);
	int rc;

	meas->answered = !w.passive;
	if (run_jobs(meas, &w, follow_job))
		return -1;
	stop_recording(meas);
	loss_count(meas, w.done);
	results_measure(meas);
	results_blame_clock(meas);
	meas->measured &= !meas->ms->test->latency; /* the follower has no clock of its own */
	rc = answer_done(meas, w.done);
	json_decref(w.done);
	meas->mine.interrupted |= rc != 0;
	return rc;
}

/* Called by the watch when all workers have sent all messages: the "done" for the peer. */
static json_t *on_sent(void *arg)
{
	struct measurement *meas = arg;

	stop_recording(meas);
	results_measure(meas);
	results_set_usage(meas, meas->mine.messages);
	return results_message(meas);
}

/*
 * Bidirectional round, after the last arrival: send "over" with the losses counted here (none on
 * RC), and wait for the peer's, unless the watch has received it.
 */
static int exchange_over(struct measurement *meas, struct watch *w)
{
	struct link *l = meas->ms->link;
	json_t *m = message_new("over");
	int rc;

	loss_count(meas, w->done);
	loss_describe(meas->ms, m);
	if (link_send(l, m) || (!w->over && link_expect(l, "over", &w->over)))
		return -1;
	rc = loss_read(meas, w->over);
	loss_set_in_peer_records(meas);
	return rc;
}

/*
 * A bidirectional round: each end is leader and follower. The server sends its "over" first; the
 * client waits for it.
 */
static int pass_both(struct measurement *meas)
{
	struct measure *ms = meas->ms;
	struct watch w = new_watch(meas, true, true);
	int rc = -1;

	w.hooks.on_sent = on_sent;
	w.begin_ns = together_begins_ns(meas);
	w.await_over = !ms->ep->server;
	meas->watch = &w;
	atomic_store(&meas->sending, ms->ep->workers);
	if (run_jobs(meas, &w, both_job))
		return -1;
	if (!meas->measured) /* cut off */
		results_measure(meas);
	results_blame_clock(meas);
	meas->mine.interrupted = ms->link->interrupted;
	fault_phase(ms->fault, "exchanging the results");
	if (!fault_is(ms->fault))
		rc = results_read(meas, w.done) || together_read(meas, w.done) ||
				     exchange_over(meas, &w)
			     ? -1
			     : 0;
	if (rc == 0 && !meas->attr.warmup)
		together_measure(meas);
	json_decref(w.done);
	json_decref(w.over);
	ms->link->interrupted |= meas->theirs.interrupted != 0;
	meas->mine.interrupted |= rc != 0;
	return rc;
}

int pass_run(struct measurement *meas)
{
	int rc = meas->attr.both                              ? pass_both(meas)
		 : meas->attr.reverse == meas->ms->ep->server ? pass_lead(meas)
							      : pass_follow(meas);

	history_round(meas);
	return rc;
}
