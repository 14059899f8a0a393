// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* text and json_text: what comes from outside, made harmless and made JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "wire/json_text.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_for_a_terminal),
		cmocka_unit_test(any_bytes_are_json),
	};

	return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
