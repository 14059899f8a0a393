// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * judgement: made clusters at the bounds of what can be judged: many slow nodes, few nodes, hosts
 * with rails, racks that nobody told of, much noise. test_judgement.c has the common ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../pairs/judge/judgement.h"
#include "pairs_world.h"

#define USUAL_US 2.0 /* what pairs_world.h makes of good nodes */
#define TIMES    3.  /* a slow node's latency is so many times as high */
#define SEEDS    3

struct fixture {
	struct world world;
	struct groups groups;
	struct body body;
	struct judgement j;
};

static void init(struct fixture *f, const struct world *w)
{
	*f = (struct fixture){.world = *w};
	world_init(&f->world);
}

/* The last SLOW nodes have PART of the rate; LOADED: only in full rounds. */
static void make_slow(struct world *w, uint32_t slow, double part, bool loaded)
{
	for (uint32_t i = (w->nodes - slow) * w->rails; i < world_players(w); i++) {
		if (loaded)
			w->loaded[i] = part;
		else
			w->sends[i] = w->receives[i] = part;
	}
}

/* Measure the last SLOW nodes alone with the first two, as what --retest writes. */
static void repeat_alone(struct fixture *f, uint32_t slow)
{
	struct world *w = &f->world;

	for (uint32_t i = w->nodes - slow; i < w->nodes; i++)
		for (uint32_t good = 0; good < 2; good++) {
			world_try(w, &f->body, i, good, good, true);
			world_try(w, &f->body, good, i, good, true);
		}
}

static void judge(struct fixture *f)
{
	assert_int_equal(body_complete(&f->body), 0);
	assert_int_equal(judgement_init(&f->j, &f->body, &f->groups, 0), 0);
}

static void release(struct fixture *f)
{
	judgement_release(&f->j);
	body_release(&f->body);
	world_release(&f->world);
}

/* Fail unless the last SLOW nodes are the suspects, all of them of KIND, and nothing else is. */
static void assert_suspects(const struct fixture *f, uint32_t slow, enum finding_code kind)
{
	const struct judgement *j = &f->j;

	if (j->suspects.count != slow)
		print_message("%u nodes, %u rails, %u slow, noise %g: %u suspects\n",
			      f->world.nodes, f->world.rails, slow, f->world.noise,
			      j->suspects.count);
	assert_int_equal(j->suspects.count, slow);
	for (uint32_t i = 0; i < j->suspects.count; i++) {
		const struct suspect *s = &j->suspects.of[i];
		unsigned node = 0;

		assert_int_equal(s->kind, kind);
		sscanf(j->body->names.text[s->a], "n%u", &node);
		assert_true(node > f->world.nodes - slow);
	}
}

static uint32_t nodes_of[] = {4, 5, 6, 7, 8, 10, 16, 25, 40};

#define SIZES (sizeof(nodes_of) / sizeof(*nodes_of))

/* Run CHECK for as many slow nodes as 40 % of so many, each time of another cluster. */
static void for_shares(void (*check)(const struct world *w, uint32_t slow))
{
	for (size_t k = 0; k < SIZES; k++)
		for (uint32_t slow = 1; 10 * slow <= 4 * nodes_of[k]; slow++)
			for (uint64_t seed = 0; seed < SEEDS; seed++)
				check(&(struct world){.x = 1000 * slow + seed,
						      .nodes = nodes_of[k],
						      .rails = 1,
						      .latency = true,
						      .noise = .005 + .02 * (double)seed},
				      slow);
}

static void check_share(const struct world *w, uint32_t slow)
{
	struct fixture f;

	init(&f, w);
	make_slow(&f.world, slow, 1 / TIMES, false);
	world_measure(&f.world, &f.body);
	judge(&f);
	assert_suspects(&f, slow, SUSPECT_LATENCY);
	for (uint32_t i = 0; i < slow; i++) {
		const struct suspect *s = &f.j.suspects.of[i];

		assert_float_equal(s->normal, USUAL_US, .1);
		assert_float_equal(s->value, TIMES * USUAL_US, .3);
		assert_int_equal(s->proof, SUSPECT_ONCE);
	}
	assert_float_equal(judge_normal(&f.j, 0), USUAL_US, .1);
	release(&f);
}

static void many_latencies_are_high(void **state)
{
	(void)state;
	for_shares(check_share);
}

static void check_alone(const struct world *w, uint32_t slow)
{
	for (int loaded = 0; loaded < 2; loaded++) {
		struct fixture f;

		init(&f, w);
		make_slow(&f.world, slow, 1 / TIMES, loaded);
		world_measure(&f.world, &f.body);
		repeat_alone(&f, slow);
		judge(&f);
		assert_suspects(&f, slow, SUSPECT_LATENCY);
		for (uint32_t i = 0; i < slow; i++)
			assert_int_equal(f.j.suspects.of[i].proof,
					 loaded ? SUSPECT_LOAD : SUSPECT_CONFIRMED);
		release(&f);
	}
}

