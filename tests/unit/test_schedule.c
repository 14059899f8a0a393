// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* schedule: for every number of hosts, nobody has two partners in a round, and a full one has every
 * pair once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "../../pairs/schedule.h"

#define MOST  257
#define LARGE 4096
#define SEED  7

static struct schedule make(enum schedule_kind kind, uint32_t hosts, uint32_t k)
{
	struct fault f = {0};
	struct schedule s;

	assert_int_equal(schedule_init(&s, kind, hosts, k, SEED, &f), 0);
	return s;
}

/* Both ends of a pair know each other, and one of them is the client. Returns the pairs. */
static uint32_t check_pairs(const struct schedule_turn *turns, uint32_t hosts)
{
	uint32_t pairs = 0;

	for (uint32_t i = 0; i < hosts; i++) {
		uint32_t peer = turns[i].peer;

		if (peer == SCHEDULE_NOBODY)
			continue;
		assert_true(peer < hosts && peer != i);
		assert_int_equal(turns[peer].peer, i);
		assert_true(turns[i].client != turns[peer].client);
		assert_int_equal(turns[i].lane, 0);
		pairs += i < peer;
	}
	return pairs;
}

/* All rounds of a schedule of which nobody but an odd one waits. */
static void check_matchings(struct schedule s)
{
	struct schedule_turn *turns = malloc(s.hosts * sizeof(*turns));

	for (uint32_t round = 0; round < s.rounds; round++) {
		schedule_round(&s, round, turns);
		assert_int_equal(check_pairs(turns, s.hosts), s.hosts / 2);
	}
	free(turns);
	schedule_release(&s);
}

/* Count the pairs of a full schedule in a triangle: each of them is there once. */
static void check_full(uint32_t hosts)
{
	struct schedule s = make(SCHEDULE_FULL, hosts, 0);
	struct schedule_turn *turns = malloc(hosts * sizeof(*turns));
	unsigned char *met = calloc(hosts, hosts);
	uint64_t pairs = 0;

	assert_int_equal(s.rounds, hosts % 2 ? hosts : hosts - 1);
	for (uint32_t round = 0; round < s.rounds; round++) {
		schedule_round(&s, round, turns);
		pairs += check_pairs(turns, hosts);
		for (uint32_t i = 0; i < hosts; i++)
			if (turns[i].peer != SCHEDULE_NOBODY && i < turns[i].peer)
				assert_int_equal(met[(size_t)i * hosts + turns[i].peer]++, 0);
	}
	assert_int_equal(pairs, (uint64_t)hosts * (hosts - 1) / 2);
	free(met);
	free(turns);
	schedule_release(&s);
}

static void full_has_every_pair_once(void **state)
{
	(void)state;
	for (uint32_t n = 2; n <= MOST; n++)
		check_full(n);
	check_full(LARGE);
}

/* The rounds after the first one are random, and no pair comes twice in them. */
static void random_rounds_have_no_pair_twice(void **state)
{
	unsigned char met[64 * 64];
	struct schedule_turn turns[64];

	(void)state;
	for (uint32_t n = 11; n <= 64; n++) {
		struct schedule s = make(SCHEDULE_QUICK, n, 0);

		memset(met, 0, sizeof(met));
		for (uint32_t round = 1; round < s.rounds; round++) {
			schedule_round(&s, round, turns);
			for (uint32_t i = 0; i < n; i++)
				if (turns[i].peer != SCHEDULE_NOBODY && i < turns[i].peer)
					assert_int_equal(met[i * 64 + turns[i].peer]++, 0);
		}
		schedule_release(&s);
	}
}

static void quick_leaves_nobody_out(void **state)
{
	(void)state;
	for (uint32_t n = 2; n <= MOST; n++)
		check_matchings(make(SCHEDULE_QUICK, n, 0));
	check_matchings(make(SCHEDULE_QUICK, LARGE, 0));
}

/* Who never comes is named by clients of its server: each host has some, whatever its number. */
static void everybody_is_a_server(void **state)
{
	static const enum schedule_kind kinds[] = {SCHEDULE_FULL, SCHEDULE_QUICK};
	struct schedule_turn turns[MOST];
	bool serves[MOST];

	(void)state;
	for (uint32_t n = 3; n <= MOST; n++)
		for (int k = 0; k < 2; k++) {
			struct schedule s = make(kinds[k], n, 0);

			memset(serves, 0, sizeof(serves));
			for (uint32_t round = 0; round < s.rounds; round++) {
				schedule_round(&s, round, turns);
				for (uint32_t i = 0; i < n; i++)
					serves[i] |= turns[i].peer != SCHEDULE_NOBODY &&
						     !turns[i].client;
			}
			for (uint32_t i = 0; i < n; i++)
				assert_true(serves[i]);
			schedule_release(&s);
		}
}

