// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* strict: the first doubt is the error, with how many there were; without --strict there is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "measure/gate.h"

static void off(void **state)
{
	struct gates g = {0};
	struct fault f = {0};

	(void)state;
	fault_cause(gates_doubt(&g, "a fix"), "64 B was disturbed");
	assert_int_equal(gates_verdict(&g, &f), 0);
	assert_false(fault_is(&f));
}

static void nothing_in_doubt(void **state)
{
	struct gates g = {.strict = true};
	struct fault f = {0};

	(void)state;
	assert_int_equal(gates_verdict(&g, &f), 0);
	assert_false(fault_is(&f));
}

static void the_first_of_all(void **state)
{
	struct gates g = {.strict = true};
	struct fault f = {0};

	(void)state;
	fault_cause(gates_doubt(&g, "leave the CPU"), "%d B was disturbed: %s", 64, "cpu");
	assert_int_equal(gates_verdict(&g, &f), -1);
	assert_int_equal(f.code, FAULT_THRESHOLD);
	assert_int_equal(fault_exit_status(&f), 6);
	assert_string_equal(f.phase, "judging the results");
	assert_string_equal(f.cause, "64 B was disturbed: cpu");
	assert_string_equal(f.fix, "leave the CPU");
	assert_null(strstr(f.call, "rows are"));
	fault_cause(gates_doubt(&g, "another"), "128 B");
	fault_cause(gates_doubt(&g, "another"), "256 B");
	fault_clear(&f);
	assert_int_equal(gates_verdict(&g, &f), -1);
	assert_string_equal(f.cause, "64 B was disturbed: cpu");
	assert_non_null(strstr(f.call, "3 doubts about the results"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(off),
		cmocka_unit_test(nothing_in_doubt),
		cmocka_unit_test(the_first_of_all),
	};

	return cmocka_run_group_tests_name("strict", tests, NULL, NULL);
}
