// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* outcome, program_line: what documents come to, whole, cut and made up; command lines of both
 * ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../pairs/run/outcome.h"
#include "base/phase.h"
#include "../../pairs/run/program_line.h"

static const char measured[] =
	"{\"status\":\"ok\",\"error\":null,\"ends\":{\"client\":{\"utc_us\":1790000000000000},"
	"\"server\":{\"utc_us\":1790000003000000}},\"results\":[{\"bandwidth_gbps\":1},"
	"{\"bandwidth_gbps\":97.5,\"direction\":\"server_to_client\",\"diagnosis\":["
	"{\"code\":\"a\",\"level\":\"note\",\"text\":\"x\"},"
	"{\"code\":\"paused\",\"level\":\"warn\",\"end\":\"server\",\"text\":\"it was paused\"}]}]}\n";

static struct outcome ended(const char *document, int status, const char *error, bool latency)
{
	struct outcome o;

	outcome_read(&o, document, strlen(document), latency);
	outcome_ended(&o, status, error);
	return o;
}

static void a_figure(void **state)
{
	struct outcome o = ended(measured, 0, "", false);

	(void)state;
	assert_true(o.has_value && o.value == 97.5 && !o.cause && !o.interrupted);
	assert_true(o.server_ns - o.client_ns == INT64_C(3000000000));
	assert_int_equal(o.findings, 1);
	assert_string_equal(o.finding[0].id, "paused");
	assert_int_equal(o.finding[0].end, OUTCOME_SERVER);
	o = ended("{\"results\":[{\"latency_p50_us\":2.5,\"latency_p99_us\":4}]}", 0, "", true);
	assert_true(o.has_value && o.value == 2.5 && o.p99 == 4);
	o = ended("{\"results\":[{\"latency_p50_us\":null,\"latency_mean_us\":7}]}", 0, "", true);
	assert_true(o.has_value && o.value == 7);
	o = ended(measured, 0, "", true);
	assert_false(o.has_value);
	/* gdr_bw without a GPU measures the host's memory: no figure of the pair. */
	o = ended("{\"error\":{\"code\":\"unavailable\",\"message\":\"no GPU\"},"
		  "\"results\":[{\"bandwidth_gbps\":71}]}",
		  77 << 8, "", false);
	assert_false(o.has_value);
	assert_string_equal(o.cause, "device");
}

static struct outcome limited(const char *limit, const char *diagnosis)
{
	char document[512];

	snprintf(document, sizeof(document),
		 "{\"results\":[{\"bandwidth_gbps\":9,\"diagnosis\":[%s],\"limit\":{%s}}]}",
		 diagnosis, limit);
	return ended(document, 0, "", false);
}

/* What threads had of their CPUs, whichever end measured. */
static void what_threads_had(void **state)
{
	static const char quality[] = "\"quality\":{\"on_cpu_percent\":40,\"other_end\":"
				      "{\"on_cpu_percent\":null}}";
	char document[300];
	struct outcome o;

	(void)state;
	snprintf(document, sizeof(document),
		 "{\"results\":[{\"bandwidth_gbps\":9,\"measured_by\":\"client\",%s}]}", quality);
	o = ended(document, 0, "", false);
	assert_true(o.client_cpu == .4 && isnan(o.server_cpu));
	snprintf(document, sizeof(document),
		 "{\"results\":[{\"latency_p50_us\":9,\"measured_by\":\"server\",%s}]}",
		 quality);
	o = ended(document, 0, "", true);
	assert_true(isnan(o.client_cpu) && o.server_cpu == .4);
	o = ended("{\"results\":[{\"quality\":{\"on_cpu_percent\":1e9}}]}", 0, "", true);
	assert_true(isnan(o.client_cpu) && isnan(o.server_cpu));
}

/* What certainly held a run back is a finding, unless it is the link, or a worse one is there. */
static void what_limits_it(void **state)
{
	static const char pcie[] = "\"bound_by\":\"pcie\",\"certain\":true,\"end\":\"server\","
				   "\"text\":\"limited by the PCIe link of the server (x8)\"";
	struct outcome o = limited(pcie, "");

	(void)state;
	assert_int_equal(o.findings, 1);
	assert_string_equal(o.finding[0].id, "limited_by_pcie");
	assert_string_equal(o.finding[0].text, "limited by the PCIe link of the server (x8)");
	assert_int_equal(o.finding[0].end, OUTCOME_SERVER);
	o = limited(pcie, "{\"code\":\"paused\",\"level\":\"warn\",\"text\":\"paused\"}");
	assert_int_equal(o.findings, 1);
	assert_string_equal(o.finding[0].id, "paused");
	o = limited("\"bound_by\":\"pcie\",\"certain\":false,\"text\":\"may be\"", "");
	assert_int_equal(o.findings, 0);
	o = limited("\"bound_by\":\"link\",\"certain\":true,\"text\":\"the link\"", "");
	assert_int_equal(o.findings, 0);
	o = limited("\"bound_by\":\"pcie\",\"certain\":true,\"end\":null,\"text\":\"of both\"", "");
	assert_int_equal(o.finding[0].end, OUTCOME_UNKNOWN);
	o = limited("\"bound_by\":1,\"certain\":true,\"text\":[]", "");
	assert_int_equal(o.findings, 0);
}

