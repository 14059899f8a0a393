// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * gdr_course: gdr_bw's judgement where rates change in the course of a run: drifts, waves, random
 * walks and slow starts of all cells, which are no matter of the GPU; and a GPU that falls or sinks
 * while host memory does not, as one that gets too hot (case 42). Made without a look at what
 * judges (gdr_world.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "gdr_world.h"

/* clang-format off */
static const struct world healthy[] = {
	{"all drift by -30 %, 1 %", HEALTHY, .nothing_expected = true, .noise = .01, .drift = -.3, .right = 95},
	{"all drift by -30 %; lasting, 0.8, 3 %", HEALTHY, .nothing_expected = true, .noise = .03, .lasting = .8, .drift = -.3},
	{"all drift by +40 %, 3 %; t with 3 degrees", HEALTHY, .noise = .03, .shape = HEAVY, .drift = .4},
	{"all in a wave of 20 turns by 20 %, 1 %", HEALTHY, .nothing_expected = true, .noise = .01, .drift = .2, .period = 20, .right = 95},
	{"all walk by 3 % a turn, 1 %", HEALTHY, .nothing_expected = true, .noise = .01, .walk = .03, .right = 95},
	{"slow start of all: half, 10 turns, 1 %", HEALTHY, .nothing_expected = true, .noise = .01, .early = .5, .early_turns = 10, .right = 95},
	{"slow start of all: half, 10 turns, 5 %", HEALTHY, .noise = .05, .early = .5, .early_turns = 10},
	{"slow start of host memory alone: 0.6, 6 turns, 1 %", HEALTHY, .noise = .01, .host_early = .6, .early_turns = 6},
	{"slow start of host memory alone: 0.8, 20 turns, 3 %", HEALTHY, .noise = .03, .host_early = .8, .early_turns = 20},
	{"each cell lasts, 0.9, 5 %: beyond what is promised", .gpu = 1, .pass = 100, .warn = 5, .fail = 2, .noise = .05, .lasting = .9},
	{"each cell lasts, 0.95, 10 %: beyond what is promised", .gpu = 1, .pass = 100, .warn = 5, .fail = 2, .noise = .10, .lasting = .95},
	{"each cell lasts, 0.5, 10 %; t with 3 degrees", HEALTHY, .noise = .10, .lasting = .5, .shape = HEAVY},
	{"the GPU at 0.7 for 3 turns alone, 1 %", HEALTHY, .noise = .01, .fallen = .7, .fall_at = 3, .back_at = 6},
	{"the GPU falls by 2 %, 0.5 %", HEALTHY, .noise = .005, .fallen = .98, .fall_at = 4, .right = 90},
};

#define FALLS .own = 1, .own_rate = 1, .pass = 1, .warn = 100, .fail = 100
static const struct world throttled[] = {
	{"to 0.7 after 4 turns, 0.5 %", FALLS, .gpu = 1, .noise = .005, .fallen = .7, .fall_at = 4, .right = 95},
	{"to 0.7 after 4 turns, 1 %", FALLS, .gpu = 1, .noise = .01, .fallen = .7, .fall_at = 4, .right = 95},
	{"to 0.7 after 4 turns, 3 %", FALLS, .gpu = 1, .noise = .03, .fallen = .7, .fall_at = 4, .right = 90},
	{"to 0.7 after 6 turns, one cell, 1 %", FALLS, .gpu = 1, .noise = .01, .fallen = .7, .fall_at = 6, .one_cell = true, .right = 95},
	{"to 0.85 after 5 turns, 1 %", FALLS, .gpu = 1, .noise = .01, .fallen = .85, .fall_at = 5, .right = 95},
	{"to 0.4 after 4 turns, 2 %, common noise 10 %", FALLS, .gpu = 1, .nothing_expected = true, .noise = .02, .common = .1, .fallen = .4, .fall_at = 4, .right = 95},
	{"to 0.7 after 6 turns, lasting, 0.5, 1 %", FALLS, .gpu = 1, .noise = .01, .lasting = .5, .fallen = .7, .fall_at = 6, .right = 60},
	{"from 0.97 to 0.6 after 12 turns, 2 %", FALLS, .gpu = .955, .noise = .02, .fallen = .6, .fall_at = 12, .right = 60},
	{"sinks by 60 %, 1 %", FALLS, .gpu = 1, .noise = .01, .sunk = .4, .right = 80},
};
/* clang-format on */

static void what_all_cells_do_is_not_the_gpu(void **state)
{
	(void)state;
	check_all("not the GPU", healthy, sizeof(healthy) / sizeof(healthy[0]));
}

static void a_gpu_that_falls_is_found(void **state)
{
	(void)state;
	check_all("throttled", throttled, sizeof(throttled) / sizeof(throttled[0]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_all_cells_do_is_not_the_gpu),
		cmocka_unit_test(a_gpu_that_falls_is_found),
	};

	return cmocka_run_group_tests_name("gdr_course", tests, NULL, NULL);
}
