// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* evidence: what is known comes back, what is not is left out and never 0; a peer's lie is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "proto/evidence.h"

static const char *const keys[] = {"full_share", "schedule_share", "alone_us", "completion_us",
				   "receiver_busy_share"};
#define KEYS (sizeof(keys) / sizeof(keys[0]))

static double value_of(const struct evidence *e, size_t key)
{
	const double value[KEYS] = {e->full_share, e->schedule_share, e->alone_us,
				    e->completion_us, e->busy_share};

	return value[key];
}

static bool is_known(const struct evidence *e)
{
	json_t *json = evidence_to_json(e);
	bool known = json_object_size(json) > 0;

	json_decref(json);
	return known;
}

static void nothing_is_known(void **state)
{
	struct evidence e = evidence_unknown(), back = {0};
	json_t *json = evidence_to_json(&e);
	struct fault f = {0};

	(void)state;
	assert_false(is_known(&e));
	assert_int_equal(json_object_size(json), 0);
	assert_int_equal(evidence_from_json(&back, json, &f), 0);
	assert_false(is_known(&back));
	json_decref(json);
}

static void each_comes_back_alone(void **state)
{
	(void)state;
	for (size_t i = 0; i < KEYS; i++)
		for (int v = 0; v < 2; v++) {
			json_t *json = json_pack("{s:f}", keys[i], (double)v), *again;
			struct fault f = {0};
			struct evidence e;

			assert_int_equal(evidence_from_json(&e, json, &f), 0);
			assert_true(is_known(&e));
			for (size_t k = 0; k < KEYS; k++)
				assert_true(k == i ? value_of(&e, k) == v : isnan(value_of(&e, k)));
			again = evidence_to_json(&e);
			assert_true(json_equal(json, again));
			json_decref(json);
			json_decref(again);
		}
}

static void times_are_in_us(void **state)
{
	struct evidence e = evidence_unknown();
	json_t *json;

	(void)state;
	e.alone_us = 2.5;
	e.completion_us = 12;
	json = evidence_to_json(&e);
	assert_true(json_real_value(json_object_get(json, "alone_us")) == 2.5);
	assert_true(json_real_value(json_object_get(json, "completion_us")) == 12);
	json_decref(json);
}

static void impossible_is_refused(void **state)
{
	static const char *const bad[] = {
		"{\"full_share\": 1.01}",          "{\"full_share\": -0.1}",
		"{\"full_share\": null}",          "{\"schedule_share\": 2}",
		"{\"receiver_busy_share\": 1e9}",  "{\"receiver_busy_share\": \"1\"}",
		"{\"alone_us\": -1}",              "{\"alone_us\": 1e16}",
		"{\"alone_us\": null}",            "{\"completion_us\": [1]}",
		"{\"completion_us\": true}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		json_t *json = json_loads(bad[i], 0, NULL);
		struct evidence e = evidence_unknown();
		struct fault f = {0};

		assert_non_null(json);
		assert_int_equal(evidence_from_json(&e, json, &f), -1);
		assert_int_equal(f.code, FAULT_PEER);
		assert_non_null(strstr(f.call, "evidence has an invalid"));
		assert_false(is_known(&e));
		json_decref(json);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_known),
		cmocka_unit_test(each_comes_back_alone),
		cmocka_unit_test(times_are_in_us),
		cmocka_unit_test(impossible_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
