// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* series: against figures that were worked out by hand, and against the definitions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "stat/series.h"

#define ROOM 1000

static struct series of(const double *value, size_t count)
{
	double scratch[ROOM];
	struct series s;

	assert_true(count <= ROOM);
	series_measure(&s, value, scratch, count);
	assert_int_equal(s.count, count);
	return s;
}

#define OF(...) of((const double[]){__VA_ARGS__}, sizeof((double[]){__VA_ARGS__}) / sizeof(double))

static void near(double got, double want)
{
	if (!(fabs(got - want) <= 1e-12 * (1 + fabs(want))))
		fail_msg("%.17g, want %.17g", got, want);
}

static void none_and_one(void **state)
{
	struct series s = of(NULL, 0), zero = {0};

	(void)state;
	assert_memory_equal(&s, &zero, sizeof(s));
	s = OF(7.5);
	assert_true(s.min == 7.5 && s.max == 7.5 && s.mean == 7.5 && s.median == 7.5);
	assert_true(s.cv == 0 && s.median_at == 0);
}

static void place(void **state)
{
	struct series s = OF(3, 1, 2);

	(void)state;
	assert_true(s.min == 1 && s.max == 3 && s.median == 2 && s.median_at == 2);
	near(s.mean, 2);
	/* even: the lower of the two in the middle is a run, the median lies between */
	s = OF(40, 10, 30, 20);
	assert_true(s.min == 10 && s.max == 40 && s.median == 25 && s.median_at == 3);
	/* the first of several that are alike */
	s = OF(9, 5, 5, 5, 1);
	assert_true(s.median == 5 && s.median_at == 1);
	s = OF(2, 1);
	assert_true(s.median == 1.5 && s.median_at == 1);
}

static void spread(void **state)
{
	(void)state;
	/* deviations -3 -1 1 3 of a mean of 5: sqrt(20 / 3) */
	near(OF(2, 4, 6, 8).cv, sqrt(20.0 / 3) / 5);
	near(OF(99, 101).cv, sqrt(2.0) / 100);
	assert_true(OF(6, 6, 6, 6, 6).cv == 0);
	assert_true(OF(0, 0, 0).cv == 0);
}

static void scale_does_not_matter(void **state)
{
	double a[ROOM], b[ROOM];
	uint32_t x = 12345;
	struct series s, t;

	(void)state;
	for (size_t i = 0; i < ROOM; i++) {
		x = x * 1664525u + 1013904223u;
		a[i] = 100 + (double)(x >> 20) / 4096 + (double)i / 100;
		b[i] = a[i] * 1024;
	}
	s = of(a, ROOM);
	t = of(b, ROOM);
	near(t.cv, s.cv);
	near(t.median, s.median * 1024);
	assert_int_equal(t.median_at, s.median_at);
	assert_true(s.min <= s.median && s.median <= s.max);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(none_and_one),
		cmocka_unit_test(place),
		cmocka_unit_test(spread),
		cmocka_unit_test(scale_does_not_matter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
