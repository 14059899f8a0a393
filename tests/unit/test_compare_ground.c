// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * rdmark compare on made-up grounds: pairs of documents whose truth is known. How often it says
 * "worse" of what is the same, and of what is worse. Prints the rates; the bars are COURT's.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "proto/fields.h"
#include "proto/record.h"
#include "rdmark/figures.h"
#include "stat/interval.h"
#include "stat/quantile.h"
#include "stat/series.h"

#define SLICES      16
#define SIZES       23
#define CONNECTIONS 5

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

/* The share of COUNT judged pairs with each answer; of a pair the worst: worse, cannot tell, else.
 */
struct rates {
	unsigned pairs, worse, cannot_tell;
};

/* Compare the documents A and B (both stolen), and count the answer. */
static void judge(struct rates *r, json_t *a, json_t *b, double within)
{
	struct figures fs = {0};
	struct fault f = {0};
	size_t answers[COMPARE_ANSWERS] = {0};

	figures_add(&fs, FIGURES_BEFORE, a, 0);
	figures_add(&fs, FIGURES_AFTER, b, 0);
	assert_int_equal(figures_judge(&fs, within, &f), 0);
	assert_true(fs.count > 0);
	for (size_t i = 0; i < fs.count; i++)
		answers[fs.judged[i].answer]++;
	r->pairs++;
	if (answers[COMPARE_WORSE])
		r->worse++;
	else if (answers[COMPARE_CANNOT_TELL])
		r->cannot_tell++;
	figures_release(&fs);
	json_decref(a);
	json_decref(b);
}

static double share(const char *what, const struct rates *r)
{
	printf("%-64s worse %5.1f %%, cannot tell %5.1f %%\n", what, 100.0 * r->worse / r->pairs,
	       100.0 * r->cannot_tell / r->pairs);
	return 1.0 * r->worse / r->pairs;
}

static json_t *document(const char *test)
{
	return json_pack("{s:i, s:s, s:{s:s, s:I}, s:[]}", "schema_version", 3, "test", test,
			 "experiment", "connection", "RC", "tx_depth", (json_int_t)128, "results");
}

/* --- latencies -------------------------------------------------------------------------------- */

/* What latencies of a run may look like; all runs of a ground have the same truth. */
struct ground {
	const char *name;
	double sigma;   /* of the lognormal part of each sample */
	double mode;    /* the second of two modes, as a multiple of the first; 1: one mode */
	unsigned dwell; /* samples in a mode, on average */
	double decay;   /* of an AR(1) from sample to sample, of sigma; 0: independent */
	double far;     /* the share of samples that take a hundred times as long */
};

static const struct ground grounds[] = {
	{"lognormal", 1.5, 1, 1, 0, 0},
	{"heavy tail", 0.1, 1, 1, 0, 0.01},
	{"AR(0.9)", 0.3, 1, 1, 0.9, 0},
	{"AR(0.99)", 0.3, 1, 1, 0.99, 0},
	{"two modes x 150, dwell 20", 0.1, 150, 20, 0, 0},
	{"two modes x 150, dwell 100", 0.1, 150, 100, 0, 0},
	{"two modes x 150, dwell 300", 0.1, 150, 300, 0, 0},
	{"two modes x 1.5, dwell 20", 0.1, 1.5, 20, 0, 0},
	{"two modes x 1.5, dwell 100", 0.1, 1.5, 100, 0, 0},
	{"two modes x 1.5, dwell 300", 0.1, 1.5, 300, 0, 0},
	{"two modes x 1.5, dwell 100, heavy tail", 0.1, 1.5, 100, 0, 0.01},
};

static void draw(uint64_t *state, const struct ground *g, double *value, size_t count)
{
	double level = normal(state);
	bool second = uniform(state) < 0.5;

	for (size_t i = 0; i < count; i++) {
		level = g->decay * level + sqrt(1 - g->decay * g->decay) * normal(state);
		second ^= uniform(state) * g->dwell < 1;
		value[i] = 2 + 8 * exp(g->sigma * level) * (second ? g->mode : 1) *
				       (uniform(state) < g->far ? 100 : 1);
	}
}

