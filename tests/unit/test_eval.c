// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * eval: how often a verdict is wrong. Thousands of runs are made up from true rates and noise, and
 * judged as gdr_bw judges: look, measure more where it is open, look again. Printed as a table.
 * GPUs at both ends: six cells beside host memory, two of that, four staged; seven windows, then up
 * to as many as gdr_bw takes by itself.
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

#define HOST     (1u << GDR_HOST)
#define DMABUF   (1u << GDR_DMABUF)
#define PEER     (1u << GDR_PEERMEM)
#define COPIED   (1u << GDR_COPIED)
#define TRIALS   4000
#define WINDOWS  7
#define ROOM     160 /* windows of a cell, at most */
#define EXPECTED 380.0

/* xorshift64*: the same numbers everywhere. */
static double uniform(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return ((double)(*state * UINT64_C(2685821657736338717) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(uint64_t *state)
{
	return sqrt(-2 * log(uniform(state))) * cos(2 * M_PI * uniform(state));
}

/* What is so, and what the verdicts of TRIALS runs may be at most, or must be at least: percent. */
struct truth {
	const char *what;
	double noise;     /* of each window, on its own: standard deviation, a fraction */
	double ratio;     /* of GPU memory to host memory */
	bool one;         /* of one cell, the other five are as fast as host memory */
	double host_gbps; /* 0: as expected */
	double slow;      /* the ratio in some turns; 0: never */
	unsigned turns;   /* how many of seven */
	double other;     /* ratio of another route; 0: there is none */
	double together;  /* noise that all cells of a turn have in common */
	double alike;     /* how much a window's noise is like the one's before: correlation */
	unsigned most;    /* --extra-windows, with the first; 0: as many as it takes by itself */
	bool fewer;       /* a quarter of the trials: they are long */
	double pass_most, bad_most;   /* PASS; WARN and FAIL */
	double pass_least, bad_least; /* the same */
};

struct rates {
	unsigned of[4]; /* by level; the last: inconclusive */
	double percent; /* that one of them is */
	double windows; /* mean of the most that a cell had */
};

struct run {
	struct gdr_result result[GDR_CELLS_MAX];
	double before[GDR_CELLS_MAX]; /* noise of the last turn */
	double gbps[GDR_CELLS_MAX][ROOM], scratch[3 * ROOM];
	struct eval_attr attr;
	struct eval e;
	uint64_t random;
};

static double true_gbps(const struct truth *t, const struct run *r, const struct gdr_result *x,
			unsigned turn)
{
	double host = t->host_gbps > 0 ? t->host_gbps : EXPECTED;
	bool slow = t->slow > 0 && turn * 3 % 7 < t->turns; /* 3 and 7 have no common divisor */

	if (!gdr_cell_is_direct(&x->cell))
		return host;
	if (x->cell.from == GDR_PEERMEM || x->cell.into == GDR_PEERMEM)
		return host * t->other;
	if (t->one && x != &r->result[1])
		return host;
	return host * (slow ? t->slow : t->ratio);
}

/* Of cell I: like its last one as far as T says, and as much as if it were not. */
static double noise(const struct truth *t, struct run *r, unsigned i)
{
	r->before[i] = t->alike * r->before[i] + sqrt(1 - t->alike * t->alike) * normal(&r->random);
	return t->noise * r->before[i];
}

static void measure(const struct truth *t, struct run *r, unsigned turn, bool all)
{
	double together = 1 + t->together * normal(&r->random);

	for (unsigned i = 0; i < r->attr.results; i++) {
		struct gdr_result *x = &r->result[i];

		x->turns = turn + 1;
		x->gbps[turn] = 0;
		if (!all && !eval_needs_more(&r->e, x))
			continue;
		x->gbps[turn] =
			fmax(true_gbps(t, r, x, turn) * together * (1 + noise(t, r, i)), 0.001);
		x->windows++;
	}
}

static void begin(const struct truth *t, struct run *r)
{
	unsigned has = HOST | DMABUF | COPIED | (t->other > 0 ? PEER : 0), turns = 0;

	r->attr = (struct eval_attr){.result = r->result,
				     .has = {has, has},
				     .within = 0.05,
				     .scratch = r->scratch,
				     .plan = r->attr.plan};
	r->attr.results = gdr_results(r->result, r->attr.has, 65536, 1 << 20);
	for (unsigned i = 0; i < r->attr.results; i++) {
		r->result[i].gbps = r->gbps[i];
		r->result[i].expected_gbps = EXPECTED;
	}
	if (!r->attr.plan.looks)
		eval_plan(&r->attr, WINDOWS,
			  t->most ? t->most : eval_most_windows(&r->attr, WINDOWS));
	assert_true(r->attr.plan.look[r->attr.plan.looks - 1].windows <= ROOM);
	while (turns < WINDOWS)
		measure(t, r, turns++, true);
}

/* Returns how many turns it took. */
static unsigned one_run(const struct truth *t, struct run *r)
{
	unsigned turns = WINDOWS, next;

	begin(t, r);
	for (;;) {
		eval_results(&r->e, &r->attr);
		next = windows_next(&r->attr.plan, turns);
		if (r->e.best == r->e.worst || !next)
			return turns;
		while (turns < next)
			measure(t, r, turns++, false);
	}
}

static struct rates rates_of(const struct truth *t)
{
	struct run *run = calloc(1, sizeof(*run));
	unsigned trials = t->fewer ? TRIALS / 4 : TRIALS;
	struct rates found = {.percent = 100.0 / trials};

	assert_non_null(run);
	for (unsigned i = 0; i < trials; i++) {
		run->random = UINT64_C(0x9e3779b97f4a7c15) * (i + 1);
		found.windows += (double)one_run(t, run) / trials;
		found.of[run->e.best == run->e.worst ? run->e.best : 3]++;
	}
	free(run);
	return found;
}

static void check(const struct truth *t)
{
	struct rates x = rates_of(t);
	double percent = x.percent, pass = x.of[EVAL_PASS] * percent;
	double bad = (x.of[EVAL_WARN] + x.of[EVAL_FAIL]) * percent;

	printf("# %-50s %7.2f %7.2f %7.2f %7.2f %8.1f\n", t->what, pass, x.of[EVAL_WARN] * percent,
	       x.of[EVAL_FAIL] * percent, x.of[3] * percent, x.windows);
	if (pass > t->pass_most || bad > t->bad_most || pass < t->pass_least || bad < t->bad_least)
		fail_msg("%s", t->what);
}

static void heading(const char *what)
{
	printf("# %-50s %7s %7s %7s %7s %8s\n", what, "PASS", "WARN", "FAIL", "INCON.", "windows");
}

/* Never more than 1 % wrong where the truth is clearly on one side; 5 % where it is on the edge. */
static void verdicts_are_right(void **state)
{
	/* clang-format off */
	static const struct truth truth[] = {
		{"as fast as host memory, 10 %", .1, 1, .pass_most = 100, .bad_most = 1, .pass_least = 5},
		{"as fast, 5 %", .05, 1, .pass_most = 100, .bad_most = 1, .pass_least = 95},
		{"as fast, 2 %", .02, 1, .pass_most = 100, .bad_most = 1, .pass_least = 99},
		{"0.97, 10 %", .1, .97, .pass_most = 100, .bad_most = 1},
		{"0.97, 1 %", .01, .97, .pass_most = 100, .bad_most = 1, .pass_least = 99},
		{"0.95, 10 %", .1, .95, .pass_most = 100, .bad_most = 5},
		{"0.95, 5 %", .05, .95, .pass_most = 100, .bad_most = 5},
		{"0.94 one cell of six, 5 %", .05, .94, true, .pass_most = 1, .bad_most = 100},
		{"0.85, 10 %", .1, .85, .pass_most = 1, .bad_most = 100},
		{"0.85 one cell of six, 10 %", .1, .85, true, .pass_most = 1, .bad_most = 100},
		{"0.85, 5 %", .05, .85, .pass_most = 1, .bad_most = 100, .bad_least = 95},
		{"0.82, 10 %", .1, .82, .pass_most = 1, .bad_most = 100},
		{"0.82, 5 %", .05, .82, .pass_most = 1, .bad_most = 100},
		{"0.78, 10 %", .1, .78, .pass_most = 0, .bad_most = 100},
		{"0.78, 5 %", .05, .78, .pass_most = 0, .bad_most = 100, .bad_least = 50},
		{"0.50, 10 %", .1, .5, .pass_most = 0, .bad_most = 100, .bad_least = 99},
	};
	/* clang-format on */

	(void)state;
	heading("GPU memory of host memory, noise of a window");
	for (size_t i = 0; i < sizeof(truth) / sizeof(truth[0]); i++)
		check(&truth[i]);
}

static void what_a_ratio_of_medians_does_not_see(void **state)
{
	/* clang-format off */
	static const struct truth truth[] = {
		{"both at 1 of 400 Gb/s, 10 %", .1, 1, .host_gbps = 1, .bad_most = 100, .bad_least = 99},
		{"both at nine tenths of what is expected, 10 %", .1, 1, .host_gbps = .9 * EXPECTED, .pass_most = 5, .bad_most = 5},
		{"40 % of host memory in 3 of 7 windows, 10 %", .1, 1, .slow = .4, .turns = 3, .bad_most = 100, .bad_least = 50},
		{"40 % in 3 of 7, 1 %", .01, 1, .slow = .4, .turns = 3, .bad_most = 100, .bad_least = 99},
		{"40 % in 3 of 7, 1 %, 7 windows and no more", .01, 1, .slow = .4, .turns = 3, .most = WINDOWS, .bad_most = 100},
		{"80 % in 1 of 7, 1 %", .01, 1, .slow = .8, .turns = 1, .pass_most = 1, .bad_most = 100},
		{"auto's route 0.5, another 1.0, 10 %", .1, .5, .other = 1, .bad_most = 100, .bad_least = 99},
		{"auto's route 1.0, another 0.5, 2 %", .02, 1, .other = .5, .pass_most = 100, .bad_most = 1, .pass_least = 99},
		{"as fast, 10 %, each half like the one before", .1, 1, .alike = .5, .pass_most = 100, .bad_most = 1.5},
		{"0.85, 10 %, each half like the one before", .1, .85, .alike = .5, .pass_most = 1, .bad_most = 100},
		{"0.95, 10 %, each half like the one before", .1, .95, .alike = .5, .pass_most = 5, .bad_most = 8},
		{"host 0.9 of expected, 10 %, half like before", .1, 1, .host_gbps = .9 * EXPECTED, .alike = .5, .pass_most = 5, .bad_most = 8},
		{"as fast, 20 % that all have in common, 1 %", .01, 1, .together = .2, .pass_most = 100, .bad_most = 1, .pass_least = 50},
	};
	/* clang-format on */

	(void)state;
	heading("what else may be");
	for (size_t i = 0; i < sizeof(truth) / sizeof(truth[0]); i++)
		check(&truth[i]);
}

static void more_windows_decide_more(void **state)
{
	/* clang-format off */
	static const struct truth truth[] = {
		{"as fast, 10 %, 7 windows and no more", .1, 1, .most = WINDOWS, .pass_most = 100, .bad_most = 1},
		{"0.85, 10 %, 7 windows and no more", .1, .85, .most = WINDOWS, .pass_most = 1, .bad_most = 100},
		{"as fast, 10 %, up to 140 windows", .1, 1, .most = 140, .fewer = true, .pass_most = 100, .bad_most = 1, .pass_least = 75},
		{"0.85, 10 %, up to 140 windows", .1, .85, .most = 140, .fewer = true, .pass_most = 1, .bad_most = 100, .bad_least = 90},
	};
	/* clang-format on */

	(void)state;
	heading("--extra-windows");
	for (size_t i = 0; i < sizeof(truth) / sizeof(truth[0]); i++)
		check(&truth[i]);
}

/* What is no matter to a verdict gets no more windows. */
static void more_windows_for_what_is_open_alone(void **state)
{
	static const struct truth one = {"", .01, .948, .one = true};
	struct run *r = calloc(1, sizeof(*r));

	(void)state;
	assert_non_null(r);
	r->random = 1;
	begin(&one, r);
	eval_results(&r->e, &r->attr);
	assert_true(r->e.best == EVAL_PASS && r->e.worst == EVAL_WARN);
	assert_ptr_equal(r->e.deciding->result, &r->result[1]);
	for (unsigned i = 0; i < r->attr.results; i++)
		assert_int_equal(eval_needs_more(&r->e, &r->result[i]), i <= 1);
	free(r);
}

/* Twelve cells, eight of them judged, five times as long again. */
static void the_time_is_bounded(void **state)
{
	static const struct truth both = {"", .01, 1}, routes = {"", .01, 1, .other = 1};
	struct run *r = calloc(1, sizeof(*r));

	(void)state;
	assert_non_null(r);
	r->random = 1;
	begin(&both, r);
	assert_int_equal(r->attr.results, 12);
	assert_int_equal(eval_cells(&r->attr), 8);
	assert_int_equal(eval_most_windows(&r->attr, 7), 7 + 5 * 7 * 12 / 8);
	begin(&routes, r);
	assert_int_equal(r->attr.results, 18);
	assert_int_equal(eval_most_windows(&r->attr, 7), 7 + 5 * 7 * 18 / 8);
	r->attr.has[0] = r->attr.has[1] = HOST | DMABUF;
	for (unsigned i = 1; i < 18; i++) /* one that is judged, in many that are not */
		r->result[i].size_bytes = 8;
	r->result[1].size_bytes = 65536;
	assert_int_equal(eval_cells(&r->attr), 3);
	assert_int_equal(eval_most_windows(&r->attr, 7), 7 + 7 * 19);
	r->attr.has[0] = r->attr.has[1] = HOST;
	r->result[1].cell = r->result[0].cell;
	assert_int_equal(eval_most_windows(&r->attr, 7), 7); /* nothing to judge */
	free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(verdicts_are_right),
		cmocka_unit_test(what_a_ratio_of_medians_does_not_see),
		cmocka_unit_test(more_windows_decide_more),
		cmocka_unit_test(more_windows_for_what_is_open_alone),
		cmocka_unit_test(the_time_is_bounded),
	};

	return cmocka_run_group_tests_name("eval", tests, NULL, NULL);
}
