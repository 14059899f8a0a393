// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "measure/conditions.h"

#include <math.h>

#include "proto/evidence.h"
#include "proto/snapshot.h"

#define MOSTLY_FULL 0.5 /* of the time: then what is under way is what the queues hold */

/* Conditions are recorded in timed rounds, not in warm-ups or rounds of a program's own kind. */
static bool records_conditions(const struct measurement *meas)
{
	return !meas->attr.warmup && !meas->attr.kind;
}

void conditions_ports_start(struct measure *ms)
{
	for (unsigned i = 0; i < ms->ep->rails; i++)
		port_events_start(&ms->ep->rail[i].events);
}

void conditions_ports_stop(struct measure *ms, struct port_snapshot *s)
{
	s->ports = ms->ep->rails;
	for (unsigned i = 0; i < ms->ep->rails; i++) {
		port_events_stop(&ms->ep->rail[i].events);
		port_events_changes(&ms->ep->rail[i].events, &s->port[i]);
	}
}

void conditions_start(struct measurement *meas)
{
	struct measure *ms = meas->ms;

	meas->quality = meas->their_quality = quality_unknown();
	if (!records_conditions(meas))
		return;
	conditions_ports_start(ms);
	steal_start(ms->steal);
	meas->start_ns = clock_now_ns();
}

void conditions_stop(struct measurement *meas)
{
	if (!records_conditions(meas))
		return;
	steal_stop(meas->ms->steal);
	conditions_ports_stop(meas->ms, &meas->snapshot[measurement_end(meas, true)]);
}

/*
 * How undisturbed worker T's thread ran. A thread that sleeps for its completions is off the CPU by
 * choice, so its share of the CPU is unknown.
 */
static struct quality thread_quality(const struct meter *t)
{
	const struct account *a = &t->account;
	struct quality q = quality_unknown();

	if (!a->known)
		return q;
	q.observed_s = a->elapsed_s;
	q.on_cpu_percent = round_sleeps(&t->round) ? NAN : account_percent(a);
	q.preempted = (double)a->preempted;
	q.minor_faults = (double)a->minor_faults;
	q.major_faults = (double)a->major_faults;
	q.steal_percent = steal_percent(t->ms->steal, a->cpu);
	return q;
}

static double percent_of(double count, double all)
{
	return all > 0 ? count / all * 100 : NAN;
}

/*
 * Fill Q from the port counters: counts, and their share of MESSAGES. Retransmissions are a share
 * of the packets where the port counts packets.
 */
static void fill_port_quality(const struct measurement *meas, uint64_t messages, struct quality *q)
{
	const struct measure *ms = meas->ms;
	const struct experiment *e = &ms->options->experiment;
	unsigned mtu = ms->ep->rail[0].route.mtu_bytes ? ms->ep->rail[0].route.mtu_bytes : 1;
	double all = (double)messages, qps = (double)(e->qps * ms->ep->workers);
	double packets = all * (double)((meas->attr.message_bytes + mtu - 1) / mtu);
	const struct port_snapshot *s = &meas->snapshot[measurement_end(meas, true)];
	double timeout_ns = transport_ack_timeout_ns(experiment_transport(e), e->qp_timeout);
	bool in_packets;

	q->retransmissions = port_snapshot_resent(s, &in_packets);
	q->retransmitted_percent = percent_of(q->retransmissions, in_packets ? packets : all);
	/* All QPs may have waited at once. More than all of the time is
	 * no share of it: other connections, or a driver that counts timers that stop nothing. */
	if (timeout_ns > 0) {
		q->ack_timeouts = port_snapshot_value(s, PORT_ACK_TIMEOUT);
		q->ack_timeout_percent =
			percent_of(q->ack_timeouts * timeout_ns / 1e9, q->observed_s * qps);
		if (q->ack_timeout_percent > 100)
			q->ack_timeout_percent = NAN;
	}
	q->receiver_not_ready = port_snapshot_value(s, PORT_RNR_RECEIVED);
	q->receiver_not_ready_percent = percent_of(q->receiver_not_ready, all);
	q->losses = port_snapshot_lost(s);
	q->lost_percent = percent_of(q->losses, all);
	q->out_of_order = port_snapshot_value(s, PORT_LOSS_SEEN);
}

void conditions_measure(struct measurement *meas, uint64_t messages)
{
	struct measure *ms = meas->ms;
	struct quality *q = &meas->quality;

	if (!records_conditions(meas))
		return;
	*q = quality_unknown();
	for (unsigned i = 0; i < ms->ep->workers; i++) {
		struct meter *t = &ms->meter[i];
		struct quality own = thread_quality(t);

		if (meas->measured)
			t->record.quality = own;
		quality_add(q, &own);
	}
	if (!(q->observed_s > 0)) /* no loop ran at this end */
		q->observed_s = (double)(clock_now_ns() - meas->start_ns) / 1e9;
	fill_port_quality(meas, messages, q);
	if (meas->measured || meas->attr.cpu_util)
		meas->mine.quality = *q;
}

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

	return !experiment_loses(e) &&
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

static void describe_evidence(const struct measurement *meas, json_t *m)
{
	const struct evidence *mine = &meas->evidence[measurement_end(meas, true)];

	if (evidence_is_known(mine))
		json_object_set_new(m, "evidence", evidence_to_json(mine));
}

void conditions_describe(const struct measurement *meas, json_t *m)
{
	const struct record rec = {.quality = meas->quality};
	const struct port_snapshot *s = &meas->snapshot[measurement_end(meas, true)];

	describe_evidence(meas, m);
	if (!records_conditions(meas))
		return;
	json_object_set_new(m, "conditions", record_to_json(&rec));
	json_object_set_new(m, "snapshot", snapshot_to_json(s));
}

static int read_evidence(struct measurement *meas, const json_t *m)
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

int conditions_read(struct measurement *meas, const json_t *m)
{
	const json_t *from = json_object_get(m, "conditions");
	const json_t *snapshot = json_object_get(m, "snapshot");
	struct record rec;

	if (snapshot && snapshot_from_json(&meas->snapshot[measurement_end(meas, false)], snapshot,
					   meas->ms->fault))
		return -1;
	if (json_is_object(from)) {
		if (record_from_json(&rec, from, meas->ms->fault))
			return -1;
		meas->their_quality = rec.quality;
	}
	return read_evidence(meas, m);
}

void conditions_judge(const struct measurement *meas, struct result_row *row)
{
	const struct measure *ms = meas->ms;
	const struct record *rec = row->record;
	enum result_end me = measurement_end(meas, true), they = measurement_end(meas, false);

	row->disturbed = (struct disturbed){.quality = {quality_unknown(), quality_unknown()}};
	if (row->thread >= 0 || row->device) {
		row->disturbed.quality[row->by] = rec->quality;
	} else {
		row->disturbed.quality[me] = meas->quality;
		row->disturbed.quality[they] = meas->their_quality;
		/* The overlap belongs to both directions: print it once, with the client. */
		row->disturbed.quality[RESULT_CLIENT].overlap_percent =
			rec->quality.overlap_percent;
		row->disturbed.quality[RESULT_SERVER].overlap_percent = NAN;
	}
	for (int i = 0; i < 2; i++)
		row->disturbed.reasons[i] =
			quality_judge(&row->disturbed.quality[i], ms->test->latency, rec->messages);
}
