// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "figures.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "proto/fields.h"
#include "stat/interval.h"

#define NORMAL        1e6  /* degrees of freedom: as good as a normal distribution */
#define WINDOWS_LEAST 4    /* from 4 values on their range is wider than their mean's interval */
#define CONNECTIONS   1024 /* more than --reconnect allows */

/* The number KEY of O if it is above 0, else NAN. */
static double positive(const json_t *o, const char *key)
{
	double value = json_number_value(json_object_get(o, key));

	return value > 0 && isfinite(value) ? value : NAN;
}

static void add_end(json_t *facts, const json_t *end, const char *name)
{
	static const char *const same[] = {"transport", "link_layer", "memory"};
	char key[64], kind[32];

	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		snprintf(key, sizeof(key), "%s_%s", name, same[i]);
		json_object_set(facts, key, json_object_get(end, same[i]));
	}
	snprintf(key, sizeof(key), "%s_device_kind", name);
	text_copy(kind, sizeof(kind), json_text_at(end, "device"));
	kind[strcspn(kind, "_0123456789")] = '\0'; /* mlx5_0 and mlx5_3 are of one kind */
	json_object_set_new(facts, key, json_string(kind));
}

/* True if VALUE says that an option was not given: older documents may lack the option. */
static bool is_default(const json_t *value)
{
	return json_is_null(value) || json_is_false(value) ||
	       (json_is_number(value) && json_number_value(value) == 0) ||
	       (json_is_string(value) && !json_string_length(value));
}

static json_t *row_facts(const json_t *document, const json_t *varied)
{
	/* How long it is measured, and what the row itself says. */
	static const char *const no_fact[] = {"size_bytes", "all",    "iters",  "duration_s",
					      "windows",    "warmup", "omit_s", "reconnect"};
	/* What was used counts, not what was asked for; a thread alone shares with nobody. */
	static const char *const used[] = {"mtu_bytes", "share"};
	const json_t *ends = json_object_get(document, "ends");
	const json_t *effective = json_object_get(document, "effective");
	json_t *facts = json_object(), *value;
	const char *key;
	void *next;

	json_object_update(facts, json_object_get(document, "experiment"));
	json_object_del(facts, "share");
	for (size_t i = 0; i < sizeof(used) / sizeof(used[0]); i++)
		json_object_set(facts, used[i], json_object_get(effective, used[i]));
	json_object_update(facts, (json_t *)varied);
	add_end(facts, json_object_get(ends, "client"), "client");
	add_end(facts, json_object_get(ends, "server"), "server");
	for (size_t i = 0; i < sizeof(no_fact) / sizeof(no_fact[0]); i++)
		json_object_del(facts, no_fact[i]);
	json_object_foreach_safe(facts, next, key, value) if (is_default(value))
		json_object_del(facts, key);
	return facts;
}

double row_figure(const json_t *row, const char *name)
{
	const json_t *result = json_object_get(row, "result");

	/* A latency test has a bandwidth, too, which nobody asked for. */
	if (!strcmp(name, FIGURE_BANDWIDTH) && json_object_get(result, FIGURE_MEAN))
		return NAN;
	return positive(result, name);
}

struct compare_side row_alone(const json_t *row, double value)
{
	const json_t *result = json_object_get(row, "result");
	double half = positive(result, "plus_minus_percent") / 100;
	double slices = positive(result, "slices"), windows = positive(result, "windows");
	struct compare_side s = {log(value), NAN, slices > 1 ? slices - 1 : NORMAL};

	if (isnan(half) && windows >= WINDOWS_LEAST) { /* of gdr_bw */
		half = log(positive(result, "bandwidth_max_gbps") /
			   positive(result, "bandwidth_min_gbps")) /
		       2;
		s.freedom = windows - 1;
	}
	/* Of a logarithm the lower limit is the wider one. */
	s.variance = pow(log1p(-half) / interval_t(INTERVAL_CONFIDENCE, s.freedom), 2);
	return s;
}

/* What is measured. */
static json_t *row_of(const json_t *document, const json_t *result)
{
	static const char *const words[] = {"direction", "cell", "route", "step"};
	static const char *const numbers[] = {"message_bytes", "qps"};
	json_t *of = json_object();
	char text[61];

	text_copy(text, sizeof(text), json_text_at(document, "test"));
	json_object_set_new(of, "test", json_string(text));
	for (size_t i = 0; i < 2; i++)
		json_object_set_new(
			of, numbers[i],
			json_integer(json_integer_value(json_object_get(result, numbers[i]))));
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		text_copy(text, sizeof(text), json_text_at(result, words[i]));
		json_object_set_new(of, words[i], json_string(text));
	}
	return of;
}

json_t *row_new(const json_t *document, const json_t *result, size_t number)
{
	json_t *varied = json_object_get(result, "varied");
	json_int_t connection = json_integer_value(json_object_get(varied, "reconnect"));

	varied = varied ? json_copy(varied) : json_object();
	json_object_del(varied, "reconnect");
	return json_pack("{s:o, s:o, s:o, s:I, s:O}", "of", row_of(document, result), "facts",
			 row_facts(document, varied), "varied", varied, "connection",
			 (json_int_t)(number * CONNECTIONS) + connection % CONNECTIONS, "result",
			 result);
}