static void high_alone_too_is_no_load(void **state)
{
	(void)state;
	for_shares(check_alone);
}

/* Little above the limit under load, and little below it alone, is not good alone. */
static void nearly_as_high_alone_is_no_load(void **state)
{
	const struct world w = {.x = 1, .nodes = 8, .rails = 1, .latency = true};
	struct fixture f;

	(void)state;
	init(&f, &w);
	make_slow(&f.world, 1, 1 / 2.05, false);
	make_slow(&f.world, 1, 1 / 2.2, true);
	world_measure(&f.world, &f.body);
	repeat_alone(&f, 1);
	judge(&f);
	assert_suspects(&f, 1, SUSPECT_LATENCY);
	assert_int_equal(f.j.suspects.of[0].proof, SUSPECT_CONFIRMED);
	release(&f);
}

/*
 * Fail if racks of as many nodes as SIZE says, the last 0, make a suspect in ROUNDS of random
 * pairs; 0: in all.
 */
static void check_racks(const uint32_t *size, double noise, uint32_t rounds, uint64_t seed)
{
	struct world w = {.x = seed,
			  .rails = 1,
			  .latency = true,
			  .noise = noise,
			  .quick = rounds > 0,
			  .rounds = rounds};
	uint32_t rack[256];
	struct fixture f;

	for (uint32_t r = 0; size[r]; r++)
		for (uint32_t i = 0; i < size[r]; i++)
			rack[w.nodes++] = r;
	w.rack = rack;
	w.far = 1 / 2.4;
	init(&f, &w);
	world_measure(&f.world, &f.body);
	judge(&f);
	assert_suspects(&f, 0, FINDING_CODES);
	release(&f);
}

static void racks_are_no_slow_nodes(void **state)
{
	static const uint32_t racks[][9] = {
		{2, 2},    {2, 3},    {2, 4},       {3, 3},       {2, 6},
		{2, 10},   {4, 12},   {6, 10},      {2, 2, 1},    {2, 2, 2},
		{3, 3, 3}, {8, 8},    {8, 8, 8},    {8, 8, 8, 8}, {8, 8, 8, 8, 8},
		{16, 20},  {5, 6, 7}, {2, 5, 9, 1}, {10, 30},     {5, 5, 5, 5, 5, 5, 5, 5},
	};
	static const uint32_t large[][9] = {
		{64, 64}, {96, 32}, {32, 32, 32, 32}, {16, 16, 16, 16, 16, 16, 16, 16}};

	(void)state;
	for (size_t i = 0; i < sizeof(racks) / sizeof(*racks); i++) {
		check_racks(racks[i], .01, 0, 7);
		check_racks(racks[i], .05, 0, 7);
	}
	for (size_t i = 0; i < sizeof(large) / sizeof(*large); i++)
		check_racks(large[i], .02, 9, 7);
}

/* With one to three partners each, some met nobody of their own rack. */
static void racks_in_a_few_rounds(void **state)
{
	static const uint32_t racks[][9] = {
		{8, 8, 8, 8}, {16, 16, 16, 16}, {16, 16, 16, 16, 16, 16, 16, 16}};

	(void)state;
	for (size_t i = 0; i < sizeof(racks) / sizeof(*racks); i++)
		for (uint32_t rounds = 1; rounds <= 4; rounds++)
			for (uint64_t seed = 0; seed < 12; seed++)
				check_racks(racks[i], .02, rounds, seed);
}

/* A world of four racks of SIZE nodes, at most 16. */
static void init_four_racks(struct fixture *f, uint32_t size, uint64_t seed)
{
	static uint32_t rack[64];

	for (uint32_t i = 0; i < 4 * size; i++)
		rack[i] = i / size;
	init(f, &(struct world){.x = seed,
				.nodes = 4 * size,
				.rails = 1,
				.latency = true,
				.noise = .02,
				.rack = rack,
				.far = 1 / 2.4});
}

/* With two partners each, of which both, one or none is in the same rack; one in four are not. */
static void racks_in_a_ring(void **state)
{
	(void)state;
	for (uint32_t distance = 4; distance <= 20; distance++) {
		struct fixture f;

		init_four_racks(&f, 16, distance);
		body_init(&f.body);
		f.body.latency = true;
		for (uint32_t i = 0; i < 64; i++) {
			world_try(&f.world, &f.body, i, (i + distance) % 64, i, false);
			world_try(&f.world, &f.body, (i + distance) % 64, i, i, false);
		}
		judge(&f);
		assert_suspects(&f, 0, FINDING_CODES);
		release(&f);
	}
}

