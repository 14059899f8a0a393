/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * worlds: made machines, on which "limited by" is tried. A world says how fast each part of one
 * direction of a bandwidth run is, what disturbs it, and what its driver counts. Nothing here knows
 * how a run is explained: worlds_run.h simulates it, worlds_truth.h finds what holds it back by
 * taking one cause away, and worlds_facts.h fills in what rdmark would have measured.
 */
#ifndef RDMARK_TESTS_UNIT_WORLDS_H
#define RDMARK_TESTS_UNIT_WORLDS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw.h"

enum world_op {
	WORLD_WRITE,
	WORLD_SEND,
	WORLD_READ,
	WORLD_ATOMIC
};

/* What a driver counts. */
enum world_driver {
	DRIVER_FULL,  /* as mlx5 */
	DRIVER_BYTES, /* what its ports sent and received, and no more */
	DRIVER_RXE,   /* restarts, no bytes */
	DRIVER_NONE
};

/* A rate of 0 is no limit; a share of 0 is none. */
struct world {
	uint64_t seed;
	char words[320];
	enum world_op op;
	enum world_driver driver;
	double bytes, mtu;
	unsigned depth, qps, outs; /* outs: the adapter's limit of READs and atomics; 0: none */
	double paced_gbps;
	unsigned burst;
	bool both;     /* the other direction runs, too: its receives cost the same thread */
	bool loopback; /* inside the adapter: no wire */
	bool early;    /* a completion tells of the adapter's memory, not of arrival: UC */
	bool brief;    /* some thousand messages from the first post on, not seconds */
	bool sleeps;   /* -e: its thread does not spin */
	/* its thread: a message, a completion; the part of its CPU that it gets, in turns */
	double post_ns, reap_ns, share, slice_ns;
	/* the adapter: each message of a QP, a QP's rate; of all QPs, which nothing tells */
	double qp_ns, qp_gbps, nic_ns;
	/* where the data come from: what PCIe says of itself, and what really comes */
	double source_pcie_gbps, source_gbps;
	bool pcie_untold;           /* a virtual machine */
	double link_gbps, delay_ns; /* one way */
	double shaper_gbps;         /* on the way, or in a cloud; nothing tells of it */
	bool shaper_spares_lone;    /* it lets a lone message pass */
	double cnp_gbps;            /* the same by congestion, which CNPs tell of */
	/* where they go to: as above; the NIC can tell that it stalls, can pause the link, or drop
	 */
	double sink_pcie_gbps, sink_gbps, sink_buffer_ns;
	bool sink_tells, sink_pauses, sink_drops;
	/* the receiver's thread, of SENDs */
	double recv_ns, recv_share, recv_slice_ns;
	unsigned recv_depth;
	/* what is lost: of packets, answered by a NAK; the part of time in timeouts */
	double loss, timeout_share, ack_timeout_ns;
	double timeout_p, timeout_sim_ns;   /* of a message; compressed: worlds_run.h */
	bool selective;                     /* only what is missing is sent again */
	double pause_share, pause_slice_ns; /* by the fabric, of this priority */
	/* other programs on both ports: the part of the link that they send and receive; per s */
	double other_out, other_in, other_rnr, other_naks, other_timeouts, other_cnps;
	double other_pause; /* of another priority */
	double seconds;     /* that the run takes, unless brief */
};

/* What a run gave, after its start. */
struct world_run {
	double ns, messages, full_ns, scheduled_ns, on_cpu_ns, recv_busy_ns;
	double fabric_paused_ns, sink_paused_ns;
	double packets, resent, naks, timeouts, rnr, discards, wire_ns;
};

#define WORLD_LONE_UNITS 32

static double even(uint64_t *x)
{
	return (double)(draw(x) >> 11) / 9007199254740992.;
}

static double between(uint64_t *x, double from, double to)
{
	return from + (to - from) * even(x);
}

/* The same, each factor as likely as any other. */
static double ratio_between(uint64_t *x, double from, double to)
{
	return from * exp(even(x) * log(to / from));
}

static bool chance(uint64_t *x, double p)
{
	return even(x) < p;
}

static unsigned below(uint64_t *x, unsigned n)
{
	return (unsigned)(draw(x) % n);
}

static double world_packets(const struct world *w)
{
	return fmax(1, ceil(w->bytes / w->mtu));
}

/* RoCE v2 over IPv4: on the wire around each packet, and once more in each message. */
static double world_packet_header(void)
{
	return 82;
}

static double world_message_header(const struct world *w)
{
	return w->op == WORLD_ATOMIC ? 20 : w->op == WORLD_SEND ? 0 : 16;
}

/* When work of NS begun at T is done by who has SHARE of each turn of SLICE. */
static double sim_after(double t, double ns, double share, double slice)
{
	double pos, on = slice * share;

	if (share >= 1 || slice <= 0)
		return t + ns;
	pos = fmod(t, slice);
	if (pos >= on) {
		t += slice - pos;
		pos = 0;
	}
	while (ns > on - pos) {
		ns -= on - pos;
		t += slice - pos;
		pos = 0;
	}
	return t + ns;
}

/* The part of [0, T] in its turns. */
static double sim_on(double t, double share, double slice)
{
	if (share >= 1 || slice <= 0)
		return t;
	return floor(t / slice) * slice * share + fmin(fmod(t, slice), slice * share);
}

/* Add to W's words. */
static void world_say(struct world *w, const char *words)
{
	size_t at = strlen(w->words);

	snprintf(w->words + at, sizeof(w->words) - at, "%s%s", at ? ", " : "", words);
}

/* A healthy machine that the link limits, if messages are large. */
static struct world world_new(uint64_t seed, uint64_t *x)
{
	static const double links[] = {25, 100, 200, 400};
	double link = links[below(x, 4)];

	return (struct world){
		.seed = seed,
		.bytes = 65536,
		.mtu = chance(x, 0.5) ? 4096 : 1024,
		.depth = 64,
		.qps = 1,
		.burst = 1,
		.post_ns = between(x, 40, 90),
		.reap_ns = between(x, 10, 40),
		.share = 1,
		.recv_share = 1,
		.source_pcie_gbps = link * 1.6,
		.source_gbps = link * 1.53,
		.sink_pcie_gbps = link * 1.6,
		.sink_gbps = link * 1.53,
		.sink_buffer_ns = 4000,
		.link_gbps = link,
		.delay_ns = ratio_between(x, 400, 3000),
		.recv_ns = between(x, 20, 40),
		.recv_depth = 128,
		.ack_timeout_ns = 4096 * 16384.,
		.seconds = chance(x, 0.5) ? 1 : 5,
	};
}

#endif
