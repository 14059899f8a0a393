// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "measure/repeat.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "proto/fields.h"
#include "stat/series.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/percentile.h"

/* The figures in the summary; runs are judged by the first one. */
static const char *const bandwidth_figures[] = {"bandwidth_gbps", "messages_per_s", NULL};
static const char *const latency_figures[] = {"latency_mean_us", "latency_p50_us", "latency_p99_us",
					      NULL};

static const char *const *repeat_figures(const struct repeat *r)
{
	return r->latency ? latency_figures : bandwidth_figures;
}

void repeat_start(struct repeat *r, uint64_t now_ns)
{
	r->start_ns = now_ns;
	r->number = 0;
	r->count = 0;
	r->all = 0;
}

static int grow_runs(struct repeat *r, struct fault *f)
{
	size_t room = r->room ? 2 * r->room : 16;
	struct repeat_run *run;
	double *value;

	if (r->count < r->room)
		return 0;
	run = realloc(r->run, room * sizeof(*run));
	r->run = run ? run : r->run;
	value = realloc(r->value, 2 * room * sizeof(*value));
	r->value = value ? value : r->value;
	if (!run || !value)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "keeping %zu runs", room);
	r->room = room;
	return 0;
}

int repeat_keep(struct repeat *r, const struct record *figure, const struct result *result,
		struct fault *f)
{
	struct repeat_run run = {.figure = *figure, .cpu_percent = result->cpu_percent};
	const struct result_row *const row[REPEAT_ROWS] = {result->shown[0], result->shown[1],
							   result->local, result->remote};

	if (grow_runs(r, f))
		return -1;
	for (int i = 0; i < REPEAT_ROWS; i++) {
		if (!row[i])
			continue;
		run.row[i] = *row[i];
		run.row[i].explained = NULL; /* it lives no longer than the result */
		run.record[i] = *row[i]->record;
	}
	r->run[r->count] = run;
	r->count += record_value(figure, record_find(repeat_figures(r)[0])) > 0;
	r->all++;
	return 0;
}

/* The values of FIGURE of all runs that have one, without the first LEFT_OUT; owned by R. */
static const double *repeat_values(const struct repeat *r, const char *figure, size_t left_out)
{
	const struct field *field = record_find(figure);

	for (size_t i = left_out; i < r->count; i++)
		r->value[i - left_out] = record_value(&r->run[i].figure, field);
	return r->value;
}

static struct series figure_series(const struct repeat *r, const char *figure, size_t left_out)
{
	const double *value = repeat_values(r, figure, left_out);
	struct series s;

	series_measure(&s, value, r->value + r->count, r->count - left_out);
	return s;
}

struct plateau repeat_plateau(const struct repeat *r)
{
	const struct plateau_aim aim = {
		.confidence = (double)r->confidence_ppm / 1e4,
		.within = (double)r->within_ppm / REPEAT_PPM,
	};
	const double *value = repeat_values(r, repeat_figures(r)[0], 0);
	struct plateau p = {.state = PLATEAU_FEW};

	if (r->within_ppm)
		plateau_find(&p, value, r->count, &aim, r->value + r->count);
	else
		p.mean = interval_of_run(value, r->count, INTERVAL_CONFIDENCE);
	return p;
}

bool repeat_goes_on(const struct repeat *r, uint64_t now_ns)
{
	if (r->number >= r->most)
		return false;
	if (!r->within_ppm || r->number < PLATEAU_LEAST)
		return true;
	return now_ns - r->start_ns < REPEAT_UNTIL_NS &&
	       (!looks_due(PLATEAU_LEAST, r->count) || repeat_plateau(r).state != PLATEAU_REACHED);
}

/* The median run, without the first LEFT_OUT runs. */
static const struct repeat_run *median_after(const struct repeat *r, size_t left_out)
{
	return &r->run[left_out + figure_series(r, repeat_figures(r)[0], left_out).median_at];
}

const struct repeat_run *repeat_median(const struct repeat *r)
{
	return r->all ? median_after(r, repeat_plateau(r).left_out) : NULL;
}

struct result repeat_median_result(struct repeat *r)
{
	struct repeat_run *run = (struct repeat_run *)repeat_median(r);
	struct result result = {.cpu_percent = run->cpu_percent};
	const struct result_row **const row[REPEAT_ROWS] = {&result.shown[0], &result.shown[1],
							    &result.local, &result.remote};

