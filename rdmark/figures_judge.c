// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From groups of rows to figures with a value per connection, and what is said of them. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stat/interval.h"
#include "stat/series.h"
#include "figures.h"
#include "cli/percentile.h"
#include "proto/json_memory.h"

#define TAIL 90 /* few samples decide percentiles beyond */

/* The 95 % interval of a lone connection from the RUNS values of its runs. */
static void limit_by_runs(struct compare_side *s, const double *value, size_t runs)
{
	double mean = series_mean(value, runs);
	double half = interval_t(INTERVAL_CONFIDENCE, (double)(runs - 1)) *
		      sqrt(series_variance(value, runs, mean) / (double)runs);

	s->low = mean - half;
	s->high = mean + half;
	s->freedom = (double)(runs - 1);
}

/* Replace the RUNS values by their mean for each connection, in place. Returns how many these are.
 */
static size_t merge_runs(double *value, const double *connection, size_t runs)
{
	size_t count = 0, i = 0, end;

	for (; i < runs; i = end) {
		for (end = i + 1; end < runs && connection[end] == connection[i]; end++)
			;
		value[count++] = series_mean(&value[i], end - i);
	}
	return count;
}

/*
 * Collect the figure, the percentile P or NULL, from ROWS of SIDE into VALUE, which has room for
 * two numbers of each. The rows of a connection follow each other. False: there is none.
 */
static bool collect(struct figure *one, int side, const json_t *rows, const struct percentile *p,
		    double *value)
{
	struct compare_side *s = &one->judged.side[side];
	struct row_figure f = {0};
	const json_t *row;
	double *connection = value + json_array_size(rows);
	size_t i, runs = 0;

	json_array_foreach (rows, i, row) {
		const json_t *result = json_object_get(row, "result");
		double seconds = json_number_value(json_object_get(result, "seconds"));

		if (!row_figure(row, one->name, p, &f))
			continue;
		if (seconds > 0 && !(one->seconds <= seconds))
			one->seconds = seconds;
		one->disturbed |= json_is_true(
			json_object_get(json_object_get(result, "quality"), "disturbed"));
		connection[runs] = (double)json_integer_value(json_object_get(row, "connection"));
		value[runs++] = f.value;
	}
	if (!runs)
		return false;
	*s = (struct compare_side){value, 0, f.low, f.high, f.freedom};
	if (runs > 1)
		limit_by_runs(s, value, runs);
	one->runs[side] = runs;
	s->count = merge_runs(value, connection, runs);
	one->mean[side] = series_mean(value, s->count);
	return isfinite(one->mean[side]);
}

/* Add figure NAME of GROUP, if both sides have it. Returns 0, or -1 without memory. */
static int add_figure(struct figures *fs, const json_t *group, const char *name,
		      const struct percentile *p)
{
	const json_t *both = json_object_get(group, "rows");
	const json_t *rows[2] = {json_array_get(both, 0), json_array_get(both, 1)};
	size_t n[2] = {json_array_size(rows[0]), json_array_size(rows[1])};
	struct figure one = {
		.of = json_object_get(group, "of"),
		.varied = json_object_get(group, "varied"),
		.name = name,
		.label = p                           ? p->name
			 : strcmp(name, FIGURE_MEAN) ? "rate"
						     : "mean",
		.judged.lower_is_better = strcmp(name, FIGURE_BANDWIDTH) != 0,
		.judged.between = p && p->percent > TAIL ? COMPARE_BETWEEN_TAIL : COMPARE_BETWEEN,
		.seconds = NAN,
		.value = calloc(2 * (n[0] + n[1]), sizeof(double)),
	};
	struct figure *all = realloc(fs->all, (fs->count + 1) * sizeof(*all));
	bool has[2];

	fs->all = all ? all : fs->all;
	if (!one.value || !all) {
		free(one.value);
		return -1;
	}
	for (int side = 0; side < 2; side++)
		has[side] = collect(&one, side, rows[side], p, one.value + (side ? 2 * n[0] : 0));
	if (one.disturbed) /* as far as a stall may decide a tail */
		one.judged.between = COMPARE_BETWEEN_TAIL;
	/* What is compared with itself has one connection in all, which does not differ. */
	for (int side = 0; side < 2 && has[0] && has[1] && json_equal(rows[0], rows[1]); side++) {
		struct compare_side *s = &one.judged.side[side];

		one.judged.between = 0;
		s->count = 1;
		s->low = s->high = s->value[0];
	}
	if (has[0] && has[1]) {
		all[fs->count++] = one;
		return 0;
	}
	fs->lost += !p && has[0];
	fs->alone[FIGURES_BEFORE] += has[0];
	fs->alone[FIGURES_AFTER] += has[1];
	free(one.value);
	return 0;
}

int figures_judge(struct figures *fs, double within, struct fault *f)
{
	struct compare_figure *judged;
	json_t *group;
	const char *key;
	int rc = 0;

	json_object_foreach(fs->groups, key, group)
	{
		rc |= add_figure(fs, group, FIGURE_BANDWIDTH, NULL) ||
		      add_figure(fs, group, FIGURE_MEAN, NULL);
		for (const struct percentile *p = percentiles(); p->name; p++)
			rc |= add_figure(fs, group, p->field, p);
	}
	judged = calloc(fs->count + 1, sizeof(*judged));
	if (rc || !judged || json_memory_failures()) {
		free(judged);
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "comparing %zu figures", fs->count);
	}
	for (size_t i = 0; i < fs->count; i++)
		judged[i] = fs->all[i].judged;
	compare_judge(judged, fs->count, within);
	for (size_t i = 0; i < fs->count; i++)
		fs->all[i].judged = judged[i];
	free(judged);
	return 0;
}
