// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Set all that the loops of a round read, before their clocks start. */
#include <string.h>

#include "base/units.h"
#include "measure/conditions.h"
#include "measure/load.h"
#include "measure/together.h"
#include "plan/transport.h"

#define STAMP_BYTES      4
#define PAGE_BYTES       4096 /* with --align, all messages have the same offset in their page */
#define SURELY_SENT_ONCE 0.99 /* of the time after which the watch has a message sent again */

/* A loop sees a write arrive by its last bytes, before END: clear those of an earlier round. */
static void clear_stamp(uint64_t end)
{
	memset((uint8_t *)(uintptr_t)end - STAMP_BYTES, 0, STAMP_BYTES);
}

/*
 * Called when a worker's work requests are built: wait for the start that both ends agreed on, and
 * account the CPU time from here on, without the building.
 */
static void stream_ready(struct round *r)
{
	struct meter *t = r->worker;

	if (t->now->attr.both)
		together_begin(t->now, t->worker->control);
	account_start(&t->account);
}

struct plan_round round_plan(const struct meter *t, uint64_t message_bytes, bool timed)
{
	const struct plan_attr attr = {
		.size = message_bytes,
		.workers = t->ms->ep->workers,
		.cqe = t->worker->qps.send.cqe,
		.latency = t->ms->test->latency,
		.timed = timed,
	};

	return plan_round(&t->ms->options->experiment, &attr);
}

static struct plan_round plan_of_round(const struct measurement *meas, const struct meter *t)
{
	return round_plan(t, meas->attr.message_bytes, !meas->attr.warmup && !meas->attr.kind);
}

/* Refuse a rate so low that the peer's --timeout would expire between two messages. */
static int check_pace(const struct measurement *meas)
{
	const struct measure *ms = meas->ms;
	const struct plan_round plan = plan_of_round(meas, &ms->meter[0]);
	uint64_t patience_ns = link_patience_ns(ms->link);
	double ns = plan.burst / plan.messages_per_s * 1e9;
	bool latency = ms->test->latency;

	if (!(plan.messages_per_s > 0) || ns < (double)patience_ns / 2)
		return 0;
	fault_raise(ms->fault, FAULT_USAGE, 0,
		    "%s is too low: one %s in %s, with a --timeout of %s",
		    latency ? "--latency_rate" : "--rate_limit",
		    latency ? "message per thread" : "post", units_ns((uint64_t)ns).text,
		    units_ns(patience_ns).text);
	return fault_fix(ms->fault,
			 "use a higher rate, or a --timeout of twice that time on both ends");
}

/* Fill T's round for its loop. */
static void prepare_worker(struct meter *t, const struct measurement *meas)
{
	struct measure *ms = meas->ms;
	const struct experiment *e = &ms->options->experiment;
	const struct plan_round plan = plan_of_round(meas, t);
	uint64_t bytes = meas->attr.message_bytes;
	struct round *r = &t->round;

	*r = (struct round){
		.qps = &t->worker->qps,
		.size_bytes = bytes,
		.opcode = operation_opcode(&ms->test->operation, e, ms->ep->immediate),
		.legs = ms->test->operation.halved ? 2 : 1,
		.post_list = (unsigned)e->post_list,
		.cq_mod = plan.cq_mod,
		.send_inline = bytes <= t->worker->qps.inline_bytes,
		.unreliable = transport_loses(e),
		.quiet_ticks = (uint64_t)((double)transport_quiet_ns(e, bytes) * SURELY_SENT_ONCE /
					  ms->clock->ns_per_tick),
		.no_peak = ms->options->output.no_peak || meas->attr.warmup || meas->attr.kind ||
			   !t->peak_ready,
		.memory = worker_buffers(t->worker),
		.receives = t->worker->qps.rx_depth ? &t->worker->receives : NULL,
		.clock = ms->clock,
		.control = t->worker->control,
		.fault = &t->worker->fault,
		.gap_ns = plan.gap_ns,
		.kind = meas->attr.kind,
		.own = ms->own,
		.ready = stream_ready,
		.worker = t,
		.result = {.hist = t->hist,
			   .peak = &t->peak,
			   .samples = meas->attr.warmup ? NULL : t->samples},
	};
	r->memory.walk_bytes = e->footprint_bytes;
	r->memory.unit_bytes = e->align_bytes ? PAGE_BYTES : 0;
	t->now = meas;
	t->lost = 0;
	t->account = (struct account){.cpu = -1};
	t->arrivals = *r;
	r->extended = worker_is_extended(t->worker);
	if (plan.messages_per_s > 0) {
		paced_init(&t->paced, plan.messages_per_s, plan.burst,
			   ms->test->latency ? 1 : r->post_list, r->clock);
		r->paced = &t->paced;
	}
	if (meas->attr.both)
		r->arrivals = &t->arrivals;
	evidence_prepare(t, meas);
	if (t->hist)
		hist_reset(t->hist);
	if (ms->test->latency && operation_writes(&ms->test->operation) && t->worker->mem.memory.host) {
		clear_stamp(r->memory.from.addr + bytes);
		clear_stamp(r->memory.into.addr + bytes);
	}
}

int round_prepare(struct measurement *meas)
{
	struct measure *ms = meas->ms;
	/*
	 * If the transport may lose messages, the answering end cannot know which answer is the
	 * last one: it answers until the watch stops it.
	 */
	bool open = meas->attr.target == ROUND_ENDLESS ||
		    (ms->test->latency && transport_loses(&ms->options->experiment));

	if (!ms->ep->server && check_pace(meas))
		return -1;
	clock_calibrate(ms->clock); /* the schedule is in ticks */
	atomic_store(&meas->need_load, ms->ep->workers);
	evidence_start(meas);
	for (unsigned i = 0; i < endpoint_all_workers(ms->ep); i++) {
		struct meter *t = &ms->meter[i];
		struct round_control *c = t->worker->control;
		bool load = t->worker->is_load;
		uint64_t all = meas->attr.target * t->worker->qps.count;

		if (load)
			load_prepare(t);
		else
			prepare_worker(t, meas);
		fault_phase(&t->worker->fault, ms->fault->phase);
		atomic_store(&c->target, load ? ROUND_ENDLESS : meas->attr.target);
		atomic_store(&c->expected, open ? ROUND_ENDLESS : all);
		atomic_store(&c->abort, false);
		atomic_store(&c->resend, false);
		c->seen = 0;
		atomic_store(&c->progress, 0);
		atomic_store(&c->trips_ticks, 0);
	}
	return 0;
}