	for (int i = 0; i < REPEAT_ROWS; i++) {
		if (!run->row[i].record)
			continue;
		run->row[i].record = &run->record[i];
		*row[i] = &run->row[i];
	}
	return result;
}

static json_t *spread_json(const struct series *s)
{
	return json_pack("{s:f, s:f, s:f, s:f, s:f}", "min", s->min, "median", s->median, "max",
			 s->max, "mean", s->mean, "cv_percent", s->cv * 100);
}

/* plateau states in the document */
static const char *const state_name[] = {
	[PLATEAU_FEW] = "few_runs", [PLATEAU_DRIFTS] = "drift",    [PLATEAU_GROUPS] = "two_groups",
	[PLATEAU_WIDE] = "wide",    [PLATEAU_REACHED] = "reached",
};

/* The number of runs at the start that P drops, including those without a figure. */
static uint64_t first_runs(const struct repeat *r, const struct plateau *p)
{
	return p->left_out ? r->run[p->left_out - 1].figure.run : 0;
}

/* Add to the summary whether the aim of --until-stable or --confidence was reached. */
static void add_aim(const struct repeat *r, const struct plateau *p, json_t *to)
{
	bool reached = p->state == PLATEAU_REACHED;
	struct series s = figure_series(r, repeat_figures(r)[0], p->left_out);

	json_object_set_new(to, "left_out", json_integer((json_int_t)first_runs(r, p)));
	json_object_set_new(to, "within_percent", json_real((double)r->within_ppm / 1e4));
	json_object_set_new(to, "reached", json_boolean(reached));
	json_object_set_new(to, "judged", json_string(state_name[p->state]));
	json_object_set_new(to, "last_cv_percent", json_real(s.cv * 100));
	json_object_set_new(to, "last_slope_percent", json_real(s.slope * 100));
	if (p->state == PLATEAU_GROUPS)
		json_object_set_new(to, "groups",
				    json_pack("[f, f]", p->groups.low, p->groups.high));
	if (!r->until_stable)
		return;
	json_object_set_new(to, "until_stable_percent", json_real((double)r->within_ppm / 1e4));
	json_object_set_new(to, "stable", json_boolean(reached));
}

static double confidence_percent(const struct repeat *r)
{
	return r->within_ppm ? (double)r->confidence_ppm / 1e4 : INTERVAL_CONFIDENCE;
}

json_t *repeat_summary(const struct repeat *r)
{
	struct plateau p = repeat_plateau(r);
	const struct record *median = &median_after(r, p.left_out)->figure;
	json_t *to = json_pack("{s:I, s:I, s:I, s:I}", "message_bytes",
			       (json_int_t)median->message_bytes, "runs", (json_int_t)r->all,
			       "measured_runs", (json_int_t)r->count, "median_run",
			       (json_int_t)median->run);

	for (const char *const *figure = repeat_figures(r); *figure; figure++) {
		struct series s = figure_series(r, *figure, p.left_out);

		json_object_set_new(to, *figure,
				    s.count && percentile_known(median, *figure) ? spread_json(&s)
										 : json_null());
	}
	json_object_set_new(to, "confidence_percent", json_real(confidence_percent(r)));
	json_object_set_new(to, "interval_percent",
			    json_number_or_null(100 * p.mean.half / p.mean.mean));
	if (p.mean.state != INTERVAL_KNOWN)
		json_object_set_new(to, "interval_unknown",
				    json_string(interval_state_name(p.mean.state)));
	if (r->within_ppm)
		add_aim(r, &p, to);
	return to;
}

/* A run's figure in the table's unit, without the unit. */
static struct units_text repeat_number(const struct repeat *r, double value)
{
	struct units_text us;

	if (!r->latency)
		return unit_number(r->gbits, value);
	snprintf(us.text, sizeof(us.text), "%.2f", value);
	return us;
}

