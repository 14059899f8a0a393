// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From groups of rows to figures with a value per connection, and what is said of them. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "figures.h"
#include "proto/json_memory.h"
#include "stat/series.h"

static const struct {
	const char *name, *label;
} kinds[] = {
	{FIGURE_BANDWIDTH, "rate"},
	{FIGURE_MEAN, "mean"},
	{"latency_p50_us", "p50"},
	{"latency_p99_us", "p99"},
};

#define KINDS       (sizeof(kinds) / sizeof(kinds[0]))
#define PERCENTILES 2 /* from here on */

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
 * Collect the figure from ROWS of SIDE; those of a connection follow each other. ROOM is for two
 * numbers of each.
 */
static void collect(struct figure *one, int side, const json_t *rows, double *room)
{
	struct compare_side *s = &one->judged->side[side];
	double *connection = room + json_array_size(rows), value;
	size_t i, runs = 0;
	const json_t *row;

	json_array_foreach (rows, i, row) {
		const json_t *result = json_object_get(row, "result");

		value = row_figure(row, one->name);
		if (isnan(value))
			continue;
		one->judged->disturbed[side] |= json_is_true(
			json_object_get(json_object_get(result, "quality"), "disturbed"));
		*s = row_alone(row, value);
		connection[runs] = (double)json_integer_value(json_object_get(row, "connection"));
		room[runs++] = log(value);
	}
	one->runs[side] = runs;
	if (runs > 1) /* of a lone connection its runs say how sure it is */
		*s = compare_side(room, runs);
	one->connections[side] = merge_runs(room, connection, runs);
	if (one->connections[side] > 1)
		*s = compare_side(room, one->connections[side]);
}

/* Once both sides of ONE have been collected: what is known of a lone connection. */
static void decide_lone(struct figure *one, bool percentile, bool itself)
{
	struct compare_side *s = one->judged->side;

	one->judged->lone = one->connections[0] == 1 && one->connections[1] == 1 && !itself;
	for (int i = 0; i < FIGURES_SIDES; i++) {
		if (one->connections[i] == 1 && one->connections[!i] > 1) {
			s[i].variance = 0; /* it varies like the others */
			s[!i].variance *= 1 + (double)one->connections[!i];
		} else if (itself) {
			s[i].variance = 0;
			one->judged->disturbed[0] = false;
		} else if (one->judged->lone && percentile) {
			s[i].variance = NAN; /* ranks need samples that do not resemble their neighbours */
		}
	}
}

/* Add figure KIND of the rows in BOTH sides, if both have it. Returns 0, or -1 without memory. */
static int add_figure(struct figures *fs, const json_t *both, size_t kind)
{
	const json_t *first = json_array_get(json_array_get(both, FIGURES_BEFORE), 0);
	struct figure *one = &fs->all[fs->count];
	bool percentile = kind >= PERCENTILES;
	double *room;

	*one = (struct figure){
		.of = json_object_get(first, "of"),
		.facts = json_object_get(first, "facts"),
		.varied = json_object_get(first, "varied"),
		.name = kinds[kind].name,
		.label = kinds[kind].label,
		.judged = &fs->judged[fs->count],
	};
	*one->judged = (struct compare_figure){.lower_is_better = kind > 0};
	for (int side = 0; side < FIGURES_SIDES; side++) {
		const json_t *rows = json_array_get(both, (size_t)side);

		room = calloc(2 * json_array_size(rows) + 1, sizeof(*room));
		if (!room)
			return -1;
		collect(one, side, rows, room);
		free(room);
	}
	decide_lone(one, percentile, json_equal(json_array_get(both, 0), json_array_get(both, 1)));
	if (one->runs[0] && one->runs[1]) {
		fs->count++;
	} else {
		fs->lost += !percentile && one->runs[0];
		fs->alone[FIGURES_BEFORE] += one->runs[0] > 0;
		fs->alone[FIGURES_AFTER] += one->runs[1] > 0;
	}
	return 0;
}

int figures_judge(struct figures *fs, double within, struct fault *f)
{
	size_t most = json_object_size(fs->groups) * KINDS;
	json_t *both;
	const char *key;
	int rc;

	fs->all = calloc(most + 1, sizeof(*fs->all)); /* the most that there may be */
	fs->judged = calloc(most + 1, sizeof(*fs->judged));
	rc = fs->all && fs->judged ? 0 : -1;
	json_object_foreach(fs->groups, key, both)
		for (size_t kind = 0; kind < KINDS && !rc; kind++)
			rc = add_figure(fs, both, kind);
	if (rc || json_memory_failures())
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "comparing %zu figures", fs->count);
	compare_judge(fs->judged, fs->count, within);
	return 0;
}
