// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* windows: when they are looked at, and what an interval of them is, by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "../../gdr_bw/windows.h"

static void near(double got, double want, double share)
{
	if (!(fabs(got - want) <= share * fabs(want)))
		fail_msg("%g, want %g", got, want);
}

static void when_to_look(void **state)
{
	static const unsigned want[] = {7, 11, 17, 26, 40, 59};
	struct windows_plan p;

	(void)state;
	windows_plan(&p, 7, 59, 8);
	assert_int_equal(p.looks, 6);
	for (unsigned i = 0; i < p.looks; i++)
		assert_int_equal(p.look[i].windows, want[i]);
	assert_int_equal(windows_next(&p, 0), 7);
	assert_int_equal(windows_next(&p, 7), 11);
	assert_int_equal(windows_next(&p, 25), 26);
	assert_int_equal(windows_next(&p, 59), 0);
	windows_plan(&p, 1, 11000, 1);
	assert_true(p.looks <= WINDOWS_LOOKS_MAX);
	assert_int_equal(p.look[p.looks - 1].windows, 11000);
	windows_plan(&p, 7, 7, 1);
	assert_int_equal(p.looks, 1);
}

/* All looks together are wrong in 5 %: two fifths the first, as much the last. */
static void what_a_look_may_cost(void **state)
{
	struct windows_plan p;
	double error = 0;

	(void)state;
	windows_plan(&p, 7, 59, 8);
	for (unsigned i = 0; i < p.looks; i++)
		error += p.look[i].error;
	near(error, 5, 1e-9);
	near(p.look[0].error, 2, 1e-9);
	near(p.look[5].error, 2, 1e-9);
	near(p.look[0].low_t, 3.143, 1e-3);  /* Student's t, 98 %, 6 degrees of freedom */
	near(p.look[0].high_t, 4.981, 1e-3); /* 99.75 % */
	windows_plan(&p, 7, 7, 1);
	near(p.look[0].low_t, 2.447, 1e-3); /* one look at one rate: the usual 95 % */
	near(p.look[0].high_t, 2.447, 1e-3);
	windows_plan(&p, 7, 8, 0);
	near(p.look[0].error + p.look[1].error, 5, 1e-9);
}

static void a_rate(void **state)
{
	static const double value[] = {9, 11, 10, 10, 12, 8, 10};
	struct windows_plan p;
	struct windows_range r;

	(void)state;
	windows_plan(&p, 7, 7, 1);
	r = windows_rate(&p, value, 7); /* standard error: sqrt(10 / 6 / 7) */
	near(r.mean, 10, 1e-12);
	near(r.high - 10, 2.447 * 0.48795, 1e-3);
	near(10 - r.low, 2.447 * 0.48795, 1e-3);
	assert_int_equal(r.count, 7);
	r = windows_rate(&p, value, 2); /* fewer than planned: 12.706 at one degree of freedom */
	near(r.high - 10, 12.706, 1e-3);
	assert_true(r.low == 0); /* no rate is negative */
	r = windows_rate(&p, value, 1);
	assert_true(r.mean == 9 && r.low == 0 && isinf(r.high));
	r = windows_rate(&p, value, 0);
	assert_true(r.mean == 0 && r.low == 0 && isinf(r.high));
}

/* What disturbs both of a pair is no matter; what disturbs one is. */
static void a_ratio_of_pairs(void **state)
{
	static const double host[] = {100, 50, 200, 80, 120, 10, 90};
	double gpu[7], scratch[7];
	struct windows_plan p;
	struct windows_range r;

	(void)state;
	windows_plan(&p, 7, 59, 8);
	for (unsigned i = 0; i < 7; i++)
		gpu[i] = 0.9 * host[i];
	r = windows_ratio(&p, gpu, host, scratch, 7);
	near(r.mean, 0.9, 1e-12);
	near(r.low, 0.9, 1e-9);
	near(r.high, 0.9, 1e-9);
	gpu[0] += 5;
	gpu[2] -= 5;
	r = windows_ratio(&p, gpu, host, scratch, 7);
	near(r.mean, 0.9, 1e-12); /* the ratio of the means, not the mean of the ratios */
	assert_true(r.low < 0.87 && r.high > 0.93);
	r = windows_ratio(&p, gpu, (double[]){0, 0}, scratch, 2);
	assert_true(r.mean == 0 && isinf(r.high));
}

static void two_groups(void **state)
{
	double value[28], scratch[28];
	struct modes m;

	(void)state;
	for (unsigned i = 0; i < 28; i++)
		value[i] = (i % 4 ? 390 : 160) + (i * 5 % 7 - 3.0);
	assert_int_equal(windows_groups(value, scratch, 28, 0.95, &m), WINDOWS_TWO);
	assert_int_equal(m.lows, 7);
	near(m.low, 160, 0.01);
	near(m.high, 390, 0.01);
	assert_int_equal(windows_groups(value, scratch, 12, 0.95, &m), WINDOWS_ONE_GROUP);
	/* Apart, but by less than matters. */
	assert_int_equal(windows_groups(value, scratch, 28, 0.4, &m), WINDOWS_ONE_GROUP);
	for (unsigned i = 0; i < 28; i++)
		value[i] = 390 + 40 * (i * 5 % 7 - 3.0);
	assert_int_equal(windows_groups(value, scratch, 28, 0.95, &m), WINDOWS_ONE_GROUP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(when_to_look), cmocka_unit_test(what_a_look_may_cost),
		cmocka_unit_test(a_rate),       cmocka_unit_test(a_ratio_of_pairs),
		cmocka_unit_test(two_groups),
	};

	return cmocka_run_group_tests_name("windows", tests, NULL, NULL);
}
