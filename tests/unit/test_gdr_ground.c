// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * gdr_ground: how often gdr_bw's judgement is wrong, in worlds that it was not fitted to: heavy and
 * one-sided tails, noise that lasts, rare slow windows, hosts in two modes, and a first window of a
 * turn that costs more. A world makes the rate of each cell in each turn, and the judgement sees
 * nothing else. Shares of PASS, WARN, FAIL and "cannot tell" are printed; what is wrong has a bar.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../gdr_bw/eval.h"

#define RUNS  150
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
	double shared, half;     /* this share of the turns is at HALF of it in every cell */
	double dwell;            /* turns that such a state lasts in the mean; 0: one */
	double own, own_rate;    /* the same of GPU cells' windows alone */
	double cost;             /* the first window of a turn loses this share */
	bool turning_costs;      /* and one in another direction than the one before */
	bool nothing_expected;   /* of host memory */
	double pass, warn, fail; /* bars: at most so much, in percent */
	double right; /* at least so much PASS where gpu is 1, of WARN and FAIL where it is not */
};

struct ground {
	struct gdr_result result[GDR_CELLS_MAX];
	double gbps[GDR_CELLS_MAX][MOST], scratch[(2 + GDR_CELLS_MAX) * MOST],
		before[GDR_CELLS_MAX];
	double together;
	bool in_state;
	struct eval_attr attr;
	struct eval eval;
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
	return (1 + w->common * g->together) * (g->in_state ? w->half : 1);
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
		if (all || eval_needs_more(&g->eval, &g->result[i]))
			needed[n++] = i;
	}
	gdr_turn_order(order, n, turn);
	for (unsigned i = 0; i < n; i++) {
		struct gdr_result *r = &g->result[needed[order[i]]];
		bool turned = i && r->cell.reverse != g->result[needed[order[i - 1]]].cell.reverse;
		double lost = !i || (turned && w->turning_costs) ? w->cost : 0;

		r->gbps[turn] = window(w, g, needed[order[i]], factor) * (1 - lost);
		r->windows++;
	}
}

/* GPUs at both ends, or only at the client's: what is judged is six cells of twelve, or two of
 * eight. */
