/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * script - SIMVERBS_SCRIPT: null mode with scripted time
 *
 * The program's rdtsc and its CLOCK_MONOTONIC_RAW read a clock that only the script advances: by
 * the cost of each post, each poll of a CQ, each completion and each read of the clock, and by the
 * delays of hold=. So the program's results do not depend on the machine.
 *
 * script.c parses the words, script_clock.c is the clock, null_scripted.c the adapter. All times
 * are in picoseconds. The thread that posts or polls advances the clock; others can read it at any
 * time.
 */
#ifndef SIMVERBS_SCRIPT_H
#define SIMVERBS_SCRIPT_H

#include <stdbool.h>
#include <stdint.h>

enum {
	SCRIPT_ITEMS = 16, /* in a list */
	SCRIPT_HOLDS = 8,
	SCRIPT_STEPS = 4,
};

/* Values used in order, each `count` times; then again from the start. */
struct script_list {
	struct {
		uint64_t ps, count;
		double noise;   /* standard deviation, of 1 */
		uint64_t alike; /* this many in a row have the same noise */
	} item[SCRIPT_ITEMS];
	unsigned items;
	/* position */
	unsigned at;
	uint64_t used, drawn;
	double factor;
};

/* Where the thread is delayed. */
enum script_place {
	SCRIPT_BEFORE, /* before a poll of the CQ */
	SCRIPT_AFTER,
	SCRIPT_CLOCK, /* before reading the clock */
};

struct script {
	struct script_list gap, recv, rtt; /* rtt, recv: empty if not scripted */
	uint64_t latency, post, poll, completion, clock;
	struct script_hold {
		enum script_place place;
		uint64_t ps, every, next;
	} hold[SCRIPT_HOLDS];
	unsigned holds;
	struct {
		uint64_t at;
		int64_t ps;
	} step[SCRIPT_STEPS]; /* jumps of the TSC */
	unsigned steps;
	uint64_t seed;
	unsigned short random[3];
};

/* The script, or NULL. */
struct script *script_get(void);

/* The next value of a non-empty list. */
uint64_t script_draw(struct script_list *list);

/* Parse WORDS into a zeroed S. Returns NULL, or the reason for a failure. */
const char *script_parse(struct script *s, const char *words);

/* The clock. Only the thread that posts or polls calls the last three. */
uint64_t script_now(void);
void script_mine(void); /* set the calling thread as that thread */
void script_spend(uint64_t ps);
void script_hold(enum script_place place);

/* null_scripted.c: replaces the functions of null.c */
struct ibv_context_ops;
struct sim_cq;
struct sim_qp;
void null_scripted_ops(struct ibv_context_ops *ops);
void null_scripted_cq_hooks(struct sim_cq *cq);
void null_scripted_qp_hooks(struct sim_qp *qp);

#endif
