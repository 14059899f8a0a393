// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* rate: read, written, and in messages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "base/rate.h"

static void written_as_read(void **state)
{
	static const char *const text[] = {"10",    "2.5g", "800M", "1000000p",   "0.001g",
					   "0.25p", "400g", "123456.789M"};

	(void)state;
	for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
		uint64_t rate = 7;
		char buf[40];

		assert_int_equal(rate_parse(text[i], &rate), 0);
		assert_string_equal(rate_format(rate, buf, sizeof(buf)), text[i]);
	}
}

static void other_spellings(void **state)
{
	uint64_t a, b;

	(void)state;
	assert_int_equal(rate_parse("5G", &a), 0);
	assert_int_equal(rate_parse("5g", &b), 0);
	assert_int_equal(a, b);
	assert_int_equal(rate_parse("5m", &a), 0);
	assert_int_equal(rate_parse("5M", &b), 0);
	assert_int_equal(a, b);
	assert_int_equal(rate_parse("5Gb/s", &a), 0);
	assert_int_equal(rate_parse("625MB/s", &b), 0);
	assert_int_equal(a, b);
	assert_int_equal(rate_parse("5g", &b), 0);
	assert_int_equal(a, b);
	assert_int_equal(rate_parse("1e6p", &a), 0);
	assert_int_equal(rate_parse("1000000p", &b), 0);
	assert_int_equal(a, b);
	assert_int_equal(rate_parse("0", &a), 0);
	assert_int_equal(a, RATE_NONE);
	assert_int_equal(rate_parse("0p", &a), 0);
	assert_int_equal(a, RATE_NONE);
}

static void what_is_no_rate(void **state)
{
	static const char *const text[] = {"", "max",     "g",   "-1",  "+1",  " 1",
					   "1 g",  "1gg", "1x",  "5k",  "10Gib",
					   "1..2", "5T",  "inf", "1Gi", "maximum"};
	uint64_t rate = 7;

	(void)state;
	for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++)
		assert_int_equal(rate_parse(text[i], &rate), -EINVAL);
	assert_int_equal(rate_parse("9999999999999999999", &rate), -ERANGE);
	assert_int_equal(rate_parse("0.0000001", &rate), -ERANGE); /* not none */
	assert_int_equal(rate, 7);
}

static void a_unit_for_those_without(void **state)
{
	uint64_t bare, with, expected;

	(void)state;
	assert_int_equal(rate_parse("3", &bare), 0);
	assert_int_equal(rate_parse("3p", &with), 0);
	assert_int_equal(rate_in(bare, RATE_MESSAGES), with);
	assert_int_equal(rate_in(with, RATE_GBPS), with);
	assert_int_equal(rate_parse("3M", &expected), 0);
	assert_int_equal(rate_in(bare, RATE_MIBPS), expected);
	assert_int_equal(rate_in(RATE_NONE, RATE_GBPS), RATE_NONE);
}

static void in_messages(void **state)
{
	uint64_t rate;

	(void)state;
	rate_parse("8g", &rate);
	assert_float_equal(rate_messages_per_s(rate, 1000), 1e6, 1e-3);
	assert_float_equal(rate_gbps(rate, 1000), 8, 1e-9);
	rate_parse("1M", &rate);
	assert_float_equal(rate_messages_per_s(rate, 65536), 16, 1e-9);
	rate_parse("250p", &rate);
	assert_float_equal(rate_messages_per_s(rate, 1), 250, 1e-9);
	assert_float_equal(rate_gbps(rate, 1000000), 2, 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(written_as_read), cmocka_unit_test(other_spellings),
		cmocka_unit_test(what_is_no_rate), cmocka_unit_test(a_unit_for_those_without),
		cmocka_unit_test(in_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