/* A slow node of a rack is near to the others of it, and slow with them alone, too. */
static void slow_in_its_rack_is_no_load(void **state)
{
	const uint32_t last = 31;

	(void)state;
	for (int loaded = 0; loaded < 2; loaded++) {
		struct fixture f;

		init_four_racks(&f, 8, 5);
		make_slow(&f.world, 1, 1 / TIMES, loaded);
		world_measure(&f.world, &f.body);
		for (uint32_t good = last - 2; good < last; good++) {
			world_try(&f.world, &f.body, last, good, good, true);
			world_try(&f.world, &f.body, good, last, good, true);
		}
		judge(&f);
		assert_suspects(&f, 1, SUSPECT_LATENCY);
		assert_int_equal(f.j.suspects.of[0].proof,
				 loaded ? SUSPECT_LOAD : SUSPECT_CONFIRMED);
		release(&f);
	}
}

static void slow_hosts_with_rails(void **state)
{
	(void)state;
	for (uint32_t rails = 1; rails <= 8; rails *= 2)
		for (uint32_t nodes = 4; nodes <= 8; nodes++)
			for (uint32_t slow = 1; 2 * slow <= nodes; slow++) {
				const struct world w = {
					.x = slow, .nodes = nodes, .rails = rails, .noise = .01};
				struct fixture f;

				init(&f, &w);
				make_slow(&f.world, slow, .6, false);
				world_measure(&f.world, &f.body);
				judge(&f);
				assert_suspects(&f, slow, SUSPECT_NODE);
				release(&f);
			}
}

/* Of three hosts nobody can say which one it is, but not that all is well. */
static void one_of_three_hosts_with_rails(void **state)
{
	(void)state;
	for (uint32_t rails = 1; rails <= 8; rails *= 2) {
		const struct world w = {.x = 3, .nodes = 3, .rails = rails, .noise = .005};
		struct fixture f;

		init(&f, &w);
		make_slow(&f.world, 1, .6, false);
		world_measure(&f.world, &f.body);
		judge(&f);
		assert_int_equal(f.j.suspects.count, 2 * rails * rails);
		for (uint32_t i = 0; i < f.j.suspects.count; i++)
			assert_true(f.j.suspects.of[i].kind == SUSPECT_PAIR &&
				    f.j.suspects.of[i].few_partners);
		release(&f);
	}
}

/* How many of the nodes of a healthy cluster are named. */
static uint32_t count_named(const struct world *w)
{
	struct fixture f;
	uint32_t named = 0;

	init(&f, w);
	world_measure(&f.world, &f.body);
	judge(&f);
	for (uint32_t i = 0; i < f.j.suspects.count; i++)
		named += f.j.suspects.of[i].kind == SUSPECT_NODE;
	release(&f);
	return named;
}

/*
 * A few healthy clusters have a suspect: 4 to 9 % of those with 4 to 6 nodes, whose best pairs are
 * the measure, and 2 to 5 % of larger ones. Of both, 8 to 30 % had.
 */
static void noise_is_no_slow_node(void **state)
{
	static const double noise[] = {.05, .08, .1, .12, .15};
	const uint32_t count = 100 * sizeof(noise) / sizeof(*noise);

	(void)state;
	for (uint32_t nodes = 4; nodes <= 16; nodes += nodes < 8 ? 1 : 4) {
		double part = nodes <= 6 ? .12 : .07;
		uint32_t clusters = 0, named = 0;

		for (uint32_t seed = 0; seed < count; seed++) {
			const struct world w = {.x = seed * 100 + nodes,
						.nodes = nodes,
						.rails = 1,
						.noise = noise[seed / 100]};
			uint32_t suspects = count_named(&w);

			clusters += suspects > 0;
			named += suspects;
		}
		print_message("%u nodes: %u of %u clusters, %u of %u healthy nodes named\n", nodes,
			      clusters, count, named, count * nodes);
		assert_true(clusters <= part * count);
		assert_true(named <= part / 2 * count * nodes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_latencies_are_high),
		cmocka_unit_test(high_alone_too_is_no_load),
		cmocka_unit_test(nearly_as_high_alone_is_no_load),
		cmocka_unit_test(racks_are_no_slow_nodes),
		cmocka_unit_test(racks_in_a_few_rounds),
		cmocka_unit_test(racks_in_a_ring),
		cmocka_unit_test(slow_in_its_rack_is_no_load),
		cmocka_unit_test(slow_hosts_with_rails),
		cmocka_unit_test(one_of_three_hosts_with_rails),
		cmocka_unit_test(noise_is_no_slow_node),
	};

	return cmocka_run_group_tests_name("judgement_bounds", tests, NULL, NULL);
}
