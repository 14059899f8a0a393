/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* worlds_sets: three sets of worlds: one cause; two causes, or one and a decoy; random ones. */
#ifndef RDMARK_TESTS_UNIT_WORLDS_SETS_H
#define RDMARK_TESTS_UNIT_WORLDS_SETS_H

#include "worlds_alone.h"

enum made_cause {
	MADE_LINK,
	MADE_SOURCE_PCIE,
	MADE_SINK_PCIE,
	MADE_SCHEDULE,
	MADE_POST,
	MADE_SHARE,
	MADE_RECEIVER,
	MADE_WINDOW,
	MADE_OUTS,
	MADE_PAUSE,
	MADE_LOSS,
	MADE_TIMEOUT,
	MADE_QP,
	MADE_SINK,
	MADE_CAUSES
};

enum made_decoy {
	DECOY_RNR,
	DECOY_NAKS,
	DECOY_TIMEOUTS,
	DECOY_PAUSE,
	DECOY_BYTES,
	DECOY_CNPS,
	DECOY_DRIVER,
	DECOY_SHAPER,
	DECOY_SOURCE,
	DECOY_SINK,
	DECOYS
};

#define SINGLE_WORLDS (MADE_CAUSES * 8)
#define MIXED_WORLDS  144
#define RANDOM_WORLDS 3000

/*
 * How long a message of W takes now; FULL: undisturbed, if as many were under way as the machine
 * can use.
 */
static double message_ns(struct sim *s, const struct world *w, bool full)
{
	struct world other = *w;
	struct world_run r;

	if (full) {
		other.depth = w->bytes > 1 << 18 ? 16 : 128;
		other.qps = w->qps > 2 ? 2 : w->qps;
		other.outs = w->outs ? 64 : 0;
		other.paced_gbps = other.loss = other.pause_share = other.timeout_p = 0;
		other.share = other.recv_share = 1;
		other.recv_ns = 0;
		other.sink_drops = other.brief = false;
	}
	r = world_run(s, &other, 0);
	return r.ns / r.messages;
}

static void add_sink(struct world *w, uint64_t *x, double gbps)
{
	world_say(w, "slow memory of the sink");
	w->sink_gbps = gbps;
	w->sink_tells = chance(x, 0.5);
	w->sink_pauses = chance(x, 0.5);
	w->sink_drops = !w->sink_pauses && chance(x, 0.3);
}

/* Causes in the thread, and in what was asked for. NS: a message's time; SLOW: times as long. */
static void add_thread_cause(struct world *w, uint64_t *x, enum made_cause cause, double ns,
			     double slow)
{
	switch (cause) {
	case MADE_SCHEDULE:
		world_say(w, "schedule");
		w->paced_gbps = w->bytes * 8 / ns / slow;
		w->burst = chance(x, 0.5) ? 1 : w->depth / 4 ? w->depth / 4 : 1;
		break;
	case MADE_POST:
		world_say(w, "slow thread");
		w->post_ns += ns * slow;
		break;
	case MADE_SHARE:
		world_say(w, "thread has part of its CPU");
		w->share = 1 / slow;
		break;
	case MADE_RECEIVER:
		world_say(w, "slow receiver");
		w->op = WORLD_SEND;
		w->outs = 0;
		if (chance(x, 0.7))
			w->recv_ns = fmax(ns, w->recv_ns) * slow;
		else
			w->recv_share = 0.8 / slow;
		break;
	case MADE_WINDOW:
		world_say(w, "few in flight");
		w->qps = 1;
		w->depth = 1 + below(x, 2);
		w->delay_ns = fmax(w->delay_ns, ns * slow * w->depth);
		break;
	case MADE_OUTS:
		world_say(w, "few READs or atomics under way");
		w->op = chance(x, 0.3) ? WORLD_ATOMIC : WORLD_READ;
		w->bytes = w->op == WORLD_ATOMIC ? 8 : w->bytes;
		w->outs = 1 + below(x, 2);
		w->delay_ns = fmax(w->delay_ns, ns * slow * w->outs);
		break;
	default:
		break;
	}
}