/* FIELD of the sorted values, a percentile or a limit of one, as documents have it. */
static void add_percentile(json_t *row, const struct field *field, const double *sorted,
			   size_t count)
{
	double percent = percentile_percent(record_percentile(field));
	struct quantile_ranks r = quantile_ranks(percent, count, 95);
	uint64_t rank = strstr(field->key, "_low_")    ? r.low
			: strstr(field->key, "_high_") ? r.high
						       : hist_rank(percent, count);

	json_object_set_new(row, field->key,
			    rank && rank <= count ? json_real(sorted[rank - 1]) : json_null());
}

/* A document of send_lat with COUNT latencies of G. */
static json_t *latencies(uint64_t *state, const struct ground *g, size_t count)
{
	static double value[10000];
	json_t *d = document("send_lat"), *row = json_object();
	const struct fields *all = record_fields();
	double slice[SLICES];
	struct interval in;

	draw(state, g, value, count);
	for (size_t i = 0; i < SLICES; i++)
		slice[i] = series_mean(value + i * count / SLICES, count / SLICES);
	in = interval_of_run(slice, SLICES, 95);
	json_object_set_new(row, "message_bytes", json_integer(2));
	json_object_set_new(row, "messages", json_integer((json_int_t)count));
	json_object_set_new(row, "latency_mean_us", json_real(series_mean(value, count)));
	json_object_set_new(row, "slices", json_integer(SLICES));
	json_object_set_new(row, "plus_minus_percent",
			    isfinite(in.half) ? json_real(100 * in.half / in.mean) : json_null());
	series_sort(value, count);
	json_object_set_new(row, "latency_stdev_us",
			    json_real(sqrt(series_variance(value, count, in.mean))));
	for (const struct field *p = all->row; p < all->row + all->count; p++)
		if (record_percentile(p) < PERCENTILES &&
		    count >= percentile_needs(record_percentile(p)))
			add_percentile(row, p, value, count);
	json_array_append_new(json_object_get(d, "results"), row);
	return d;
}

/* PAIRS of runs of COUNT latencies of G. */
static void judge_equal_latencies(uint64_t *state, const struct ground *g, size_t count,
				  unsigned pairs)
{
	static const double within[] = {0.02, 0.05};
	struct rates r[2] = {{0}, {0}};
	char what[96];

	for (unsigned i = 0; i < pairs; i++) {
		json_t *a = latencies(state, g, count), *b = latencies(state, g, count);

		judge(&r[0], json_incref(a), json_incref(b), within[0]);
		judge(&r[1], a, b, within[1]);
	}
	for (size_t w = 0; w < 2; w++) {
		snprintf(what, sizeof(what), "same %s, n = %zu, --within %g", g->name, count,
			 100 * within[w]);
		assert_true(share(what, &r[w]) <= 0.02);
	}
}

static void equal_latencies_are_no_regression(void **arg)
{
	uint64_t state = 1;

	(void)arg;
	for (size_t g = 0; g < sizeof(grounds) / sizeof(grounds[0]); g++)
		judge_equal_latencies(&state, &grounds[g], 1000, 300);
	judge_equal_latencies(&state, &grounds[0], 10000, 100);
}

/* --- bandwidths ------------------------------------------------------------------------------- */

struct link {
	unsigned sizes, connections;
	double between, within; /* deviations, as fractions */
	double shared;          /* of the variance between connections: the same in all sizes */
	double change;          /* of the truth */
	unsigned changed;       /* sizes: the first ones */
};

static json_t *bandwidths(uint64_t *state, const struct link *l)
{
	json_t *d = document("write_bw");

	for (unsigned c = 0; c < l->connections; c++) {
		double common = normal(state);

		for (unsigned s = 0; s < l->sizes; s++) {
			double own = normal(state), truth = s < l->changed ? 1 + l->change : 1;
			double deviation = sqrt(l->shared) * common + sqrt(1 - l->shared) * own;
			json_t *row = json_pack(
				"{s:I, s:I, s:f, s:f, s:i}", "message_bytes", (json_int_t)2 << s,
				"qps", (json_int_t)1, "bandwidth_gbps",
				90 * truth *
					(1 + l->between * deviation + l->within * normal(state)),
				"plus_minus_percent", 196 * l->within, "slices", 40);

			if (l->connections > 1)
				json_object_set_new(
					row, "varied",
					json_pack("{s:I}", "reconnect", (json_int_t)c + 1));
			json_array_append_new(json_object_get(d, "results"), row);
		}
	}
	return d;
}

