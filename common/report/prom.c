// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/prom.h"

#include <infiniband/verbs.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/composed.h"
#include "base/text.h"
#include "proto/fields.h"
#include "proto/json_memory.h"
#include "report/document.h"

static const struct {
	const char *name, *help;
} families[] = {
#define FAMILY(symbol, name, help) [symbol] = {name, help},
#include "report/prom_families.def"
#undef FAMILY
};

void prom_label(json_t *labels, const char *name, const char *value)
{
	if (value && *value)
		json_object_set_new(labels, name, json_text(value));
}

static void put_escaped(const char *text, FILE *out)
{
	for (; *text; text++) {
		if (strchr("\\\"", *text))
			fputc('\\', out);
		fputs(*text == '\n' ? "\\n" : (char[]){*text, '\0'}, out);
	}
}

/*
 * The labels as they are printed, to a terminal, too: `{device="mlx5_0"}`. The caller frees it. NULL:
 * no memory.
 */
static char *labels_text(const json_t *labels)
{
	struct composed text;
	FILE *out = composed_open(&text);
	const char *name, *separator = "{";
	json_t *value;
	char *all;

	if (!out)
		return composed_close(&text);
	json_object_foreach((json_t *)labels, name, value)
	{
		fprintf(out, "%s%s=\"", separator, name);
		put_escaped(json_string_value(value), out);
		fputc('"', out);
		separator = ",";
	}
	fputs(*separator == '{' ? "" : "}", out);
	all = composed_close(&text);
	if (all)
		text_disarm(all);
	return all;
}

void prom_add(struct prom *p, enum prom_family family, const json_t *labels, double value)
{
	char *name = isfinite(value) ? labels_text(labels) : NULL;

	p->failed |= isfinite(value) && !name;
	if (name && !json_object_get(p->series[family], name))
		json_object_set_new(p->series[family], name, json_real(value));
	free(name);
}

void prom_add_labelled(struct prom *p, enum prom_family family, const json_t *labels,
		       const char *name, const char *text, double value)
{
	json_t *all = json_copy((json_t *)labels);

	prom_label(all, name, text);
	prom_add(p, family, all, value);
	json_decref(all);
}

void prom_begin(struct prom *p, const char *file)
{
	const char *slash = strrchr(file, '/');

	*p = (struct prom){.labels = json_object(), .json_failures = json_memory_failures()};
	for (int i = 0; i < PROM_FAMILIES; i++)
		p->series[i] = json_object();
	prom_label(p->labels, "file", slash ? slash + 1 : file);
}

static void put_families(const struct prom *p, FILE *out)
{
	const char *name;
	json_t *value;

	for (int i = 0; i < PROM_FAMILIES; i++) {
		if (!json_object_size(p->series[i]))
			continue;
		fprintf(out, "# HELP rdmark_%s %s\n# TYPE rdmark_%s gauge\n", families[i].name,
			families[i].help, families[i].name);
		json_object_foreach(p->series[i], name, value) fprintf(
			out, "rdmark_%s%s %.10g\n", families[i].name, name, json_real_value(value));
	}
}

char *prom_end(struct prom *p)
{
	struct composed composed;
	FILE *out = composed_open(&composed);
	char *text;

	if (out)
		put_families(p, out);
	text = composed_close(&composed);
	json_decref(p->labels);
	for (int i = 0; i < PROM_FAMILIES; i++)
		json_decref(p->series[i]);
	if (!p->failed && json_memory_failures() == p->json_failures)
		return text;
	free(text);
	return NULL;
}

/* NaN: not a number. */
static double number_of(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

static double bytes_per_s(double gbps)
{
	return gbps * 1e9 / 8;
}

/* Add NAME with the value that O has at KEY, if there is one. */
static void label_from(json_t *labels, const char *name, const json_t *o, const char *key)
{
	const json_t *value = json_object_get(o, key);
	char *text =
		json_is_string(value) ? NULL : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);

	prom_label(labels, name, text ? text : json_string_value(value));
	free(text);
}

/* The Ith device of END; NULL: there are no more. */
static const json_t *device_of(const json_t *end, size_t i)
{
	return i ? json_array_get(json_object_get(end, "more_devices"), i - 1) : end;
}