/* Causes of the machine and on the way. */
static void add_cause(struct sim *s, struct world *w, uint64_t *x, enum made_cause cause)
{
	double slow = ratio_between(x, 1.3, 4), ns = message_ns(s, w, cause != MADE_SCHEDULE);
	double gbps = w->bytes * 8 / ns;

	switch (cause) {
	case MADE_LINK:
		world_say(w, "link");
		w->link_gbps =
			fmin(w->link_gbps,
			     gbps / between(x, 1, 2) *
				     (1 + world_packets(w) * world_packet_header() / w->bytes));
		break;
	case MADE_SOURCE_PCIE:
		world_say(w, "PCIe of the source");
		w->source_pcie_gbps = gbps / slow;
		w->source_gbps = w->source_pcie_gbps * between(x, 0.94, 0.98);
		break;
	case MADE_SINK_PCIE:
		world_say(w, "PCIe of the sink");
		w->sink_pcie_gbps = gbps / slow;
		add_sink(w, x, w->sink_pcie_gbps * between(x, 0.94, 0.98));
		w->sink_drops = false;
		break;
	case MADE_PAUSE:
		world_say(w, "pause by the fabric");
		w->pause_share = 1 - 1 / slow;
		break;
	case MADE_LOSS:
		world_say(w, "lost packets");
		w->selective = chance(x, 0.3);
		/* each costs a round trip of the wire's time, or of its own */
		w->loss = (slow - 1) * ns / world_packets(w) /
			  (w->selective ? ns / world_packets(w) : 2 * w->delay_ns + ns);
		w->loss = fmin(w->loss, 0.05);
		break;
	case MADE_TIMEOUT:
		world_say(w, "ACK timeouts");
		w->timeout_share = 1 - 1 / slow;
		break;
	case MADE_QP:
		world_say(w, "the adapter's limit of a QP");
		w->qps = chance(x, 0.7) ? 1 : w->qps;
		if (chance(x, 0.5))
			w->qp_gbps = gbps / slow / w->qps;
		else
			w->qp_ns = ns * slow * w->qps;
		break;
	case MADE_SINK:
		add_sink(w, x, gbps / slow);
		break;
	default:
		add_thread_cause(w, x, cause, ns, slow);
		break;
	}
	world_settle(s, w);
}

/* What seems to be a cause and is none, or is one of which nothing tells. */
static void add_decoy(struct sim *s, struct world *w, uint64_t *x, enum made_decoy decoy)
{
	double gbps = w->bytes * 8 / message_ns(s, w, true), cap = gbps * between(x, 0.3, 0.95);
	static const char *const words[] = {"others' RNR NAKs",
					    "others' NAKs",
					    "others' timeouts",
					    "pause of another priority",
					    "others' bytes",
					    "others' CNPs",
					    "few counters",
					    "a shaper that nothing tells of",
					    "slow memory of the source that nothing tells of",
					    "slow memory of the sink that nothing tells of"};

	world_say(w, words[decoy]);
	if (decoy == DECOY_RNR)
		w->other_rnr = ratio_between(x, 20, 20000);
	if (decoy == DECOY_NAKS)
		w->other_naks = ratio_between(x, 20, 1e6);
	if (decoy == DECOY_TIMEOUTS)
		w->other_timeouts = ratio_between(x, 2, 2000);
	if (decoy == DECOY_PAUSE)
		w->other_pause = between(x, 0.05, 0.9);
	if (decoy == DECOY_BYTES) {
		w->other_out = between(x, 0.02, 0.5);
		w->other_in = between(x, 0, 0.5);
	}
	if (decoy == DECOY_CNPS)
		w->other_cnps = ratio_between(x, 10, 1e5);
	if (decoy == DECOY_DRIVER)
		w->driver = DRIVER_BYTES + below(x, 3);
	if (decoy == DECOY_SHAPER) {
		w->shaper_gbps = cap;
		w->shaper_spares_lone = chance(x, 0.5);
	}
	if (decoy == DECOY_SOURCE)
		w->source_gbps = cap;
	if (decoy == DECOY_SINK)
		w->sink_gbps = cap;
}

/* Message K of four sizes, with as many as fit the simulation. */
static void set_size(struct world *w, uint64_t *x, unsigned k)
{
	static const double sizes[] = {64, 4096, 65536, 1 << 20};

	w->bytes = sizes[k];
	w->depth = k == 3 ? 8 : 32u << below(x, 2);
	w->qps = chance(x, 0.7) ? 1 : 2;
	w->op = chance(x, 0.6) ? WORLD_WRITE : WORLD_SEND;
	w->brief = chance(x, 0.15);
}

