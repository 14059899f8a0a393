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
#include "finding/finding.h"

/* The figures in the summary; runs are judged by the first one. */
static const char *const bandwidth_figures[] = {"bandwidth_gbps", "messages_per_s", NULL};
static const char *const latency_figures[] = {"latency_mean_us", "latency_p50_us", "latency_p99_us",
					      NULL};

static const char *const *repeat_figures(const struct repeat *r)
{
	return r->latency ? latency_figures : bandwidth_figures;
}

void repeat_start(struct repeat *r)
{
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

/* The values of FIGURE of all runs that have one; owned by R. */
static const double *repeat_values(const struct repeat *r, const char *figure)
{
	const struct field *field = record_find(figure);

	for (size_t i = 0; i < r->count; i++)
		r->value[i] = record_value(&r->run[i].figure, field);
	return r->value;
}

static struct series figure_series(const struct repeat *r, const char *figure)
{
	const double *value = repeat_values(r, figure);
	struct series s;

	series_measure(&s, value, r->value + r->count, r->count);
	return s;
}

int repeat_keep(struct repeat *r, const struct record *figure, struct result *result,
		struct fault *f)
{
	struct series s;
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
	s = figure_series(r, repeat_figures(r)[0]);
	result->runs_mean = s.mean;
	result->runs_stdev = s.cv * s.mean;
	return 0;
}

static struct stable runs_stable(const struct repeat *r)
{
	return stable_find(repeat_values(r, repeat_figures(r)[0]), r->count,
			   (double)r->within_ppm / REPEAT_PPM);
}

bool repeat_goes_on(const struct repeat *r)
{
	return r->number < r->most && !(r->within_ppm && runs_stable(r).state == STABLE_REACHED);
}

const struct repeat_run *repeat_median(const struct repeat *r)
{
	return r->all ? &r->run[figure_series(r, repeat_figures(r)[0]).median_at] : NULL;
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

json_t *repeat_summary(const struct repeat *r)
{
	struct stable st = runs_stable(r);
	const struct record *median = &repeat_median(r)->figure;
	json_t *to = json_pack("{s:I, s:I, s:I, s:I}", "message_bytes",
			       (json_int_t)median->message_bytes, "runs", (json_int_t)r->all,
			       "measured_runs", (json_int_t)r->count, "median_run",
			       (json_int_t)median->run);

	for (const char *const *figure = repeat_figures(r); *figure; figure++) {
		struct series s = figure_series(r, *figure);

		json_object_set_new(to, *figure,
				    s.count && percentile_known(median, record_find(*figure)) ? spread_json(&s)
										 : json_null());
	}
	json_object_set_new(to, "interval_percent",
			    json_number_or_null(100 * st.mean.half / st.mean.mean));
	if (st.mean.state != INTERVAL_KNOWN)
		json_object_set_new(to, "interval_unknown",
				    json_string(finding_name(UNSURE_KNOWN + st.mean.state)));
	if (!r->within_ppm)
		return to;
	json_object_set_new(to, "until_stable_percent", json_real((double)r->within_ppm / 1e4));
	json_object_set_new(to, "stable", json_boolean(st.state == STABLE_REACHED));
	json_object_set_new(to, "judged", json_string(finding_name(RUNS_FEW + st.state)));
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

/* "stable", "not stable: the second half of the runs is 2.3 % higher than the first". */
static void add_verdict(const struct repeat *r, const struct stable *st, char *buf, size_t size)
{
	struct units_text rise = unit_percent(fabs(st->rise) * 100);
	bool unsure = st->state == STABLE_WIDE && st->mean.state != INTERVAL_KNOWN;
	const struct finding_facts facts = {
		.value = {FINDING_NUMBER("least", STABLE_LEAST, ""),
			  FINDING_WORD("rise", rise.text),
			  FINDING_WORD("way", st->rise > 0 ? "higher" : "lower"),
			  FINDING_WORD("what", r->latency ? "latency" : "rate"),
			  FINDING_NUMBER("within", (double)r->within_ppm / 1e4, "%")}};
	size_t used;

	text_add(buf, size, "%s", st->state == STABLE_REACHED ? "" : "not stable: ");
	used = strlen(buf);
	finding_words(buf + used, size - used,
		      finding_text(unsure ? UNSURE_KNOWN + st->mean.state : RUNS_FEW + st->state),
		      &facts);
}

/* "5 runs", "4 of 5 runs have a rate", "none of 5 runs has a rate". */
static void add_how_many(const struct repeat *r, char *buf, size_t size)
{
	const char *what = r->latency ? "mean" : "rate";

	if (r->count == r->all)
		text_add(buf, size, "%zu run%s", r->all, r->all == 1 ? "" : "s");
	else if (r->count)
		text_add(buf, size, "%zu of %zu runs %s a %s", r->count, r->all,
			 r->count == 1 ? "has" : "have", what);
	else
		text_add(buf, size, "none of %zu runs has a %s", r->all, what);
}

/* Append to BUF median, range, deviation and mean of the runs that have a figure. */
static void add_spread(const struct repeat *r, const struct interval *mean, char *buf, size_t size)
{
	struct series s = figure_series(r, repeat_figures(r)[0]);

	text_add(buf, size, ": median %s %s, %s to %s, deviation %.2f %%",
		 repeat_number(r, s.median).text,
		 r->latency ? "us on average" : unit_name(r->gbits), repeat_number(r, s.min).text,
		 repeat_number(r, s.max).text, s.cv * 100);
	if (isfinite(mean->half) && mean->mean > 0)
		text_add(buf, size, ", mean %s ± %s %% (%.4g %%)",
			 repeat_number(r, mean->mean).text,
			 unit_percent(100 * mean->half / mean->mean).text, INTERVAL_CONFIDENCE);
}

const char *repeat_text(const struct repeat *r, char *buf, size_t size)
{
	struct stable st = runs_stable(r);

	buf[0] = '\0';
	text_add(buf, size, "%s: ", units_size(r->run[0].figure.message_bytes).text);
	add_how_many(r, buf, size);
	if (r->count)
		add_spread(r, &st.mean, buf, size);
	if (!r->within_ppm)
		return buf;
	text_add(buf, size, "; ");
	add_verdict(r, &st, buf, size);
	return buf;
}

void repeat_release(struct repeat *r)
{
	free(r->run);
	free(r->value);
	r->run = NULL;
	r->value = NULL;
	r->room = 0;
	repeat_start(r);
}
