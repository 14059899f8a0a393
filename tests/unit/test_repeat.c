// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* repeat: when it ends, which run is the median one, and what the summary says. How often it errs
 * is in test_plateau.c. */
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
	static const char *const no_confidence[] = {
		"--confidence=95",     "--confidence=95,",     "--confidence=,1",
		"--confidence=49,1",   "--confidence=99.91,1", "--confidence=95,0",
		"--confidence=95,101", "--confidence=95,1,2",  "--confidence=x,1",
	};
	struct repeat r;

	(void)state;
	assert_int_equal(read_options(&r, false, NULL, NULL), 0);
	assert_true(r.most == 0 && r.within_ppm == 0);
	assert_int_equal(read_options(&r, false, "--repeat=1", NULL), 0);
	assert_int_equal(r.most, 1);
	assert_int_equal(read_options(&r, true, "--until-stable=0.5", NULL), 0);
	assert_true(r.latency && r.most == REPEAT_UNTIL_MAX && r.within_ppm == 5000);
	assert_true(r.until_stable && r.confidence_ppm == 950000);
	assert_int_equal(read_options(&r, true, "--until-stable=100%", "--repeat=72"), 0);
	assert_true(r.most == 72 && r.within_ppm == REPEAT_PPM);
	assert_int_equal(read_options(&r, false, "--until-stable=1", "--repeat=71"), -1);
	assert_int_equal(read_options(&r, false, "--until-stable=0.009", NULL), -1);
	assert_int_equal(read_options(&r, false, "--until-stable=100.1", NULL), -1);
	assert_int_equal(read_options(&r, false, "--until-stable=1%%", NULL), -1);
	assert_int_equal(read_options(&r, false, "--confidence=99.9,0.01", NULL), 0);
	assert_true(r.confidence_ppm == 999000 && r.within_ppm == 100 && !r.until_stable);
	assert_int_equal(read_options(&r, false, "--confidence=50%,2.5%", "--repeat=400"), 0);
	assert_true(r.confidence_ppm == 500000 && r.within_ppm == 25000 && r.most == 400);
	assert_int_equal(read_options(&r, false, "--confidence=95,1", "--repeat=71"), -1);
	assert_int_equal(read_options(&r, false, "--confidence=95,1", "--until-stable=1"), -1);
	for (size_t i = 0; i < sizeof(no_confidence) / sizeof(no_confidence[0]); i++)
		assert_int_equal(read_options(&r, false, no_confidence[i], NULL), -1);
}

/* The server knows by what it hears what the client was asked for. */
static void other_end(void **state)
{
	static const char *const option[] = {"--until-stable=2", "--confidence=99,0.5",
					     "--repeat=3"};
	struct repeat r, server = {0};
	struct fault f = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(option) / sizeof(option[0]); i++) {
		json_t *m = json_object();

		read_options(&r, false, option[i], NULL);
		repeat_write_aim(&r, m);
		assert_int_equal(repeat_read_aim(&server, m, &f), 0);
		assert_true(server.within_ppm == r.within_ppm);
		assert_true(server.confidence_ppm == r.confidence_ppm || !r.within_ppm);
		assert_true(server.until_stable == r.until_stable);
		json_decref(m);
	}
	for (unsigned i = 0; i < 3; i++) {
		json_t *m = json_pack("{s:i, s:i}", "within_ppm", 10000, "confidence_ppm",
				      i == 0   ? 1000000
				      : i == 1 ? 499999
					       : 950000);

		fault_clear(&f);
		assert_int_equal(repeat_read_aim(&server, m, &f), i == 2 ? 0 : -1);
		json_decref(m);
	}
}

static void so_many_runs(void **state)
{
	struct result result;
	struct repeat r;

	(void)state;
	read_options(&r, false, "--repeat=40", NULL);
	repeat_start(&r, 5);
	assert_null(repeat_median(&r));
	for (int i = 0; i < 40; i++) {
		assert_true(repeat_goes_on(&r, UINT64_MAX));
		keep(&r, (i * 7) % 40 + 1); /* 1 … 40 in another order */
	}
	assert_false(repeat_goes_on(&r, 5));
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
	repeat_start(&r, 0);
	assert_null(repeat_median(&r));
	assert_true(repeat_goes_on(&r, 0));
	repeat_release(&r);
	repeat_release(&r);
}

