/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * worlds_run: the simulation of a world, event by event: a thread acts, the adapter launches a part
 * of a message, an answer arrives. Between events a part passes its stages in the order in which it
 * was launched, so their times are known at once: memory, wire, shaper, the sink's memory.
 *
 * A run of seconds is simulated for some thousand messages after its start. Turns of a CPU, pauses
 * and ACK timeouts are made as much shorter and more frequent; they remain much longer than what
 * the send queues hold. What is counted is scaled back (worlds_facts.h).
 */
#ifndef RDMARK_TESTS_UNIT_WORLDS_RUN_H
#define RDMARK_TESTS_UNIT_WORLDS_RUN_H

#include "worlds.h"

#define SIM_UNITS     1600
#define SIM_QPS       16
#define SIM_RING      8192 /* answers under way, of all QPs; a power of 2 */
#define SIM_RECV      1024 /* receives of a QP; a power of 2 */
#define SIM_LEAD_NS   1500 /* so far ahead of the wire an adapter fetches */
#define SIM_NIC_NS    250  /* from a doorbell to the fetch, and from it to the wire */
#define SIM_POLL_NS   15   /* what is shorter no loop sees */
#define SIM_RNR_NS    0.64e6
#define SIM_MOST_LOST 0.2 /* of parts, or no message is ever whole */

struct sim_qp {
	uint64_t posted, next, acked, reaped; /* messages; next: to launch */
	unsigned unit;                        /* of that one */
	bool restarts;                        /* it goes back, */
	uint64_t back;                        /* to this message, */
	unsigned back_unit;
	double vain_until, restart_at; /* until the sender knows; when it begins again */
	double free, floor;            /* when it may launch; no answer comes before */
	double handled[SIM_RECV];      /* when the receiver had handled its last messages */
};

struct sim {
	const struct world *w;
	uint64_t x;
	unsigned units, turn, fill; /* of a message; QPs in turn; posted at the start */
	uint64_t target, warm, done, posted;
	double t0, nic_at, source_free, link_free, shaper_free, sink_free, recv_free;
	double sink_wait; /* how long the last part had to wait there */
	/* the thread */
	double thread_at, idle_from;
	int acting; /* the QP to post to when its time has passed; -1: none */
	bool waits, early;
	unsigned ready[SIM_RING], answer_qp[SIM_RING];
	uint64_t ready_from, ready_to, answer_from, answer_to;
	double answer_at[SIM_RING];
	struct sim_qp q[SIM_QPS];
	struct world_run got, before;
};

static void sim_answer(struct sim *s, unsigned qp, double at)
{
	uint64_t k = s->answer_to++;

	/* nearly always the last one */
	for (; k > s->answer_from && s->answer_at[(k - 1) % SIM_RING] > at; k--) {
		s->answer_at[k % SIM_RING] = s->answer_at[(k - 1) % SIM_RING];
		s->answer_qp[k % SIM_RING] = s->answer_qp[(k - 1) % SIM_RING];
	}
	s->answer_at[k % SIM_RING] = at;
	s->answer_qp[k % SIM_RING] = qp;
}

/* Q goes back to the part that it launched last; it knows at KNOWS, and begins again at AGAIN. */
static void sim_back(struct sim_qp *q, unsigned unit, double knows, double again)
{
	q->restarts = true;
	q->back = q->next;
	q->back_unit = unit;
	q->vain_until = knows;
	q->restart_at = again;
}

/* The time at which the wire takes a part that is READY; it is paused by the fabric or the sink. */
static double sim_wire(struct sim *s, double ready)
{
	const struct world *w = s->w;
	double at = fmax(ready, s->link_free);

	if (w->pause_share > 0)
		at = sim_after(at, 0, 1 - w->pause_share, w->pause_slice_ns);
	if (w->sink_pauses && s->sink_wait > w->sink_buffer_ns) {
		s->got.sink_paused_ns += s->sink_wait - w->sink_buffer_ns;
		at += s->sink_wait - w->sink_buffer_ns;
	}
	return at;
}

/* The receiver's thread handles a message of Q that arrived AT. */
static void sim_receive(struct sim *s, struct sim_qp *q, uint64_t message, double at)
{
	const struct world *w = s->w;
	double from = fmax(at, s->recv_free);

	s->recv_free = sim_after(from, w->recv_ns, w->recv_share, w->recv_slice_ns);
	s->got.recv_busy_ns += s->recv_free - from;
	q->handled[message % SIM_RECV] = s->recv_free;
}

