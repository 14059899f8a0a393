/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eval: which levels of the verdict (PASS, WARN, FAIL) the windows of all cells allow.
 *
 * For each GPU cell by the default route, at the largest size, it compares GPU memory with host
 * memory in the same turns, and host memory with the rate that is expected here. A question is
 * answered only if the whole interval is on one side of its limit; otherwise it stays open, and
 * more windows may close it. All cells and all looks together are wrong in at most 5 %: each
 * interval has an equal part of that (Boole), so its own level is higher. Windows that resemble the
 * ones before them count for less; how much is estimated from all cells together, since one cell
 * has too few windows. Where one or two windows make the difference, there is no interval
 * (stat/interval.h).
 *
 * The windows of a cell may fall into two groups. Where host memory does in the same turns, or as
 * often in others, that is no matter of the GPU.
 *
 * Pure functions; they allocate nothing.
 */
#pragma once

#include "cell.h"
#include "stat/modes.h"

#define EVAL_WARN_RATIO 0.80 /* of host memory's rate: what paths PHB and NODE reach today */
#define EVAL_LOW        0.10 /* a rate may be below the expected one by this fraction */
#define EVAL_MORE       7 /* times the first windows, if the user gives no number of extra ones */
#define EVAL_CELLS_MAX  6 /* by one route: three in each direction */

/* Ordered from good to bad; a cell has one of the first three. */
enum verdict_level {
	VERDICT_PASS,
	VERDICT_WARN,
	VERDICT_FAIL,
	VERDICT_INCONCLUSIVE, /* the windows allow more than one of these */
	VERDICT_NONE          /* nothing to judge */
};

/* The question that decides a cell, or keeps it open. */
enum eval_why {
	EVAL_RATIO,       /* GPU memory compared with host memory */
	EVAL_HOST,        /* host memory compared with the expected rate */
	EVAL_HOST_GROUPS, /* its windows fall into two groups; only the higher is as fast as that */
	EVAL_GROUPS       /* the GPU's windows fall into two groups of their own */
};

/* A mean and its interval; from 0 to INFINITY if there is none. */
struct eval_range {
	double mean, low, high;
	unsigned count; /* windows */
};

struct eval_cell {
	const struct gdr_result *result;
	struct eval_range ratio; /* GPU memory / host memory */
	struct eval_range host;  /* in Gb/s */
	double gpu_gbps;
	struct modes gpu_groups, host_groups; /* high 0: there are none */
	bool host_low;                        /* host memory is below the expected rate */
	enum verdict_level best, worst;       /* the range of possible levels; if equal, decided */
	enum eval_why why;
};

struct eval {
	struct eval_cell cell[EVAL_CELLS_MAX];
	unsigned cells;
	enum verdict_level best, worst;
	const struct eval_cell *deciding; /* decides the verdict or keeps it open; NULL: none */
	double confidence;                /* level of each interval, in percent */
};

struct eval_attr {
	const struct gdr_result *result; /* the largest size is the last one */
	unsigned results;
	double within;        /* fraction */
	unsigned first, most; /* windows: at the first look, and at the last one */
	double *scratch;      /* room for 2 + results windows per turn; lent */
};

/* How many cells are judged, including the host cells for comparison; 0: none. */
unsigned eval_cells(const struct eval_attr *a);

/* The number of windows at the look after the one with DONE: half as many more. 0: none. */
unsigned eval_next(const struct eval_attr *a, unsigned done);

/* Fill E with the judged cells of A's results, their levels, and the cell that decides. */
void eval_results(struct eval *e, const struct eval_attr *a);

/* True if more windows of R, a GPU or a host cell, may decide an open level. */
bool eval_needs_more(const struct eval *e, const struct gdr_result *r);
