// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* pkey: who hears whom; the table itself is in the tests on simulated devices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "verbs/pkey.h"

static void partitions(void **state)
{
	(void)state;
	assert_true(pkey_fits(0xffff, 0xffff));
	assert_true(pkey_fits(0x8001, 0x0001));
	assert_true(pkey_fits(0x0001, 0x8001));
	assert_false(pkey_fits(0x0001, 0x0001)); /* both limited */
	assert_false(pkey_fits(0x8001, 0x8002));
	assert_false(pkey_fits(0xffff, 0x8001));
	assert_false(pkey_fits(0, 0));
	assert_false(pkey_fits(0x8000, 0x8000)); /* partition 0 is none */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(partitions),
	};

	return cmocka_run_group_tests_name("pkey", tests, NULL, NULL);
}
