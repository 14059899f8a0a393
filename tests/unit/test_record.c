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

#include "session/worst.h"
#include "wire/record.h"

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
	size_t n;
	const struct record_field *field = record_fields(&n);
	char text[40];

	(void)state;
	assert_memory_equal(&back, &rec, sizeof(rec));
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(record_format(&rec, &field[i], text, sizeof(text)),
				    field[i].is_integer ? "0" : "");
		assert_true(record_value(&rec, &field[i]) == 0);
		assert_ptr_equal(record_find(field[i].name), &field[i]);
	}
	assert_null(record_find("colour"));
}

static void every_field(void **state)
{
	struct record rec = {0}, back;
	size_t n;
	const struct record_field *field = record_fields(&n);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		uint64_t count = i + 3;
		double real = (double)i + 0.1;

		memcpy((char *)&rec + field[i].offset,
		       field[i].is_integer ? (void *)&count : (void *)&real, sizeof(count));
		assert_true(record_value(&rec, &field[i]) ==
			    (field[i].is_integer ? (double)count : real));
	}
	back = there_and_back(&rec, n);
	assert_memory_equal(&back, &rec, sizeof(rec));
}

static void a_stall_is_a_measurement(void **state)
{
	struct record rec = {.message_bytes = 1, .intervals = 4}, back;
	const struct record_field *worst = record_find("worst_interval_gbps");
	char text[40];

	(void)state;
	back = there_and_back(&rec, 3);
	assert_int_equal(back.intervals, 4);
	assert_string_equal(record_format(&rec, worst, text, sizeof(text)), "0");
}

static void impossible_is_refused(void **state)
{
	static const char *const bad[] = {
		"{\"messages\": -1}", "{\"messages\": 1.5}",        "{\"seconds\": \"1\"}",
		"{\"seconds\": -1}",  "{\"bandwidth_gbps\": 1e16}",
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
	assert_true(rec.intervals == 0 && rec.worst_interval_gbps == 0 &&
		    rec.worst_interval_us == 0);
	worst_note(&w, 1000000000, 2000);
	worst_note(&w, 500000000, 500); /* 1000 a second: fewer than before */
	worst_note(&w, 2000000000, 3000);
	worst_to_record(&w, false, &rec);
	assert_int_equal(rec.intervals, 3);
	assert_true(fabs(rec.worst_interval_gbps - 0.008) < 1e-12 && rec.worst_interval_us == 0);
	worst_to_record(&w, true, &rec);
	assert_true(fabs(rec.worst_interval_us - 500) < 1e-9);
	worst_note(&w, 100000000, 0);
	worst_to_record(&w, false, &rec);
	worst_to_record(&w, true, &rec);
	assert_true(rec.worst_interval_gbps == 0 && rec.intervals == 4);
	assert_true(rec.worst_interval_us == 50000); /* half of 100 ms */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty),
		cmocka_unit_test(every_field),
		cmocka_unit_test(a_stall_is_a_measurement),
		cmocka_unit_test(impossible_is_refused),
		cmocka_unit_test(worst_interval),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
