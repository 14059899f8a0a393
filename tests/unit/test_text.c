// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* text and json_text: what comes from outside, made harmless and made JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "proto/fields.h"
#include "tree.h"

static void disarmed(const char *from, const char *to)
{
	char text[64];

	snprintf(text, sizeof(text), "%s", from);
	text_disarm(text);
	assert_string_equal(text, to);
}

static void nothing_for_a_terminal(void **state)
{
	(void)state;
	disarmed("", "");
	disarmed("plain text, 64 KiB.", "plain text, 64 KiB.");
	disarmed("\033[31mred\n\x7f", "?[31mred??");
	disarmed("\xc2\x9b"
		 "31m",
		 "??31m"); /* CSI as C1 */
	disarmed("\xc3\xa9 \xc2\xa0 \xe2\x80\xa6",
		 "\xc3\xa9 \xc2\xa0 \xe2\x80\xa6"); /* é, blank, … */
	disarmed("cut \xc2", "cut \xc2");
	disarmed("a\u202e\u200e\u200f\u202a\u2066\u2069z", "a??????????????????z");
	disarmed("a\u061c\u2028z", "a?????z");
	disarmed("\u200d \u2027 \u202f \u2065 \u206a \u062c",
		 "\u200d \u2027 \u202f \u2065 \u206a \u062c");
	disarmed("cut \xe2\x80", "cut \xe2\x80");
	disarmed("cut \xe2", "cut \xe2");
}

static void a_text_grows_up_to_its_end(void **state)
{
	char text[8] = "";

	(void)state;
	text_add(text, sizeof(text), "%d", 12);
	text_add(text, sizeof(text), "%s", "");
	text_add(text, sizeof(text), "%s", "345");
	assert_string_equal(text, "12345");
	text_add(text, sizeof(text), "%s", "6789");
	assert_string_equal(text, "1234567");
	text_add(text, sizeof(text), "more");
	assert_string_equal(text, "1234567");
}

static void cut_between_characters(void **state)
{
	char text[8];

	(void)state;
	text_copy(text, sizeof(text), "1234567");
	assert_string_equal(text, "1234567");
	text_copy(text, sizeof(text), "12345678");
	assert_string_equal(text, "1234567");
	text_copy(text, sizeof(text), "123456\xc3\xa9"); /* é takes two bytes, one is left */
	assert_string_equal(text, "123456");
	text_copy(text, sizeof(text), "1234\xe2\x80\xa6");
	assert_string_equal(text, "1234\xe2\x80\xa6");
	text_copy(text, 7, "1234\xe2\x80\xa6");
	assert_string_equal(text, "1234");
	text_copy(text, 2, "\x80\x80\x80"); /* no characters at all */
	assert_string_equal(text, "");
	text_copy(text, sizeof(text), "\033[0m");
	assert_string_equal(text, "?[0m");
}

static void a_list_by_commas(void **state)
{
	const char *list = "mlx5_0,,longer";
	char name[7];

	(void)state;
	assert_string_equal(text_next(&list, name, sizeof(name)), "mlx5_0");
	assert_string_equal(text_next(&list, name, sizeof(name)), "");
	assert_string_equal(text_next(&list, name, sizeof(name)), "longer");
	assert_null(text_next(&list, name, sizeof(name)));
	list = "mlx5_10";
	assert_string_equal(text_next(&list, name, sizeof(name)), "mlx5_1");
}

static void letters_that_differ(void **state)
{
	char longer[TEXT_WORD_MAX + 2];

	(void)state;
	memset(longer, 'a', sizeof(longer));
	assert_int_equal(text_distance("compare", "compare", 7), 0);
	assert_int_equal(text_distance("compare", "comprae=1", 7), 2);
	assert_int_equal(text_distance("list", "lst", 3), 1);
	assert_int_equal(text_distance("", "ab", 2), 2);
	assert_int_equal(text_distance("tx-depth", "tx_deepth", 9), 1);
	assert_int_equal(text_distance("a", longer, sizeof(longer)), TEXT_WORD_MAX);
}

static void any_bytes_are_json(void **state)
{
	json_t *v = json_text("h\xff"
			      "st\xc3");

	(void)state;
	assert_string_equal(json_string_value(v), "h?st?");
	json_decref(v);
	v = json_text("h\xc3\xa9");
	assert_string_equal(json_string_value(v), "h\xc3\xa9");
	json_decref(v);
}

static void files_of_the_kernel(void **state)
{
	static const char file[] = "x";
	char text[64], bytes[4];

	tree_put(state, "file", "model\t\t: 143\nmodel name\t: A B\ncpu MHz: 1\ncpu:2\nmodel name: C\n");
	assert_int_equal(text_read(tree_path(state, "file"), text, sizeof(text)), 61);
	assert_int_equal(strlen(text), 61);
	assert_int_equal(strncmp(text_value(text, "model name"), "A B\n", 4), 0);
	assert_int_equal(strncmp(text_value(text, "model"), "143\n", 4), 0);
	assert_int_equal(strncmp(text_value(text, "cpu"), "2\n", 2), 0);
	assert_null(text_value(text, "MHz"));
	assert_null(text_value("model name", "model name"));
	assert_null(text_value("", "x"));
	assert_int_equal(text_read(tree_path(state, "file"), text, 6), 5);
	assert_string_equal(text, "model");
	assert_int_equal(text_read_bytes(tree_path(state, "file"), bytes, 4), 4);
	assert_memory_equal(bytes, "mode", 4);
	assert_int_equal(text_read(tree_path(state, "none"), text, sizeof(text)), 0);
	assert_string_equal(text, "");
	assert_int_equal(text_read_bytes(tree_path(state, file), text, sizeof(text)), -ENOENT);
	assert_int_equal(text_read_bytes(*state, text, sizeof(text)), -EISDIR);
	assert_int_equal(text_read_bytes("/dev/null", text, sizeof(text)), -EINVAL);
	/* this program's own, which has its name and no argument */
	assert_int_equal(text_read("/proc/self/cmdline", text, 2), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_for_a_terminal),
		cmocka_unit_test(a_text_grows_up_to_its_end),
		cmocka_unit_test(cut_between_characters),
		cmocka_unit_test(a_list_by_commas),
		cmocka_unit_test(letters_that_differ),
		cmocka_unit_test(any_bytes_are_json),
		cmocka_unit_test_setup_teardown(files_of_the_kernel, tree_make, tree_remove),
	};

	return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
