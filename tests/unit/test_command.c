// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "cli/command.h"

struct given {
	uint64_t once;
	const char *file;
	uint64_t count, time_ns;
	double gbps;
};

#define OPTION(...) COMMAND_OPTION(given, __VA_ARGS__)

static const struct option_row options[] = {
	OPTION(once, "once", NULL, OPTION_FLAG, 0, "once"),
	OPTION(file, "file", "FILE", OPTION_TEXT, 0, "a file"),
	OPTION(count, "count", "N", OPTION_NUMBER, 10, "how many"),
	OPTION(time_ns, "again-for", "S", OPTION_SECONDS, 0, "how long"),
	OPTION(gbps, "again-at", "GBPS", COMMAND_RATE, 0, "how fast"),
	{.name = NULL},
};

/* Read WORDS, which blanks separate. */
static int reads(const char *words, bool operands, struct given *g, char **argv, struct fault *f)
{
	static char text[256];
	const struct command c = {
		.name = "x", .synopsis = "", .options = options, .operands = operands};
	char **rest;
	int n = 0;

	*g = (struct given){0};
	*f = (struct fault){0};
	strcpy(text, words);
	for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
		argv[n++] = word;
	argv[n] = NULL;
	return command_read(&c, g, argv, &rest, f);
}

static void values_are_read(void **state)
{
	char *argv[16];
	struct given g;
	struct fault f;

	(void)state;
	assert_int_equal(reads("--once --file=a --count 7 --again-f 5m --again-at=1.5", false, &g,
			       argv, &f),
			 0);
	assert_true(g.once && strcmp(g.file, "a") == 0 && g.count == 7 &&
		    g.time_ns == UINT64_C(300000000000) && g.gbps == 1.5);
	assert_string_equal(argv[0], "--once"); /* they stay where they are */
	assert_int_equal(reads("a --on - b -- --c", true, &g, argv, &f), 0);
	assert_true(g.once);
	assert_string_equal(argv[0], "a");
	assert_string_equal(argv[1], "-");
	assert_string_equal(argv[2], "b");
	assert_string_equal(argv[3], "--c");
	assert_null(argv[4]);
}

static void what_is_none_is_refused(void **state)
{
	static const char *const wrong[][2] = {
		{"--onse", "did you mean --once?"},
		{"--file", "--file=FILE"},
		{"--count 11", "from 0 to 10"},
		{"--count -1", "from 0 to 10"},
		{"--again 5", "--again-for, --again-at"},
		{"--again-for 0", "such as 10, 2.5, 500ms or 1m"},
		{"--again-at 0", "380"},
		{"--once=1", "give --once alone"},
		{"word", "--help"},
		{"w", "--help"},
		{"onse", "did you mean --once?"},
		{"-x", "--help"},
		{"--", NULL},
		{"--=", "--help"},
	};
	char *argv[16];
	struct given g;
	struct fault f;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		int rc = reads(wrong[i][0], false, &g, argv, &f);

		assert_int_equal(rc, wrong[i][1] ? -1 : 0);
		if (rc && !strstr(f.fix, wrong[i][1]))
			fail_msg("%s: %s: %s", wrong[i][0], f.call, f.fix);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_read),
		cmocka_unit_test(what_is_none_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
