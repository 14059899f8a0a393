// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* experiment, options, record, end: what the option table makes of values, JSON and differences. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/rate.h"
#include "cli/options.h"
#include "plan/test.h"
#include "proto/end.h"
#include "proto/record.h"

static const struct experiment defaults = {EXPERIMENT_DEFAULTS, .size_bytes = 65536, .iters = 1000,
					   .tx_depth = 128};

/* Parse a command line of at most 15 words. */
static int parse(struct options *o, struct fault *f, const char *line)
{
	static char copy[512];
	char *argv[16] = {"send_bw"};
	int argc = 1;

	snprintf(copy, sizeof(copy), "%s", line);
	for (char *w = strtok(copy, " "); w; w = strtok(NULL, " "))
		argv[argc++] = w;
	options_init(o, &defaults);
	memset(f, 0, sizeof(*f));
	return options_parse(o, argv, f);
}

static void getopt_habits(void **state)
{
	struct options o;
	struct fault f;

	(void)state;
	assert_int_equal(parse(&o, &f, "-aF host -q4 --report_gbit --size=1G -s 64k -n 5"), 0);
	assert_true(o.experiment.sweep && o.output.gbits);
	assert_int_equal(o.experiment.qps, 4);
	assert_int_equal(o.experiment.size_bytes, 65536); /* the last one wins */
	assert_int_equal(o.experiment.iters, 5);
	assert_string_equal(o.local.host, "host");
	assert_true(options_given(&o, "size") && !options_given(&o, "port"));
	assert_int_equal(parse(&o, &f, "--json --csv=x.csv h"), 0);
	assert_string_equal(o.output.json, "-");
	assert_string_equal(o.output.csv, "x.csv");
	assert_string_equal(o.local.host, "h");
}

static void impossible_values(void **state)
{
	static const char *const lines[] = {"-s 1Gx",      "-s 0",     "-p 70000",  "-n 0",
					    "-m 300",      "-q -1",    "-D x",      "-c QQ",
					    "--numa x",    "-s",       "--frob",    "-x 256",
					    "h1 h2",       "--json=",  "--all=yes", "-t 0",
					    "--timeout 0", "-D 1e400", "--rep",     "-S 16",
					    "-u 32"};
	struct options o;
	struct fault f;

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		if (parse(&o, &f, lines[i]) != -1)
			fail_msg("'%s' was taken", lines[i]);
		assert_int_equal(f.code, FAULT_USAGE);
		assert_true(f.call[0] && f.fix[0]);
	}
}

static void every_row_is_sound(void **state)
{
	const struct option_row *table = options_table();

	(void)state;
	for (size_t i = 0; table[i].name; i++) {
		assert_true(table[i].name[0] && table[i].help && table[i].help[0]);
		assert_true(table[i].min <= table[i].max);
		/* --dscp is told to the peer as --tos */
		if (table[i].scope <= SCOPE_LOCAL && strcmp(table[i].name, "dscp") != 0)
			assert_int_equal(table[i].group < GROUP_DEVICE,
					 table[i].scope == SCOPE_EXPERIMENT);
		for (size_t k = 0; k < i; k++) {
			assert_string_not_equal(table[i].name, table[k].name);
			assert_true(!table[i].letter || table[i].letter != table[k].letter);
		}
	}
}

static void experiment_round_trip(void **state)
{
	struct experiment e = defaults, back = defaults;
	struct fault f = {0};
	json_t *j;

	(void)state;
	e.size_bytes = 1;
	e.duration_ns = 2500000000;
	e.cq_mod = 7;
	e.mtu_bytes = 2048;
	e.strict_order = 1;
	j = experiment_to_json(&e, TRAIT_BANDWIDTH | TRAIT_RECEIVES);
	assert_int_equal(experiment_from_json(&back, j, 0, &f), 0);
	assert_memory_equal(&e, &back, sizeof(e));
	json_decref(j);
}

static void the_same_qps_serve_other_sizes_alone(void **state)
{
	const struct experiment a = {EXPERIMENT_DEFAULTS, .size_bytes = 64, .iters = 5};

	(void)state;
	for (size_t i = 0; i < sizeof(a) / sizeof(uint64_t); i++) {
		struct experiment other = a;

		((uint64_t *)&other)[i]++;
		assert_int_equal(experiment_same_qps(&a, &other), other.size_bytes != 64);
	}
}