static void one_run(const struct world *w, struct ground *g, bool both)
{
	unsigned gpu = 1u << GDR_HOST | 1u << GDR_DMABUF | 1u << GDR_COPIED, next, turn = 0;
	const unsigned has[2] = {gpu, both ? gpu : 1u << GDR_HOST};

	memset(g->before, 0, sizeof(g->before));
	g->together = 0;
	g->in_state = draw(&g->seed) < w->shared;
	g->attr = (struct eval_attr){.result = g->result,
				     .within = 0.05,
				     .first = FIRST,
				     .most = (1 + EVAL_MORE) * FIRST,
				     .scratch = g->scratch};
	g->attr.results = gdr_results(g->result, has, 65536, 1 << 20);
	for (unsigned i = 0; i < g->attr.results; i++) {
		g->result[i].gbps = g->gbps[i];
		g->result[i].expected_gbps = w->nothing_expected ? 0 : 0.95 * LINE;
		g->result[i].expected_from = "line rate";
		for (unsigned j = 0; j < 30; j++)
			noise_of(w, g, i); /* until it has forgotten where it began */
	}
	for (next = FIRST; next; next = eval_next(&g->attr, turn)) {
		bool all = turn == 0;

		while (turn < next)
			one_turn(w, g, turn++, all);
		eval_results(&g->eval, &g->attr);
		if (g->eval.best == g->eval.worst)
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
		share[g->eval.best == g->eval.worst ? g->eval.best : 3] += 100.0 / RUNS;
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

static void check_all(const char *what, const struct world *w, size_t count)
{
	printf("# %-58s %6s %6s %6s %6s %6s\n", what, "PASS", "WARN", "FAIL", "?", "turns");
	for (size_t i = 0; i < count; i++)
		check(&w[i]);
}

/* clang-format off */
#define HEALTHY .gpu = 1, .pass = 100, .warn = 2, .fail = 2
static const struct world healthy[] = {
	{"alike, 1 %", HEALTHY, .noise = .01, .right = 98},
	{"alike, 2 %", HEALTHY, .noise = .02, .right = 95},
	{"alike, 5 %", HEALTHY, .noise = .05, .right = 50},
	{"alike, 10 %", HEALTHY, .noise = .10},
	{"every window loses, exponential, 5 %", HEALTHY, .noise = .05, .shape = EXPONENTIAL},
	{"5 % of windows dip by 30 %", HEALTHY, .noise = .01, .rare = .05, .slow = .7, .right = 30},
	{"t with 3 degrees of freedom, 3 %", HEALTHY, .noise = .03, .shape = HEAVY, .right = 70},
	{"t with 3 degrees of freedom, 8 %", HEALTHY, .noise = .08, .shape = HEAVY},
	{"lasting, 0.8, 2 %", HEALTHY, .noise = .02, .lasting = .8, .right = 20},
	{"lasting, 0.8, 5 %", HEALTHY, .noise = .05, .lasting = .8},
	{"lasting, 0.8, 10 %", HEALTHY, .noise = .10, .lasting = .8},
	{"lasting, 0.8, 15 % in common, 1 % alone", HEALTHY, .noise = .01, .common = .15, .common_lasting = .8},
	{"5 % of windows at half, of each cell alone", HEALTHY, .noise = .01, .rare = .05, .slow = .5},
	{"5 % of windows at a fifth, of each cell alone", HEALTHY, .noise = .02, .rare = .05, .slow = .2},
	{"5 % of turns at half, all cells", HEALTHY, .noise = .01, .shared = .05, .half = .5, .right = 50},
	{"host in two modes: 30 % of turns at 0.7", HEALTHY, .noise = .01, .shared = .3, .half = .7},
	{"host in two modes: 50 % of turns at 0.6", HEALTHY, .nothing_expected = true, .noise = .02, .shared = .5, .half = .6},
	{"host in two modes: 50 % of turns at 0.75", HEALTHY, .noise = .02, .shared = .5, .half = .75},
	{"host in two modes: 30 % at 0.7, for 4 turns", HEALTHY, .nothing_expected = true, .noise = .01, .shared = .3, .half = .7, .dwell = 4},
	{"host in two modes: 40 % at 0.5, for 20 turns", HEALTHY, .nothing_expected = true, .noise = .01, .shared = .4, .half = .5, .dwell = 20},
	{"two modes of each cell alone: 20 % at 0.8", HEALTHY, .noise = .01, .rare = .2, .slow = .8},
	{"two modes of each cell alone: 50 % at 0.7", HEALTHY, .noise = .02, .rare = .5, .slow = .7},
};

#define SLOWER .pass = 1, .warn = 100, .fail = 100
static const struct world costs[] = {
	{"0.92, the first of a turn loses 5 %; 1 %", SLOWER, .gpu = .92, .noise = .01, .cost = .05, .right = 50},
	{"0.92, the first of a turn loses 10 %; 1 %", SLOWER, .gpu = .92, .noise = .01, .cost = .10},
	{"0.92, the first of a turn loses 20 %; 1 %", SLOWER, .gpu = .92, .noise = .01, .cost = .20},
	{"0.92, the first of a turn loses 10 %; 5 %", SLOWER, .gpu = .92, .noise = .05, .cost = .10},
	{"0.92, 10 %; lasting, 0.8, 5 %", SLOWER, .gpu = .92, .noise = .05, .lasting = .8, .cost = .10},
	{"0.92, 10 %; t with 3 degrees, 5 %", SLOWER, .gpu = .92, .noise = .05, .shape = HEAVY, .cost = .10},
	{"0.92, 10 %; 5 % of windows at half", SLOWER, .gpu = .92, .noise = .01, .rare = .05, .slow = .5, .cost = .10},
	{"0.85, the first of a turn loses 10 %; 1 %", SLOWER, .gpu = .85, .noise = .01, .cost = .10, .right = 80},
	{"0.85, the first of a turn loses 20 %; 1 %", SLOWER, .gpu = .85, .noise = .01, .cost = .20},
	{"0.85, the first of a turn loses 10 %; 10 %", SLOWER, .gpu = .85, .noise = .10, .cost = .10},
	{"0.85, 20 %; exponential, 5 %", SLOWER, .gpu = .85, .noise = .05, .shape = EXPONENTIAL, .cost = .20},
	{"0.85, 10 %; lasting, 0.8, 10 %", SLOWER, .gpu = .85, .noise = .10, .lasting = .8, .cost = .10},
	{"0.92, a turn of direction loses 10 %, too; 2 %", SLOWER, .gpu = .92, .noise = .02, .cost = .10, .turning_costs = true},
	{"0.85, a turn of direction loses 20 %, too; 2 %", SLOWER, .gpu = .85, .noise = .02, .cost = .20, .turning_costs = true},
	{"1.00, the first of a turn loses 10 %; 1 %", HEALTHY, .noise = .01, .cost = .10, .right = 50},
};

static const struct world slower[] = {
	{"0.85, 2 %", SLOWER, .gpu = .85, .noise = .02, .right = 95},
	{"0.92, 1 %", SLOWER, .gpu = .92, .noise = .01, .right = 95},
	{"0.50, 10 %", SLOWER, .gpu = .50, .noise = .10, .right = 95},
	{"0.70, lasting, 0.8, 2 %", SLOWER, .gpu = .70, .noise = .02, .lasting = .8, .right = 50},
	{"0.85, host in two modes: 30 % at 0.7", SLOWER, .gpu = .85, .noise = .01, .shared = .3, .half = .7, .right = 90},
	{"40 % of GPU memory's windows at 0.4", SLOWER, .gpu = 1, .noise = .02, .own = .4, .own_rate = .4, .right = 90},
	{"30 % of GPU memory's windows at 0.7", SLOWER, .gpu = 1, .noise = .02, .own = .3, .own_rate = .7, .right = 50},
};
/* clang-format on */

static void what_is_healthy_is_not_blamed(void **state)
{
	(void)state;
	check_all("as fast as host memory", healthy, sizeof(healthy) / sizeof(healthy[0]));
}

static void a_cost_of_the_first_place_passes_nobody(void **state)
{
	(void)state;
	check_all("a place that costs", costs, sizeof(costs) / sizeof(costs[0]));
}

static void what_is_slow_is_found(void **state)
{
	(void)state;
	check_all("slower", slower, sizeof(slower) / sizeof(slower[0]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_healthy_is_not_blamed),
		cmocka_unit_test(a_cost_of_the_first_place_passes_nobody),
		cmocka_unit_test(what_is_slow_is_found),
	};

	return cmocka_run_group_tests_name("gdr_ground", tests, NULL, NULL);
}
