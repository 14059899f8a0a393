// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The intervals that a document has: how many there is room for, and that each has its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>

#include "plan/test.h"
#include "report/report.h"

static struct options options = {.output = {.json = (char *)"run.json", .interval_ns = 1000000}};

static struct report report_of(bool latency)
{
	static const struct test send_bw = {.name = "send_bw"};
	static const struct test send_lat = {.name = "send_lat", .latency = true};
	static struct streams none; /* whose outlets write nothing */

	return (struct report){.about = {.options = &options,
					 .streams = &none,
					 .test = latency ? &send_lat : &send_bw},
			       .run.intervals = json_array()};
}

static json_t *document_of(const struct report *r)
{
	struct fault none = {.code = FAULT_NONE};

	return json_document(r, &none, false);
}

static void fill(struct report *r, uint64_t count)
{
	for (uint64_t i = 1; i <= count; i++)
		report_interval(r, &(struct progress){64, i * 1000000, 1000000, i, 0});
}

static void all_in_order(void **state)
{
	struct report r = report_of(false);
	json_t *d, *one;
	size_t i;

	(void)state;
	fill(&r, 1000);
	d = document_of(&r);
	assert_int_equal(json_array_size(json_object_get(d, "intervals")), 1000);
	assert_null(json_object_get(d, "intervals_dropped"));
	json_array_foreach (json_object_get(d, "intervals"), i, one)
		assert_int_equal(json_integer_value(json_object_get(one, "messages")), i + 1);
	json_decref(d);
	json_decref(r.run.intervals);
}

static void the_first_ones_when_there_is_no_more_room(void **state)
{
	struct report r = report_of(true);
	json_t *d, *last;

	(void)state;
	fill(&r, REPORT_INTERVALS_MAX + 3);
	d = document_of(&r);
	assert_int_equal(json_array_size(json_object_get(d, "intervals")), REPORT_INTERVALS_MAX);
	assert_int_equal(json_integer_value(json_object_get(d, "intervals_dropped")), 3);
	last = json_array_get(json_object_get(d, "intervals"), REPORT_INTERVALS_MAX - 1);
	assert_int_equal(json_integer_value(json_object_get(last, "messages")),
			 REPORT_INTERVALS_MAX);
	assert_true(json_is_null(json_object_get(last, "latency_mean_us")));
	json_decref(d);
	json_decref(r.run.intervals);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_in_order),
		cmocka_unit_test(the_first_ones_when_there_is_no_more_room),
	};

	return cmocka_run_group_tests_name("kept_intervals", tests, NULL, NULL);
}