static void check_error(const char *error, const char *cause, enum outcome_end fault)
{
	char document[512];
	struct outcome o;

	snprintf(
		document, sizeof(document),
		"{\"status\":\"failed\",\"results\":[],\"error\":{%s,\"message\":\"a client. Fix: b.\",\"fix\":\"b\"}}",
		error);
	o = ended(document, 3 << 8, "", false);
	assert_false(o.has_value);
	assert_string_equal(o.cause, cause);
	assert_int_equal(o.fault, fault);
	assert_string_equal(o.error, "a client.");
	assert_string_equal(o.fix, "b");
	assert_int_equal(o.exit, 3);
}

static void errors(void **state)
{
	(void)state;
	check_error("\"code\":\"deadline\",\"stage\":\"connect\"", "connect", OUTCOME_SERVER);
	check_error("\"code\":\"peer\",\"stage\":\"device\",\"from_peer\":true", "device",
		    OUTCOME_SERVER);
	check_error("\"code\":\"local\",\"stage\":\"device\"", "device", OUTCOME_CLIENT);
	check_error("\"code\":\"unavailable\",\"stage\":\"device\"", "device", OUTCOME_CLIENT);
	check_error("\"code\":\"usage\",\"stage\":\"device\"", "device", OUTCOME_CLIENT);
	check_error("\"code\":\"usage\",\"stage\":\"device\"", "device", OUTCOME_CLIENT);
	check_error("\"code\":\"usage\",\"stage\":\"command_line\"", "refused", OUTCOME_UNKNOWN);
	check_error("\"code\":\"usage\",\"stage\":\"agree\"", "refused", OUTCOME_UNKNOWN);
	check_error("\"code\":\"data\",\"stage\":\"measure\"", "data", OUTCOME_UNKNOWN);
	check_error("\"code\":\"peer\",\"stage\":\"measure\"", "lost", OUTCOME_SERVER);
	check_error("\"code\":\"local\",\"stage\":\"measure\",\"completion_status\":\"x\"",
		    "lost", OUTCOME_UNKNOWN);
	check_error("\"code\":\"local\",\"stage\":\"measure\"", "other", OUTCOME_UNKNOWN);
}

/* Every stage has its class; a limit on memory (RLIMIT_MEMLOCK) is the host's own. */
static void stages(void **state)
{
	static const char *const local[STAGES] = {"other", "other", "device", "device", "connect",
						  "other", "other", "other",  "other",  "other"};
	char error[128];

	(void)state;
	for (int i = 0; i < STAGES; i++) {
		snprintf(error, sizeof(error), "\"code\":\"local\",\"stage\":\"%s\"",
			 stage_word(i));
		check_error(error, local[i],
			    i == STAGE_CONNECT                             ? OUTCOME_SERVER
			    : i == STAGE_DEVICE || i == STAGE_RESOURCES ? OUTCOME_CLIENT
									  : OUTCOME_UNKNOWN);
	}
	assert_int_equal(phase_row(PHASE_ALLOCATE)->stage, STAGE_RESOURCES);
	assert_int_equal(phase_row(PHASE_PIN)->stage, STAGE_RESOURCES);
	assert_int_equal(phase_row(phase_from("allocating"))->stage, STAGE_OTHER);
}

static void no_document(void **state)
{
	struct outcome o = ended("", 9, "", false);

	(void)state;
	assert_string_equal(o.cause, "lost");
	assert_string_equal(o.error, "the program was killed by signal 9");
	o = ended("", 2 << 8, "send_lat: no -q. Fix: omit it.", false);
	assert_string_equal(o.cause, "refused");
	assert_string_equal(o.error, "no -q. Fix: omit it.");
	assert_string_equal(o.fix, "");
	o = ended("", 0, "", false);
	assert_string_equal(o.cause, "other");
}

