// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/prom.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "proto/fields.h"
#include "report/prom_series.h"
#include "verbs/hca.h"
#include "report/document.h"

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

/* The Ith device of END; NULL: there are no more. */
static const json_t *device_of(const json_t *end, size_t i)
{
	return i ? json_array_get(json_object_get(end, "more_devices"), i - 1) : end;
}

/* The names of END's devices: "mlx5_0,mlx5_1"; "": it has none. Returns BUF. */
static const char *devices_of(const json_t *end, char *buf, size_t size)
{
	const json_t *one;

	buf[0] = '\0';
	for (size_t i = 0; (one = device_of(end, i)); i++)
		text_add(buf, size, "%s%s", i ? "," : "", json_text_at(one, "device"));
	return buf;
}

/* Add NAME with the number that O has at KEY, if it is one. */
static void set_number(json_t *labels, const char *name, const json_t *o, const char *key)
{
	double value = number_of(o, key);
	char text[24];

	snprintf(text, sizeof(text), "%.0f", value);
	prom_label(labels, name, isfinite(value) ? text : "");
}

/* Add the rate of each device of END. */
static void add_link_rates(struct prom *p, const json_t *end)
{
	const json_t *one;

	for (size_t i = 0; (one = device_of(end, i)); i++) {
		json_t *labels = json_copy(p->labels);

		prom_label(labels, "device", json_text_at(one, "device"));
		set_number(labels, "port", one, "port");
		if (number_of(one, "rate_gbps") > 0)
			prom_add(p, PROM_LINK_RATE, labels,
				 bytes_per_s(number_of(one, "rate_gbps")));
		json_decref(labels);
	}
}

/* Add the values of the options that were varied as labels; the size has its own. */
static void set_varied(json_t *labels, const json_t *varied)
{
	const char *name;
	json_t *value;
	char *text;

	json_object_foreach((json_t *)varied, name, value)
	{
		if (strcmp(name, "size_bytes") == 0 || json_object_get(labels, name))
			continue;
		text = json_is_string(value) ? NULL
					     : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
		prom_label(labels, name, text ? text : json_string_value(value));
		free(text);
	}
}

/* The labels of RESULT, as a new object. */
static json_t *labels_of(const struct prom *p, const json_t *result, const json_t *end)
{
	json_t *labels = json_copy(p->labels);
	const char *direction = json_text_at(result, "direction");

	set_number(labels, "port", end, "port");
	set_number(labels, "size", result, "message_bytes");
	if (strcmp(direction, "ping_pong") != 0)
		prom_label(labels, "direction", direction);
	prom_label(labels, "cell", json_text_at(result, "cell"));
	prom_label(labels, "route", json_text_at(result, "route"));
	set_varied(labels, json_object_get(result, "varied"));
	return labels;
}

static void add_latency(struct prom *p, const json_t *result, const json_t *labels)
{
	static const char *const percentiles[][2] = {
		{"0", "latency_min_us"},      {"50", "latency_p50_us"},
		{"90", "latency_p90_us"},     {"99", "latency_p99_us"},
		{"99.9", "latency_p99_9_us"}, {"99.99", "latency_p99_99_us"},
		{"100", "latency_max_us"},
	};

	if (!isfinite(number_of(result, "latency_mean_us")))
		return;
	for (size_t i = 0; i < sizeof(percentiles) / sizeof(percentiles[0]); i++)
		prom_add_labelled(p, PROM_LATENCY, labels, "percentile", percentiles[i][0],
				  number_of(result, percentiles[i][1]) / 1e6);
	prom_add(p, PROM_LATENCY_MEAN, labels, number_of(result, "latency_mean_us") / 1e6);
}

/* Add each FINDING of a list, with LABELS. */
static void add_findings(struct prom *p, const json_t *list, const json_t *labels)
{
	const json_t *one;
	size_t i;

	json_array_foreach (list, i, one) {
		json_t *all = json_copy((json_t *)labels);

		prom_label(all, "end", json_text_at(one, "end"));
		prom_label(all, "level", json_text_at(one, "level"));
		prom_label(all, "code", json_text_at(one, "code"));
		prom_add(p, PROM_DIAGNOSIS, all, 1);
		json_decref(all);
	}
}

static void add_result(struct prom *p, const json_t *result, const json_t *labels)
{
	double gbps = number_of(result, "bandwidth_gbps");
	double share = number_of(result, "of_ceiling");
	const json_t *limit = json_object_get(result, "limit");

	if (!isfinite(share))
		share = gbps / number_of(json_object_get(limit, "ceilings"), "link_gbps");
	prom_add(p, PROM_BANDWIDTH, labels, bytes_per_s(gbps));
	prom_add(p, PROM_MESSAGES, labels, number_of(result, "messages_per_s"));
	prom_add(p, PROM_OF_CEILING, labels, share);
	add_latency(p, result, labels);
	if (*json_text_at(limit, "bound_by"))
		prom_add_labelled(p, PROM_LIMITED_BY, labels, "limit",
				  json_text_at(limit, "bound_by"), 1);
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

		prom_label(own, "direction", json_text_at(one, "direction"));
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
		name = prom_labels(labels);
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

/* Add what became of the run. */
static void add_outcome(struct prom *p, const json_t *d)
{
	bool ok = strcmp(json_text_at(d, "status"), "ok") == 0;
	bool below = strcmp(json_text_at(d, "status"), "below_threshold") == 0;
	double exits = number_of(json_object_get(d, "error"), "exit_status");

	prom_add(p, PROM_UP, p->labels, ok || below);
	prom_add(p, PROM_EXIT_STATUS, p->labels, ok ? 0 : exits);
	prom_add(p, PROM_THRESHOLDS_MET, p->labels, ok || below ? (double)ok : NAN);
	prom_add(p, PROM_LAST_RUN, p->labels, epoch_of(json_text_at(d, "finished_utc")));
}

char *prom_run(const struct prom_about *about, const json_t *document)
{
	const json_t *ends = json_object_get(document, "ends");
	const json_t *end = json_object_get(ends, json_text_at(document, "role"));
	char devices[HCA_MAX * IBV_SYSFS_NAME_MAX];
	struct prom p;

	prom_begin(&p, about->file);
	devices_of(end, devices, sizeof(devices));
	prom_label(p.labels, "test", json_text_at(document, "test"));
	prom_label(p.labels, "device", devices[0] ? devices : about->device);
	prom_label(p.labels, "peer",
		   about->peer ? about->peer
			       : json_text_at(json_object_get(ends, "client"), "host"));
	add_outcome(&p, document);
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

	prom_label(labels, "device", json_text_at(checked, "device"));
	set_number(labels, "port", checked, "port");
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
	prom_add(&p, PROM_UP, p.labels, document != NULL);
	prom_add(&p, PROM_EXIT_STATUS, p.labels, status);
	prom_add(&p, PROM_LAST_RUN, p.labels, (double)time(NULL));
	if (document)
		add_checked(&p, json_object_get(document, "host"));
	json_array_foreach (ports, i, one)
		add_checked(&p, one);
	return prom_end(&p);
}
