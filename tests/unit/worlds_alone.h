/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* worlds_alone: how fast a world is for a lone message, and if nothing disturbs it. */
#ifndef RDMARK_TESTS_UNIT_WORLDS_ALONE_H
#define RDMARK_TESTS_UNIT_WORLDS_ALONE_H

#include "worlds_run.h"

static double world_gbps(const struct world *w, const struct world_run *r)
{
	return r->messages * w->bytes * 8 / r->ns;
}

/* How long a lone message takes in a warm-up: their median, so what happens rarely is not in it. */
static double world_alone_ns(struct sim *s, const struct world *w)
{
	struct world lone = *w;
	struct world_run r;

	lone.depth = lone.qps = 1;
	lone.brief = false;
	lone.share = 1;
	lone.paced_gbps = lone.loss = lone.timeout_p = lone.pause_share = 0;
	lone.sink_drops = false;
	if (w->shaper_spares_lone)
		lone.shaper_gbps = 0;
	r = world_run(s, &lone, 16);
	return r.ns / r.messages;
}

/*
 * Fix what depends on how fast W would be if nothing disturbed it: how long are turns, pauses and
 * timeouts in the simulation.
 */
static void world_settle(struct sim *s, struct world *w)
{
	struct world clean = *w;
	struct world_run r;
	double message, longest;

	if (w->share >= 1 && w->recv_share >= 1 && !(w->pause_share > 0) && !(w->timeout_share > 0))
		return;
	clean.share = clean.recv_share = 1;
	clean.loss = clean.pause_share = clean.timeout_p = 0;
	r = world_run(s, &clean, 0);
	message = r.ns / r.messages;
	longest = fmax((double)s->target / 9, 3. * w->depth * w->qps) * message;
	w->slice_ns = w->recv_slice_ns = longest;
	w->pause_slice_ns = fmax(longest / 4, 4 * w->delay_ns);
	w->timeout_sim_ns = w->brief ? w->ack_timeout_ns : fmin(longest / 2, w->ack_timeout_ns);
	w->timeout_p = fmin(SIM_MOST_LOST, w->timeout_share / (1 - w->timeout_share) * message *
						   w->qps / w->timeout_sim_ns);
}

#endif
