// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/prom.h"

static const struct prom_about about = {
	.file = "/var/lib/n2.prom", .device = "mlx5_0", .peer = "n2"};

static json_t *parse(const char *text)
{
	json_t *d = json_loads(text, 0, NULL);

	assert_non_null(d);
	return d;
}

/* The text for the document TEXT; the caller frees it. */
static char *prom_of(const struct prom_about *a, const char *text)
{
	json_t *d = parse(text);
	char *prom = prom_run(a, d);

	json_decref(d);
	assert_non_null(prom);
	return prom;
}

/* How often NEEDLE is in TEXT. */
static unsigned count(const char *text, const char *needle)
{
	unsigned n = 0;

	for (; (text = strstr(text, needle)); text += strlen(needle))
		n++;
	return n;
}

static void has(const char *text, const char *needle)
{
	if (!strstr(text, needle))
		fail_msg("'%s' is not in:\n%s", needle, text);
}

static void test_failed_run(void **state)
{
	char *text = prom_of(
		&about, "{\"test\": \"send_bw\", \"role\": \"client\", \"status\": \"failed\","
			"\"finished_utc\": \"1970-01-02T00:00:01Z\", \"ends\": {},"
			"\"error\": {\"exit_status\": 4}, \"results\": [{\"interrupted\": true,"
			"\"message_bytes\": 2, \"bandwidth_gbps\": 8}]}");

	(void)state;
	has(text, "rdmark_up{file=\"n2.prom\",test=\"send_bw\",device=\"mlx5_0\",peer=\"n2\"} 0\n");
	has(text,
	    "rdmark_exit_status{file=\"n2.prom\",test=\"send_bw\",device=\"mlx5_0\",peer=\"n2\"} 4\n");
	has(text, "peer=\"n2\"} 86401\n");
	assert_null(strstr(text, "bandwidth"));
	assert_null(strstr(text, "thresholds_met"));
	free(text);
}

static void test_text_of_the_peer_is_escaped(void **state)
{
	const struct prom_about server = {.file = "s.prom"};
	char *text =
		prom_of(&server, "{\"test\": \"send_bw\", \"role\": \"server\", \"status\": \"ok\","
				 "\"ends\": {\"server\": {\"device\": \"mlx5_0\", \"port\": 1},"
				 "\"client\": {\"host\": \"a\\\"} 1\\nb\\\\\"}}}");

	(void)state;
	has(text, "peer=\"a\\\"} 1\\nb\\\\\"} 1\n");
	assert_int_equal(count(text, "\nb"), 0);
	free(text);
}

static void test_what_is_no_utf_8(void **state)
{
	const struct prom_about bad = {.file = "x\xff.prom", .peer = "h\xc3"};
	char *text = prom_of(&bad, "{}");

	(void)state;
	has(text, "file=\"x?.prom\",peer=\"h?\"} 0\n");
	free(text);
}

/* The median run of a size that has a summary, the last one of a size that has none. */
static void test_a_result_is_shown_once(void **state)
{
#define RUN(bytes, run, gbps)                                                        \
	"{\"message_bytes\": " bytes ", \"run\": " run ", \"bandwidth_gbps\": " gbps \
	", \"direction\": \"client_to_server\", \"diagnosis\": [{\"code\": \"slow\"}]}"
	char *text = prom_of(
		&about,
		"{\"status\": \"ok\", \"results\": [" RUN("8", "1", "80") "," RUN("8", "2", "160") "," RUN(
			"8", "3",
			"240") "," RUN("16", "1",
				       "320") "," RUN("16", "2",
						      "400") "],"
							     "\"summaries\": [{\"message_bytes\": 8, \"median_run\": 2}]}");

	(void)state;
	assert_int_equal(count(text, "\nrdmark_bandwidth_bytes_per_second{"), 2);
	has(text, "message_bytes=\"8\",direction=\"client_to_server\"} 2e+10\n");
	has(text, "message_bytes=\"16\",direction=\"client_to_server\"} 5e+10\n");
	assert_int_equal(count(text, "code=\"slow\"} 1\n"), 1);
	free(text);
}

