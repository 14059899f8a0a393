// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* record: what is written can be read, and what was not measured is not there; the worst interval.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "finding/finding.h"
#include "measure/result.h"
#include "proto/fields.h"
#include "proto/record.h"
#include "stat/interval.h"

/* REC as JSON, and back. */
static struct record there_and_back(const struct record *rec, size_t keys)
{
	json_t *json = record_to_json(rec);
	struct fault f = {0};
	struct record back;

	assert_int_equal(json_object_size(json), keys);
	assert_int_equal(record_from_json(&back, json, &f), 0);
	json_decref(json);
	return back;
}

static void empty(void **state)
{
	struct record rec = {0}, back = there_and_back(&rec, 1); /* message_bytes always is */
	const struct fields *all = record_fields();
	char text[40];

	(void)state;
	assert_memory_equal(&back, &rec, sizeof(rec));
	for (size_t i = 0; i < all->count; i++) {
		const struct field *field = &all->row[i];

		assert_string_equal(record_format(&rec, field, text, sizeof(text)),
				    field->kind == FIELD_UNSIGNED && !field->words ? "0" : "");
		assert_true(record_value(&rec, field) == 0);
		assert_ptr_equal(record_find(field->key), field->group ? NULL : field);
	}
	assert_null(record_find("colour"));
}

/* Of a record that has all: a field, or a group of them that follow each other. */
static size_t keys_of_all(const struct field *field, size_t n)
{
	const char *group = "";
	size_t keys = 0;

	for (size_t i = 0; i < n; i++) {
		keys += !field[i].group || strcmp(field[i].group, group) != 0;
		group = field[i].group ? field[i].group : "";
	}
	return keys;
}

static void every_field(void **state)
{
	struct record rec = {0}, back;
	const struct field *field = record_fields()->row;
	size_t n = record_fields()->count;

	(void)state;
	for (size_t i = 0; i < n; i++) {
		uint64_t count = field[i].words ? 2 : field[i].max && field[i].max < 10 ? (uint64_t)field[i].max : i + 3;
		double real = (double)i + 0.1;
		bool is_integer = field[i].kind == FIELD_UNSIGNED;

		memcpy((char *)&rec + field[i].offset,
		       is_integer ? (void *)&count : (void *)&real, sizeof(count));
		assert_true(record_value(&rec, &field[i]) == (is_integer ? (double)count : real));
	}
	rec.bandwidth_gbps = (double)(rec.timed_messages * rec.message_bytes) * 8 / 1e9 / rec.seconds /
			     record_copies(&rec);
	back = there_and_back(&rec, keys_of_all(field, n));
	assert_memory_equal(&back, &rec, sizeof(rec));
}

static void a_stall_is_a_measurement(void **state)
{
	struct record rec = {.message_bytes = 1, .interval_count = 4}, back;
	const struct field *worst = record_find("worst_interval_gbps");
	char text[40];

	(void)state;
	back = there_and_back(&rec, 3);
	assert_int_equal(back.interval_count, 4);
	assert_string_equal(record_format(&rec, worst, text, sizeof(text)), "0");
}

static void what_is_not_known_is_null(void **state)
{
	struct record rec = {.message_bytes = 1, .percentile.high_us[PERCENTILE_P99] = NAN}, back;
	const struct field *p99 = record_find("latency_p99_high_us");
	json_t *json = record_to_json(&rec);
	char text[40];

	(void)state;
	assert_true(json_is_null(json_object_get(json, "latency_p99_high_us")));
	json_decref(json);
	back = there_and_back(&rec, 2);
	assert_true(isnan(back.percentile.high_us[PERCENTILE_P99]));
	assert_string_equal(record_format(&back, p99, text, sizeof(text)), "");
}

static void why_an_average_is_unsure_is_in_the_words_of_the_catalogue(void **state)
{
	struct record rec = {.message_bytes = 1};
	char text[40];

	(void)state;
	for (unsigned n = INTERVAL_FEW; n <= INTERVAL_PHASES; n++) {
		rec.plus_minus.unknown = n;
		record_format(&rec, record_find("plus_minus_unknown"), text, sizeof(text));
		assert_string_equal(text, finding_name(UNSURE_KNOWN + n));
	}
}

static void impossible_is_refused(void **state)
{
	static const char *const bad[] = {
		"{\"messages\": -1}",   "{\"messages\": 1.5}",        "{\"seconds\": \"1\"}",
		"{\"seconds\": -1}",    "{\"bandwidth_gbps\": 1e16}", "{\"bandwidth_gbps\": null}",
		"{\"messages\": null}",
		"{\"latency_p50_us\": null}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		json_t *json = json_loads(bad[i], 0, NULL);
		struct fault f = {0};
		struct record rec;

		assert_int_equal(record_from_json(&rec, json, &f), -1);
		assert_int_equal(f.code, FAULT_PEER);
		json_decref(json);
	}
}

static void worst_interval(void **state)
{
	struct worst w = {0};
	struct record rec = {.message_bytes = 1000};

	(void)state;
	worst_to_record(&w, false, &rec);
	worst_to_record(&w, true, &rec);
	assert_true(rec.interval_count == 0 && rec.worst_interval_gbps == 0 &&
		    rec.worst_interval_us == 0);
	worst_note(&w, 1000000000, 2000, 500000);
	worst_note(&w, 500000000, 500, 250000); /* 1000 a second: fewer than before */
	worst_note(&w, 2000000000, 3000, 1000000);
	worst_to_record(&w, false, &rec);
	assert_int_equal(rec.interval_count, 3);
	assert_true(fabs(rec.worst_interval_gbps - 0.008) < 1e-12 && rec.worst_interval_us == 0);
	worst_to_record(&w, true, &rec);
	assert_true(fabs(rec.worst_interval_us - 500) < 1e-9);
	worst_note(&w, 2000000000, 4000, 200000); /* pauses between them */
	worst_note(&w, 100000000, 0, 0);             /* one longer than the interval */
	worst_to_record(&w, true, &rec);
	assert_true(fabs(rec.worst_interval_us - 500) < 1e-9);
	worst_note(&w, 100000000, 0, 50000);
	worst_to_record(&w, false, &rec);
	worst_to_record(&w, true, &rec);
	assert_true(rec.worst_interval_gbps == 0 && rec.interval_count == 6);
	assert_true(rec.worst_interval_us == 50000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty),
		cmocka_unit_test(every_field),
		cmocka_unit_test(a_stall_is_a_measurement),
		cmocka_unit_test(what_is_not_known_is_null),
		cmocka_unit_test(what_is_not_known_is_null),
		cmocka_unit_test(why_an_average_is_unsure_is_in_the_words_of_the_catalogue),
		cmocka_unit_test(impossible_is_refused),
		cmocka_unit_test(worst_interval),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
