// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * ranges: what a peer says of itself and of a result is taken only if the schema allows it in the
 * document; what is refused is named.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/path.h"
#include "proto/end.h"
#include "proto/fields.h"
#include "proto/record.h"
#include "verbs/gid.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The schema that was built with this test: build/man/ of build/tests/unit/test_ranges. */
static json_t *read_schema(void)
{
	char path[4096 + 64];
	ssize_t n = readlink("/proc/self/exe", path, 4096);
	json_t *schema;

	assert_true(n > 0);
	path[n] = '\0';
	*strstr(path, "/tests/unit/") = '\0';
	strcat(path, "/man/rdmark.schema.json");
	schema = json_load_file(path, 0, NULL);
	assert_non_null(schema);
	return schema;
}

static bool matches(const json_t *pattern, const json_t *text)
{
	regex_t form;
	bool so;

	if (!pattern)
		return true;
	assert_int_equal(regcomp(&form, json_string_value(pattern), REG_EXTENDED | REG_NOSUB), 0);
	so = regexec(&form, json_string_value(text), 0, NULL, 0) == 0;
	regfree(&form);
	return so;
}

/* True if KEY of schema S, a limit, is not there, or D is not BEYOND it. */
static bool within(const json_t *s, const char *key, double d, bool above, bool itself)
{
	const json_t *limit = json_object_get(s, key);
	double v = json_number_value(limit);

	return !limit || (above ? d < v : d > v) || (itself && d == v);
}

/* True if the schema S of one key allows VALUE; of what such schemas have. */
static bool allows(const json_t *s, const json_t *value)
{
	const json_t *words = json_object_get(s, "enum"), *one = json_object_get(s, "const");
	double d = json_number_value(value);
	size_t i, length = json_string_length(value);

	if (one)
		return json_equal(one, value);
	if (words) {
		json_array_foreach (words, i, one)
			if (json_equal(one, value))
				return true;
		return false;
	}
	if (json_is_string(value))
		return within(s, "minLength", (double)length, false, true) &&
		       matches(json_object_get(s, "pattern"), value);
	return !json_is_number(value) ||
	       (within(s, "minimum", d, false, true) && within(s, "exclusiveMinimum", d, false, false) &&
		within(s, "maximum", d, true, true));
}

/* Values on both sides of each limit of ROW, and of every member. */
static json_t *probes(const struct field *row)
{
	static const json_int_t odd[] = {INT64_MIN, INT64_MIN + 1, INT32_MIN, -2, -1, 0, 1, 2, 7, 8, 101, 300, 4097, 10001,
					 65536, 65537, INT32_MAX, UINT32_MAX, INT64_C(1) << 53, INT64_MAX - 1, INT64_MAX};
	static const double real[] = {-1e300, -1, -1e-9, 0, 1e-9, 0.5, 1.5, 100.5, 1e15, 1e16, 1e300};
	static const char *const text[] = {"", "x", "\033[31m", "0xffff", "0xFFFF", "1.2", "1.2.3", "GPU-", "MIG-a", "host",
					   "tsc", "Ethernet", "InfiniBand", "0000:41:00.0", "0000:41:00.8", "known",
					   "few_values", "a text that is too long for the member that is to hold it"};
	json_t *to = json_array();

	for (size_t i = 0; i < COUNT(odd); i++)
		json_array_append_new(to, json_integer(odd[i]));
	for (size_t i = 0; i < COUNT(real); i++)
		json_array_append_new(to, json_real(real[i]));
	for (size_t i = 0; i < COUNT(text); i++)
		json_array_append_new(to, json_string(text[i]));
	for (int by = -1; by <= 1; by++) {
		json_array_append_new(to, json_integer(row->min + by));
		json_array_append_new(to, json_integer(row->max - 1 + by));
	}
	return to;
}

/* Add to FROM what every end must say. Returns FROM. */
static json_t *with_needs(json_t *from)
{
	json_t *least = json_pack("{s:s, s:s, s:i, s:s, s:s, s:i, s:s, s:s, s:s}", "host", "a", "device", "b", "port", 1,
				  "link_layer", "Ethernet", "transport", "RoCE", "active_mtu_bytes", 1024, "memory", "host",
				  "clock", "tsc", "version", "1.0.0");

	json_object_update_missing(from, least);
	json_decref(least);
	return from;
}

