// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* plan: what the judge plans is what is measured; any other file is refused, with what to do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../pairs/schedule.h"

static struct hosts hosts;
static char shown[4096];

static int make_hosts(void **state)
{
	struct fault f = {0};

	(void)state;
	return hosts_expand(&hosts, "n[0-7],n11", "test", &f) ||
	       hosts_complete(&hosts, &f);
}

static int forget_hosts(void **state)
{
	(void)state;
	hosts_release(&hosts);
	return 0;
}

/* What client and server do in ROUND of S, as " 0>1/2:test": of rail 2 (0: all). */
static void show_round(const struct schedule *s, uint32_t round)
{
	struct schedule_turn turns[9];

	schedule_round(s, round, turns);
	for (uint32_t i = 0; i < 9; i++) {
		const struct schedule_turn *t = &turns[i];

		if (!t->client)
			continue;
		assert_true(turns[t->peer].peer == i && !turns[t->peer].client);
		assert_true(turns[t->peer].rail == t->rail && turns[t->peer].part == t->part);
		sprintf(shown + strlen(shown), " %u>%u/%u:%s", i, t->peer, t->rail,
			schedule_word(t->part));
	}
}

/* The slots of the plan FILE; "refused: " and the message, which has a fix. */
static const char *slots_of(const char *file)
{
	struct schedule_asked asked = {
		.name = "plan", .plan = file, .rails = "mlx5_0,mlx5_1"};
	struct schedule s;
	struct fault f = {0};

	strcpy(shown, "refused: ");
	if (schedule_open(&s, &asked, &hosts, &f)) {
		assert_int_equal(f.code, FAULT_USAGE);
		assert_true(f.fix[0]);
		fault_format(&f, shown + strlen(shown), sizeof(shown) - strlen(shown));
	} else {
		shown[0] = '\0';
		assert_int_equal(schedule_lanes(&s), 1);
		for (uint32_t r = 0; r < s.rounds; r++) {
			sprintf(shown + strlen(shown), "%s", r ? " |" : "");
			show_round(&s, r);
		}
	}
	schedule_release(&s);
	return shown;
}

static void what_is_planned_is_measured(void **state)
{
	(void)state;
	assert_string_equal(slots_of("lines:0,n5,n1,screen+0,n2,n3,screen"),
			    " 2>3/0:screen 5>1/0:screen");
	assert_string_equal(slots_of("lines:0,n5,n1,test+0,0,n3,control+1,8,n5,test"),
			    " 0>3/0:control 5>1/0:test | 8>5/0:test");
	assert_string_equal(
		slots_of("lines:0,n5/mlx5_1,n1/mlx5_1,test+1,n1/mlx5_0,n5/mlx5_0,control"),
		" 5>1/2:test | 1>5/1:control");
}

static void no_host_is_twice_in_a_slot(void **state)
{
	static const char *const twice[] = {
		"lines:0,n5,n1,test+0,n1,n2,control",
		"lines:0,n1,n5,test+0,n2,n1,control",
		"lines:0,n1/mlx5_0,n5/mlx5_0,test+0,n1/mlx5_1,n6/mlx5_1,test",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(twice) / sizeof(twice[0]); i++) {
		assert_non_null(strstr(slots_of(twice[i]),
					"n1 has two partners in round 0. Two runs on a host would "
					"slow each other down. Fix: put"));
	}
	assert_non_null(strstr(slots_of("lines:0,n1,n1,test"), "Fix: name two hosts"));
	assert_string_equal(slots_of("lines:0,n5,n1,test+1,n1,n5,test"),
			    " 5>1/0:test | 1>5/0:test");
}

static void other_lines_are_refused(void **state)
{
	static const char *const bad[] = {
		"0,n1,n2",
		"0,n1,n2,tes",
		"0,n1,n2,tests",
		"0,n1,n2,test,n3",
		"n1,n2,test",
		"-1,n1,n2,test",
		"1,n1,n2,test",
		"0x0,n1,n2,test",
		"0.5,n1,n2,test",
		"4294967296,n1,n2,test",
		"999999999,n1,n2,test",
		"99999999999999999999,n1,n2,test",
		"0,n1,n2,test+2,n1,n2,test",
	};

	static const char *const rails[] = {
		"lines:0,n1/mlx5_0,n2/mlx5_1,test", "lines:0,n1/mlx5_0,n2,test",
		"lines:0,n1,n2/mlx5_0,test",        "lines:0,n1/x,n2/x,test",
		"lines:0,n1/,n2/,test",             "lines:0,n1/mlx5_,n2/mlx5_,test"};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char file[200];

		snprintf(file, sizeof(file), "lines:%s", bad[i]);
		assert_non_null(strstr(slots_of(file), " is not SLOT FROM TO PART. "));
	}
	assert_non_null(strstr(slots_of("lines:0,n1,n9,test"), "'n9' is none of the 9 hosts. Fix: "));
	assert_non_null(strstr(slots_of("lines:0,n1,9,test"), "'9' is none of the 9 hosts"));
	for (size_t i = 0; i < sizeof(rails) / sizeof(rails[0]); i++)
		assert_non_null(strstr(slots_of(rails[i]), "the same rail of both hosts. Fix: "));
	assert_non_null(strstr(slots_of("lines:"), "the plan is empty. Fix: "));
	assert_non_null(strstr(slots_of("lines:#0,n1,n2,test+++"), "the plan is empty. Fix: "));
}

/* A number from 0 to LIMIT - 1, the same ones in each run of this test. */
static unsigned pick(unsigned limit)
{
	static uint64_t state = 42;

	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(state >> 33) % limit;
}

/* Whatever the lines are: they are refused, or no slot is longer than the file. */
static void lines_of_all_kinds(void **state)
{
	static const char *const word[] = {
		"0", "0", "1", "2",  "n0",       "n1",      "n2/mlx5_0", "n3/mlx5_0", "n4", "test",
		"n", "9", "-", "#",  "control",  "screen",  "4294967295", "\xff",     "/",  "n1/mlx5_1"};
	static const char *const usual[] = {"n0", "n1", "n2", "n3", "n4", "5", "6", "n11"};
	unsigned read = 0, slot = 0;

	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		char file[2000] = "lines:";

		slot = 0;
		for (unsigned n = pick(5); n; n--) {
			slot += pick(2);
			sprintf(file + strlen(file), "%u,%s,%s,%s+", slot, usual[pick(8)],
				usual[pick(8)], word[pick(2) ? 9 : 14 + pick(2)]);
		}
		for (unsigned n = pick(3) ? 0 : 1 + pick(9); n; n--)
			sprintf(file + strlen(file), "%s%s", word[pick(20)], pick(4) ? "," : "+");
		read += strncmp(slots_of(file), "refused", 7) != 0;
	}
	assert_true(read > 1000 && read < 19000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_planned_is_measured),
					   cmocka_unit_test(no_host_is_twice_in_a_slot),
					   cmocka_unit_test(other_lines_are_refused),
					   cmocka_unit_test(lines_of_all_kinds)};

	return cmocka_run_group_tests(tests, make_hosts, forget_hosts);
}