/* Add the rate of each device of END. */
static void add_link_rates(struct prom *p, const json_t *end)
{
	const json_t *one;

	for (size_t i = 0; (one = device_of(end, i)); i++) {
		json_t *labels = json_copy(p->labels);

		label_from(labels, "device", one, "device");
		label_from(labels, "port", one, "port");
		if (number_of(one, "rate_gbps") > 0)
			prom_add(p, PROM_LINK_RATE, labels,
				 bytes_per_s(number_of(one, "rate_gbps")));
		json_decref(labels);
	}
}

/* The labels of RESULT, as a new object. */
static json_t *labels_of(const struct prom *p, const json_t *result, const json_t *end)
{
	json_t *labels = json_copy(p->labels), *value;
	json_t *varied = json_object_get(result, "varied");
	const char *name;

	label_from(labels, "port", end, "port");
	label_from(labels, "message_bytes", result, "message_bytes");
	if (strcmp(json_text_at(result, "direction"), "ping_pong") != 0)
		label_from(labels, "direction", result, "direction");
	label_from(labels, "cell", result, "cell");
	label_from(labels, "route", result, "route");
	json_object_foreach(varied, name, value) /* the size has its own label */
	{
		if (strcmp(name, "size_bytes") != 0 && !json_object_get(labels, name))
			label_from(labels, name, varied, name);
	}
	return labels;
}

/* Add each FINDING of a list, with LABELS. */
static void add_findings(struct prom *p, const json_t *list, const json_t *labels)
{
	static const char *const keys[] = {"end", "level", "strength", "code"};
	const json_t *one;
	size_t i;

	json_array_foreach (list, i, one) {
		json_t *all = json_copy((json_t *)labels);

		for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++)
			label_from(all, keys[k], one, keys[k]);
		prom_add(p, PROM_DIAGNOSIS, all, 1);
		json_decref(all);
	}
}

static void add_result(struct prom *p, const json_t *result, const json_t *labels)
{
	static const char *const percentiles[][2] = {
		{"0", "latency_min_us"},      {"50", "latency_p50_us"},
		{"90", "latency_p90_us"},     {"99", "latency_p99_us"},
		{"99.9", "latency_p99_9_us"}, {"99.99", "latency_p99_99_us"},
		{"100", "latency_max_us"},
	};
	double gbps = number_of(result, "bandwidth_gbps");
	double share = number_of(result, "of_ceiling");
	double mean_s = number_of(result, "latency_mean_us") / 1e6;
	const json_t *limit = json_object_get(result, "limit");

	if (!isfinite(share))
		share = gbps / number_of(json_object_get(limit, "ceilings"), "link_gbps");
	prom_add(p, PROM_BANDWIDTH, labels, bytes_per_s(gbps));
	prom_add(p, PROM_MESSAGES, labels, number_of(result, "messages_per_s"));
	prom_add(p, PROM_OF_CEILING, labels, share);
	prom_add(p, PROM_LATENCY_MEAN, labels, mean_s);
	for (size_t i = 0; isfinite(mean_s) && i < sizeof(percentiles) / sizeof(*percentiles); i++)
		prom_add_labelled(p, PROM_LATENCY, labels, "percentile", percentiles[i][0],
				  number_of(result, percentiles[i][1]) / 1e6);
	if (*json_text_at(limit, "bound_by")) {
		json_t *all = json_copy((json_t *)labels);

		label_from(all, "strength", limit, "strength");
		prom_add_labelled(p, PROM_LIMITED_BY, all, "limit",
				  json_text_at(limit, "bound_by"), 1);
		json_decref(all);
	}
	add_findings(p, json_object_get(result, "diagnosis"), p->labels);
}

/* Add RESULT; and of both directions at the same time each of them, as the end that sent saw it. */
static void add_directions(struct prom *p, const json_t *result, const json_t *labels)
{
	json_t *one;
	const char *end;

	add_result(p, result, labels);
	json_object_foreach(json_object_get(result, "by_end"), end, one)
	{
		json_t *own = json_copy((json_t *)labels);

		label_from(own, "direction", one, "direction");
		if (!json_equal(own, labels))
			add_result(p, one, own);
		json_decref(own);
	}
}

/*
 * Add the results of the document D. They are read from the last to the first, since the first that
 * has certain labels is taken. A part that was measured before a failure is no result.
 */