static void until_stable(void **state)
{
	double figure[150];
	struct plateau p;
	struct repeat r;
	char text[512];

	(void)state;
	/* a calm one needs the least, one that begins cold must see that the rest is not */
	for (int i = 0; i < 150; i++)
		figure[i] = 10 + (i * 7 % 5 - 2) / 200.0;
	read_options(&r, false, "--until-stable=1", NULL);
	assert_int_equal(runs_until(&r, figure, 150), PLATEAU_LEAST);
	assert_true(repeat_plateau(&r).left_out == 0 && repeat_median(&r)->figure.run == 2);
	assert_null(repeat_doubt(&r, text, sizeof(text)));
	figure[0] = 7;
	assert_int_equal(runs_until(&r, figure, 150), 91);
	p = repeat_plateau(&r);
	/* the run that is shown is one of those that are kept, and so is what is said of them */
	assert_true(p.left_out == 2 && p.state == PLATEAU_REACHED);
	assert_int_equal(repeat_median(&r)->figure.run, 7);
	assert_true(repeat_median(&r)->figure.bandwidth_gbps == 10);
	assert_null(repeat_doubt(&r, text, sizeof(text)));
	repeat_release(&r);
	/* 1 of about 140 a run */
	for (int i = 0; i < 150; i++)
		figure[i] = 100 + i;
	read_options(&r, true, "--until-stable=2", "--repeat=80");
	assert_int_equal(runs_until(&r, figure, 150), 80);
	assert_string_equal(repeat_doubt(&r, text, sizeof(text)),
			    "64 B: not stable: still rising by 0.72 % per run");
	repeat_release(&r);
}

static void time_is_up(void **state)
{
	struct repeat r;

	(void)state;
	read_options(&r, false, "--until-stable=0.01", NULL);
	repeat_start(&r, 7);
	for (int i = 0; i < PLATEAU_LEAST - 1; i++)
		keep(&r, 10 + i);
	assert_true(repeat_goes_on(&r, 7 + 2 * REPEAT_UNTIL_NS));
	keep(&r, 14);
	assert_true(repeat_goes_on(&r, 7 + REPEAT_UNTIL_NS - 1));
	assert_false(repeat_goes_on(&r, 7 + REPEAT_UNTIL_NS));
	repeat_release(&r);
}

/* What is there with or without an aim, and what is not without. */
static void summary(void **state)
{
	struct repeat r;
	json_t *s;
	char text[512];

	(void)state;
	read_options(&r, true, "--repeat=4", NULL);
	repeat_start(&r, 0);
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
	assert_true(json_real_value(json_object_get(s, "confidence_percent")) == 95);
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
	assert_null(json_object_get(s, "reached"));
	json_decref(s);
	assert_null(repeat_doubt(&r, text, sizeof(text)));
	repeat_release(&r);
}

static void verdicts(void **state)
{
	double figure[150];
	char text[512];
	json_t *s;

	(void)state;
	/* two cold ones, and as many again: the summary is of the 87 behind them */
	for (int i = 0; i < 150; i++)
		figure[i] = i < 2 ? 8 : 10;
	s = summed_up("--confidence=99,1", figure, text, sizeof(text));
	judged(s, "reached");
	assert_int_equal(json_integer_value(json_object_get(s, "runs")), 91);
	assert_int_equal(json_integer_value(json_object_get(s, "left_out")), 4);
	assert_true(number(s, "bandwidth_gbps", "min") == 10);
	assert_int_equal(json_integer_value(json_object_get(s, "median_run")), 5);
	assert_true(json_real_value(json_object_get(s, "confidence_percent")) == 99);
	assert_true(json_real_value(json_object_get(s, "within_percent")) == 1);
	assert_null(json_object_get(s, "stable"));
	json_decref(s);
	assert_string_equal(
		text,
		"64 B: 91 runs: median 1192.09 MiB/s, 1192.09 to 1192.09, deviation "
		"0.00 %, mean 1192.09 ± 0 % (99 %); without the first 4 runs, a warm-up that started "
		"20 % lower; known to within 1 %");
	for (int i = 0; i < 150; i++)
		figure[i] = i * 7 % 3 ? 97 : 61;
	s = summed_up("--until-stable=1", figure, text, sizeof(text));
	judged(s, "two_groups");
	assert_true(json_is_false(json_object_get(s, "stable")));
	assert_true(fabs(json_real_value(json_array_get(json_object_get(s, "groups"), 0)) - 61) <
		    1e-9);
	assert_true(fabs(json_real_value(json_array_get(json_object_get(s, "groups"), 1)) - 97) <
		    1e-9);
	json_decref(s);
	assert_non_null(strstr(text,
			       "; not stable: the runs fall into two groups, about 7271.77 "
			       "and 11563.30 MiB/s"));
	for (int i = 0; i < 150; i++)
		figure[i] = 200 - i;
	s = summed_up("--until-stable=1", figure, text, sizeof(text));
	judged(s, "drift");
	assert_true(json_real_value(json_object_get(s, "last_slope_percent")) < -0.6);
	json_decref(s);
	assert_non_null(strstr(text, "; not stable: still falling by 0."));
	for (int i = 0; i < 150; i++)
		figure[i] = 100 + (i * 37) % 41 + (i * 23) % 43;
	s = summed_up("--confidence=95,0.5", figure, text, sizeof(text));
	judged(s, "wide");
	json_decref(s);
	assert_non_null(strstr(text, "; not reached: the mean is not known to within 0.5 %"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options),      cmocka_unit_test(so_many_runs),
		cmocka_unit_test(until_stable), cmocka_unit_test(time_is_up),
		cmocka_unit_test(summary),      cmocka_unit_test(verdicts),
		cmocka_unit_test(other_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
