// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The stream of WRITEs beside a ping-pong. */
#include <string.h>

#include "loop/stream.h"
#include "session/state.h"

#define LOAD_TX_DEPTH 128
#define LOAD_SIGNALS  16 /* WRITEs for each completion, without a schedule */

int load_make(struct strand *t)
{
	const struct experiment *e = &t->session->options.experiment;
	unsigned access = IBV_ACCESS_REMOTE_WRITE;
	struct qp_wish w = {
		.type = IBV_QPT_RC, /* whatever the ping-pong uses */
		.count = 1,
		.tx_depth = LOAD_TX_DEPTH,
		.access = IBV_ACCESS_REMOTE_WRITE,
		.pkey_index = t->rail->route.pkey_index,
	};

	if (!e->strict_order)
		access |= IBV_ACCESS_RELAXED_ORDERING;
	if (qp_set_init(&t->qps, &t->rail->hca, &w, &t->fault) ||
	    mem_init(&t->mem, t->qps.pd, &t->pin, e->load_bytes, access, &t->fault))
		return -1;
	t->out = t->mine.addr = t->mem.addr;
	t->mine.rkey = t->mem.rkey;
	return 0;
}

static void prepare(struct strand *t, const struct session_round *sr)
{
	struct session *s = t->session;
	const struct experiment *e = &s->options.experiment;
	struct round *r = &t->round;

	*r = (struct round){
		.qps = &t->qps,
		.size_bytes = e->load_bytes,
		.post_list = 1,
		.cq_mod = LOAD_SIGNALS,
		.no_peak = true,
		.from = {.addr = t->out, .key = t->mem.lkey},
		.remote = {.addr = t->theirs.addr, .key = t->theirs.rkey},
		.clock = &s->clock,
		.control = t->control,
		.fault = &t->fault,
	};
	if (e->load != RATE_UNLIMITED) {
		double rate = rate_messages_per_s(e->load, e->load_bytes) / s->loads;

		paced_init(&t->paced, rate, 1, 1, &s->clock);
		r->paced = &t->paced;
		r->cq_mod = 1;
	}
	fault_phase(&t->fault, sr->warmup ? "warming up" : "measuring");
	atomic_store(&t->control->target, ROUND_ENDLESS);
	atomic_store(&t->control->quit, false);
	atomic_store(&t->control->progress, 0);
}

void load_prepare(struct session *s, struct session_round *sr)
{
	atomic_store(&sr->pinging, s->strands);
	for (unsigned i = 0; i < s->loads; i++)
		prepare(&s->strand[s->strands + i], sr);
}

int load_run(struct strand *t)
{
	if (t->session->report.about.server)
		return 0;
	return stream_run(&t->round, IBV_WR_RDMA_WRITE);
}

void load_await(const struct session *s, const struct strand *t)
{
	const struct round_control *load = &s->control[s->strands + t->index % s->rails];

	if (!s->loads || s->report.about.server)
		return;
	while (!atomic_load_explicit(&load->progress, memory_order_relaxed) &&
	       !round_quit(&t->round))
		;
}

void load_leave(struct session *s, struct session_round *sr)
{
	if (atomic_fetch_sub(&sr->pinging, 1) != 1)
		return;
	for (unsigned i = 0; i < s->loads; i++)
		atomic_store(&s->control[s->strands + i].target, 0);
}

/* How long T's messages took; the last one, too, stands for a whole step of a schedule. */
static double span_ns(const struct strand *t)
{
	const struct session *s = t->session;
	const struct experiment *e = &s->options.experiment;
	const struct round *r = &t->round;
	double ns = clock_ticks_to_ns(&s->clock, (double)(r->end_ticks - r->start_ticks)), due;

	if (!r->paced)
		return ns;
	due = (double)r->messages * s->loads / rate_messages_per_s(e->load, e->load_bytes) * 1e9;
	return ns > due ? ns : due;
}

double load_gbps(const struct session *s)
{
	double sum = 0;

	for (unsigned i = 0; i < s->loads; i++) {
		const struct round *r = &s->strand[s->strands + i].round;
		double ns = r->messages ? span_ns(&s->strand[s->strands + i]) : 0;

		if (ns > 0)
			sum += (double)r->messages * (double)r->size_bytes * 8 / ns;
	}
	return sum;
}