static void add_results(struct prom *p, const json_t *d, const json_t *end)
{
	const json_t *results = json_object_get(d, "results");
	json_t *seen = json_object();
	bool failed = strcmp(json_text_at(d, "status"), "failed") == 0;

	for (size_t i = json_array_size(results); i-- > 0;) {
		const json_t *one = json_array_get(results, i);
		json_t *labels;
		char *name;

		if (!document_shows(d, one) ||
		    (failed && json_is_true(json_object_get(one, "interrupted"))))
			continue;
		labels = labels_of(p, one, end);
		name = labels_text(labels);
		p->failed |= !name;
		if (name && !json_object_get(seen, name)) {
			json_object_set_new(seen, name, json_true());
			add_directions(p, one, labels);
		}
		free(name);
		json_decref(labels);
	}
	json_decref(seen);
}

/* Seconds since the epoch of "2026-11-23T22:24:50Z"; NaN: that is no time. */
static double epoch_of(const char *utc)
{
	struct tm tm = {0};
	const char *rest = strptime(utc, "%Y-%m-%dT%H:%M:%SZ", &tm);

	return rest && !*rest ? (double)timegm(&tm) : NAN;
}

/* Add how a run or check of DOCUMENT ended, with its title: UP: it came to its end. */
static void add_outcome(struct prom *p, const json_t *document, bool up, double exit_status,
			double when_s)
{
	const char *title = json_text_at(document, "title");

	prom_add_labelled(p, PROM_TITLE, p->labels, "title", title, *title ? 1 : NAN);
	prom_add(p, PROM_UP, p->labels, up);
	prom_add(p, PROM_EXIT_STATUS, p->labels, exit_status);
	prom_add(p, PROM_LAST_RUN, p->labels, when_s);
}

char *prom_run(const struct prom_about *about, const json_t *document)
{
	const json_t *ends = json_object_get(document, "ends"), *one;
	const json_t *end = json_object_get(ends, json_text_at(document, "role"));
	bool ok = strcmp(json_text_at(document, "status"), "ok") == 0;
	bool whole = document_is_whole(document);
	bool judged = whole && strcmp(json_text_at(document, "status"), "unavailable") != 0;
	char devices[EXPERIMENT_DEVICES_MAX * IBV_SYSFS_NAME_MAX] = "";
	struct prom p;

	prom_begin(&p, about->file);
	for (size_t i = 0; (one = device_of(end, i)); i++)
		text_add(devices, sizeof(devices), "%s%s", i ? "," : "",
			 json_text_at(one, "device"));
	label_from(p.labels, "test", document, "test");
	prom_label(p.labels, "device", devices[0] ? devices : about->device);
	prom_label(p.labels, "peer", about->peer);
	if (!about->peer)
		label_from(p.labels, "peer", json_object_get(ends, "client"), "host");
	add_outcome(&p, document, whole,
		    ok ? 0 : number_of(json_object_get(document, "error"), "exit_status"),
		    epoch_of(json_text_at(document, "finished_utc")));
	prom_add(&p, PROM_THRESHOLDS_MET, p.labels, judged ? (double)ok : NAN);
	add_link_rates(&p, end);
	add_results(&p, document, end);
	return prom_end(&p);
}

/* Add what was found about the host or a port. */
static void add_checked(struct prom *p, const json_t *checked)
{
	json_t *labels = json_copy(p->labels);
	const json_t *findings = json_object_get(checked, "findings"), *one;
	bool ok = true;
	size_t i;

	label_from(labels, "device", checked, "device");
	label_from(labels, "port", checked, "port");
	json_array_foreach (findings, i, one)
		ok = ok && strcmp(json_text_at(one, "level"), "fault") != 0;
	prom_add(p, PROM_CHECK_OK, labels, ok);
	add_findings(p, findings, labels);
	json_decref(labels);
}

char *prom_check(const struct prom_about *about, const json_t *document, int status)
{
	const json_t *ports = json_object_get(document, "ports"), *one;
	struct prom p;
	size_t i;

	prom_begin(&p, about->file);
	add_outcome(&p, document, document != NULL, status, (double)time(NULL));
	if (document)
		add_checked(&p, json_object_get(document, "host"));
	json_array_foreach (ports, i, one)
		add_checked(&p, one);
	return prom_end(&p);
}
