// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* verified: what a peer says that it found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "wire/verified.h"

static json_t *found(int messages, int corrupt)
{
	return json_pack("{s:i,s:i,s:i,s:i,s:i,s:i,s:i,s:i}", "messages", messages, "bytes",
			 messages * 64, "lost", 0, "stale", 0, "duplicate", 0, "reordered", 0,
			 "misplaced", 0, "corrupt", corrupt);
}

static void what_can_be_is_taken(void **state)
{
	json_t *m = found(4, 3);
	struct slots_tally t;
	struct fault f = {0};

	(void)state;
	assert_int_equal(verified_from_json(&t, m, &f), 0);
	assert_int_equal(t.messages, 4);
	assert_int_equal(slots_errors(&t, false), 3);
	json_decref(m);
}

static void nothing_wrong_among_nothing(void **state)
{
	json_t *m = found(0, 0);
	struct slots_tally t;
	struct fault f = {0};

	(void)state;
	assert_int_equal(verified_from_json(&t, m, &f), 0);
	json_decref(m);
}

/* The size of a message is bytes by messages. */
static void wrong_ones_among_none_are_refused(void **state)
{
	json_t *m = found(0, 3);
	struct slots_tally t;
	struct fault f = {0};

	(void)state;
	assert_int_equal(verified_from_json(&t, m, &f), -1);
	assert_int_equal(f.code, FAULT_PEER);
	json_decref(m);
}

/* A byte that is right is not called wrong: the message has arrived, its completion has not. */
static void a_loss_in_memory_names_no_wrong_byte(void **state)
{
	struct slots_tally t = {
		.messages = 4,
		.bytes = 256,
		.wrong[SLOTS_LOST] = 1,
		.found = true,
		.first = {.wrong = SLOTS_LOST, .name.number = 3, .is = 0x12, .should_be = 0x12},
	};
	struct fault f = {0};

	(void)state;
	assert_int_equal(verified_raise(&t, false, &f), -1);
	assert_non_null(
		strstr(f.cause, "message 3 from the client on QP 0, window 0, is in memory"));
	assert_null(strstr(f.cause, "0x12"));
	t.first.is = 0x13;
	f = (struct fault){0};
	assert_int_equal(verified_raise(&t, false, &f), -1);
	assert_non_null(strstr(f.cause, "byte 0 is 0x13, not 0x12"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_can_be_is_taken),
		cmocka_unit_test(nothing_wrong_among_nothing),
		cmocka_unit_test(wrong_ones_among_none_are_refused),
		cmocka_unit_test(a_loss_in_memory_names_no_wrong_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