/* A part of Q's next message reaches the sink at AT: does it count? Otherwise Q goes back. */
static bool sim_accept(struct sim *s, struct sim_qp *q, double packets, double at, double part_ns)
{
	const struct world *w = s->w;
	bool first = q->unit == 0, last = q->unit + 1 == s->units;
	/* a receive is taken when what came before has passed its memory */
	double taken = fmax(at, s->sink_free);
	double knows = at + part_ns + w->delay_ns;

	if (w->early)
		return true;
	if (w->op == WORLD_SEND && first && q->next >= w->recv_depth &&
	    taken < q->handled[(q->next - w->recv_depth) % SIM_RECV]) {
		s->got.rnr++;
		knows = taken + w->delay_ns;
		sim_back(q, 0, knows, knows + SIM_RNR_NS);
		return false;
	}
	if (w->sink_drops && s->sink_free - at > w->sink_buffer_ns) {
		s->got.discards += packets;
		s->got.naks++;
		sim_back(q, q->unit, knows, knows);
		return false;
	}
	if (last && w->timeout_p > 0 && chance(&s->x, w->timeout_p)) {
		s->got.timeouts++;
		sim_back(q, q->unit, at + w->timeout_sim_ns, at + w->timeout_sim_ns);
		return false;
	}
	if (w->loss > 0 && chance(&s->x, fmin(SIM_MOST_LOST, w->loss * packets))) {
		s->got.naks++;
		if (!w->selective) {
			sim_back(q, q->unit, knows, knows);
			return false;
		}
		q->floor = knows + 2 * w->delay_ns + part_ns;
		s->link_free += part_ns;
		s->got.resent += packets;
	}
	return true;
}

/* Launch the next part of QP I. */
static void sim_launch(struct sim *s, unsigned i, double now)
{
	const struct world *w = s->w;
	struct sim_qp *q = &s->q[i];
	double bytes = w->bytes / s->units, packets = world_packets(w) / s->units;
	double head = packets * world_packet_header() + world_message_header(w) / s->units;
	double wire = (bytes + head) * 8 / w->link_gbps / (1 - fmax(w->other_out, w->other_in));
	double shaper = fmin(w->shaper_gbps > 0 ? w->shaper_gbps : INFINITY,
			     w->cnp_gbps > 0 ? w->cnp_gbps : INFINITY);
	double part = bytes * 8 / w->sink_gbps, at, start, fetched;
	bool vain = q->restarts;

	s->source_free = fmax(s->source_free, now) + bytes * 8 / w->source_gbps;
	fetched = s->source_free + SIM_NIC_NS;
	start = w->loopback || w->early ? fetched : sim_wire(s, fetched);
	at = w->loopback || w->early ? fetched : start + wire;
	s->link_free = w->loopback ? 0 : fmax(at, start);
	s->got.wire_ns += wire;
	s->shaper_free = fmax(s->shaper_free, at) + bytes * 8 / shaper;
	at = s->shaper_free + w->delay_ns;
	q->free = now + fmax(w->qp_ns / s->units, w->qp_gbps > 0 ? bytes * 8 / w->qp_gbps : 0);
	s->nic_at = fmax(now + w->nic_ns / s->units, fmax(s->source_free, start - SIM_LEAD_NS));
	s->got.packets += packets;
	if (vain) {
		s->got.resent += packets;
	} else if (sim_accept(s, q, packets, at, part)) {
		s->sink_wait = fmax(0, s->sink_free - at);
		s->sink_free = fmax(s->sink_free, at) + part;
		if (q->unit + 1 == s->units) {
			q->floor = fmax(q->floor, s->sink_free + w->delay_ns + SIM_NIC_NS);
			sim_answer(s, i, w->early ? fetched : q->floor);
			if (w->op == WORLD_SEND)
				sim_receive(s, q, q->next, s->sink_free);
		}
	}
	if (++q->unit == s->units) {
		q->unit = 0;
		q->next++;
	}
}

/* When QP Q can launch; INFINITY: it has nothing to. */
static double sim_may(const struct sim *s, const struct sim_qp *q)
{
	bool has =
		q->next < q->posted && (!s->w->outs || q->next < q->acked + s->w->outs || q->unit);
	double at = fmax(s->nic_at, q->free);

	if (q->restarts)
		return has && at < q->vain_until ? at : fmax(s->nic_at, q->restart_at);
	return has ? at : INFINITY;
}

/* The QP that launches next, and when: one after the other if several can. */
static unsigned sim_choose(const struct sim *s, double *when)
{
	unsigned best = 0;

	*when = INFINITY;
	for (unsigned k = 1; k <= s->w->qps; k++) {
		unsigned i = (s->turn + k) % s->w->qps;
		double at = sim_may(s, &s->q[i]);

		if (at < *when) {
			*when = at;
			best = i;
		}
	}
	return best;
}

/* The thread was idle until NOW; while it had no CPU it saw nothing. */
static void sim_idle(struct sim *s, double now)
{
	const struct world *w = s->w;
	double pos = w->share < 1 && w->slice_ns > 0 ? fmod(now, w->slice_ns) : 0;
	double until = pos > w->slice_ns * w->share ? now - pos + w->slice_ns * w->share : now;

	if (s->waits && until - s->idle_from > SIM_POLL_NS)
		*(s->early ? &s->got.scheduled_ns : &s->got.full_ns) += until - s->idle_from;
	s->waits = false;
}

/* When the next message of a schedule is due. */
static double sim_due(const struct sim *s)
{
	const struct world *w = s->w;

	return (double)(s->posted / w->burst * w->burst) * w->bytes * 8 / w->paced_gbps;
}

