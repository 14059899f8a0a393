// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* schedule_file, schedule_open: schedules by name, from files, and with few pairs at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../pairs/schedule.h"

/* a file, named at the start */
static char asked_file[64];

static struct hosts hosts;
static char shown[4096];

static int make_hosts(void **state)
{
	struct fault f = {0};

	(void)state;
	snprintf(asked_file, sizeof(asked_file), "test_schedule_file.%d.tmp", (int)getpid());
	return hosts_expand(&hosts, "n[0-7]", "test", &f) || hosts_complete(&hosts, &f);
}

static int forget_hosts(void **state)
{
	(void)state;
	remove(asked_file);
	hosts_release(&hosts);
	return 0;
}

static void put(const char *file, const char *text)
{
	FILE *to = fopen(file, "w");

	assert_non_null(to);
	fputs(text, to);
	fclose(to);
}

/* The rounds of the schedule NAME as "0-1 2-3 / 0-2 …"; "refused". */
static const char *rounds_at_once(const char *name, uint64_t at_once)
{
	struct schedule_asked asked = {.name = name, .seed = 1, .at_once = at_once};
	struct schedule_turn turns[8];
	struct fault f = {0};
	struct schedule s;

	strcpy(shown, "refused");
	if (!schedule_open(&s, &asked, &hosts, &f)) {
		shown[0] = '\0';
		for (uint32_t r = 0; r < s.rounds; r++) {
			schedule_round(&s, r, turns);
			sprintf(shown + strlen(shown), "%s", r ? " /" : "");
			for (uint32_t i = 0; i < 8; i++)
				if (turns[i].peer != SCHEDULE_NOBODY && i < turns[i].peer)
					sprintf(shown + strlen(shown), " %u-%u", i, turns[i].peer);
		}
	} else {
		assert_int_equal(f.code, FAULT_USAGE);
	}
	schedule_release(&s);
	return shown;
}

static const char *rounds_of(const char *name)
{
	return rounds_at_once(name, 0);
}

static const char *of_file(const char *kind, const char *text)
{
	char name[80];

	put(asked_file, text);
	snprintf(name, sizeof(name), "%s=%s", kind, asked_file);
	return rounds_of(name);
}

static void names(void **state)
{
	static const char *const bad[] = {
		"",        "ful",      "fuller", "full=1", "incast",           "incast=8", "incast=",
		"quick=1", "incast=x", "file",   "file=",  "group=x",   "=",        "incast=-1", "incast=2,",
		"ring",    "ring=2",   "random=8", "incast=2,victim"};
	(void)state;
	assert_string_not_equal(rounds_of("full"), "refused");
	assert_string_not_equal(rounds_of("incast=3"), "refused");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_string_equal(rounds_of(bad[i]), "refused");
}

static void files(void **state)
{
	static const char *const bad[] = {
		"",          "0 n1\n",    "0 n1 n2 n3\n",       "x n1 n2\n",
		"0 n1 n9\n", "0 n1 n1\n", "0 n1 n2\n0 n2 n3\n", "-1 n1 n2\n",
		"0 1 8\n"};

	(void)state;
	assert_string_equal(of_file("file", "# two\n2 n1 n0\n0 n3 n2\n0 4 n5\n"),
			    " 2-3 4-5 / / 0-1");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_string_equal(of_file("file", bad[i]), "refused");
}

/* Schedules of a file: the lower half against the upper one; every edge of a ring. */
static const char *of_lines(const char *text)
{
	static char name[80];

	put(asked_file, text);
	snprintf(name, sizeof(name), "file=%s", asked_file);
	return name;
}

static const char *halves(void)
{
	return of_lines("0 0 4\n0 1 5\n0 2 6\n0 3 7\n");
}

static const char *edges(void)
{
	return of_lines("0 0 1\n0 2 3\n0 4 5\n0 6 7\n1 0 7\n1 1 2\n1 3 4\n1 5 6\n");
}

static void some_at_once(void **state)
{
	char whole[sizeof(shown)];

	(void)state;
	strcpy(whole, rounds_of("full"));
	assert_string_equal(rounds_at_once("full", 4), whole);
	assert_string_equal(rounds_at_once("full", 8), whole);
	assert_string_equal(rounds_at_once(halves(), 3), " 0-4 1-5 2-6 / 3-7");
	assert_string_equal(rounds_at_once(edges(), 2),
			    " 0-1 2-3 / 4-5 6-7 / 0-7 1-2 / 3-4 5-6");
	assert_string_equal(rounds_at_once(halves(), 1), " 0-4 / 1-5 / 2-6 / 3-7");
	assert_string_equal(rounds_at_once("incast=2", 2), "refused");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(names),
					   cmocka_unit_test(files),
					   cmocka_unit_test(some_at_once)};

	return cmocka_run_group_tests(tests, make_hosts, forget_hosts);
}
