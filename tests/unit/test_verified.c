// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* verified: what a peer says that it found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "proto/verified.h"

static json_t *found(int messages, int errors)
{
	json_t *m = json_pack("{s:i,s:i,s:i,s:i}", "messages", messages, "bytes", messages * 64,
			      "errors", errors, "lost", 0);

	if (errors)
		json_object_set_new(m, "first_error",
				    json_pack("{s:b,s:i,s:i,s:i,s:i,s:i,s:i}", "from_server", 1,
					      "qp", 0, "window", 1, "message", 3, "byte", 5, "is",
					      18, "should_be", 19));
	return m;
}

static void what_can_be_is_taken(void **state)
{
	json_t *m = found(4, 3);
	struct verified t;
	struct fault f = {0};

	(void)state;
	assert_int_equal(verified_from_json(&t, m, &f), 0);
	assert_int_equal(t.messages, 4);
	assert_int_equal(t.errors, 3);
	assert_int_equal(t.first.byte, 5);
	json_decref(m);
}

static void nothing_wrong_among_nothing(void **state)
{
	json_t *m = found(0, 0);
	struct verified t;
	struct fault f = {0};

	(void)state;
	assert_int_equal(verified_from_json(&t, m, &f), 0);
	json_decref(m);
}

/* The size of a message is bytes by messages. */
static void wrong_ones_among_none_are_refused(void **state)
{
	json_t *m = found(0, 3);
	struct verified t;
	struct fault f = {0};

	(void)state;
	assert_int_equal(verified_from_json(&t, m, &f), -1);
	assert_int_equal(f.code, FAULT_PEER);
	json_decref(m);
}

/* The first error is shown: there is one. */
static void errors_without_a_first_are_refused(void **state)
{
	json_t *m = found(4, 3);
	struct verified t;
	struct fault f = {0};

	(void)state;
	json_object_del(m, "first_error");
	assert_int_equal(verified_from_json(&t, m, &f), -1);
	assert_int_equal(f.code, FAULT_PEER);
	json_decref(m);
}

static void losses_are_told_beside_the_errors(void **state)
{
	struct verified t = {.messages = 4, .bytes = 256, .lost = 2};
	char text[128];

	(void)state;
	assert_string_equal(verified_format(&t, 13631488, text, sizeof(text)),
			    "4 messages of 64 B, 256 B (measured: 13 MiB), no error (2 lost)");
	t.errors = 3;
	assert_string_equal(verified_format(&t, 64, text, sizeof(text)),
			    "4 messages of 64 B, 256 B (measured: 64 B), 3 errors (2 lost)");
}

/* A byte that is right is not called wrong: the message has arrived, its completion has not. */
static void a_loss_in_memory_names_no_wrong_byte(void **state)
{
	struct verified t = {
		.messages = 4,
		.bytes = 256,
		.errors = 1,
		.lost = 1,
		.found = true,
		.first = {.number = 3, .is = 0x12, .should_be = 0x12},
	};
	struct fault f = {0};

	(void)state;
	assert_int_equal(verified_raise(&t, &f), -1);
	assert_non_null(
		strstr(f.cause, "message 3 from the client on QP 0, window 0, is in memory"));
	assert_null(strstr(f.cause, "0x12"));
	t.first.is = 0x13;
	f = (struct fault){0};
	assert_int_equal(verified_raise(&t, &f), -1);
	assert_non_null(strstr(f.cause, "byte 0 is 0x13, not 0x12"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_can_be_is_taken),
		cmocka_unit_test(nothing_wrong_among_nothing),
		cmocka_unit_test(wrong_ones_among_none_are_refused),
		cmocka_unit_test(errors_without_a_first_are_refused),
		cmocka_unit_test(losses_are_told_beside_the_errors),
		cmocka_unit_test(a_loss_in_memory_names_no_wrong_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