static void experiment_from_a_stranger(void **state)
{
	static const char *const bad[] = {"{\"size\": 0}",
					  "{\"size\": -1}",
					  "{\"size\": \"1\"}",
					  "{\"mtu\": 300}",
					  "{\"qp\": 1.5}",
					  "{\"iters\": null}",
					  "{\"connection\": 99}",
					  "{\"tos\": 256}",
					  "{\"all\": []}",
					  "{\"warmup\": 1e99}",
					  "{\"size\": 4611686018427387904}"};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct experiment e = defaults;
		struct fault f = {0};
		json_t *j = json_loads(bad[i], 0, NULL);

		if (experiment_from_json(&e, j, 0, &f) != -1)
			fail_msg("%s was taken", bad[i]);
		assert_int_equal(f.code, FAULT_PEER);
		json_decref(j);
	}
	{
		struct experiment e = defaults;
		struct fault f = {0};
		json_t *j = json_loads("{\"new_in_version_9\": [1], \"qp\": 3}", 0, NULL);

		assert_int_equal(experiment_from_json(&e, j, 0, &f), 0);
		assert_int_equal(e.qps, 3);
		assert_int_equal(e.size_bytes, 65536);
		json_decref(j);
	}
}

/* A latency test has one QP: whoever says so, too, is right. */
static void a_test_takes_only_what_it_has(void **state)
{
	struct experiment e = defaults;
	struct fault f = {0};
	json_t *j = json_loads("{\"qp\": 1, \"latency_gap\": 5}", 0, NULL);

	(void)state;
	assert_int_equal(experiment_from_json(&e, j, TRAIT_LATENCY, &f), 0);
	assert_int_equal(e.latency_gap_us, 5);
	json_object_set_new(j, "qp", json_integer(3));
	assert_int_equal(experiment_from_json(&e, j, TRAIT_LATENCY, &f), -1);
	assert_int_equal(f.code, FAULT_PEER);
	fault_clear(&f);
	e = defaults;
	assert_int_equal(experiment_from_json(&e, j, TRAIT_BANDWIDTH, &f), -1); /* the gap */
	json_object_del(j, "latency_gap");
	fault_clear(&f);
	assert_int_equal(experiment_from_json(&e, j, TRAIT_BANDWIDTH, &f), 0);
	assert_int_equal(e.qps, 3);
	json_decref(j);
}

static void the_ends_differ(void **state)
{
	struct options server;
	struct experiment client = defaults;
	struct fault f;

	(void)state;
	assert_int_equal(parse(&server, &f, "-s 4096 --report_gbits -d rxe0"), 0);
	client.size_bytes = 4096;
	assert_int_equal(experiment_check(&server, &client, (char[512]){0}, 512, &f), 0);
	client.iters = 7; /* not given on the server: the client decides */
	assert_int_equal(experiment_check(&server, &client, (char[512]){0}, 512, &f), 0);
	client.size_bytes = 2;
	assert_int_equal(experiment_check(&server, &client, (char[512]){0}, 512, &f), -1);
	assert_int_equal(f.code, FAULT_USAGE);
	assert_non_null(strstr(f.call, "--size"));
	assert_non_null(strstr(f.call, "4 KiB"));
	assert_non_null(strstr(f.call, "2 B"));
}

static void record_round_trip(void **state)
{
	struct record r = {.message_bytes = 2,
			   .messages = 1000,
			   .percentile.us[PERCENTILE_P99_9] = 1.25,
			   .interrupted = 1},
		      back;
	struct fault f = {0};
	json_t *j = record_to_json(&r);

	(void)state;
	assert_int_equal(record_from_json(&back, j, &f), 0);
	assert_memory_equal(&r, &back, sizeof(r));
	json_object_set_new(j, "latency_p99_9_us", json_string("x"));
	assert_int_equal(record_from_json(&back, j, &f), -1);
	assert_int_equal(f.code, FAULT_PEER);
	json_decref(j);
}

