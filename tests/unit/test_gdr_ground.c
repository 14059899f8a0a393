// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * gdr_ground: how often gdr_bw's judgement is wrong, in worlds that it was not fitted to: heavy and
 * one-sided tails, noise that lasts, rare slow windows, hosts in two modes, and a first window of a
 * turn that costs more (gdr_world.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "gdr_world.h"

/* clang-format off */
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
	{"30 % of GPU memory's windows at 0.7", SLOWER, .gpu = 1, .noise = .02, .own = .3, .own_rate = .7},
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
