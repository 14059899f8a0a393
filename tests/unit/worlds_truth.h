/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * worlds_truth: what holds a world back: each cause whose removal makes it more than 5 % faster. If
 * there is none, two may be alike: then both of a pair count whose removal does so. Moreover what
 * is as near: the rate falls with it. What has no name in enum finding_code (a shaper, congestion, the
 * source's memory, the adapter's message rate) is never part of it.
 */
#ifndef RDMARK_TESTS_UNIT_WORLDS_TRUTH_H
#define RDMARK_TESTS_UNIT_WORLDS_TRUTH_H

#include "explain/limit.h"
#include "worlds_alone.h"

#define TRUTH_GAIN 1.05
#define TRUTH_NEAR 1.07

/* Make the thread's and the link's part of CAUSE better (FACTOR > 1) or worse; false: none. */
static bool turn_end(struct world *w, enum finding_code cause, double factor)
{
	switch (cause) {
	case LIMIT_LINK:
		w->link_gbps *= factor;
		return !w->loopback;
	case LIMIT_PCIE:
		if (w->source_gbps > 0.9 * w->source_pcie_gbps)
			w->source_gbps *= factor;
		if (w->sink_gbps > 0.9 * w->sink_pcie_gbps)
			w->sink_gbps *= factor;
		return true;
	case LIMIT_MEMORY:
		w->sink_gbps *= factor;
		return true;
	case LIMIT_CORE:
		w->post_ns /= factor > 1 ? 4 : factor;
		w->reap_ns /= factor > 1 ? 4 : factor;
		w->share = factor > 1 ? 1 : w->share;
		return true;
	case LIMIT_RECEIVER:
		w->recv_ns /= factor > 1 ? 4 : factor;
		w->recv_share = factor > 1 ? 1 : w->recv_share;
		w->recv_depth *= factor > 1 ? 4 : 1;
		return w->op == WORLD_SEND;
	default:
		return false;
	}
}

/* The same for all causes. */
static bool turn(struct world *w, enum finding_code cause, double factor)
{
	bool better = factor > 1;

	switch (cause) {
	case LIMIT_SCHEDULE:
		w->paced_gbps *= better ? 0 : factor;
		return w->paced_gbps > 0 || better;
	case LIMIT_WINDOW:
		w->depth *= better ? 4 : 1;
		w->outs *= better ? 4 : 1;
		return better;
	case LIMIT_PAUSE:
		w->pause_share = 0;
		w->sink_pauses = false;
		return better;
	case LIMIT_LOSS:
		w->loss = w->timeout_p = w->timeout_share = 0;
		w->sink_drops = false;
		return better;
	case LIMIT_NIC_QP:
		w->qp_ns /= 4;
		w->qp_gbps *= 4;
		return better && (w->qp_ns > 0 || w->qp_gbps > 0);
	default:
		return turn_end(w, cause, factor);
	}
}

/* How fast OTHER is, as a part of BEFORE. */
static double against(struct sim *s, const struct world *other, double before)
{
	struct world_run r = world_run(s, other, 0);

	return world_gbps(other, &r) / before;
}

/* Each cause whose removal makes W faster; if there is none, each of a pair. */
static unsigned truth_better(struct sim *s, const struct world *w, double before)
{
	unsigned truth = 0;

	for (int a = LIMIT_UNKNOWN + 1; a < LIMITS; a++) {
		struct world other = *w;

		if (turn(&other, (enum finding_code)a, 2) && memcmp(&other, w, sizeof(other)) != 0 &&
		    against(s, &other, before) > TRUTH_GAIN)
			truth |= 1u << a;
	}
	if (truth)
		return truth;
	for (int a = LIMIT_UNKNOWN + 1; a < LIMITS; a++) {
		for (int b = LIMIT_UNKNOWN + 1; b < a; b++) {
			struct world other = *w;

			if (turn(&other, (enum finding_code)a, 2) &&
			    turn(&other, (enum finding_code)b, 2) &&
			    against(s, &other, before) > TRUTH_GAIN)
				truth |= 1u << a | 1u << b;
		}
	}
	return truth;
}

/* Take a part of what is in flight away: how much is left of it. */
static double shrink_window(struct world *w)
{
	unsigned *most = w->outs && w->outs < w->depth ? &w->outs : &w->depth;
	unsigned before, part;

	if (*most < 2)
		most = &w->qps;
	before = *most;
	part = before / 4 ? before / 4 : 1;
	if (before < 2)
		return 0;
	*most -= part;
	return (before - part) / (double)before;
}

/*
 * What is reached as well, or nearly so: W gets slower if it gets a little worse. The window is if
 * what limits lies TRUTH_GAIN below it at most; ceilings of a table (what PCIe carries is known to
 * 2 %) if that is TRUTH_NEAR.
 */
static unsigned truth_worse(struct sim *s, const struct world *w, double before)
{
	static const enum finding_code worse[] = {LIMIT_LINK, LIMIT_PCIE, LIMIT_SCHEDULE, LIMIT_CORE,
					      LIMIT_RECEIVER};
	struct world other = *w;
	double left = shrink_window(&other);
	unsigned truth = 0;

	if (left > 0 && against(s, &other, before) < TRUTH_GAIN * left)
		truth |= 1u << LIMIT_WINDOW;
	for (size_t i = 0; i < sizeof(worse) / sizeof(worse[0]); i++) {
		other = *w;
		if (turn(&other, worse[i], 0.9) && against(s, &other, before) < TRUTH_NEAR * 0.9)
			truth |= 1u << worse[i];
	}
	return truth;
}

/* Bit by bit what may be said of W, whose run is R. */
static unsigned world_truth(struct sim *s, const struct world *w, const struct world_run *r)
{
	double before = world_gbps(w, r);
	unsigned truth = truth_better(s, w, before) | truth_worse(s, w, before);

	/* a sink slows the sender down by pausing it, or by dropping: that is right, too */
	if (truth & 1u << LIMIT_MEMORY && r->sink_paused_ns > 0.05 * r->ns)
		truth |= 1u << LIMIT_PAUSE;
	if (truth & 1u << LIMIT_MEMORY && r->discards > 0 && r->resent > 0.05 * r->packets)
		truth |= 1u << LIMIT_LOSS;
	return truth;
}

#endif
