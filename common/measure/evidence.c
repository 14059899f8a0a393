// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "measure/evidence.h"

#include <math.h>

#include "plan/transport.h"
#include "proto/evidence.h"

#define MOSTLY_FULL 0.5 /* of the time: then what is under way is what the queues hold */

void evidence_start(struct measurement *meas)
{
	struct measure *ms = meas->ms;

	meas->evidence[RESULT_CLIENT] = meas->evidence[RESULT_SERVER] = evidence_unknown();
	if (!meas->attr.warmup)
		return;
	ms->alone = (struct alone){0};
	ms->alone_bytes = meas->attr.message_bytes;
}

/*
 * With both directions: meanwhile no receive is posted again, so datagrams would be lost, and two
 * ends that both run out of receives would wait for each other.
 */
static bool can_stand_alone(const struct measure *ms)
{
	const struct experiment *e = &ms->options->experiment;
	bool receives = !ms->test->operation.peer_allows || e->write_with_imm;

	return !transport_loses(e) &&
	       (!receives || (!e->use_srq && e->rx_depth >= ALONE_MOST + e->tx_depth));
}

void evidence_prepare(struct meter *t, const struct measurement *meas)
{
	struct measure *ms = t->ms;

	if (!meas->attr.warmup || meas->attr.kind || (meas->attr.both && !can_stand_alone(ms)))
		return;
	t->round.alone = &ms->alone;
	t->round.alone_first = t == ms->meter;
}

/* The time of a lone message of the warm-up before MEAS. */
static double alone_ns(const struct measurement *meas)
{
	const struct measure *ms = meas->ms;

	if (!ms->alone.ticks || ms->alone_bytes != meas->attr.message_bytes)
		return NAN;
	return clock_ticks_to_ns(ms->clock, (double)ms->alone.ticks);
}

/* What worker T's loop saw. */
static struct evidence evidence_of(const struct meter *t)
{
	const struct round_result *r = &t->round.result;
	uint64_t ticks = r->end_ticks - r->start_ticks;
	struct evidence e = evidence_unknown();
	double in_flight = fmin(r->in_flight, (double)r->timed_messages);

	if (!r->timed_messages || !r->idle.cqs)
		return e;
	if (!r->in_flight) {
		e.busy_share = 1 - idle_share(&r->idle, ticks);
		return e;
	}
	e.full_share = idle_share(&r->idle, ticks);
	e.schedule_share = idle_share(&r->scheduled, ticks);
	/* Little's law */
	e.completion_ns = clock_ticks_to_ns(t->ms->clock, (double)ticks) * in_flight /
			  (double)r->timed_messages;
	return e;
}

void evidence_measure(struct measurement *meas)
{
	const struct measure *ms = meas->ms;
	struct evidence *mine = &meas->evidence[measurement_end(meas, true)];
	double workers = ms->ep->workers;

	if (meas->attr.warmup)
		return;
	*mine = (struct evidence){.alone_ns = alone_ns(meas)};
	for (unsigned i = 0; i < ms->ep->workers; i++) {
		const struct evidence e = evidence_of(&ms->meter[i]);

		mine->full_share += e.full_share / workers;
		mine->schedule_share += e.schedule_share / workers;
		mine->completion_ns += e.completion_ns / workers;
		mine->busy_share += e.busy_share / workers;
	}
	if (!(mine->full_share >= MOSTLY_FULL))
		mine->completion_ns = NAN;
}

void evidence_describe(const struct measurement *meas, json_t *m)
{
	const struct evidence *mine = &meas->evidence[measurement_end(meas, true)];

	if (evidence_is_known(mine))
		json_object_set_new(m, "evidence", evidence_to_json(mine));
}

int evidence_read(struct measurement *meas, const json_t *m)
{
	struct evidence *theirs = &meas->evidence[measurement_end(meas, false)];
	const json_t *from = json_object_get(m, "evidence");

	if (!json_is_object(from))
		return 0;
	if (evidence_from_json(theirs, from, meas->ms->fault))
		return -1;
	if (isnan(theirs->full_share)) /* these two are of the same loop */
		theirs->schedule_share = theirs->completion_ns = NAN;
	return 0;
}