/* Append to BUF why P did not reach the aim. */
static void add_reason(const struct repeat *r, const struct plateau *p, char *buf, size_t size)
{
	if (p->state == PLATEAU_FEW)
		text_add(buf, size, "at least %d runs are needed", PLATEAU_LEAST);
	else if (p->state == PLATEAU_GROUPS)
		text_add(buf, size, "the runs fall into two groups, about %s and %s %s",
			 repeat_number(r, p->groups.low).text,
			 repeat_number(r, p->groups.high).text,
			 r->latency ? "us" : unit_name(r->gbits));
	else if (p->state == PLATEAU_DRIFTS)
		text_add(buf, size, "still %s by %.2g %% per run",
			 p->slope > 0 ? "rising" : "falling", fabs(p->slope) * 100);
	else if (p->mean.state == INTERVAL_PHASES)
		text_add(buf, size, "it varies in phases too long for so few runs");
	else if (p->mean.state == INTERVAL_EVENTS)
		text_add(buf, size, "one or two runs make most of what varies");
	else
		text_add(buf, size, "the mean is not known to within %.4g %%",
			 (double)r->within_ppm / 1e4);
}

/* "stable", "not stable: still rising by 0.8 % a run". */
static void add_verdict(const struct repeat *r, const struct plateau *p, char *buf, size_t size)
{
	if (p->state == PLATEAU_REACHED && !r->until_stable)
		text_add(buf, size, "known to within %.4g %%", (double)r->within_ppm / 1e4);
	else if (p->state == PLATEAU_REACHED)
		text_add(buf, size, "stable");
	else
		text_add(buf, size, "not %s: ", r->until_stable ? "stable" : "reached");
	if (p->state != PLATEAU_REACHED)
		add_reason(r, p, buf, size);
}

/* Append to BUF how many runs P leaves out, and how the first of them differs from the mean. */
static void add_left_out(const struct repeat *r, const struct plateau *p, char *buf, size_t size)
{
	double first = repeat_values(r, repeat_figures(r)[0], 0)[0] / p->mean.mean - 1;

	text_add(buf, size,
		 "; without the first %" PRIu64 " runs, a warm-up that started %.2g %% %s",
		 first_runs(r, p), fabs(first) * 100, first < 0 ? "lower" : "higher");
}

/* "5 runs", "4 of 5 runs have a rate", "none of 5 runs has a rate". */
static void add_how_many(const struct repeat *r, char *buf, size_t size)
{
	const char *what = r->latency ? "mean" : "rate";

	if (r->count == r->all)
		text_add(buf, size, "%zu runs", r->all);
	else if (r->count)
		text_add(buf, size, "%zu of %zu runs %s a %s", r->count, r->all,
			 r->count == 1 ? "has" : "have", what);
	else
		text_add(buf, size, "none of %zu runs has a %s", r->all, what);
}

/* Append to BUF median, range, deviation and mean of the runs that have a figure. */
static void add_spread(const struct repeat *r, const struct plateau *p, char *buf, size_t size)
{
	struct series s = figure_series(r, repeat_figures(r)[0], p->left_out);

	text_add(buf, size, ": median %s %s, %s to %s, deviation %.2f %%",
		 repeat_number(r, s.median).text,
		 r->latency ? "us on average" : unit_name(r->gbits), repeat_number(r, s.min).text,
		 repeat_number(r, s.max).text, s.cv * 100);
	if (isfinite(p->mean.half) && p->mean.mean > 0)
		text_add(buf, size, ", mean %s ± %.2g %% (%.4g %%)",
			 repeat_number(r, p->mean.mean).text, 100 * p->mean.half / p->mean.mean,
			 confidence_percent(r));
	if (p->left_out)
		add_left_out(r, p, buf, size);
}

const char *repeat_text(const struct repeat *r, char *buf, size_t size)
{
	struct plateau p = repeat_plateau(r);

	buf[0] = '\0';
	text_add(buf, size, "%s: ", units_size(r->run[0].figure.message_bytes).text);
	add_how_many(r, buf, size);
	if (r->count)
		add_spread(r, &p, buf, size);
	if (!r->within_ppm)
		return buf;
	text_add(buf, size, "; ");
	add_verdict(r, &p, buf, size);
	return buf;
}

const char *repeat_doubt(const struct repeat *r, char *buf, size_t size)
{
	struct plateau p = repeat_plateau(r);

	if (!r->within_ppm || p.state == PLATEAU_REACHED)
		return NULL;
	buf[0] = '\0';
	text_add(buf, size, "%s: ", units_size(r->run[0].figure.message_bytes).text);
	add_verdict(r, &p, buf, size);
	return buf;
}

void repeat_release(struct repeat *r)
{
	free(r->run);
	free(r->value);
	r->run = NULL;
	r->value = NULL;
	r->room = 0;
	repeat_start(r, 0);
}