/* Add to FROM what every end must say. Returns FROM. */
static json_t *with_needs(json_t *from)
{
	json_t *least = json_pack("{s:s, s:s, s:i, s:s, s:s, s:i, s:s, s:s, s:s}", "host", "h", "device",
				  "b", "port", 1, "link_layer", "Ethernet", "transport", "RoCE",
				  "active_mtu_bytes", 1024, "memory", "host", "clock", "tsc",
				  "version", "1.0.0");

	json_object_update_missing(from, least);
	json_decref(least);
	return from;
}

static void end_from_a_stranger(void **state)
{
	struct end e;
	struct fault f = {0};
	char longer[500];
	json_t *j;

	(void)state;
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	longer[3] = '\033';
	j = with_needs(json_pack("{s:s, s:i}", "host", longer, "port", 1));
	assert_int_equal(end_from_json(&e, j, &f), 0);
	assert_int_equal(strlen(e.host), sizeof(e.host) - 1);
	assert_int_equal(e.host[3], '?'); /* nothing for the terminal to obey */
	json_object_set_new(j, "port", json_string("1"));
	assert_int_equal(end_from_json(&e, j, &f), -1);
	json_decref(j);
}

/* COUNT arguments of SIZE bytes, as a new end has them when it has come to the peer. */
static struct end told_arguments(size_t count, size_t size, const char *first)
{
	struct end e = {.host = "h"}, there;
	struct fault f = {0};
	char text[END_ARGV_BYTES];
	json_t *all, *j;

	end_add_argument(&e, first);
	memset(text, 'x', size - 1);
	text[size - 1] = '\0';
	while (count--)
		end_add_argument(&e, text);
	all = end_to_json(&e);
	j = with_needs(json_pack("{s:O}", "argv", json_object_get(all, "argv")));
	json_decref(all);
	assert_int_equal(end_from_json(&there, j, &f), 0);
	assert_int_equal(there.argv.bytes, e.argv.bytes);
	assert_memory_equal(there.argv.text, e.argv.text, e.argv.bytes);
	json_decref(j);
	return there;
}

static void the_command_line_of_an_end(void **state)
{
	struct fault f = {0};
	struct end e;
	json_t *j;

	(void)state;
	e = told_arguments(2, 8, "");
	assert_int_equal(e.argv.bytes, 1 + 2 * 8);
	memset(&e, 0, sizeof(e));
	end_add_argument(&e, "a\033[2Jb\xff");
	j = end_to_json(&e);
	assert_string_equal(json_string_value(json_array_get(json_object_get(j, "argv"), 0)), "a?[2Jb?");
	json_decref(j);
	/* to the last byte, and beyond it */
	for (size_t size = 1; size <= END_ARGV_BYTES; size += 7) {
		e = told_arguments(END_ARGV_BYTES, size, "send_bw");
		assert_in_range(e.argv.bytes, 8 + sizeof("..."), END_ARGV_BYTES);
		assert_string_equal(e.argv.text + e.argv.bytes - sizeof("..."), "...");
	}
	/* an older peer says nothing of it, a strange one anything */
	j = with_needs(json_object());
	assert_int_equal(end_from_json(&e, j, &f), 0);
	assert_int_equal(e.argv.bytes, 0);
	json_object_set_new(j, "argv", json_string("send_bw"));
	assert_int_equal(end_from_json(&e, j, &f), -1);
	json_object_set_new(j, "argv", json_pack("[s, i]", "send_bw", 1));
	assert_int_equal(end_from_json(&e, j, &f), -1);
	assert_non_null(strstr(f.call, "argv"));
	json_decref(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(getopt_habits),
		cmocka_unit_test(impossible_values),
		cmocka_unit_test(every_row_is_sound),
		cmocka_unit_test(experiment_round_trip),
		cmocka_unit_test(the_same_qps_serve_other_sizes_alone),
		cmocka_unit_test(experiment_from_a_stranger),
		cmocka_unit_test(a_test_takes_only_what_it_has),
		cmocka_unit_test(the_ends_differ),
		cmocka_unit_test(record_round_trip),
		cmocka_unit_test(end_from_a_stranger),
		cmocka_unit_test(the_command_line_of_an_end),
	};

	return cmocka_run_group_tests_name("experiment", tests, NULL, NULL);
}
