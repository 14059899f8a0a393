// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* slices: of runs whose timeline is known. */
#include "stat/interval.h"
#include "stat/slices.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* Uniform in (0, 1), the same in every run. */
static double uniform(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return ((double)(*state >> 11) + 0.5) / 0x1p53;
}

static double normal(uint64_t *state)
{
	double r = sqrt(-2 * log(uniform(state)));

	return r * cos(2 * M_PI * uniform(state));
}

/* As a loop does, that has MESSAGES done at TICKS. */
static void done(struct slices *s, uint64_t ticks, uint64_t messages)
{
	if (messages >= s->next)
		slices_add(s, ticks, messages);
}

static void a_steady_run_is_sure(void **state)
{
	struct slices s;
	const struct slices *run = &s;

	(void)state;
	for (uint64_t batches = 2; batches < 1000000; batches = batches * 3 + 1) {
		const uint64_t span[2] = {5000, 5000 + batches * 480};
		struct interval in;

		slices_start(&s, 5000, 0);
		for (uint64_t i = 1; i <= batches; i++)
			done(&s, 5000 + i * 480, i * 48);
		slices_end(&s, span[1], batches * 48);
		assert_in_range(s.count,
				batches < SLICES_MARKS / 2 ? batches + 1 : SLICES_MARKS / 2,
				SLICES_MARKS);
		for (uint64_t at = 0; at <= batches; at += 1 + batches / 100)
			assert_true(fabs(slices_messages_at(&s, 5000 + at * 480) -
					 (double)at * 48) < 0.01);
		in = slices_confidence(&run, 1, span, 95);
		if (batches < INTERVAL_MIN_VALUES)
			assert_true(isinf(in.half));
		else
			assert_true(fabs(in.mean - 0.1) < 1e-3 && in.half < 1e-3);
	}
}

static void before_and_after_a_run(void **state)
{
	struct slices s;

	(void)state;
	slices_start(&s, 100, 7);
	done(&s, 200, 17);
	slices_end(&s, 300, 37);
	assert_true(slices_messages_at(&s, 0) == 7 && slices_messages_at(&s, 100) == 7);
	assert_true(slices_messages_at(&s, 150) == 12 && slices_messages_at(&s, 250) == 27);
	assert_true(slices_messages_at(&s, 300) == 37 && slices_messages_at(&s, 5000) == 37);
}

/* Two runs, of which the second begins when the first is half way: what they did at once. */
static void two_runs_at_once(void **state)
{
	struct slices a, b;
	const struct slices *run[2] = {&a, &b};
	const uint64_t span[2] = {50000, 100000};
	struct interval in;

	(void)state;
	slices_start(&a, 0, 0);
	slices_start(&b, 50000, 0);
	for (uint64_t i = 1; i <= 1000; i++) {
		done(&a, i * 100, i * 10);
		done(&b, 50000 + i * 100, i * 30);
	}
	slices_end(&a, 100000, 10000);
	slices_end(&b, 150000, 30000);
	in = slices_confidence(run, 2, span, 95);
	assert_true(fabs(in.mean - 0.4) < 1e-3 && in.half < 1e-2);
}

/* A link whose rate changes by some percent every 10000 ticks: how often its mean is in what is
 * said. */
static void the_interval_of_a_noisy_run_has_the_rate_in_it(void **state)
{
	enum {
		TRIALS = 1000,
		PARTS = 400
	};
	uint64_t seed = 1;
	int covered = 0;
	double width = 0;

	(void)state;
	for (int t = 0; t < TRIALS; t++) {
		double exact = 0;
		struct slices s;
		const struct slices *run = &s;
		const uint64_t span[2] = {0, PARTS * UINT64_C(10000)};
		struct interval in;

		slices_start(&s, 0, 0);
		for (int i = 0; i < PARTS; i++) {
			double rate = 1 + 0.1 * normal(&seed), from = exact;

			for (int k = 1; k <= 20; k++) {
				exact = from + rate * 500 * k;
				done(&s, (uint64_t)i * 10000 + (uint64_t)k * 500, (uint64_t)exact);
			}
		}
		slices_end(&s, span[1], (uint64_t)exact);
		in = slices_confidence(&run, 1, span, 95);
		covered += fabs(in.mean - 1) <= in.half;
		width += in.half / TRIALS;
	}
	print_message("# 10 %% noise, 400 times: ± %.2f %%, right in %.1f %% of trials\n",
		      width * 100, 100.0 * covered / TRIALS);
	assert_true(covered >= TRIALS * 94 / 100);
	assert_true(width < 2 * 1.96 * 0.1 / sqrt(PARTS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_steady_run_is_sure),
		cmocka_unit_test(before_and_after_a_run),
		cmocka_unit_test(two_runs_at_once),
		cmocka_unit_test(the_interval_of_a_noisy_run_has_the_rate_in_it),
	};

	return cmocka_run_group_tests_name("slices", tests, NULL, NULL);
}
