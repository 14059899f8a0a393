// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* scan: what is read in place is what jansson reads, and what is not JSON is refused by both. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "../../pairs/judge/scan.h"
#include "draw.h"

static void assert_same(const char *line)
{
	size_t bytes = strlen(line);
	struct scan a, b;
	size_t took = scan_line(&a, line, bytes), slowly = scan_line_slowly(&b, line, bytes);

	assert_int_equal(took, slowly);
	for (int key = 0; key < SCAN_KEYS && took; key++) {
		assert_int_equal(a.of[key].type, b.of[key].type);
		if (a.of[key].type == SCAN_NUMBER)
			assert_true(a.of[key].number == b.of[key].number);
		if (a.of[key].type != SCAN_TEXT)
			continue;
		assert_int_equal(a.of[key].bytes, b.of[key].bytes);
		assert_memory_equal(a.of[key].text, b.of[key].text, a.of[key].bytes);
	}
	scan_release(&a);
	scan_release(&b);
}

static void values(void **state)
{
	static const char line[] =
		"{\"kind\":\"pair\",\"value\":97.25,\"alone\":true,\"from\":\"n1\"} {";
	struct scan s;

	(void)state;
	assert_int_equal(scan_line(&s, line, strlen(line)), strlen(line) - 2);
	assert_null(s.whole);
	assert_true(scan_is(&s, SCAN_KIND, "pair") && scan_is(&s, SCAN_FROM, "n1"));
	assert_false(scan_is(&s, SCAN_KIND, "pai") || scan_is(&s, SCAN_KIND, "pairs"));
	assert_true(scan_number(&s, SCAN_VALUE, 0, 100, -1) == 97.25);
	assert_true(scan_number(&s, SCAN_VALUE, 98, 100, -1) == -1);
	assert_true(scan_number(&s, SCAN_P99, 0, 100, -1) == -1);
	assert_int_equal(s.of[SCAN_ALONE].type, SCAN_TRUE);
	scan_release(&s);
}

static void both_read_the_same(void **state)
{
	static const char *const lines[] = {
		"{}",
		"{ }",
		"{\"value\":1}",
		"{\"value\":-0.5}",
		"{\"value\":01}",
		"{\"value\":1.}",
		"{\"value\":.5}",
		"{\"value\":1e3}",
		"{\"value\":123456789012345}",
		"{\"value\":-}",
		"{\"value\":1234567890123456789}",
		"{\"value\":0.1234567890123456}",
		"{\"value\":0}",
		"{\"value\":97.3127}",
		"{\"value\":3.3e-5}",
		"{\"value\":null}",
		"{\"value\":[1]}",
		"{\"value\":{\"value\":2}}",
		"{\"value\":1,\"value\":\"x\"}",
		"{\"value\":tru}",
		"{\"value\":true , \"alone\" : false}",
		"{\"from\":\"a\\u0041\"}",
		"{\"from\":\"\"}",
		"{\"from\":\"caf\xc3\xa9\"}",
		"{\"from\":\"\xc3\"}",
		"{\"from\":\"a\tb\"}",
		"{\"from\"}",
		"{\"from\":\"a\",}",
		"{,}",
		"{\"a\":1",
		"{\"a\":1]",
		"{a:1}",
		"{\"\":1}",
		"[1]",
		"",
		"x",
		"{\"findings\":[{\"id\":\"a\"}],\"run\":\"r\"}",
		"{\"a\":\"b\"\"c\":1}",
		"{\"valu\":5}",
		"{\"values\":5}",
		"{\"a\":1}{\"a\":2}",
		"{\"a\":\"\x7f\"}",
		"{\"a\":1\r}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_same(lines[i]);
}

/* Lines of all keys with numbers of all lengths; then with a byte changed. */
static void both_read_the_same_at_random(void **state)
{
	uint64_t x = 1;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		char line[256];

		snprintf(line, sizeof(line),
			 "{\"kind\":\"pair\",\"round\":%u,\"value\":%.*f,\"alone\":%s,\"p99\": %g}",
			 (unsigned)(draw(&x) % 1000), (int)(draw(&x) % 14),
			 (double)(draw(&x) % 1000000) / 977, draw(&x) % 2 ? "true" : "false",
			 (double)(draw(&x) % 100000) / 31);
		assert_same(line);
		line[draw(&x) % strlen(line)] = (char)(draw(&x) % 255 + 1);
		assert_same(line);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values),
		cmocka_unit_test(both_read_the_same),
		cmocka_unit_test(both_read_the_same_at_random),
	};

	return cmocka_run_group_tests_name("scan", tests, NULL, NULL);
}
