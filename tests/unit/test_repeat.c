// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* repeat: when it ends, which run is the median one, and what the summary says. How often it errs
 * is in test_stat_ground.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "repeat_runs.h"

static void options(void **state)
{
	struct repeat r;

	(void)state;
	assert_int_equal(read_options(&r, false, NULL, NULL), 0);
	assert_true(r.most == 0 && r.within_ppm == 0);
	assert_int_equal(read_options(&r, false, "--repeat=1", NULL), 0);
	assert_int_equal(r.most, 1);
	assert_int_equal(read_options(&r, true, "--until-stable=0.5", NULL), 0);
	assert_true(r.latency && r.most == REPEAT_UNTIL_MAX && r.within_ppm == 5000);
	assert_int_equal(read_options(&r, true, "--until-stable=100%", "--repeat=10"), 0);
	assert_true(r.most == 10 && r.within_ppm == REPEAT_PPM);
	assert_int_equal(read_options(&r, false, "--until-stable=1", "--repeat=9"), -1);
	assert_int_equal(read_options(&r, false, "--until-stable=0.009", NULL), -1);
	assert_int_equal(read_options(&r, false, "--until-stable=100.1", NULL), -1);
	assert_int_equal(read_options(&r, false, "--until-stable=1%%", NULL), -1);
}

static void so_many_runs(void **state)
{
	struct result result;
	struct repeat r;

	(void)state;
	read_options(&r, false, "--repeat=40", NULL);
	repeat_start(&r);
	assert_null(repeat_median(&r));
	for (int i = 0; i < 40; i++) {
		assert_true(repeat_goes_on(&r));
		keep(&r, (i * 7) % 40 + 1); /* 1 … 40 in another order */
	}
	assert_false(repeat_goes_on(&r));
	/* 20 is the lower of the two in the middle: 7 i = 19 modulo 40 for i = 37, run 38 */
	assert_int_equal(repeat_median(&r)->figure.run, 38);
	result = repeat_median_result(&r);
	assert_true(result.shown[0]->record->run == 38 && !result.shown[1]);
	assert_true(result.cpu_percent == 20);
	keep(&r, 100); /* the next one is the median now */
	assert_true(repeat_median(&r)->figure.bandwidth_gbps == 21);
	result = repeat_median_result(&r);
	assert_int_equal(result.shown[1]->by, RESULT_SERVER);
	assert_true(result.shown[1]->record->bandwidth_gbps == 21);
	repeat_start(&r);
	assert_null(repeat_median(&r));
	assert_true(repeat_goes_on(&r));
	repeat_release(&r);
	repeat_release(&r);
}

static void until_stable(void **state)
{
	double figure[150];
	struct repeat r;

	(void)state;
	/* a calm one needs the least; of one that begins cold, the first half is like the second late */
	for (int i = 0; i < 150; i++)
		figure[i] = 10 + (i * 7 % 5 - 2) / 200.0;
	read_options(&r, false, "--until-stable=1", NULL);
	assert_int_equal(runs_until(&r, figure, 150), STABLE_LEAST);
	assert_int_equal(repeat_median(&r)->figure.run, 2);
	figure[0] = 9;
	assert_true(runs_until(&r, figure, 150) > STABLE_LEAST);
	repeat_release(&r);
	/* 1 of about 140 a run */
	for (int i = 0; i < 150; i++)
		figure[i] = 100 + i;
	read_options(&r, true, "--until-stable=2", "--repeat=80");
	assert_int_equal(runs_until(&r, figure, 150), 80);
	repeat_release(&r);
}

/* What is there with or without --until-stable, and what is not without. */
static void summary(void **state)
{
	struct repeat r;
	json_t *s;
	char text[512];

	(void)state;
	read_options(&r, true, "--repeat=4", NULL);
	repeat_start(&r);
	for (int i = 0; i < 4; i++)
		keep(&r, 2 + 2 * i); /* 2 4 6 8 */
	s = repeat_summary(&r);
	assert_int_equal(json_integer_value(json_object_get(s, "runs")), 4);
	assert_int_equal(json_integer_value(json_object_get(s, "median_run")), 2);
	assert_true(number(s, "latency_mean_us", "min") == 2);
	assert_true(number(s, "latency_mean_us", "median") == 5);
	assert_true(number(s, "latency_mean_us", "max") == 8);
	assert_true(number(s, "latency_mean_us", "mean") == 5);
	assert_true(fabs(number(s, "latency_mean_us", "cv_percent") - sqrt(20.0 / 3) * 20) < 1e-9);
	assert_true(number(s, "latency_p99_us", "max") == 16);
	assert_null(json_object_get(s, "bandwidth_gbps"));
	assert_true(json_is_null(json_object_get(s, "interval_percent"))); /* four are too few */
	json_decref(s);
	assert_string_equal(repeat_text(&r, text, sizeof(text)),
			    "64 B: 4 runs: median 5.00 us on average, 2.00 to 8.00, deviation "
			    "51.64 %");
	repeat_release(&r);
	read_options(&r, false, "--repeat=1", NULL);
	keep(&r, 3);
	s = repeat_summary(&r);
	assert_true(number(s, "bandwidth_gbps", "cv_percent") == 0);
	assert_true(number(s, "messages_per_s", "median") == 3e6);
	assert_null(json_object_get(s, "stable"));
	assert_null(json_object_get(s, "judged"));
	json_decref(s);
	repeat_release(&r);
}

static void verdicts(void **state)
{
	double figure[150];
	char text[512];
	json_t *s;

	(void)state;
	for (int i = 0; i < 150; i++)
		figure[i] = 10;
	s = summed_up("--until-stable=1", figure, text, sizeof(text));
	judged(s, "reached");
	assert_int_equal(json_integer_value(json_object_get(s, "runs")), 10);
	assert_true(json_real_value(json_object_get(s, "until_stable_percent")) == 1);
	json_decref(s);
	assert_string_equal(text,
			    "64 B: 10 runs: median 1192.09 MiB/s, 1192.09 to 1192.09, deviation "
			    "0.00 %, mean 1192.09 ± 0.00 % (95 %); stable");
	for (int i = 0; i < 150; i++)
		figure[i] = 200 - i;
	s = summed_up("--until-stable=1", figure, text, sizeof(text));
	judged(s, "halves_differ");
	json_decref(s);
	/* 162.5 and 87.5 about 125.5 */
	assert_non_null(strstr(text, "; not stable: the second half of the runs is 60 % lower than "
				     "the first"));
	for (int i = 0; i < 150; i++)
		figure[i] = 100 + i * 37 % 41 + i * 23 % 43;
	s = summed_up("--until-stable=0.5", figure, text, sizeof(text));
	judged(s, "wide");
	json_decref(s);
	assert_non_null(strstr(text, "; not stable: the mean is not known to within 0.5 %"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options),      cmocka_unit_test(so_many_runs),
		cmocka_unit_test(until_stable), cmocka_unit_test(summary),
		cmocka_unit_test(verdicts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
