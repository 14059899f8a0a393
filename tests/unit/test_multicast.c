// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The spellings of a multicast group. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "verbs/gid.h"
#include "verbs/multicast.h"

static void expect(const char *text, const char *shown)
{
	union ibv_gid group;
	char gid[64];

	assert_int_equal(multicast_parse(text, &group), shown ? 0 : -EINVAL);
	if (shown)
		assert_string_equal(gid_format(&group, gid, sizeof(gid)), shown);
}

static void test_spellings(void **state)
{
	(void)state;
	expect("239.255.1.2", "239.255.1.2");
	expect("ff15::1:2", "ff15::1:2");
	expect("::ffff:224.0.0.5", "224.0.0.5");
	expect("255:1:0:0:0:2:201:133:0:0:0:0:0:0:0:0", "ff01:0:2:c985::");
	expect("0:0:0:0:0:0:0:0:0:0:0xff:0xFF:239:1:2:3", "239.1.2.3");
}

static void test_no_groups(void **state)
{
	static const char *const texts[] = {
		"",
		"10.0.0.1",
		"fe80::1",
		"255",
		"255:1:0:0:0:2:201:133:0:0:0:0:0:0:0",
		"255:1:0:0:0:2:201:133:0:0:0:0:0:0:0:0:0",
		"255:1:0:0:0:2:201:133:0:0:0:0:0:0:0:256",
		"255: 1:0:0:0:2:201:133:0:0:0:0:0:0:0:0",
		"255:-1:0:0:0:2:201:133:0:0:0:0:0:0:0:0",
		"1:1:0:0:0:2:201:133:0:0:0:0:0:0:0:0",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		expect(texts[i], NULL);
}

static void test_of_a_number(void **state)
{
	union ibv_gid four = multicast_default(true, 0xab1234),
		      six = multicast_default(false, 0xff);
	char gid[64];

	(void)state;
	assert_string_equal(gid_format(&four, gid, sizeof(gid)), "239.255.18.52");
	assert_string_equal(gid_format(&six, gid, sizeof(gid)), "ff15::7264:ff");
	assert_true(multicast_is_group(&four) && multicast_is_group(&six));
	assert_true(multicast_is_ipv4(&four) && !multicast_is_ipv4(&six));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spellings),
		cmocka_unit_test(test_no_groups),
		cmocka_unit_test(test_of_a_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
