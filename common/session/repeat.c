// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "session/repeat.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/series.h"
#include "base/text.h"
#include "base/units.h"

#define LEAST_PPM 100 /* 0.01 % */

/* What is summed up; the first is what a run is judged by. */
static const char *const bandwidth_figures[] = {"bandwidth_gbps", "messages_per_s", NULL};
static const char *const latency_figures[] = {"latency_mean_us", "latency_p50_us", "latency_p99_us",
					      NULL};

static const char *const *figures(const struct repeat *r)
{
	return r->latency ? latency_figures : bandwidth_figures;
}

/* "0.5" or "0.5%". */
static int read_until(struct repeat *r, const char *text, struct fault *f)
{
	size_t size = strlen(text);
	char number[32] = "";
	double percent = 0;

	if (size && text[size - 1] == '%')
		size--;
	if (size < sizeof(number))
		memcpy(number, text, size);
	if (units_parse_decimal(number, &percent) == 0 && percent <= 100)
		r->until_ppm = (uint64_t)(percent * 1e4 + 0.5);
	if (r->until_ppm >= LEAST_PPM)
		return 0;
	fault_raise(f, FAULT_USAGE, 0, "option --until-stable: '%.40s' is not possible", text);
	return fault_fix(f, "percent, from 0.01 to 100");
}

int repeat_read(struct repeat *r, const struct options *o, bool latency, struct fault *f)
{
	bool given = options_given(o, "repeat");

	r->latency = latency;
	r->most = given ? o->output.repeat : 0;
	if (o->experiment.run_infinitely && (given || o->output.until_stable)) {
		fault_raise(f, FAULT_USAGE, 0, "%s with --run_infinitely",
			    given ? "--repeat" : "--until-stable");
		return fault_fix(f, "the first run would never end: give it an end with -n or -D");
	}
	if (!o->output.until_stable)
		return 0;
	if (read_until(r, o->output.until_stable, f))
		return -1;
	if (!given)
		r->most = REPEAT_UNTIL_MAX;
	if (r->most >= REPEAT_WINDOW)
		return 0;
	fault_raise(f, FAULT_USAGE, 0, "--until-stable with --repeat %llu",
		    (unsigned long long)r->most);
	return fault_fix(f, "it looks at the last %d runs: --repeat is the most that are made",
			 REPEAT_WINDOW);
}

void repeat_start(struct repeat *r, uint64_t now_ns)
{
	r->start_ns = now_ns;
	r->number = 0;
	r->count = 0;
}

static int make_room(struct repeat *r, struct fault *f)
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

int repeat_keep(struct repeat *r, const struct record *figure, const struct report_result *result,
		struct fault *f)
{
	struct repeat_run run = {.figure = *figure, .cpu_percent = result->cpu_percent};

	if (make_room(r, f))
		return -1;
	for (; run.rows < 2 && result->shown[run.rows]; run.rows++) {
		run.row[run.rows] = *result->shown[run.rows];
		run.record[run.rows] = *result->shown[run.rows]->record;
	}
	r->run[r->count++] = run;
	return 0;
}

/* Of the last COUNT runs. */
static struct series last(const struct repeat *r, const char *figure, size_t count)
{
	const struct record_field *field = record_find(figure);
	struct series s;

	for (size_t i = 0; i < count; i++)
		r->value[i] = record_value(&r->run[r->count - count + i].figure, field);
	series_measure(&s, r->value, r->value + count, count);
	return s;
}

/* Of the window that --until-stable looks at. */
static struct series window(const struct repeat *r)
{
	return last(r, figures(r)[0], r->count < REPEAT_WINDOW ? r->count : REPEAT_WINDOW);
}

static bool is_stable(const struct repeat *r)
{
	double most = (double)r->until_ppm / REPEAT_PPM;
	struct series s = window(r);

	return s.count == REPEAT_WINDOW && s.cv < most && fabs(s.slope) < most;
}

bool repeat_goes_on(const struct repeat *r, uint64_t now_ns)
{
	if (r->number >= r->most)
		return false;
	if (!r->until_ppm || r->number < REPEAT_WINDOW)
		return true;
	return !is_stable(r) && now_ns - r->start_ns < REPEAT_UNTIL_NS;
}

const struct repeat_run *repeat_median(const struct repeat *r)
{
	return r->count ? &r->run[last(r, figures(r)[0], r->count).median_at] : NULL;
}

struct report_result repeat_median_result(struct repeat *r)
{
	struct repeat_run *run = (struct repeat_run *)repeat_median(r);
	struct report_result result = {.cpu_percent = run->cpu_percent};

	for (size_t i = 0; i < run->rows; i++) {
		run->row[i].record = &run->record[i];
		result.shown[i] = &run->row[i];
	}
	return result;
}

static json_t *spread_json(const struct series *s)
{
	json_t *to = json_object();

	json_object_set_new(to, "min", json_real(s->min));
	json_object_set_new(to, "median", json_real(s->median));
	json_object_set_new(to, "max", json_real(s->max));
	json_object_set_new(to, "mean", json_real(s->mean));
	json_object_set_new(to, "cv_percent", json_real(s->cv * 100));
	return to;
}

json_t *repeat_summary(const struct repeat *r)
{
	const struct record *median = &repeat_median(r)->figure;
	json_t *to = json_object();
	struct series s;

	json_object_set_new(to, "message_bytes", json_integer((json_int_t)median->message_bytes));
	json_object_set_new(to, "runs", json_integer((json_int_t)r->count));
	json_object_set_new(to, "median_run", json_integer((json_int_t)median->run));
	for (const char *const *figure = figures(r); *figure; figure++) {
		s = last(r, *figure, r->count);
		json_object_set_new(to, *figure, spread_json(&s));
	}
	if (!r->until_ppm)
		return to;
	s = window(r);
	json_object_set_new(to, "until_stable_percent", json_real((double)r->until_ppm / 1e4));
	json_object_set_new(to, "stable", json_boolean(is_stable(r)));
	json_object_set_new(to, "last_cv_percent", json_real(s.cv * 100));
	json_object_set_new(to, "last_slope_percent", json_real(s.slope * 100));
	return to;
}

const char *repeat_text(const struct repeat *r, char *buf, size_t size)
{
	struct series s = last(r, figures(r)[0], r->count);
	const char *unit = r->latency ? "usec on average" : "Gb/s";
	char bytes[32];

	units_format_size(r->run[0].figure.message_bytes, bytes, sizeof(bytes));
	buf[0] = '\0';
	text_add(buf, size, "%s: %zu runs: median %.*f %s, %.*f to %.*f, deviation %.2f %%", bytes,
		 s.count, r->latency ? 2 : 3, s.median, unit, r->latency ? 2 : 3, s.min,
		 r->latency ? 2 : 3, s.max, s.cv * 100);
	if (!r->until_ppm)
		return buf;
	s = window(r);
	text_add(buf, size, "; %s: the last %zu drift by %.2f %% a run and deviate by %.2f %%",
		 is_stable(r) ? "stable" : "not stable", s.count, s.slope * 100, s.cv * 100);
	return buf;
}

void repeat_release(struct repeat *r)
{
	free(r->run);
	free(r->value);
	memset(r, 0, sizeof(*r));
}