/* The thread is free NOW: what it does next, and until when. */
static void sim_act(struct sim *s, double now)
{
	const struct world *w = s->w;
	unsigned to = (unsigned)(s->posted % w->qps);
	bool paced = w->paced_gbps > 0, more = !w->brief || s->posted < s->target;
	bool room = s->q[to].posted - s->q[to].reaped < w->depth && more;
	double cost = 0;

	s->acting = -1;
	if (!paced && s->fill < w->depth * w->qps && more) {
		s->fill++;
		s->acting = (int)to;
		cost = w->post_ns;
	} else if (paced && room && sim_due(s) <= now) {
		s->acting = (int)to;
		cost = w->post_ns;
	} else if (s->ready_from < s->ready_to) {
		unsigned i = s->ready[s->ready_from++ % SIM_RING];

		s->q[i].reaped++;
		s->done++;
		cost = w->reap_ns + (w->both ? w->recv_ns : 0);
		if (!paced && more) {
			s->acting = (int)i;
			cost += w->post_ns;
		}
	} else {
		s->waits = true;
		s->early = paced && room;
		s->idle_from = now;
		s->thread_at = s->early ? sim_due(s) : INFINITY;
		return;
	}
	s->thread_at = sim_after(now, cost, w->share, w->slice_ns);
}

/* The thread's time has come. */
static void sim_thread(struct sim *s, double now)
{
	if (s->waits) {
		sim_idle(s, now);
		now = sim_after(now, 0, s->w->share, s->w->slice_ns);
	}
	if (s->acting >= 0) {
		s->q[s->acting].posted++;
		s->posted++;
		s->nic_at = fmax(s->nic_at, now + (s->nic_at < now ? SIM_NIC_NS : 0));
	}
	sim_act(s, now);
	if (s->done == s->warm && s->t0 < 0) {
		s->t0 = now;
		s->before = s->got;
	}
}

static void sim_arrive(struct sim *s, double now)
{
	unsigned i = s->answer_qp[s->answer_from++ % SIM_RING];

	s->q[i].acked++;
	s->ready[s->ready_to++ % SIM_RING] = i;
	if (s->waits) {
		sim_idle(s, now);
		s->acting = -1;
		s->thread_at = sim_after(now, 0, s->w->share, s->w->slice_ns);
	}
}

static void sim_start(struct sim *s, const struct world *w, unsigned most_units)
{
	double queue = (double)w->depth * w->qps;
	double units = fmin(fmin(world_packets(w), most_units), fmax(1, SIM_UNITS / (5 * queue)));

	memset(s, 0, offsetof(struct sim, ready));
	memset(s->q, 0, sizeof(s->q));
	s->ready_from = s->ready_to = s->answer_from = s->answer_to = 0;
	s->got = s->before = (struct world_run){0};
	s->w = w;
	s->x = w->seed;
	s->units = (unsigned)units;
	s->target = (uint64_t)fmax(5 * queue, SIM_UNITS / s->units);
	s->warm = w->brief ? 0 : s->target / 4;
	s->t0 = w->brief ? 0 : -1;
	s->acting = -1;
	s->turn = w->qps - 1;
}

static struct world_run sim_end(const struct sim *s, double now)
{
	const struct world *w = s->w;
	struct world_run r = s->got;
	double *to = (double *)&r;
	const double *from = (const double *)&s->before;

	for (size_t i = 0; i < sizeof(r) / sizeof(double); i++)
		to[i] -= from[i];
	r.ns = now - s->t0;
	r.messages = (double)(s->done - s->warm);
	r.on_cpu_ns = sim_on(now, w->share, w->slice_ns) - sim_on(s->t0, w->share, w->slice_ns);
	r.fabric_paused_ns = w->pause_share * r.ns;
	return r;
}

/* Run W. MESSAGES, unless 0, instead of its own number; S is room to work in. */
static struct world_run world_run(struct sim *s, const struct world *w, uint64_t messages)
{
	double now = 0;

	sim_start(s, w, WORLD_LONE_UNITS);
	if (messages) {
		s->target = messages;
		s->warm = messages / 2;
	}
	while (s->done < s->target) {
		double launch, answer = s->answer_from < s->answer_to
						? s->answer_at[s->answer_from % SIM_RING]
						: INFINITY;
		unsigned i = sim_choose(s, &launch);

		now = fmax(now, fmin(fmin(launch, answer), s->thread_at));
		if (s->thread_at <= answer && s->thread_at <= launch) {
			sim_thread(s, now);
		} else if (answer <= launch) {
			sim_arrive(s, now);
		} else if (s->q[i].restarts && now >= s->q[i].restart_at) {
			s->q[i].restarts = false;
			s->q[i].next = s->q[i].back;
			s->q[i].unit = s->q[i].back_unit;
		} else {
			s->turn = i;
			sim_launch(s, i, now);
		}
	}
	return sim_end(s, now);
}

#endif
