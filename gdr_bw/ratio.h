/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ratio: GPU memory's rate as a fraction of host memory's, in the same turns, with one interval,
 * and which levels of the verdict (PASS, WARN, FAIL) that allows.
 *
 * The windows are looked at a few times, each time when they have doubled. A cell is decided if its
 * whole interval is on one side of each limit; otherwise it stays open, and more windows may close
 * it. All cells and all looks together are wrong in at most 5 %: each interval has an equal part of
 * that (Boole), so its own level is higher. Windows that resemble the ones before them count for
 * less; how much is estimated from all cells together, since one cell has too few windows. Where
 * one or two windows make the difference, there is no interval (stat/interval.h).
 *
 * A ratio that falls, by a step or along a line, has no mean that says much: the GPU is slower from
 * some window on, while host memory is not. That is a WARN of its own.
 *
 * Pure functions; they allocate nothing.
 */
#pragma once

#include "cell.h"

#define RATIO_WARN     0.80 /* of host memory's rate: what paths PHB and NODE reach today */
#define RATIO_HOST_LOW 0.10 /* host memory may be below the expected rate by this fraction */
#define RATIO_LOOKS    4

/* Ordered from good to bad; a cell has one of the first three. */
enum verdict_level {
	VERDICT_PASS,
	VERDICT_WARN,
	VERDICT_FAIL,
	VERDICT_INCONCLUSIVE, /* the windows allow PASS and something worse */
	VERDICT_NONE          /* nothing to judge */
};

/* A mean and its interval; from 0 to INFINITY if there is none. */
struct range {
	double mean, low, high;
	unsigned count; /* windows */
};

struct ratio {
	const struct gdr_result *result;
	struct range of_host; /* GPU memory / host memory */
	struct range host;    /* in Gb/s */
	double gpu_gbps;
	unsigned fell_from;             /* the first window after the fall, from 1 on; 0: none */
	double fell_to;                 /* the ratio since then, or at the end of the line */
	bool sank;                      /* along a line, not by a step */
	enum verdict_level best, worst; /* the range of possible levels */
	bool by_host, host_low; /* decided, or kept open, by host memory; that is too slow */
};

struct ratios {
	struct ratio cell[GDR_CELLS_MAX];
	unsigned cells;
	enum verdict_level best, worst;
	const struct ratio *deciding; /* decides the verdict or keeps it open; NULL: none */
	double confidence;            /* level of each interval, in percent */
};

struct ratio_attr {
	const struct gdr_result *result;
	unsigned results;
	double within;   /* fraction */
	unsigned first;  /* windows at the first look */
	double *scratch; /* room for 2 + results windows per turn; lent */
};

/* The number of windows at the look after the one with DONE of them; 0: none. */
unsigned ratio_next_look(const struct ratio_attr *a, unsigned done);

/* True if more windows of R, a GPU or a host cell, may decide an open level; NULL: of any cell. */
bool ratio_is_open(const struct ratios *all, const struct gdr_result *r);

/* Fill ALL with the GPU cells of A's results, their levels, and the cell that decides. */
void ratio_evaluate(struct ratios *all, const struct ratio_attr *a);
