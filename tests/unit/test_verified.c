// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* verified: what a peer says that it found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_can_be_is_taken),
		cmocka_unit_test(nothing_wrong_among_nothing),
		cmocka_unit_test(wrong_ones_among_none_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