/* Pairs of runs over L: before, and after with its change. */
static struct rates judge_links(struct link l, unsigned pairs, double within, uint64_t *state)
{
	struct link before = l;
	struct rates r = {0};

	before.changed = 0;
	for (unsigned i = 0; i < pairs; i++)
		judge(&r, bandwidths(state, &before), bandwidths(state, &l), within);
	return r;
}

static void one_connection_a_side_cannot_tell(void **arg)
{
	const struct link l = {.sizes = 1, .connections = 1, .between = 0.01, .within = 0.001};
	static const double within[] = {NAN, 0.01, 0.02, 0.05};
	uint64_t state = 2;

	(void)arg;
	for (size_t w = 0; w < 4; w++) {
		struct rates r = judge_links(l, 500, within[w], &state);

		assert_int_equal(share("one connection a side, 1 % between, 0.1 % within", &r), 0);
		/* With --within 5 it may be so much better that it is no worse. */
		assert_true(r.cannot_tell >= r.pairs * 0.9);
	}
}

static void large_losses_of_one_connection_are_found(void **arg)
{
	struct link l = {.sizes = 1, .connections = 1, .between = 0.01, .within = 0.001};
	uint64_t state = 3;

	(void)arg;
	for (int i = 0; i < 2; i++) {
		struct rates r;

		l.change = i ? -0.45 : -0.28;
		l.changed = 1;
		r = judge_links(l, 200, 0.05, &state);
		assert_true(share(i ? "the same with -45 %" : "the same with -28 %", &r) >= 1);
	}
}

static void what_does_not_change_in_a_sweep_is_not_worse(void **arg)
{
	struct link l = {.sizes = SIZES, .connections = CONNECTIONS, .between = 0.01};
	static const double shared[] = {0, 0.5, 1};
	static const double within[] = {NAN, 0.01};
	uint64_t state = 4;
	char what[96];

	(void)arg;
	for (size_t s = 0; s < 3; s++)
		for (size_t w = s == 1; w < 2; w++) {
			struct rates r;

			l.shared = shared[s];
			r = judge_links(l, 150, within[w], &state);
			snprintf(what, sizeof(what),
				 "same, 5 runs, 23 sizes, %g of it shared, within %g", shared[s],
				 100 * within[w]);
			assert_true(share(what, &r) <= 0.02);
		}
}

/* What rdmark(7) says that 5 connections bear. */
static void a_steady_sweep_passes(void **arg)
{
	struct link l = {.sizes = SIZES, .connections = CONNECTIONS};
	uint64_t state = 6;
	struct rates r;

	(void)arg;
	l.between = 0.005;
	r = judge_links(l, 200, 0.02, &state);
	share("same, 5 runs, 23 sizes, 0.5 % between, within 2", &r);
	assert_true(r.worse + r.cannot_tell <= r.pairs * 0.05);
	l.between = 0.01;
	r = judge_links(l, 200, 0.02, &state);
	share("same, 5 runs, 23 sizes, 1 % between, within 2", &r);
	assert_true(r.worse <= r.pairs * 0.02 && r.cannot_tell >= r.pairs * 0.9);
}

static void a_loss_of_3_percent_is_found(void **arg)
{
	struct link l = {.connections = CONNECTIONS, .between = 0.01, .change = -0.03};
	static const double within[] = {NAN, 0.01, 0.02};
	uint64_t state = 5;
	struct rates r;
	char what[96];

	(void)arg;
	for (unsigned sizes = 1; sizes <= SIZES; sizes += SIZES - 1)
		for (size_t w = 0; w < 3; w++) {
			l.sizes = l.changed = sizes;
			r = judge_links(l, sizes > 1 ? 30 : 500, within[w], &state);
			snprintf(what, sizeof(what), "-3 %% in all of %u sizes, 5 runs, within %g",
				 sizes, 100 * within[w]);
			assert_true(share(what, &r) >= 0.9);
		}
	l.sizes = SIZES;
	l.changed = 1;
	r = judge_links(l, 100, NAN, &state);
	share("-3 % in one of 23 sizes, 5 runs", &r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_latencies_are_no_regression),
		cmocka_unit_test(one_connection_a_side_cannot_tell),
		cmocka_unit_test(large_losses_of_one_connection_are_found),
		cmocka_unit_test(what_does_not_change_in_a_sweep_is_not_worse),
		cmocka_unit_test(a_steady_sweep_passes),
		cmocka_unit_test(a_loss_of_3_percent_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
