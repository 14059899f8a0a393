// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* latency: what is typical, above it, and above what is accepted; and links of which none knows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "explain/during.h"

static void judged(void **state)
{
	static const struct {
		struct latency_facts l;
		const char *code, *says;
		enum finding_level level;
	} one[] = {
		{{true, false, 100, 1.5}, "latency_typical", "1 us to 1.5 us", FINDING_NOTE},
		{{true, false, 100, 1.6}, "latency_above_typical", "1 us to 1.5 us", FINDING_NOTE},
		{{true, false, 100, 5.2}, "latency_above_typical", "1 us to 1.5 us", FINDING_WARN},
		{{true, false, 400, 1.2}, "latency_above_typical", "0.8 us to 1.1 us", FINDING_NOTE},
		{{true, false, 200, 1.6}, "latency_typical", "up to 2.5 us", FINDING_NOTE},
		{{true, true, 100, 4.5}, "latency_typical", "up to 4.5 us", FINDING_NOTE},
		{{true, true, 400, 4.6}, "latency_above_typical", "up to 4.5 us", FINDING_WARN},
		{{false, false, 100, 2.4}, "latency_typical", "up to 2.5 us", FINDING_NOTE},
		{{false, false, 400, 2.6}, "latency_above_typical", "RoCE", FINDING_WARN},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(one) / sizeof(one[0]); i++) {
		struct findings to = {0};

		latency_judge(&one[i].l, &to);
		assert_int_equal(to.count, 1);
		assert_string_equal(finding_name(to.list[0].is.code), one[i].code);
		assert_int_equal(to.list[0].is.level, one[i].level);
		assert_non_null(strstr(to.list[0].text, one[i].says));
		assert_true(to.list[0].is.value[0].number == one[i].l.median_us);
	}
}

static void unknown(void **state)
{
	static const struct latency_facts none[] = {
		{true, false, 56, 9}, {true, false, 0, 9}, {true, false, NAN, 9}, {true, false, 100, NAN},
		{true, false, 100, 0},
	};
	struct findings to = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		latency_judge(&none[i], &to);
	assert_int_equal(to.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(judged),
		cmocka_unit_test(unknown),
	};

	return cmocka_run_group_tests_name("latency", tests, NULL, NULL);
}
