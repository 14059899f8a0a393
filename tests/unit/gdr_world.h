/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * gdr_world: made-up worlds for gdr_bw's judgement. A world makes the rate of each cell in each
 * turn, and the judgement sees nothing else. Shares of PASS, WARN, FAIL and "cannot tell" are
 * printed; what is wrong has a bar. Include it after <cmocka.h>.
 */
#pragma once

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../gdr_bw/ratio.h"

#define RUNS  300
#define FIRST 7  /* windows of a cell before the first look */
#define MOST  60 /* room for windows of a cell */
#define LINE  380.0

/* splitmix64: the same numbers everywhere. */
static double draw(uint64_t *seed)
{
	uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return ((double)((z ^ z >> 31) >> 11) + 0.5) / 9007199254740992.0;
}

static double gauss(uint64_t *seed)
{
	double radius = sqrt(-2 * log(draw(seed)));

	return radius * cos(2 * M_PI * draw(seed));
}

/* Student's t with three degrees of freedom, of variance one. */
static double heavy(uint64_t *seed)
{
	double squares = 0, z = gauss(seed);

	for (int i = 0; i < 3; i++)
		squares += pow(gauss(seed), 2);
	return z / sqrt(squares);
}

struct world {
	const char *what;
	double gpu;   /* true rate of GPU memory, as a share of host memory's */
	double noise; /* of a window of its own; by shape: */
	enum {
		GAUSS,
		HEAVY,
		EXPONENTIAL
	} shape;
	double lasting; /* correlation of that with the cell's window before */
	double common;  /* noise that all cells of a turn share, and its correlation */
	double common_lasting;
	double rare,
		slow; /* this share of the windows, of each cell alone, is at SLOW of its rate */
	double shared, half;   /* this share of the turns is at HALF of it in every cell */
	double dwell;          /* turns that such a state lasts in the mean; 0: one */
	double own, own_rate;  /* the same of GPU cells' windows alone */
	double cost;           /* the first window of a turn loses this share */
	bool turning_costs;    /* and one in another direction than the one before */
	bool nothing_expected; /* of host memory */
	double walk;           /* all cells: steps of a random walk from turn to turn */
	double drift, period;  /* all cells: so much more after 56 turns; as a wave of so many */
	double early, early_turns; /* all cells are at this in the first turns, and rise to 1 */
	double host_early;         /* host memory alone, for as many */
	double fallen; /* GPU memory alone: at this share, once it fell; 0: it never does */
	unsigned fall_at, back_at; /* from this turn on; and until this one, if not 0 */
	double sunk;               /* GPU memory alone: at this share at turn 56, in a line */
	bool one_cell;             /* only the first GPU cell falls or sinks */
	double pass, warn, fail;   /* bars: at most so much, in percent */
	double right; /* at least so much PASS where gpu is 1, of WARN and FAIL where it is not */
};

struct ground {
	struct gdr_result result[GDR_CELLS_MAX];
	double gbps[GDR_CELLS_MAX][MOST], scratch[(2 + GDR_CELLS_MAX) * MOST],
		before[GDR_CELLS_MAX];
	double together, walked;
	bool in_state;
	struct ratio_attr attr;
	struct ratios all;
	uint64_t seed;
};

static double noise_of(const struct world *w, struct ground *g, unsigned cell)
{
	double fresh = w->shape == HEAVY         ? heavy(&g->seed)
		       : w->shape == EXPONENTIAL ? log(draw(&g->seed))
						 : gauss(&g->seed);

	g->before[cell] = w->lasting * g->before[cell] + sqrt(1 - w->lasting * w->lasting) * fresh;
	return w->noise * g->before[cell];
}

/* What all cells of the next turn have in common: a factor. */
static double turn_factor(const struct world *w, struct ground *g)
{
	double leave = w->dwell > 1 ? 1 / w->dwell : 1;

	g->together = w->common_lasting * g->together +
		      sqrt(1 - w->common_lasting * w->common_lasting) * gauss(&g->seed);
	if (draw(&g->seed) < leave)
		g->in_state = draw(&g->seed) < w->shared;
	if (w->walk > 0)
		g->walked += w->walk * gauss(&g->seed);
	return (1 + w->common * g->together) * (g->in_state ? w->half : 1) * exp(g->walked);
}

/* What comes with time, in turn T: of all cells, of host memory alone, or of GPU memory alone. */
static double course_of(const struct world *w, const struct ground *g, unsigned cell, unsigned t)
{
	const struct gdr_result *r = &g->result[cell];
	bool gpu = gdr_cell_is_direct(&r->cell) && (!w->one_cell || cell == 1);
	double way = w->period > 0 ? sin(2 * M_PI * t / w->period) : t / 56.0;
	double factor = 1 + w->drift * way, left = fmax(1 - t / fmax(w->early_turns, 1), 0);

	factor *= w->early > 0 ? 1 - (1 - w->early) * left : 1;
	factor *= w->host_early > 0 && r == r->host ? 1 - (1 - w->host_early) * left : 1;
	factor *= w->sunk > 0 && gpu ? fmax(1 - (1 - w->sunk) * t / 56.0, w->sunk) : 1;
	if (gpu && w->fallen > 0 && t >= w->fall_at && (!w->back_at || t < w->back_at))
		factor *= w->fallen;
	return factor;
}

