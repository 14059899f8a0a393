// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rate.h"
#include "cli/options.h"
#include "cli/sweep.h"
#include "plan/test.h"

static const struct experiment defaults = {EXPERIMENT_DEFAULTS, .size_bytes = 65536, .iters = 1000,
					   .tx_depth = 128};

/* Parse WORDS, separated by blanks, into O. */
static int parse(struct options *o, const char *words, struct fault *f)
{
	static char text[4096];
	char *argv[32] = {"send_bw"};
	int argc = 1;

	snprintf(text, sizeof(text), "%s", words);
	for (char *w = strtok(text, " "); w; w = strtok(NULL, " "))
		argv[argc++] = w;
	options_init(o, &defaults);
	o->test = "send_bw";
	return options_parse(o, argv, f);
}

/* All points of WORDS, as they would be typed, by "; ". */
static void expect(const char *words, const char *points)
{
	char text[4096] = "", one[128];
	struct fault f = {0};
	struct options o;

	if (parse(&o, words, &f)) {
		fault_format(&f, text, sizeof(text));
		fail_msg("%s: %s", words, text);
	}
	for (unsigned i = 0; i < sweep_points(&o.sweep); i++) {
		sweep_set(&o, i);
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? "; " : "",
			 sweep_point(&o, one, sizeof(one)));
	}
	assert_string_equal(text, points);
}

static void refused(const char *words, const char *why)
{
	struct fault f = {0};
	char text[2048];
	struct options o;

	if (!parse(&o, words, &f))
		fail_msg("%s is taken", words);
	assert_int_equal(f.code, FAULT_USAGE);
	assert_true(f.fix[0]);
	fault_format(&f, text, sizeof(text));
	if (!strstr(text, why))
		fail_msg("%s: no '%s' in: %s", words, why, text);
}

static void lists_and_ranges(void **state)
{
	(void)state;
	expect("-q 1,4,16", "-q 1; -q 4; -q 16");
	expect("-s 64:64k:x4", "-s 64; -s 256; -s 1024; -s 4096; -s 16384; -s 65536");
	expect("-s 64:100k:x64", "-s 64; -s 4096");
	expect("-s 1,2k:4k:+1k,1m", "-s 1; -s 2048; -s 3072; -s 4096; -s 1048576");
	expect("-q 0x1:4:x2", "-q 1; -q 2; -q 4");
	expect("-I 0:4:+2", "-I 0; -I 2; -I 4");
	expect("-D 1:2:+500ms", "-D 1s; -D 1.5s; -D 2s");
	expect("-c RC,uc", "-c RC; -c UC");
	expect("--rate_limit 1,2M,3p --rate_units g",
	       "--rate_limit 1g; --rate_limit 2M; --rate_limit 3p");
	expect("-q 5:5:x2", "-q 5");
	expect("-s 512g:1024g:x2", "-s 549755813888; -s 1099511627776"); /* the most there is */
	expect("-n 140737488355328:281474976710656:x1000000000000", "-n 140737488355328");
}

static void the_last_runs_fastest(void **state)
{
	(void)state;
	expect("-q 1,2 -s 64,128", "-q 1 -s 64; -q 1 -s 128; -q 2 -s 64; -q 2 -s 128");
	expect("-s 64,128 -q 1,2", "-s 64 -q 1; -s 64 -q 2; -s 128 -q 1; -s 128 -q 2");
	expect("-q 7,8 -s 64,128 -q 1,2", "-s 64 -q 1; -s 64 -q 2; -s 128 -q 1; -s 128 -q 2");
	expect("-q 1,2 -s 64,128 -q 3", "-s 64; -s 128");
	expect("-q 3", "");
}

static void bad_ones(void **state)
{
	(void)state;
	refused("-q 1,,4", "A value is empty");
	refused("-q 1,", "A value is empty");
	refused("-q ,1", "A value is empty");
	refused("-q 1:4", "needs a step after a second colon");
	refused("-q 1:4:2", "needs a step after a second colon");
	refused("-q 1:4:x", "does not advance");
	refused("-q 1:4:x1", "does not advance");
	refused("-q 1:4:xx", "does not advance");
	refused("-q 1:4:x2:x2", "does not advance");
	refused("-I 0:4:x2", "does not advance");
	refused("-I 0:4:+0", "does not advance");
	refused("-q 1:4:+9999999", "invalid value '9999999'");
	refused("-q 4:1:x2", "from the smallest value to the largest");
	refused("-q :4:x2", "invalid value ''");
	refused("-q 1::x2", "invalid value ''");
	refused("-q 1,65537", "invalid value '65537'");
	refused("-q 1:65537:x2", "invalid value '65537'");
	refused("-s 99999999999999999999,1", "invalid value '99999999999999999999'");
	refused("-m 256:4096:+256", "invalid value '768'");
	refused("-c RC:UD:x2", "The option takes no ranges");
	refused("-s 1:1m:+1", "more than 128 values");
	refused("-q 1:100:+1 -t 1:11:+1", "more than 1000 experiments");
	refused("-q 1,2 -s 1,2 -t 1,2 -r 1,2 -l 1,2 -Q 1,2 -I 1,2 -S 1,2 -T 1,2",
		"more than 8 options");
	refused("-p 1,2", "invalid value '1,2'"); /* no experiment's */
	refused("-q 000000000000000000000000000000000000000000000000000000000000000000001,2",
		"too long");
}

static void a_server_with_the_same_list(void **state)
{
	struct fault f = {0};
	struct options mine, theirs;

	(void)state;
	assert_int_equal(parse(&mine, "-q 1,4 -s 64", &f), 0);
	assert_int_equal(parse(&theirs, "-q 4 -s 64", &f), 0);
	assert_int_equal(experiment_check(&mine, &theirs.experiment, (char[512]){0}, 512, &f), 0);
	theirs.experiment.qps = 2;
	assert_int_equal(experiment_check(&mine, &theirs.experiment, (char[512]){0}, 512, &f), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_and_ranges),
		cmocka_unit_test(the_last_runs_fastest),
		cmocka_unit_test(bad_ones),
		cmocka_unit_test(a_server_with_the_same_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