static void quick_begins_with_the_halves(void **state)
{
	struct schedule_turn turns[13];
	struct schedule s = make(SCHEDULE_QUICK, 12, 0);

	(void)state;
	assert_int_equal(s.rounds, 9);
	schedule_round(&s, 0, turns);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(turns[i].peer, i + 6);
	schedule_release(&s);
	s = make(SCHEDULE_QUICK, 13, 0);
	schedule_round(&s, 0, turns);
	assert_int_equal(turns[6].peer, SCHEDULE_NOBODY);
	assert_int_equal(turns[5].peer, 12);
	schedule_release(&s);
	s = make(SCHEDULE_QUICK, 8, 0);
	assert_int_equal(s.rounds, 7); /* as a full one: all pairs, and not longer */
	assert_int_equal(s.kind, SCHEDULE_FULL);
	schedule_release(&s);
}

static void check_incast(uint32_t hosts, uint32_t k)
{
	struct schedule s = make(SCHEDULE_INCAST, hosts, k);
	struct schedule_turn *turns = malloc(hosts * sizeof(*turns));

	assert_int_equal(schedule_lanes(&s), k);
	for (uint32_t round = 0; round < s.rounds; round++) {
		uint32_t senders = 0;
		uint64_t lanes = 0;

		schedule_round(&s, round, turns);
		assert_int_equal(turns[round].peer, SCHEDULE_NOBODY);
		for (uint32_t i = 0; i < hosts; i++) {
			if (turns[i].peer == SCHEDULE_NOBODY)
				continue;
			assert_true(turns[i].peer == round && turns[i].client);
			lanes += turns[i].lane;
			senders++;
		}
		assert_int_equal(senders, k);
		assert_int_equal(lanes, (uint64_t)k * (k - 1) / 2);
	}
	free(turns);
	schedule_release(&s);
}

static void an_incast_has_its_senders(void **state)
{
	(void)state;
	for (uint32_t n = 2; n <= MOST; n++)
		for (uint32_t k = 1; k < n; k += 1 + n / 4)
			check_incast(n, k);
}

static void the_seed_decides(void **state)
{
	struct schedule_turn one[64], two[64];
	struct schedule s = make(SCHEDULE_QUICK, 64, 0), same = make(SCHEDULE_QUICK, 64, 0);
	struct fault f = {0};

	(void)state;
	schedule_round(&s, 4, one);
	schedule_round(&s, 2, one); /* in any order */
	schedule_round(&same, 2, two);
	assert_memory_equal(one, two, sizeof(one));
	schedule_release(&same);
	assert_int_equal(schedule_init(&same, SCHEDULE_QUICK, 64, 0, SEED + 1, &f), 0);
	schedule_round(&same, 2, two);
	assert_memory_not_equal(one, two, sizeof(one));
	schedule_release(&same);
	schedule_release(&s);
}

static void nonsense_is_refused(void **state)
{
	static const struct {
		enum schedule_kind kind;
		uint32_t hosts, k;
	} bad[] = {
		{SCHEDULE_FULL, 0, 0},   {SCHEDULE_FULL, 1, 0},   {SCHEDULE_FULL, UINT32_MAX, 0},
		{SCHEDULE_INCAST, 8, 8}, {SCHEDULE_INCAST, 8, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct fault f = {0};
		struct schedule s;

		assert_int_equal(schedule_init(&s, bad[i].kind, bad[i].hosts, bad[i].k, 1, &f), -1);
		assert_int_equal(f.code, FAULT_USAGE);
		schedule_release(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(full_has_every_pair_once),
		cmocka_unit_test(random_rounds_have_no_pair_twice),
		cmocka_unit_test(quick_leaves_nobody_out),
		cmocka_unit_test(everybody_is_a_server),
		cmocka_unit_test(quick_begins_with_the_halves),
		cmocka_unit_test(an_incast_has_its_senders),
		cmocka_unit_test(the_seed_decides),
		cmocka_unit_test(nonsense_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
