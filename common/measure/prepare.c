// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Set all that the loops of a round read, before their clocks start. */
#include <string.h>

#include "base/hist.h"
#include "base/units.h"
#include "endpoint/worker.h"
#include "measure/meter.h"
#include "measure/results.h"
#include "plan/test.h"
#include "verbs/transport.h"

#define STAMP_BYTES      4
#define PAGE_BYTES       4096 /* with --align, all messages have the same offset in their page */
#define SURELY_SENT_ONCE 0.99 /* of the time after which the watch has a message sent again */

/* A loop sees a write arrive by its last bytes, before END: clear those of an earlier round. */
static void clear_stamp(uint64_t end)
{
	memset((uint8_t *)(uintptr_t)end - STAMP_BYTES, 0, STAMP_BYTES);
}

struct plan_round round_plan(const struct meter *t, uint64_t message_bytes, bool timed)
{
	const struct plan_attr attr = {
		.size = message_bytes,
		.workers = t->ep->workers,
		.cqe = t->worker->qps.send.cqe,
		.latency = t->ep->test->latency,
		.timed = timed,
	};

	return plan_round(&t->ep->options->experiment, &attr);
}

/* Refuse a PLAN with a rate so low that the peer's --timeout would expire between two messages. */
static int check_pace(const struct plan_round *plan, const struct link *l, bool latency)
{
	uint64_t patience_ns =
		l->timeout_ns < l->peer_timeout_ns ? l->timeout_ns : l->peer_timeout_ns;
	double ns = plan->burst / plan->messages_per_s * 1e9;

	if (!(plan->messages_per_s > 0) || ns < (double)patience_ns / 2)
		return 0;
	fault_raise(l->fault, FAULT_USAGE, 0, "%s is too low: one %s in %s, with a --timeout of %s",
		    latency ? "--latency_rate" : "--rate_limit",
		    latency ? "message per thread" : "post", units_ns((uint64_t)ns).text,
		    units_ns(patience_ns).text);
	return fault_fix(l->fault,
			 "use a higher rate, or a --timeout of twice that time on both ends");
}

/*
 * With both directions: while a lone message is timed, no receive is posted again, so datagrams
 * would be lost, and two ends that both run out of receives would wait for each other.
 */
static bool can_stand_alone(const struct endpoint *ep)
{
	const struct experiment *e = &ep->options->experiment;

	return !experiment_loses(e) &&
	       (!endpoint_receives(ep) || (!e->use_srq && e->rx_depth >= ALONE_MOST + e->tx_depth));
}

/* A ping-pong of WRITEs finds no message of an earlier round in its memory. */
static void clear_stamps(const struct meter *t)
{
	const struct round *r = &t->round;
	const struct test *test = t->ep->test;

	if (!test->latency || !operation_writes(&test->operation) || !t->worker->mem.memory.host)
		return;
	clear_stamp(r->memory.from.addr + r->size_bytes);
	clear_stamp(r->memory.into.addr + r->size_bytes);
}

