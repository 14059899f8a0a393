// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* incast: who starves is named and nobody else, whatever the noise; sums, Jain's index.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>

#include "../../pairs/judge/incast.h"
#include "../../pairs/schedule.h"

#define SEEDS      200
#define PORT_GBPS  100.
#define HOSTS_MOST 128
#define NOBODY     UINT32_MAX

/* What is true of a sweep. */
struct world {
	uint32_t hosts, k;
	uint32_t starving, second; /* senders with PART of their share; NOBODY */
	double part;
	double noise;
	bool heavy;   /* log-normal, and one run in twenty has a third */
	bool shifted; /* what a starving sender leaves goes to the others */
	double near;  /* what the next host after the receiver gets, in shares; 0: one */
	double lost;  /* the part of the runs that have no figure */
};

static uint64_t state;

/* Above 0, at most 1. */
static double uniform(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (double)((state >> 11) + 1) / 9007199254740992.;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

static double noisy(const struct world *w)
{
	if (w->heavy)
		return exp(w->noise * normal()) * (uniform() < .05 ? 1 / 3. : 1);
	return fmax(.01, 1 + w->noise * normal());
}

static double share_of(const struct world *w, uint32_t receiver, uint32_t sender)
{
	if (sender == w->starving || sender == w->second)
		return w->part;
	return w->near > 0 && sender == (receiver + 1) % w->hosts ? w->near : 1;
}

/* A flow of ROUND; GBPS NAN: it failed. */
static void add(struct body *b, uint32_t round, uint32_t receiver, uint32_t sender, double gbps,
		bool alone)
{
	assert_int_equal(body_add(b, &(struct body_try){.from = sender,
							.to = receiver,
							.text = BODY_NONE,
							.value = (float)gbps,
							.p99 = NAN,
							.clock_s = NAN,
							.round = (uint16_t)round,
							.cause = isnan(gbps) ? BODY_OTHER : 0,
							.alone = alone,
							.client_is_from = true}),
			 0);
}

/* A body of an incast of so many HOSTS. */
static void begin(struct body *b, uint32_t hosts)
{
	char name[16];

	body_init(b);
	b->incast = true;
	assert_int_equal(body_run(b, "1"), 0);
	for (uint32_t i = 0; i < hosts; i++) {
		snprintf(name, sizeof(name), "n%u", i);
		assert_int_equal(body_player(b, name, NULL), i);
	}
}

/* Add the flows of a whole schedule of W. */
static void make(const struct world *w, struct body *b)
{
	struct schedule_turn turns[HOSTS_MOST];
	struct fault f = {0};
	struct schedule s;

	assert_int_equal(schedule_init(&s, SCHEDULE_INCAST, w->hosts, w->k, 1, &f), 0);
	for (uint32_t round = 0; round < s.rounds; round++) {
		double all = 0, port = PORT_GBPS;

		schedule_round(&s, round, turns);
		for (uint32_t i = 0; i < w->hosts; i++)
			if (turns[i].client)
				all += share_of(w, round, i);
		for (uint32_t i = 0; i < w->hosts; i++)
			if (turns[i].client)
				add(b, round, round, i,
				    uniform() < w->lost ? NAN
							: port / (w->shifted ? all : w->k) *
								  share_of(w, round, i) * noisy(w),
				    false);
	}
	schedule_release(&s);
}

/* Judge W; true if exactly its starving senders are named. */
static bool is_right(const struct world *w, uint64_t seed)
{
	uint32_t found = 0, wanted = (w->starving != NOBODY) + (w->second != NOBODY);
	struct incast it;
	struct body b;

	state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	for (int i = 0; i < 10; i++)
		uniform();
	begin(&b, w->hosts);
	make(w, &b);
	assert_int_equal(incast_find(&it, &b), 0);
	for (uint32_t i = 0; i < it.starved; i++)
		found += it.starving[i].sender == w->starving || it.starving[i].sender == w->second;
	wanted = it.starved == found && found == wanted;
	incast_release(&it);
	body_release(&b);
	return wanted;
}

/* In how many of SEEDS sweeps the judge is right. */
static unsigned right(const struct world *w)
{
	unsigned n = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		n += is_right(w, seed);
	return n;
}

static const uint32_t sizes[][2] = {{4, 3}, {5, 4}, {8, 4}, {16, 4}, {16, 8}, {64, 4}, {64, 16}};
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

static void who_starves_is_named_and_nobody_else(void **state_)
{
	(void)state_;
	for (size_t i = 0; i < SIZES; i++)
		for (int noise = 2; noise <= 5; noise += 3)
			for (int shifted = 0; shifted < 2; shifted++) {
				struct world w = {.hosts = sizes[i][0],
						  .k = sizes[i][1],
						  .starving = 1,
						  .second = NOBODY,
						  .part = .3,
						  .noise = noise / 100.,
						  .shifted = shifted};

				assert_int_equal(right(&w), SEEDS);
			}
}

static void two_that_starve_are_both_named(void **state_)
{
	struct world w = {.hosts = 16,
			  .k = 4,
			  .starving = 3,
			  .second = 6,
			  .part = .3,
			  .noise = .05,
			  .shifted = true};

	(void)state_;
	assert_int_equal(right(&w), SEEDS);
}

static void nobody_is_named_where_nobody_starves(void **state_)
{
	static const struct world healthy[] = {
		{.noise = .02},
		{.noise = .05},
		{.noise = .02, .heavy = true},
		{.noise = .3, .heavy = true},
		{.noise = .05, .near = 2},
		{.noise = .05, .near = 4},
		{.noise = .05, .near = .6},
		{.noise = .05, .lost = .3},
		{.noise = .3, .heavy = true, .lost = .3},
	};

	(void)state_;
	for (size_t i = 0; i < SIZES; i++)
		for (size_t k = 0; k < sizeof(healthy) / sizeof(healthy[0]); k++) {
			struct world w = healthy[k];

			w.hosts = sizes[i][0];
			w.k = sizes[i][1];
			w.starving = w.second = NOBODY;
			if (right(&w) < SEEDS * 99 / 100)
				fail_msg("world %zu of %u hosts, incast=%u: right in %u of %d", k,
					 w.hosts, w.k, right(&w), SEEDS);
		}
}

/* What a flow of a table reached. */
struct flow {
	uint32_t round, receiver, sender;
	double gbps;
};

static void add_all(struct body *b, const struct flow *flow, size_t flows)
{
	for (size_t i = 0; i < flows; i++)
		add(b, flow[i].round, flow[i].receiver, flow[i].sender, flow[i].gbps, false);
}

/* What is between a share and half of one is no starving; nor is less in two rounds only. */
static void too_little_is_not_named(void **state_)
{
	struct world w = {.hosts = 16, .k = 4, .starving = NOBODY, .second = NOBODY, .noise = .02};
	const struct flow flow[] = {{0, 0, 1, 50}, {0, 0, 2, 10}, {1, 3, 1, 50}, {1, 3, 4, 50}};
	struct incast it;
	struct body b;

	(void)state_;
	begin(&b, 5);
	add_all(&b, flow, 4);
	assert_int_equal(incast_find(&it, &b), 0);
	assert_int_equal(it.starved, 0);
	incast_release(&it);
	body_release(&b);
	assert_true(is_right(&w, 1));
	w.starving = 2;
	w.part = .7;
	assert_false(is_right(&w, 1));
	w.part = .3;
	w.k = 2; /* two rounds of each */
	assert_false(is_right(&w, 1));
	w.k = 1; /* no incast at all */
	assert_false(is_right(&w, 1));
}

static void sums_shares_and_jain(void **state_)
{
	const struct flow flow[] = {
		{7, 0, 1, 30}, {7, 0, 2, 30}, {7, 0, 3, 30}, {9, 1, 2, 40},
		{9, 1, 0, 40}, {9, 1, 3, 10}, {4, 2, 0, 77}, {4, 2, 1, NAN},
	};
	struct incast it;
	struct body b;

	(void)state_;
	begin(&b, 4);
	add_all(&b, flow, 8);
	add(&b, 0, 0, 3, 95, true);
	add(&b, 0, 1, 3, 90, true);
	b.player[0].port_gbps = 100;
	b.player[1].port_gbps = 200;
	assert_int_equal(incast_find(&it, &b), 0);
	assert_int_equal(it.rounds, 2); /* of one figure there is no share */
	assert_int_equal(it.senders, 3);
	assert_int_equal(it.round[0].round, 7);
	assert_float_equal(it.round[0].sum_gbps, 90, 1e-9);
	assert_float_equal(it.round[0].limit_gbps, 100, 1e-9);
	assert_float_equal(it.round[0].jain, 1, 1e-9);
	assert_float_equal(it.round[1].limit_gbps, 200, 1e-9);
	assert_float_equal(it.round[1].jain, 8100 / (3 * 3300.), 1e-9);
	assert_int_equal(it.round[1].least, 3);
	assert_float_equal(it.round[1].least_share, .25, 1e-9);
	assert_int_equal(it.of, INCAST_OF_PORT);
	assert_int_equal(it.worst, 1);
	assert_int_equal(it.uneven, 1);
	assert_float_equal(it.reach, (90 / 100. + 90 / 200.) / 2, 1e-9);
	incast_release(&it);
	b.player[1].port_gbps = 0; /* that is not known of both */
	assert_int_equal(incast_find(&it, &b), 0);
	assert_int_equal(it.of, INCAST_OF_ALONE);
	assert_float_equal(it.reach, (90 / 95. + 90 / 90.) / 2, 1e-9);
	assert_int_equal(it.worst, 0);
	incast_release(&it);
	b.tries[9].value = NAN;
	assert_int_equal(incast_find(&it, &b), 0);
	assert_int_equal(it.of, INCAST_OF_BEST);
	assert_float_equal(it.round[0].limit_gbps, 90, 1e-9);
	assert_float_equal(it.round[1].limit_gbps, 90, 1e-9);
	incast_release(&it);
	body_release(&b);
}

/* Alone, a starved sender may send as much as others or as little, or nobody measured it. */
static void what_it_sends_alone(void **state_)
{
	struct world w = {
		.hosts = 8, .k = 4, .starving = 1, .second = NOBODY, .part = .3, .noise = .02};
	const double sends[] = {30, 100, 96, 104};
	struct incast it;
	struct body b;

	(void)state_;
	state = 1;
	begin(&b, 8);
	for (uint32_t i = 0; i < 4; i++)
		add(&b, 0, 7, i + 1, sends[i], true);
	make(&w, &b);
	assert_int_equal(incast_find(&it, &b), 0);
	assert_int_equal(it.starved, 1);
	assert_float_equal(it.starving[0].alone, .3, 1e-9);
	incast_release(&it);
	b.tries[0].value = NAN;
	assert_int_equal(incast_find(&it, &b), 0);
	assert_true(isnan(it.starving[0].alone));
	incast_release(&it);
	body_release(&b);
}

static void nothing_is_no_incast(void **state_)
{
	struct incast it;
	struct body b;

	(void)state_;
	begin(&b, 3);
	assert_int_equal(incast_find(&it, &b), 0);
	assert_true(it.rounds == 0 && it.starved == 0);
	incast_release(&it);
	incast_release(&it);
	body_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_starves_is_named_and_nobody_else),
		cmocka_unit_test(two_that_starve_are_both_named),
		cmocka_unit_test(nobody_is_named_where_nobody_starves),
		cmocka_unit_test(too_little_is_not_named),
		cmocka_unit_test(sums_shares_and_jain),
		cmocka_unit_test(what_it_sends_alone),
		cmocka_unit_test(nothing_is_no_incast),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
