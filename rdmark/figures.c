// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "figures.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stat/interval.h"
#include "stat/series.h"
#include "wire/json_memory.h"
#include "wire/percentile.h"

#define FILE_MAX  (size_t)(1 << 30)
#define MANY      1e6  /* degrees of freedom: as good as a normal distribution */
#define NORMAL_95 1.96 /* standard errors that reach to 95 % of one */
#define MEAN      "latency_mean_us"
#define BANDWIDTH "bandwidth_gbps"

static const char *const side_key[] = {"before", "after"};
static const char *const half_key[] = {"before_half", "after_half"};

/* Read all of FILE, *USED bytes and a final 0. The caller frees the result. NULL: fault raised. */
static char *read_all(const char *file, size_t *used, struct fault *f)
{
	FILE *in = fopen(file, "re");
	char *bytes = NULL;
	size_t room = 0, n = 1;

	for (*used = 0; in && n && *used < FILE_MAX; *used += n) {
		char *more = *used < room ? bytes : realloc(bytes, (room = 2 * room + 65536) + 1);

		if (!more)
			break;
		bytes = more;
		n = fread(bytes + *used, 1, room - *used, in);
	}
	if (bytes)
		bytes[*used] = '\0'; /* in range: realloc() adds 1 to the room */
	if (!in || n || ferror(in)) {
		bool usage = *used >= FILE_MAX || errno != ENOMEM;

		fault_raise(f, usage ? FAULT_USAGE : FAULT_LOCAL, *used >= FILE_MAX ? EFBIG : errno,
			    "reading %s", file);
		if (usage)
			fault_fix(f, "name a file that --json=FILE has written");
		free(bytes);
		bytes = NULL;
	}
	if (in)
		fclose(in);
	return bytes;
}

/* The string KEY of O; "" if missing. */
static const char *member_word(const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));

	return text ? text : "";
}

static json_int_t member_number(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

/* The collected values of figure NAME of ROW's measurement; made if it is the first of its kind. */
static json_t *find_figure(struct figures *fs, const char *test, const json_t *row,
			   const char *name)
{
	json_int_t bytes = member_number(row, "message_bytes"), qps = member_number(row, "qps");
	char key[512];
	json_t *one;

	snprintf(key, sizeof(key), "%.60s|%lld|%lld|%.40s|%.40s|%.60s|%s", test, bytes, qps,
		 member_word(row, "direction"), member_word(row, "cell"), member_word(row, "route"),
		 name);
	one = json_object_get(fs->all, key);
	if (one)
		return one;
	one = json_pack("{s:s, s:I, s:I, s:s, s:s, s:s, s:s, s:[], s:[]}", "test", test,
			"message_bytes", bytes, "qps", qps, "direction",
			member_word(row, "direction"), "cell", member_word(row, "cell"), "route",
			member_word(row, "route"), "figure", name, side_key[0], side_key[1]);
	json_object_set_new_nocheck(fs->all, key, one); /* the key may end within a character */
	return one;
}

/* Add the value of figure NAME, if ROW has it. */
static void add_figure(struct figures *fs, enum figures_side side, const char *test,
		       const json_t *row, const char *name)
{
	double value = json_number_value(json_object_get(row, name));
	const json_t *percent = json_object_get(row, "plus_minus_percent");
	json_t *one;

	if (!(value > 0))
		return;
	one = find_figure(fs, test, row, name);
	json_array_append_new(json_object_get(one, side_key[side]), json_real(value));
	/* plus_minus_percent is that of the mean latency or of the bandwidth. */
	if (json_is_number(percent) && (!strcmp(name, MEAN) || !strcmp(name, BANDWIDTH)))
		json_object_set_new(one, half_key[side],
				    json_real(json_number_value(percent) / 100 * value));
}

/* True if ROW is a total as in the table, not of one thread, device or direction. */
static bool is_shown(const json_t *row, const json_t *document)
{
	bool both = json_is_true(
		json_object_get(json_object_get(document, "experiment"), "bidirectional"));

	if (json_object_get(row, "thread") || json_object_get(row, "device"))
		return false;
	return !both || json_object_get(row, "cell") ||
	       !strcmp(member_word(row, "direction"), "both");
}

/*
 * True if ROW is the result of BEFORE as measured by the other end. Only documents of version 1
 * have that.
 */
static bool is_second_view(const json_t *document, const json_t *row, const json_t *before)
{
	return before && member_number(document, "schema_version") < 2 &&
	       !json_object_get(row, "cell") &&
	       member_number(row, "message_bytes") == member_number(before, "message_bytes") &&
	       member_number(row, "run") == member_number(before, "run");
}

static void add_document(struct figures *fs, enum figures_side side, const json_t *document)
{
	const json_t *row, *before = NULL;
	size_t i;

	json_array_foreach (json_object_get(document, "results"), i, row) {
		const char *test = member_word(document, "test");
		bool latency = json_object_get(row, MEAN);

		if (!is_shown(row, document) || is_second_view(document, row, before))
			continue;
		before = row;
		add_figure(fs, side, test, row, latency ? MEAN : BANDWIDTH);
		for (const struct percentile *p = percentiles(); latency && p->name; p++)
			add_figure(fs, side, test, row, p->field);
	}
}

static bool is_document(const json_t *o)
{
	return json_is_string(json_object_get(o, "test")) &&
	       json_is_array(json_object_get(o, "results"));
}

static int not_a_document(const char *file, const char *why, struct fault *f)
{
	fault_raise(f, FAULT_USAGE, 0, "%s is not a file of rdmark's documents: %s", file, why);
	return fault_fix(f, "name a file that --json=FILE has written");
}

int figures_read(struct figures *fs, enum figures_side side, const char *file, struct fault *f)
{
	size_t size, at = 0, documents = 0;
	uint64_t failures = json_memory_failures();
	char *bytes = read_all(file, &size, f);
	int rc = bytes ? 0 : -1;

	fs->file[side] = file;
	if (!fs->all)
		fs->all = json_object();
	while (!rc && (at += strspn(bytes + at, " \t\r\n")) < size) {
		json_error_t error;
		json_t *o = json_loadb(bytes + at, size - at, JSON_DISABLE_EOF_CHECK, &error);

		if (!o) {
			rc = not_a_document(file, error.text, f);
		} else if (is_document(o)) {
			add_document(fs, side, o);
			documents++;
		} else if (!json_object_get(o, "interval")) {
			rc = not_a_document(file, "an object has no test or no results", f);
		}
		at += (size_t)error.position;
		json_decref(o);
	}
	free(bytes);
	if (json_memory_failures() != failures) { /* figures are missing, or read as others */
		fault_clear(f);
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "reading %s", file);
	}
	return rc || documents ? rc : not_a_document(file, "the file is empty", f);
}

