/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eval: which levels of the verdict (PASS, WARN, FAIL) the windows of all cells allow. For each GPU
 * cell by the default route, at the largest size, it compares three rates: GPU memory with host
 * memory in the same turns, host memory with the rate expected here, and GPU memory with the rate
 * expected for it. It also checks whether the windows fall into two groups. A question is answered
 * only if the whole confidence interval (windows.h) is on one side; otherwise it stays open.
 *
 * Pure functions; they allocate nothing.
 */
#pragma once

#include "cell.h"
#include "windows.h"

#define EVAL_WARN_RATIO 0.80 /* of host memory's rate: what paths PHB and NODE reach today */
#define EVAL_LOW        0.10 /* a rate may be below the expected one by this fraction */
#define EVAL_CELLS_MAX  6    /* by one route: three in each direction */

/* Ordered from good to bad; enum verdict_level continues it. */
enum eval_level {
	EVAL_PASS,
	EVAL_WARN,
	EVAL_FAIL
};

/* The question that decides a cell, or keeps it open. */
enum eval_why {
	EVAL_RATIO, /* GPU memory compared with host memory */
	EVAL_HOST,  /* host memory compared with the expected rate */
	EVAL_GPU,   /* GPU memory compared with the expected rate */
	EVAL_GROUPS /* the windows fall into two groups */
};

/* The rate of one result, over all of its windows. */
struct eval_rate {
	struct windows_range gbps;
	double expected_gbps; /* 0: not known */
	const char *expected_from;
	enum windows_groups groups;
	struct modes modes; /* of two groups; otherwise unset */
};

struct eval_cell {
	const struct gdr_result *result;
	struct windows_range ratio; /* GPU memory / host memory */
	struct eval_rate gpu, host;
	enum eval_level best, worst; /* the range of possible levels; if equal, decided */
	enum eval_why why;
};

struct eval {
	struct eval_cell cell[EVAL_CELLS_MAX];
	unsigned cells;
	enum eval_level best, worst;
	const struct eval_cell *deciding; /* decides the verdict or keeps it open; NULL: none */
};

struct eval_attr {
	const struct gdr_result *result;
	unsigned results;
	unsigned has[2]; /* the kinds of memory at both ends, as for gdr_cells() */
	double within;   /* fraction */
	struct windows_plan plan;
	double *scratch; /* room for three windows per turn; lent */
};

/* How many cells are judged, including the host cells for comparison; 0: none. */
unsigned eval_cells(const struct eval_attr *a);

/*
 * The most windows that a cell may have if the user gives no number and every cell first gets FIRST
 * windows. All extra windows together take at most five times as long as the first ones, and no
 * cell gets more than twenty times FIRST.
 */
unsigned eval_most_windows(const struct eval_attr *a, unsigned first);

/* Set A's plan: FIRST windows for each judged cell, and at most MOST. */
void eval_plan(struct eval_attr *a, unsigned first, unsigned most);

/* Fill E with the judged cells of A's results, their levels, and the cell that decides. */
void eval_results(struct eval *e, const struct eval_attr *a);

/* True if more windows of R, a GPU or a host cell, may decide an open level. */
bool eval_needs_more(const struct eval *e, const struct gdr_result *r);

/* Set best, worst and why of C from its ratio and rates. WITHIN: as in struct eval_attr. */
void eval_set_levels(struct eval_cell *c, double within);

/* The fraction by which a rate may be below the expected one. */
double eval_tolerance(double within);