/* Read FROM, write it again, and check what that says of ROW against the schema of its key. */
static bool check_probe(const struct fields *t, const struct field *row, json_t *from, const json_t *schema)
{
	static _Alignas(8) char object[16384];
	char name[64];
	struct fault f = {0};
	json_t *to, *value;

	memset(object, 0, sizeof(object));
	if (fields_read(t, object, from, &f)) {
		assert_int_equal(f.code, FAULT_PEER);
		assert_non_null(strstr(f.call, field_name(row, name, sizeof(name))));
		return false;
	}
	to = fields_write(t, object, json_object());
	value = json_object_get(row->group ? json_object_get(to, row->group) : to, row->key);
	if (value && !allows(schema, value))
		fail_msg("%s: %s is taken", row->key, json_dumps(value, JSON_ENCODE_ANY));
	json_decref(to);
	return true;
}

/* Returns how many of the probes were refused. */
static size_t check_row(const struct fields *t, const struct field *row, const json_t *schema)
{
	json_t *values = probes(row), *v;
	size_t i, refused = 0;

	json_array_foreach (values, i, v) {
		json_t *o = json_pack("{s:O}", row->key, v);
		json_t *from = row->group ? json_pack("{s:{s:i, s:O}}", row->group, "observed_s", 1, row->key, v) : json_incref(o);

		refused += !check_probe(t, row, with_needs(from), schema);
		json_decref(from);
		json_decref(o);
	}
	json_decref(values);
	return refused;
}

static void check_table(const struct fields *t, const char *definition)
{
	json_t *schema = read_schema(), *all = json_object_get(schema, "definitions");

	for (size_t i = 0; i < t->count; i++) {
		const struct field *row = &t->row[i];
		const json_t *keys = json_object_get(json_object_get(all, row->group ? row->group : definition), "properties");
		const json_t *one = json_object_get(keys, row->key);

		if (!one)
			fail_msg("%s is not in the schema", row->key);
		/* a flag in the document; of the round that was asked for (results_read()) */
		if (strcmp(row->key, "interrupted") != 0 && strcmp(row->key, "message_bytes") != 0)
			assert_true(check_row(t, row, one) > 0);
	}
	json_decref(schema);
}

static void an_end(void **state)
{
	(void)state;
	check_table(end_fields(), "end");
}

static void a_result(void **state)
{
	(void)state;
	check_table(record_fields(), "result");
}

/* What this version may say of itself is taken. */
static void own_words(void **state)
{
	struct fault f = {0};
	struct end e;

	(void)state;
	{
		json_t *none = json_object();

		assert_int_equal(end_from_json(&e, none, &f), -1);
		json_decref(none);
	}
	f = (struct fault){0};
	for (int kind = 0; kind < GID_KINDS; kind++) {
		json_t *from = json_pack("{s:s}", "gid_type", gid_kind_name(kind));

		assert_int_equal(end_from_json(&e, with_needs(from), &f), 0);
		json_decref(from);
	}
	for (int class = 0; class <= PATH_UNKNOWN; class++) {
		json_t *from = json_pack("{s:s}", "gpu_distance", path_row(class)->name);

		assert_int_equal(end_from_json(&e, with_needs(from), &f), 0);
		json_decref(from);
	}
}

/* What each key allows, but not the others: bytes that no sum holds, a rate of other messages. */
static void contradictions(void **state)
{
	static const struct {
		const char *text, *key;
	} bad[] = {
		{"{\"message_bytes\": 1099511627776, \"messages\": 1073741824}", "messages"},
		{"{\"message_bytes\": 1099511627776, \"timed_messages\": 1073741824}", "timed_messages"},
		{"{\"message_bytes\": 1000, \"timed_messages\": 1000, \"seconds\": 1, \"bandwidth_gbps\": 0.009}", "bandwidth_gbps"},
		{"{\"message_bytes\": 1000, \"timed_messages\": 1000, \"bandwidth_gbps\": 1}", "bandwidth_gbps"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		json_t *from = json_loads(bad[i].text, 0, NULL);
		struct fault f = {0};
		struct record rec;

		assert_int_equal(record_from_json(&rec, from, &f), -1);
		assert_non_null(strstr(f.call, bad[i].key));
		json_decref(from);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_end),
		cmocka_unit_test(a_result),
		cmocka_unit_test(own_words),
		cmocka_unit_test(contradictions),
	};

	return cmocka_run_group_tests_name("ranges", tests, NULL, NULL);
}