static void test_varied_options_and_directions(void **state)
{
	char *text =
		prom_of(&about, "{\"status\": \"ok\", \"results\": [{\"message_bytes\": 8,"
				"\"direction\": \"both\", \"bandwidth_gbps\": 16,"
				"\"varied\": {\"qp\": 4, \"size_bytes\": 8, \"test\": 1},"
				"\"by_end\": {\"client\": {\"direction\": \"client_to_server\","
				"\"bandwidth_gbps\": 8}, \"server\": {\"direction\":"
				"\"server_to_client\", \"bandwidth_gbps\": 8}}}]}");

	(void)state;
	has(text, "message_bytes=\"8\",direction=\"both\",qp=\"4\",test=\"1\"} 2000000000\n");
	has(text, "message_bytes=\"8\",direction=\"client_to_server\",qp=\"4\"");
	assert_int_equal(count(text, "\nrdmark_bandwidth_bytes_per_second{"), 3);
	assert_null(strstr(text, "size_bytes"));
	free(text);
}

/* Of other types than they should have: no value is better than a wrong one, and nothing crashes.
 */
static void test_wrong_types(void **state)
{
	static const char *const documents[] = {
		"[]",
		"{\"test\": 1, \"role\": [], \"status\": {}, \"ends\": 5, \"results\": \"x\"}",
		"{\"role\": \"client\", \"ends\": {\"client\": []}, \"results\": [1, null, {}]}",
		"{\"results\": [{\"message_bytes\": \"x\", \"varied\": [1], \"by_end\": [2], \"run\": {},"
		"\"diagnosis\": [3, {\"code\": 4}], \"limit\": 6, \"latency_mean_us\": 1}],"
		"\"summaries\": [7, {\"message_bytes\": \"x\", \"median_run\": []}],"
		"\"finished_utc\": \"2026-99-99T\"}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(documents) / sizeof(documents[0]); i++) {
		char *text = prom_of(&about, documents[i]);

		has(text, "rdmark_up{file=\"n2.prom\"");
		assert_null(strstr(text, "nan"));
		free(text);
	}
}

static void test_check(void **state)
{
	const struct prom_about a = {.file = "check.prom"};
	json_t *d = parse(
		"{\"host\": {\"findings\": []}, \"ports\": [{\"device\": \"mlx5_0\", \"port\": 1,"
		"\"findings\": [{\"code\": \"pcie_slow\", \"level\": \"fault\"}]},"
		"{\"device\": \"mlx5_1\", \"port\": 1, \"findings\": [{\"level\": \"note\"}]}]}");
	char *text = prom_check(&a, d, 6);

	(void)state;
	has(text, "rdmark_up{file=\"check.prom\"} 1\n");
	has(text, "rdmark_check_ok{file=\"check.prom\"} 1\n");
	has(text, "rdmark_check_ok{file=\"check.prom\",device=\"mlx5_0\",port=\"1\"} 0\n");
	has(text, "rdmark_check_ok{file=\"check.prom\",device=\"mlx5_1\",port=\"1\"} 1\n");
	has(text, "port=\"1\",level=\"fault\",code=\"pcie_slow\"} 1\n");
	free(text);
	json_decref(d);
	text = prom_check(&a, NULL, 77);
	has(text, "rdmark_up{file=\"check.prom\"} 0\n");
	has(text, "rdmark_exit_status{file=\"check.prom\"} 77\n");
	assert_null(strstr(text, "check_ok"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_failed_run),
		cmocka_unit_test(test_text_of_the_peer_is_escaped),
		cmocka_unit_test(test_what_is_no_utf_8),
		cmocka_unit_test(test_a_result_is_shown_once),
		cmocka_unit_test(test_varied_options_and_directions),
		cmocka_unit_test(test_wrong_types),
		cmocka_unit_test(test_check),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
