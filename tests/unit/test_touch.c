// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* touch: writing into the memory brings no page into being. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <sys/resource.h>

#include "base/touch.h"

#define COUNT     (UINT64_C(4) << 20)
#define SOME_ODDS 3 /* the kernel may move a page meanwhile */

static long faults(void)
{
	struct rusage u;

	getrusage(RUSAGE_THREAD, &u);
	return u.ru_minflt;
}

static void all_pages_are_there(void **state)
{
	uint64_t *at = touch_calloc(COUNT, sizeof(*at));
	long before = faults();

	(void)state;
	assert_non_null(at);
	for (size_t i = 0; i < COUNT; i++)
		((volatile uint64_t *)at)[i] = i;
	assert_true(faults() - before <= SOME_ODDS);
	free(at);
}

static void all_is_zero(void **state)
{
	char *at = touch_calloc(3, 4099);

	(void)state;
	assert_non_null(at);
	for (size_t i = 0; i < 3 * 4099; i++)
		assert_int_equal(at[i], 0);
	free(at);
}

static void nothing_is_no_failure(void **state)
{
	(void)state;
	free(touch_calloc(0, 8));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_pages_are_there),
		cmocka_unit_test(all_is_zero),
		cmocka_unit_test(nothing_is_no_failure),
	};

	return cmocka_run_group_tests_name("touch", tests, NULL, NULL);
}
