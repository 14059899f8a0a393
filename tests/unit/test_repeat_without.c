// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* repeat: runs that have no bandwidth or no mean latency are counted, and are in no figure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "repeat_runs.h"

static json_int_t whole(const json_t *summary, const char *key)
{
	return json_integer_value(json_object_get(summary, key));
}

static void runs_without_a_figure(void **state)
{
	static const double figure[] = {0, 4, 0, 2, 6};
	struct repeat r;
	char text[512];
	json_t *s;

	(void)state;
	read_options(&r, false, "--repeat=5", NULL);
	for (int i = 0; i < 5; i++)
		keep(&r, figure[i]);
	s = repeat_summary(&r);
	assert_true(whole(s, "runs") == 5 && whole(s, "measured_runs") == 3);
	assert_int_equal(whole(s, "median_run"), 2);
	assert_true(number(s, "bandwidth_gbps", "min") == 2);
	assert_true(number(s, "bandwidth_gbps", "median") == 4);
	assert_true(number(s, "bandwidth_gbps", "mean") == 4);
	assert_true(number(s, "messages_per_s", "min") == 2e6);
	json_decref(s);
	assert_string_equal(repeat_text(&r, text, sizeof(text)),
			    "64 B: 3 of 5 runs have a rate: median 476.84 MiB/s, 238.42 to 715.26, "
			    "deviation 50.00 %");
	repeat_release(&r);
	read_options(&r, true, "--repeat=2", NULL);
	keep(&r, 3);
	keep(&r, 0);
	assert_int_equal(repeat_median(&r)->figure.run, 1);
	assert_string_equal(repeat_text(&r, text, sizeof(text)),
			    "64 B: 1 of 2 runs has a mean: median 3.00 us on average, 3.00 to 3.00, "
			    "deviation 0.00 %");
	repeat_release(&r);
}

static void no_run_has_a_figure(void **state)
{
	static const double none[150];
	struct repeat r;
	char text[512];
	json_t *s;

	(void)state;
	read_options(&r, false, "--until-stable=1", "--repeat=80");
	assert_int_equal(runs_until(&r, none, 150), 80);
	assert_int_equal(repeat_median(&r)->figure.run, 80);
	assert_int_equal(repeat_median_result(&r).shown[0]->record->run, 80);
	s = repeat_summary(&r);
	assert_true(whole(s, "runs") == 80 && whole(s, "measured_runs") == 0);
	assert_int_equal(whole(s, "median_run"), 80);
	assert_true(json_is_null(json_object_get(s, "bandwidth_gbps")));
	assert_true(json_is_null(json_object_get(s, "messages_per_s")));
	assert_true(json_is_null(json_object_get(s, "interval_percent")));
	judged(s, "few_runs");
	json_decref(s);
	assert_string_equal(repeat_text(&r, text, sizeof(text)),
			    "64 B: none of 80 runs has a rate; not stable: at least 10 runs are "
			    "needed");
	repeat_release(&r);
}

/* It takes so many that have a figure. */
static void stable_without_figures(void **state)
{
	double figure[150];
	char text[512];
	json_t *s;

	(void)state;
	for (int i = 0; i < 150; i++)
		figure[i] = i % 3 ? 10 : 0;
	s = summed_up("--until-stable=1", figure, text, sizeof(text));
	judged(s, "reached");
	assert_true(whole(s, "runs") == 15 && whole(s, "measured_runs") == 10);
	assert_true(number(s, "bandwidth_gbps", "min") == 10);
	json_decref(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_without_a_figure),
		cmocka_unit_test(no_run_has_a_figure),
		cmocka_unit_test(stable_without_figures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
