// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "measure/results.h"

#include <math.h>
#include <string.h>

#include "endpoint/rail.h"
#include "finding/thresholds.h"
#include "measure/meter.h"
#include "plan/test.h"
#include "proto/fields.h"
#include "proto/snapshot.h"
#include "verbs/transport.h"

_Static_assert(PORT_EVENTS_PORTS == EXPERIMENT_DEVICES_MAX, "a port of each device");

/* S becomes what happened at this end's ports. This may wait for a driver for some 10 ms. */
static void stop_ports(struct endpoint *ep, struct port_snapshot *s)
{
	s->ports = ep->rails;
	for (unsigned i = 0; i < ep->rails; i++) {
		port_events_stop(&ep->rail[i].events);
		port_events_changes(&ep->rail[i].events, &s->port[i]);
	}
}

void conditions_start(struct measurement *meas)
{
	struct measure *ms = meas->ms;

	if (!round_is_timed(&meas->attr))
		return;
	for (unsigned i = 0; i < ms->ep->rails; i++)
		port_events_start(&ms->ep->rail[i].events);
	steal_start(ms->steal);
	meas->stops = cgroup_stops(NULL);
	meas->start_ns = clock_now_ns();
}

void conditions_stop(struct measurement *meas)
{
	if (!round_is_timed(&meas->attr))
		return;
	steal_stop(meas->ms->steal);
	meas->stops = cgroup_stops(&meas->stops);
	stop_ports(meas->ms->ep, &meas->snapshot[measurement_end(meas, true)]);
}

/*
 * How undisturbed worker T's thread ran. A thread that sleeps for its completions is off the CPU by
 * choice, so its share of the CPU is unknown.
 */
static struct quality thread_quality(const struct meter *t, const struct steal *steal,
				     const struct cgroup_stops *stops)
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
	q.steal_percent = steal_percent(steal, a->cpu);
	q.stopped = stops->limited ? stops->count : NAN;
	q.stopped_s = stops->limited ? fmin(stops->seconds, a->elapsed_s) : NAN;
	return q;
}

static double percent_of(double count, double all)
{
	return all > 0 ? count / all * 100 : NAN;
}

/*
 * Set in Q what S, of this end's ports, counted, and its share of MESSAGES, which are of PACKETS.
 * Retransmissions are a share of the packets where the port counts packets. What this run cannot
 * have is other QPs', and no share of it: messages without a receive where none is needed, or more
 * of them than its QPs can have waited for.
 */
static void set_port_quality(const struct endpoint *ep, const struct port_snapshot *s,
			     double messages, double packets, struct quality *q)
{
	const struct experiment *e = &ep->options->experiment;
	double timeout_ns = transport_ack_timeout_ns(experiment_transport(e), e->qp_timeout);
	double qps = (double)(e->qps * ep->workers);
	bool in_packets;

	q->retransmissions = port_snapshot_resent(s, &in_packets);
	q->retransmitted_percent = percent_of(q->retransmissions, in_packets ? packets : messages);
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
	if (endpoint_receives(ep) &&
	    q->receiver_not_ready * QP_RNR_TIMER_NS / 1e9 <= q->observed_s * qps)
		q->receiver_not_ready_percent = percent_of(q->receiver_not_ready, messages);
	q->losses = port_snapshot_lost(s);
	q->lost_percent = percent_of(q->losses, messages);
	q->out_of_order = port_snapshot_value(s, PORT_LOSS_SEEN);
}

void conditions_measure(struct measurement *meas, uint64_t messages)
{
	struct measure *ms = meas->ms;
	struct quality *q = &meas->mine.record.quality;
	unsigned mtu = ms->ep->rail[0].route.mtu_bytes ? ms->ep->rail[0].route.mtu_bytes : 1;
	uint64_t packets = messages * ((meas->attr.message_bytes + mtu - 1) / mtu);

	if (!round_is_timed(&meas->attr))
		return;
	*q = quality_unknown();
	for (unsigned i = 0; i < ms->ep->workers; i++) {
		struct quality *own = &meas->mine.workers[i].quality;

		*own = thread_quality(&ms->meter[i], ms->steal, &meas->stops);
		quality_add(q, own);
	}
	if (!(q->observed_s > 0)) /* no loop ran at this end */
		q->observed_s = (double)(clock_now_ns() - meas->start_ns) / 1e9;
	set_port_quality(ms->ep, &meas->snapshot[measurement_end(meas, true)], (double)messages,
			 (double)packets, q);
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
	e.completion_us = clock_ticks_to_ns(t->ep->clock, (double)ticks) / 1e3 * in_flight /
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
	*mine = (struct evidence){
		.alone_us = ms->alone.ticks
				    ? clock_ticks_to_ns(ms->clock, (double)ms->alone.ticks) / 1e3
				    : NAN};
	for (unsigned i = 0; i < ms->ep->workers; i++) {
		const struct evidence e = evidence_of(&ms->meter[i]);

		mine->full_share += e.full_share / workers;
		mine->schedule_share += e.schedule_share / workers;
		mine->completion_us += e.completion_us / workers;
		mine->busy_share += e.busy_share / workers;
	}
	/* else what is under way is not what the queues hold */
	if (!(mine->full_share >= MOSTLY_FULL))
		mine->completion_us = NAN;
}

void conditions_describe(const struct measurement *meas, json_t *m)
{
	enum result_end me = measurement_end(meas, true);

	json_object_set_new(m, "evidence", evidence_to_json(&meas->evidence[me]));
	json_add_parts(m, "snapshot", snapshot_to_json(&meas->snapshot[me]), 1);
}

int conditions_read(struct measurement *meas, const json_t *m)
{
	enum result_end they = measurement_end(meas, false);
	const json_t *snapshot = json_object_get(m, "snapshot");
	const json_t *from = json_object_get(m, "evidence");
	struct evidence *theirs = &meas->evidence[they];
	struct fault *f = meas->ms->fault;

	if ((snapshot && snapshot_from_json(&meas->snapshot[they], snapshot, f)) ||
	    (from && evidence_from_json(theirs, from, f)))
		return -1;
	if (isnan(theirs->full_share)) /* these two are of the same loop */
		theirs->schedule_share = theirs->completion_us = NAN;
	return 0;
}

void conditions_judge(const struct measurement *meas, struct result_row *row)
{
	struct disturbed *d = &row->disturbed;

	*d = (struct disturbed){.quality = {quality_unknown(), quality_unknown()},
				.same_ports = rail_shared(meas->ms->ep)};
	if (row->thread >= 0 || row->device) {
		d->quality[row->by] = row->record->quality;
	} else {
		d->quality[measurement_end(meas, true)] = meas->mine.record.quality;
		d->quality[measurement_end(meas, false)] = meas->theirs.record.quality;
		/* The overlap belongs to both directions: print it once, with the client. */
		d->quality[RESULT_CLIENT].overlap_percent = row->record->quality.overlap_percent;
		d->quality[RESULT_SERVER].overlap_percent = NAN;
	}
	for (int i = 0; i < 2; i++) {
		if (hca_is_software(&meas->ms->ep->rail[0].hca.info))
			d->quality[i].software = 1;
		d->reasons[i] = quality_judge(&d->quality[i], meas->ms->test->latency,
					      row->record->messages);
	}
}