static double window(const struct world *w, struct ground *g, unsigned cell, double turn)
{
	bool gpu = gdr_cell_is_direct(&g->result[cell].cell);
	double rate = LINE * turn * (gpu ? w->gpu : 1) * (1 + noise_of(w, g, cell));

	if (draw(&g->seed) < w->rare)
		rate *= w->slow;
	if (draw(&g->seed) < w->own && gpu)
		rate *= w->own_rate;
	return fmax(rate, 0.01 * LINE);
}

/* A window loses if it is the first of a turn, or goes in another direction than the one before. */
static void one_turn(const struct world *w, struct ground *g, unsigned turn, bool all)
{
	unsigned order[GDR_CELLS_MAX], needed[GDR_CELLS_MAX], n = 0;
	double factor = turn_factor(w, g);

	for (unsigned i = 0; i < g->attr.results; i++) {
		g->result[i].turns = turn + 1;
		g->gbps[i][turn] = 0;
		if (all || ratio_is_open(&g->all, &g->result[i]))
			needed[n++] = i;
	}
	gdr_turn_order(order, n, turn);
	for (unsigned i = 0; i < n; i++) {
		struct gdr_result *r = &g->result[needed[order[i]]];
		bool turned = i && r->cell.reverse != g->result[needed[order[i - 1]]].cell.reverse;
		double lost = !i || (turned && w->turning_costs) ? w->cost : 0;

		r->gbps[turn] = window(w, g, needed[order[i]], factor) * (1 - lost) *
				course_of(w, g, needed[order[i]], turn);
		r->windows++;
	}
}

/* GPUs at both ends, or only at the client's: what is judged is six cells of ten, or two of six. */
static void one_run(const struct world *w, struct ground *g, bool both)
{
	unsigned next, turn = 0;

	memset(g->before, 0, sizeof(g->before));
	g->together = g->walked = 0;
	g->in_state = draw(&g->seed) < w->shared;
	g->attr = (struct ratio_attr){
		.result = g->result, .within = 0.05, .first = FIRST, .scratch = g->scratch};
	g->attr.results = gdr_results(g->result, (const bool[]){true, both}, true);
	for (unsigned i = 0; i < g->attr.results; i++) {
		g->result[i].gbps = g->gbps[i];
		g->result[i].expected_gbps = w->nothing_expected ? 0 : 0.95 * LINE;
		g->result[i].expected_from = "line rate";
		for (unsigned j = 0; j < 30; j++)
			noise_of(w, g, i); /* until it has forgotten where it began */
	}
	for (next = FIRST; next; next = ratio_next_look(&g->attr, turn)) {
		bool all = turn == 0;

		while (turn < next)
			one_turn(w, g, turn++, all);
		ratio_evaluate(&g->all, &g->attr);
		if (!ratio_is_open(&g->all, NULL))
			break;
	}
}

static void check(const struct world *w)
{
	struct ground *g = calloc(1, sizeof(*g));
	double share[4] = {0}, right, rounding = 1e-6;
	unsigned windows = 0;

	assert_non_null(g);
	for (unsigned i = 0; i < RUNS; i++) {
		g->seed = UINT64_C(1000003) * i + 17;
		one_run(w, g, i % 2);
		share[g->all.best || g->all.best == g->all.worst ? g->all.best : 3] += 100.0 / RUNS;
		windows += g->result[0].turns;
	}
	free(g);
	printf("# %-58s %6.1f %6.1f %6.1f %6.1f %6.1f\n", w->what, share[0], share[1], share[2],
	       share[3], (double)windows / RUNS);
	right = w->gpu < 1 || w->own > 0 ? share[1] + share[2] : share[0];
	if (share[0] > w->pass + rounding || share[1] > w->warn + rounding ||
	    share[2] > w->fail + rounding || right < w->right - rounding)
		fail_msg("%s", w->what);
}

static inline void check_all(const char *what, const struct world *w, size_t count)
{
	printf("# %-58s %6s %6s %6s %6s %6s\n", what, "PASS", "WARN", "FAIL", "?", "turns");
	for (size_t i = 0; i < count; i++)
		check(&w[i]);
}

#define HEALTHY .gpu = 1, .pass = 100, .warn = 2, .fail = 2
#define SLOWER  .pass = 1, .warn = 100, .fail = 100
