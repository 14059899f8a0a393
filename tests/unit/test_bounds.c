// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* bounds: what is counted in a text before a tree is made of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/bounds.h"
#include "proto/message.h"
#include "verbs/qp.h"

static int check(const struct bounds *b, const char *text, struct fault *f)
{
	memset(f, 0, sizeof(*f));
	return bounds_check(b, text, strlen(text), "192.0.2.1:1", f);
}

static void counted(void **state)
{
	const struct bounds b = {.bytes = 100, .values = 6, .containers = 2};
	struct fault f;

	(void)state;
	assert_int_equal(check(&b, "", &f), 0);
	assert_int_equal(check(&b, "{\"a\":[1,2,3]}", &f), 0);
	assert_int_equal(check(&b, "{\"a\":[1,2,3,4]}", &f), 0);
	assert_int_equal(check(&b, "{\"a\":[1,2,3,4,5]}", &f), -1);
	assert_non_null(strstr(f.call, "192.0.2.1:1 sent a message with more than 6 JSON values"));
	assert_int_equal(check(&b, "{\"a\":[[]]}", &f), -1);
	assert_non_null(strstr(f.call, "more than 2 JSON arrays and objects"));
	assert_int_equal(f.code, FAULT_PEER);
}

static void strings_are_one_value(void **state)
{
	const struct bounds b = {.bytes = 100, .values = 4, .containers = 2};
	struct fault f;

	(void)state;
	assert_int_equal(check(&b, "{\"[[[{{{,,,::: \\\" [[[[,,,,\":\"\\\\\"}", &f), 0);
	assert_int_equal(check(&b, "{\"a\":\"\\\\\",\"b\":1}", &f), 0);
	assert_int_equal(check(&b, "{\"a\":\"\\\\\",[[[", &f), -1);
	/* cut off within a string, and after a backslash: nothing is read beyond it */
	assert_int_equal(check(&b, "{\"abc", &f), 0);
	assert_int_equal(check(&b, "{\"abc\\", &f), 0);
}

static void deep(void **state)
{
	const struct bounds b = bounds_experiment(1024, 65536);
	struct fault f;
	char text[64];

	(void)state;
	memset(text, '[', sizeof(text));
	text[BOUNDS_DEPTH] = '\0';
	assert_int_equal(check(&b, text, &f), 0);
	text[BOUNDS_DEPTH] = '[';
	text[BOUNDS_DEPTH + 1] = '\0';
	assert_int_equal(check(&b, text, &f), -1);
	assert_non_null(strstr(f.call, "more than 16 levels of JSON"));
	assert_int_equal(check(&b, "}}}}]]]][", &f), 0); /* what jansson refuses */
}

/* The largest "qps" of COUNT QPs on THREADS threads, each with an MR of its own, over XRC. */
static void largest_fits(unsigned threads, unsigned count)
{
	struct bounds b = bounds_experiment(threads, threads * count);
	json_t *m = message_new("qps"), *all = json_array();
	struct qp_address a;
	struct fault f = {0};
	char *text;

	assert_int_equal(qp_address_init(&a, count), 0);
	a.rkeys = calloc(count, sizeof(*a.rkeys));
	a.sender = calloc(count, sizeof(*a.sender));
	a.srqn = calloc(count, sizeof(*a.srqn));
	assert_true(a.rkeys && a.sender && a.srqn);
	for (unsigned i = 0; i < count; i++) {
		a.qpn[i] = a.psn[i] = a.sender[i] = a.srqn[i] = 0xffffff;
		a.rkeys[i] = UINT32_MAX;
	}
	a.addr = a.stride = INT64_MAX;
	a.rkey = UINT32_MAX;
	for (unsigned i = 0; i < threads; i++)
		json_array_append_new(all, message_from_qps(&a));
	json_object_set_new(m, "strands", all);
	text = json_dumps(m, JSON_COMPACT);
	assert_true(strlen(text) <= b.bytes);
	assert_int_equal(check(&b, text, &f), 0);
	free(text);
	json_decref(m);
	qp_address_release(&a);
}

static void what_an_end_says_fits(void **state)
{
	(void)state;
	largest_fits(1, 1);
	largest_fits(1, 65536);
	largest_fits(1024, 1);
	largest_fits(16, 1024);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counted),
		cmocka_unit_test(strings_are_one_value),
		cmocka_unit_test(deep),
		cmocka_unit_test(what_an_end_says_fits),
	};

	return cmocka_run_group_tests_name("bounds", tests, NULL, NULL);
}