/* A figure on one side: its mean, the standard error of that (NaN: not known), and its freedom. */
struct side {
	double mean, error, freedom;
	size_t runs;
};

static bool read_figure(const json_t *one, int i, struct side *s)
{
	const json_t *list = json_object_get(one, side_key[i]), *half;
	size_t n = json_array_size(list);
	double *value = calloc(n + 1, sizeof(*value));

	*s = (struct side){.runs = n, .error = NAN, .freedom = MANY};
	for (size_t k = 0; value && k < n; k++)
		value[k] = json_number_value(json_array_get(list, k));
	s->mean = value ? series_mean(value, n) : 0;
	half = json_object_get(one, half_key[i]);
	if (value && n > 1) {
		s->error = sqrt(series_variance(value, n, s->mean) / (double)n);
		s->freedom = (double)(n - 1);
	} else if (half) {
		s->error = json_number_value(half) / NORMAL_95;
	}
	free(value);
	return s->mean > 0 && isfinite(s->mean);
}

/* Half the width of Welch's confidence interval of the difference of both means. */
static double figure_half(const struct side *a, const struct side *b)
{
	double va = a->error * a->error, vb = b->error * b->error, sum = va + vb, freedom = MANY;

	if (sum > 0)
		freedom = sum * sum / (va * va / a->freedom + vb * vb / b->freedom);
	return sqrt(sum) * interval_t(INTERVAL_CONFIDENCE, fmax(1, fmin(freedom, MANY)));
}

bool figures_change(void *iter, struct figures_change *c)
{
	const json_t *one = json_object_iter_value(iter);
	struct side s[FIGURES_SIDES];

	*c = (struct figures_change){.of = one,
				     .latency = strcmp(member_word(one, "figure"), BANDWIDTH)};
	for (int i = 0; i < FIGURES_SIDES; i++) {
		if (!read_figure(one, i, &s[i]))
			return false;
		c->mean[i] = s[i].mean;
		c->runs[i] = s[i].runs;
	}
	c->percent = (s[1].mean / s[0].mean - 1) * 100;
	c->half_percent = figure_half(&s[0], &s[1]) / s[0].mean * 100;
	return true;
}

bool figures_moved(const struct figures_change *c)
{
	return !(fabs(c->percent) <= c->half_percent); /* NaN: the noise is not known: true */
}

bool figures_worse(const struct figures_change *c)
{
	return c->latency ? c->percent > 0 : c->percent < 0;
}

void figures_release(struct figures *fs)
{
	json_decref(fs->all);
	fs->all = NULL;
}
