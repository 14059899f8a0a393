/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* test: the description of a program. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "cli/experiment.h"
#include "plan/operation.h"

struct measure;
struct round;

/*
 * A program's loop: it runs R and stores the results there. Returns 0, or -1 with the fault raised.
 */
typedef int round_loop(struct round *r);

/* Common defaults of all programs; the same as perftest's if it has the option. */
#define EXPERIMENT_DEFAULTS                                                                       \
	.qps = 1, .threads = 1, .rx_depth = EXPERIMENT_AUTO, .post_list = 1,                      \
	.cq_mod = EXPERIMENT_AUTO, .mtu_bytes = EXPERIMENT_AUTO, .inline_bytes = EXPERIMENT_AUTO, \
	.qp_timeout = 14, .recv_post_list = EXPERIMENT_AUTO, .hop_limit = 255, .retry_count = 7,  \
	.warmup = EXPERIMENT_AUTO, .rate_units = RATE_GBPS, .burst = EXPERIMENT_AUTO,             \
	.outs = EXPERIMENT_AUTO

struct test {
	const char *name;    /* "send_bw"; both ends must run the same */
	const char *summary; /* one line for --help */
	const char *title;   /* perftest's name for it */
	struct experiment defaults;
	struct operation operation;
	bool latency; /* a latency test: the result is single round trips, on one QP */
	/*
	 * It sends no messages: it times calls of this host (TRAIT_REGISTERS: without a peer), has
	 * the options whose rows say so, and a schedule of its own. 0: it sends messages.
	 */
	unsigned calls;
	unsigned inline_wanted; /* default of --inline_size, in bytes */
	/*
	 * The loops: they run the round and store the results in it. The client leads, unless the
	 * round is reversed. Without a follow loop the other end only waits until the leader is
	 * done.
	 */
	round_loop *lead, *follow;
	/*
	 * The loops with --write_with_imm, and for a latency test if either end's memory is a
	 * GPU's, which no CPU can poll: messages consume receives. NULL: the same loops.
	 */
	round_loop *lead_immediate, *follow_immediate;
	/*
	 * A program with several kinds of rounds (gdr_bw) has a schedule of its own, which the
	 * client runs in place of one round for each size, and data of its own at both ends: OPEN
	 * creates them after QPs and memory exist, CLOSE (or NULL) is called before those are
	 * released, and TASK runs at the server what is not a round; see measure/measure.h.
	 */
	unsigned kinds; /* its kinds of round are 1 … kinds; only the last one has a follow loop */
	int (*open)(struct measure *m, void **own);
	void (*close)(void *own);
	int (*schedule)(struct measure *m);
	int (*task)(struct measure *m, const json_t *what, json_t *result);
};

/* True if all its messages consume receives of the end to which they go: SENDs. */
static inline bool test_receives(const struct test *t)
{
	return !t->calls && !t->operation.peer_allows;
}