/* A program that is killed leaves a part of a document; and a peer may put anything into it. */
static void any_document_is_read(void **state)
{
	static const char *const odd[] = {
		"[]",
		"1",
		"{}",
		"null",
		"{\"results\":{}}",
		"{\"results\":[1]}",
		"{\"error\":1}",
		"{\"results\":[{\"bandwidth_gbps\":-1}]}",
		"{\"results\":[{\"bandwidth_gbps\":\"9\"}]}",
		"{\"error\":{\"message\":1}}",
		"{\"ends\":{\"client\":{\"utc_us\":9223372036854775807}}}",
		"{\"results\":[{\"diagnosis\":[1,{\"code\":[]},{\"code\":\"\"}]}]}",
		"\xff\xfe",
	};
	char part[sizeof(measured)];

	(void)state;
	for (size_t n = 0; n + 1 < sizeof(measured) - 1; n++) {
		struct outcome o;

		memcpy(part, measured, n);
		part[n] = '\0';
		outcome_read(&o, part, n, false);
		assert_false(o.has_value);
	}
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		assert_false(ended(odd[i], 256, "", false).has_value);
}

static int read_line(struct program_line *l, const char *text)
{
	static char kept[512], *words[80];
	struct fault f = {0};
	size_t n = 0;
	int rc;

	snprintf(kept, sizeof(kept), "%s", text);
	for (char *w = strtok(kept, " "); w; w = strtok(NULL, " "))
		words[n++] = w;
	words[n] = NULL;
	rc = program_line_read(l, words, &f);
	assert_int_equal(rc, f.code == FAULT_USAGE ? -1 : 0);
	return rc;
}

static const char *written(const struct program_line *l, struct program_call call)
{
	static struct program_words words;
	static char text[1024];

	program_line_write(l, &call, &words);
	text[0] = '\0';
	for (char **w = words.argv; *w; w++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", *text ? " " : "",
			 *w);
	return text;
}

static void command_lines(void **state)
{
	struct program_call server = {
		.rail = "", .auth = "none", .port = 7, .timeout_ns = 500000000};
	struct program_call client = {.rail = "mlx5_1",
				      .auth = "key:k",
				      .port = 8,
				      .address = "n2",
				      .timeout_ns = 500000000,
				      .connect_ns = 250000000,
				      .reversed = true};
	struct program_line l;

	(void)state;
	assert_int_equal(read_line(&l, "write_bw -s 1m -D 0.5 -i2 --numa none --auth x -x 3"), 0);
	assert_true(l.duration_ns == 500000000 && !l.latency && l.both_ways && !l.to_client);
	assert_string_equal(l.auth, "x");
	assert_string_equal(written(&l, server),
			    "write_bw -i2 --numa none -x 3 --port=7 --timeout=0.500 --auth=none "
			    "--quiet --json --persistent");
	assert_string_equal(written(&l, client),
			    "write_bw -s 1m -D 0.5 -i2 --numa none -x 3 --port=8 --timeout=0.500 "
			    "--auth=key:k --quiet --json --ib-dev=mlx5_1 --connect-timeout=0.250 "
			    "--reversed n2");
	assert_int_equal(read_line(&l, ""), 0);
	assert_string_equal(l.program, "write_bw");
	assert_true(l.duration_ns == 500000000);
	assert_int_equal(read_line(&l, "read_lat -n 5"), 0);
	assert_true(l.latency && !l.both_ways && l.to_client && !l.duration_ns);
	assert_int_equal(read_line(&l, "send_bw --omit=2 -b -D 1"), 0);
	assert_true(l.duration_ns == 1000000000 && l.omit_ns == 2000000000);
	assert_false(l.both_ways);
}

static void command_lines_that_cannot_be(void **state)
{
	static const char *const bad[] = {
		"ls -l",
		"reg_lat -D 1",
		"-D 1",
		"write_bw n1",
		"write_bw -p 1",
		"write_bw --port=1",
		"write_bw --json",
		"write_bw --persistent",
		"write_bw --reversed",
		"write_bw --nothing",
		"write_bw -D",
		"write_bw -Dx",
		"write_bw --omit",
		"write_bw -",
		"write_bw --",
		"write_bw --run_infinitely",
	};
	struct program_line l;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(read_line(&l, bad[i]), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_figure),
		cmocka_unit_test(what_threads_had),
		cmocka_unit_test(what_limits_it),
		cmocka_unit_test(errors),
		cmocka_unit_test(stages),
		cmocka_unit_test(no_document),
		cmocka_unit_test(any_document_is_read),
		cmocka_unit_test(command_lines),
		cmocka_unit_test(command_lines_that_cannot_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
