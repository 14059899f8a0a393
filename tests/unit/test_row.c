// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* row: what is taken off a line that would be too long, in which order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "../../pairs/run/run.h"

static json_t *finding(const char *id, size_t bytes)
{
	char text[2000];

	memset(text, 'f', bytes);
	text[bytes] = '\0';
	return json_pack("{s:s, s:s}", "id", id, "text", text);
}

/* A line with an error of so many times CHAR, a fix of FIX bytes and two findings of FOUND. */
static json_t *line(const char *character, size_t times, size_t fix, size_t found)
{
	char error[4000] = "", text[2000];

	for (size_t i = 0; i < times; i++)
		strcat(error, character);
	memset(text, 'x', fix);
	text[fix] = '\0';
	return json_pack("{s:s, s:s, s:s, s:[o, o]}", "kind", "pair", "error", error, "fix", text,
			 "findings", finding("first", found), finding("second", found));
}

/* The line of M (stolen), read again: at most RUN_LINE_BYTES of valid JSON. */
static json_t *shortened(json_t *m)
{
	char *text = run_line_text(m);
	json_t *back;

	json_decref(m);
	assert_non_null(text);
	assert_in_range(strlen(text), 1, RUN_LINE_BYTES);
	back = json_loads(text, 0, NULL);
	assert_non_null(back);
	free(text);
	return back;
}

static size_t findings(const json_t *m)
{
	return json_array_size(json_object_get(m, "findings"));
}

static size_t error_bytes(const json_t *m)
{
	return json_string_length(json_object_get(m, "error"));
}

static void findings_go_first_the_last_one_before(void **state)
{
	json_t *m = shortened(line("e", 200, 100, 100));

	(void)state;
	assert_int_equal(findings(m), 2);
	json_decref(m);
	m = shortened(line("e", 200, 100, 400));
	assert_int_equal(findings(m), 1);
	assert_string_equal(json_string_value(json_object_get(
				    json_array_get(json_object_get(m, "findings"), 0), "id")),
			    "first");
	json_decref(m);
	m = shortened(line("e", 400, 290, 400));
	assert_null(json_object_get(m, "findings"));
	assert_int_equal(json_string_length(json_object_get(m, "fix")), 290);
	json_decref(m);
}

static void then_the_fix_then_the_end_of_the_error(void **state)
{
	json_t *m = shortened(line("e", 800, 290, 100));

	(void)state;
	assert_null(json_object_get(m, "fix"));
	assert_int_equal(error_bytes(m), 800);
	json_decref(m);
	m = shortened(line("e", 1200, 290, 100));
	assert_in_range(error_bytes(m), 400, 990);
	assert_string_equal(json_string_value(json_object_get(m, "error")) + error_bytes(m) - 3,
			    "...");
	json_decref(m);
}

/* Characters of two bytes, and such that take two in JSON. */
static void what_is_cut_is_whole_characters(void **state)
{
	(void)state;
	for (size_t n = 450; n < 700; n++) {
		json_decref(shortened(line("\xc3\xa9", n, 0, 0)));
		json_decref(shortened(line("\"", n, 0, 0)));
	}
}

static void options_go_from_the_last(void **state)
{
	json_t *m = json_pack("{s:s, s:[]}", "kind", "player", "options"), *list;

	(void)state;
	for (int i = 0; i < 200; i++)
		json_array_append_new(json_object_get(m, "options"), json_sprintf("word%d", i));
	m = shortened(m);
	list = json_object_get(m, "options");
	assert_in_range(json_array_size(list), 80, 120);
	assert_string_equal(json_string_value(json_array_get(list, 0)), "word0");
	json_decref(m);
}

/* Nothing can be taken off: it is as it is, and that ends. */
static void names_stay(void **state)
{
	char name[2000], *text;
	json_t *m;

	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	m = json_pack("{s:s, s:s, s:[]}", "host", name, "error", "short", "options");
	text = run_line_text(m);
	assert_true(strlen(text) > 2000);
	free(text);
	json_decref(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(findings_go_first_the_last_one_before),
		cmocka_unit_test(then_the_fix_then_the_end_of_the_error),
		cmocka_unit_test(what_is_cut_is_whole_characters),
		cmocka_unit_test(options_go_from_the_last),
		cmocka_unit_test(names_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