/* Fill T's round for its loop. */
static void prepare_worker(struct meter *t, struct measurement *meas)
{
	const struct endpoint *ep = t->ep;
	const struct experiment *e = &ep->options->experiment;
	const struct round_attr *attr = &meas->attr;
	const struct transport *over = t->worker->qps.transport;
	uint64_t bytes = attr->message_bytes;
	bool timed = round_is_timed(attr);
	const struct plan_round plan = round_plan(t, bytes, timed);
	struct round *r = &t->round;

	*r = (struct round){
		.qps = &t->worker->qps,
		.size_bytes = bytes,
		.opcode = operation_opcode(&ep->test->operation, e, ep->immediate),
		.legs = ep->test->operation.halved ? 2 : 1,
		.post_list = (unsigned)e->post_list,
		.cq_mod = plan.cq_mod,
		.send_inline = bytes <= t->worker->qps.inline_bytes,
		.unreliable = !over->reliable,
		.quiet_ticks = (uint64_t)((double)transport_quiet_ns(over, bytes) *
					  SURELY_SENT_ONCE / ep->clock->ns_per_tick),
		.no_peak = ep->options->output.no_peak || !timed || !t->peak.mark,
		.memory = worker_buffers(t->worker),
		.receives = t->worker->qps.rx_depth ? &t->worker->receives : NULL,
		.clock = ep->clock,
		.control = t->worker->control,
		.fault = &t->worker->fault,
		.gap_ns = plan.gap_ns,
		.kind = attr->kind,
		.own = meas->ms->own,
		.account = &t->account,
		.result = {.hist = t->hist,
			   .peak = &t->peak,
			   .samples = attr->warmup ? NULL : t->samples},
	};
	r->memory.walk_bytes = e->footprint_bytes;
	r->memory.unit_bytes = e->align_bytes ? PAGE_BYTES : 0;
	t->lost = 0;
	t->account = (struct account){.cpu = -1};
	t->arrivals = *r;
	r->extended = worker_is_extended(t->worker);
	r->arrivals = attr->both ? &t->arrivals : NULL;
	if (plan.messages_per_s > 0) {
		paced_init(&t->paced, plan.messages_per_s, plan.burst,
			   ep->test->latency ? 1 : r->post_list, r->clock);
		r->paced = &t->paced;
	}
	if (attr->warmup && !attr->kind && (!attr->both || can_stand_alone(ep))) {
		r->alone = &meas->ms->alone;
		r->alone_first = t->worker->index == 0;
	}
	if (t->hist)
		hist_reset(t->hist);
	clear_stamps(t);
}

/* C for a loop that ends after TARGET messages of each QP, and awaits EXPECTED of all. */
static void prepare_control(struct round_control *c, uint64_t target, uint64_t expected)
{
	atomic_store(&c->target, target);
	atomic_store(&c->expected, expected);
	atomic_store(&c->abort, false);
	atomic_store(&c->resend, false);
	c->seen = 0;
	atomic_store(&c->progress, 0);
	atomic_store(&c->trips_ticks, 0);
}

/* Nothing is known of MEAS yet, and nothing of the round before it counts. */
static void clear_results(struct measurement *meas)
{
	struct measure *ms = meas->ms;

	memset(ms->records, 0, 2 * ms->ep->workers * sizeof(*ms->records));
	meas->mine.workers = ms->records;
	meas->theirs.workers = ms->records + ms->ep->workers;
	meas->mine.record.quality = meas->theirs.record.quality = quality_unknown();
	meas->evidence[RESULT_CLIENT] = meas->evidence[RESULT_SERVER] = evidence_unknown();
	if (meas->attr.warmup)
		ms->alone = (struct alone){0};
}

int round_prepare(struct measurement *meas)
{
	struct measure *ms = meas->ms;
	uint64_t target = meas->attr.target ? meas->attr.target : ROUND_ENDLESS;
	const struct plan_round plan =
		round_plan(ms->meter, meas->attr.message_bytes, round_is_timed(&meas->attr));
	/*
	 * If the transport may lose messages, the answering end cannot know which answer is the
	 * last one: it answers until the watch stops it.
	 */
	bool open = target == ROUND_ENDLESS ||
		    (ms->test->latency && experiment_loses(&ms->options->experiment));

	if (!ms->ep->server && check_pace(&plan, ms->link, ms->test->latency))
		return -1;
	clock_calibrate(ms->clock); /* the schedule is in ticks */
	clear_results(meas);
	for (unsigned i = 0; i < ms->ep->workers; i++) {
		struct meter *t = &ms->meter[i];

		prepare_worker(t, meas);
		fault_phase(&t->worker->fault, ms->fault->phase);
		prepare_control(t->worker->control, target,
				open ? ROUND_ENDLESS : target * t->worker->qps.count);
	}
	return 0;
}
