/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Runs with made-up figures, for repeat. Include it after cmocka.h. */
#pragma once

#include <string.h>

#include "measure/repeat.h"

/* Read the command line FIRST SECOND (NULL: none). Returns the result of repeat_read(). */
static int read_options(struct repeat *r, bool latency, const char *first, const char *second)
{
	static const struct experiment none;
	char *argv[] = {"test", (char *)first, (char *)second, NULL};
	struct options o;
	struct fault f = {0};

	memset(r, 0, sizeof(*r));
	options_init(&o, &none);
	assert_int_equal(options_parse(&o, argv, &f), 0);
	return repeat_read(r, &o, latency, &f);
}

static void keep(struct repeat *r, double figure)
{
	struct record rec = {
		.message_bytes = 64,
		.run = ++r->number,
		.messages = 1000,
		.bandwidth_gbps = r->latency ? 0 : figure,
		.messages_per_s = figure * 1e6,
		.latency_mean_us = r->latency ? figure : 0,
		.percentile.us[PERCENTILE_P50] = figure / 2,
		.percentile.us[PERCENTILE_P99] = figure * 2,
	};
	struct result_row row[2] = {{.record = &rec}, {.record = &rec, .by = RESULT_SERVER}};
	struct result result = {
		.cpu_percent = figure,
		.shown = {&row[0], r->number % 2 ? &row[1] : NULL},
	};
	struct fault f = {0};

	assert_int_equal(repeat_keep(r, &rec, &result, &f), 0);
}

/* The number of FIGURES that are kept until no more runs are needed. */
static unsigned runs_until(struct repeat *r, const double *figure, unsigned count)
{
	repeat_start(r);
	for (unsigned i = 0; i < count; i++) {
		assert_true(repeat_goes_on(r));
		keep(r, figure[i]);
		if (!repeat_goes_on(r))
			return i + 1;
	}
	return 0;
}

static double number(const json_t *summary, const char *figure, const char *key)
{
	const json_t *v = json_object_get(json_object_get(summary, figure), key);

	assert_true(json_is_real(v));
	return json_real_value(v);
}

/* Keep the runs of FIGURE until they end. Returns the summary; TEXT is its text. */
static json_t *summed_up(const char *option, const double *figure, char *text, size_t size)
{
	struct repeat r;
	json_t *s;

	assert_int_equal(read_options(&r, false, option, NULL), 0);
	assert_true(runs_until(&r, figure, 150) >= STABLE_LEAST);
	s = repeat_summary(&r);
	repeat_text(&r, text, size);
	repeat_release(&r);
	return s;
}

static void judged(json_t *s, const char *want)
{
	assert_string_equal(json_string_value(json_object_get(s, "judged")), want);
	assert_true(json_is_true(json_object_get(s, "stable")) == (strcmp(want, "reached") == 0));
}