static struct world single_world(struct sim *s, unsigned k)
{
	uint64_t x = 1000 + k;
	struct world w = world_new(x, &x);

	set_size(&w, &x, k / 2 % 4);
	w.driver = k % 2 ? DRIVER_BYTES + below(&x, 3) : DRIVER_FULL;
	add_cause(s, &w, &x, k / 8);
	return w;
}

/* The first half have two causes, the others one and a decoy. */
static struct world mixed_world(struct sim *s, unsigned k)
{
	uint64_t x = 2000 + k;
	struct world w = world_new(x, &x);

	set_size(&w, &x, below(&x, 4));
	w.driver = chance(&x, 0.7) ? DRIVER_FULL : DRIVER_BYTES + below(&x, 3);
	add_cause(s, &w, &x, below(&x, MADE_CAUSES));
	if (k < MIXED_WORLDS / 2)
		add_cause(s, &w, &x, below(&x, MADE_CAUSES));
	else
		add_decoy(s, &w, &x, k % DECOYS);
	world_settle(s, &w);
	return w;
}

/* Sizes and depths of any kind. */
static void any_shape(struct world *w, uint64_t *x)
{
	w->bytes = pow(2, 6 + below(x, 18));
	w->qps = 1u << below(x, 3) * below(x, 2);
	w->depth = chance(x, 0.5) ? w->qps > 1 ? 32 : 128 : 1u << below(x, w->qps > 1 ? 6 : 8);
	if (w->bytes > 1 << 18 && w->depth > 16)
		w->depth = 16;
	w->op = chance(x, 0.1) ? WORLD_ATOMIC : below(x, WORLD_ATOMIC);
	if (w->op == WORLD_ATOMIC)
		w->bytes = 8;
	if (w->op == WORLD_READ || w->op == WORLD_ATOMIC)
		w->outs = chance(x, 0.6) ? 16 : 1u << below(x, 4);
	w->both = chance(x, 0.1);
	w->brief = chance(x, 0.2);
	w->sleeps = chance(x, 0.05);
	w->recv_depth = 32u << below(x, 4);
	w->driver = chance(x, 0.6) ? DRIVER_FULL : DRIVER_BYTES + below(x, 3);
	w->pcie_untold = chance(x, 0.1);
	if (chance(x, 0.3))
		w->ack_timeout_ns = 4096 * pow(2, 8 + below(x, 8));
}

/* WORLDS_FROM=n: other worlds than those that rules may have been fitted to. */
static struct world random_world(struct sim *s, unsigned k)
{
	const char *from = getenv("WORLDS_FROM");
	uint64_t x = (from ? strtoull(from, NULL, 10) : 10000) + k;
	struct world w = world_new(x, &x);
	unsigned causes = below(&x, 3);

	any_shape(&w, &x);
	if (chance(&x, 0.04)) {
		world_say(&w, "loopback inside the adapter");
		w.loopback = true;
		w.delay_ns = 200;
		w.source_gbps *= 2;
		w.sink_gbps *= 2;
	} else if (w.op == WORLD_WRITE && chance(&x, 0.06)) {
		world_say(&w, "completions that do not mean arrival");
		w.early = true;
	}
	if (chance(&x, 0.15)) {
		world_say(&w, "the adapter's message rate");
		w.nic_ns = ratio_between(&x, 20, 300);
	}
	for (unsigned i = 0; i < causes; i++)
		add_cause(s, &w, &x, below(&x, MADE_CAUSES));
	if (chance(&x, 0.05)) {
		world_say(&w, "congestion");
		w.cnp_gbps = w.link_gbps * between(&x, 0.2, 0.9);
	}
	for (int decoy = 0; decoy < DECOYS; decoy++)
		if (chance(&x, 0.1))
			add_decoy(s, &w, &x, (enum made_decoy)decoy);
	if (w.loopback) {
		w.loss = w.timeout_share = w.pause_share = w.shaper_gbps = w.cnp_gbps = 0;
		w.sink_pauses = w.sink_drops = false;
	}
	world_settle(s, &w);
	return w;
}

#endif
