// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* meetings: one for each slot in which two players met, with both directions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "../../pairs/judge/matrix.h"

#define PLAYERS 5

struct fixture {
	struct body body;
	struct matrix m;
	struct meetings l;
};

static int setup(void **state)
{
	static const char *const name[] = {"n1", "n2", "n3", "n4", "n5"};
	struct fixture *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	*state = f;
	body_init(&f->body);
	for (uint32_t i = 0; i < PLAYERS; i++)
		body_player(&f->body, name[i], NULL);
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	meetings_release(&f->l);
	meetings_release(&f->l);
	matrix_release(&f->m);
	body_release(&f->body);
	free(f);
	return 0;
}

/* Add a run from FROM to TO in ROUND, of VALUE; NaN: it has failed. */
static void run(struct fixture *f, uint32_t from, uint32_t to, uint16_t round, float value)
{
	const struct body_try t = {.from = from,
				   .to = to,
				   .round = round,
				   .value = value,
				   .p99 = NAN,
				   .clock_s = NAN,
				   .text = BODY_NONE,
				   .cause = isnan(value) ? BODY_LOST : BODY_MEASURED,
				   .client_is_from = from < to};

	assert_int_equal(body_add(&f->body, &t), 0);
}

/* The last run that was added was alone on the fabric. */
static void alone(struct fixture *f)
{
	f->body.tries[f->body.count - 1].alone = true;
}

static void make(struct fixture *f, bool of_alone)
{
	f->body.run[body_run(&f->body, "1")].what = BODY_NO_WHAT;
	assert_int_equal(body_complete(&f->body), 0);
	assert_int_equal(matrix_init(&f->m, &f->body), 0);
	assert_int_equal(meetings_init(&f->l, &f->m, of_alone), 0);
}

/* Fail unless meeting number I of A is with B in ROUND, with what A sends and receives; 0: nothing.
 */
static void assert_meeting(const struct fixture *f, uint32_t a, uint32_t i, uint32_t b,
			   uint16_t round, double sends, double receives)
{
	const struct meeting *t = meetings_of(&f->l, a) + i;

	assert_true(t < meetings_end(&f->l, a));
	assert_int_equal(t->with, b);
	assert_int_equal(t->at & 0xffff, round);
	assert_int_equal(isnan(t->sends), sends == 0);
	assert_int_equal(isnan(t->receives), receives == 0);
	assert_false(fabs(exp((double)t->sends) - sends) > 1e-3 * sends);
	assert_false(fabs(exp((double)t->receives) - receives) > 1e-3 * receives);
}

static void assert_count(const struct fixture *f, uint32_t player, uint32_t count)
{
	assert_int_equal(meetings_end(&f->l, player) - meetings_of(&f->l, player), count);
}

static void both_directions_are_one(void **state)
{
	struct fixture *f = *state;

	run(f, 0, 1, 0, 90);
	run(f, 1, 0, 0, 45);
	run(f, 0, 1, 7, 80);
	run(f, 1, 0, 7, 88);
	make(f, false);
	assert_count(f, 0, 2);
	assert_meeting(f, 0, 0, 1, 0, 90, 45);
	assert_meeting(f, 0, 1, 1, 7, 80, 88);
	assert_count(f, 1, 2);
	assert_meeting(f, 1, 0, 0, 0, 45, 90);
	assert_meeting(f, 1, 1, 0, 7, 88, 80);
}

static void one_direction_has_failed(void **state)
{
	struct fixture *f = *state;

	run(f, 1, 0, 0, 60);
	run(f, 0, 2, 0, 70); /* the other direction has failed */
	run(f, 2, 0, 0, NAN);
	run(f, 3, 4, 0, NAN); /* and so have both */
	run(f, 4, 3, 0, NAN);
	run(f, 0, 3, 1, 50); /* the other direction is of another slot */
	run(f, 3, 0, 2, 40);
	make(f, false);
	assert_count(f, 0, 4);
	assert_meeting(f, 0, 0, 1, 0, 0, 60);
	assert_meeting(f, 0, 1, 2, 0, 70, 0);
	assert_meeting(f, 0, 2, 3, 1, 50, 0);
	assert_meeting(f, 0, 3, 3, 2, 0, 40);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(meetings_of(&f->l, 0)[i].failed, i == 1);
	assert_count(f, 4, 1);
	assert_meeting(f, 4, 0, 3, 0, 0, 0);
	assert_true(meetings_of(&f->l, 4)->failed);
}

static void those_alone_are_apart(void **state)
{
	struct fixture *f = *state;

	run(f, 0, 1, 0, 90);
	run(f, 1, 0, 0, 80);
	run(f, 0, 1, 1, 70);
	alone(f);
	run(f, 1, 0, 1, 60);
	alone(f);
	make(f, false);
	assert_count(f, 0, 2);
	assert_meeting(f, 0, 0, 1, 0, 90, 80);
	assert_meeting(f, 0, 1, 1, 1, 0, 0);
	meetings_release(&f->l);
	assert_int_equal(meetings_init(&f->l, &f->m, true), 0);
	assert_count(f, 0, 2);
	assert_meeting(f, 0, 1, 1, 1, 70, 60);
}

/* Of a latency less is better; it is measured once, and stands for both directions. */
static void a_latency_is_one(void **state)
{
	struct fixture *f = *state;

	f->body.latency = true;
	run(f, 0, 1, 0, 2);
	run(f, 2, 1, 0, 4);
	make(f, false);
	assert_count(f, 1, 2);
	assert_meeting(f, 1, 0, 0, 0, .5, .5);
	assert_meeting(f, 1, 1, 2, 0, .25, .25);
}

/* Each player's are in the order of its partners, whichever direction was measured. */
static void each_player_has_its_own(void **state)
{
	static const uint32_t count[] = {4, 2, 1, 1}; /* who met nobody is no player */
	struct fixture *f = *state;

	run(f, 0, 1, 0, 90);
	run(f, 1, 0, 0, 90);
	run(f, 0, 2, 1, 90);
	run(f, 3, 0, 2, 90);
	run(f, 1, 0, 3, 90); /* from N2 only */
	make(f, false);
	assert_int_equal(f->m.players, 4);
	for (uint32_t i = 0; i < f->m.players; i++) {
		uint32_t last = 0;

		assert_count(f, i, count[i]);
		for (const struct meeting *t = meetings_of(&f->l, i); t < meetings_end(&f->l, i);
		     t++) {
			assert_true(t->with != i && t->with >= last);
			last = t->with;
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(both_directions_are_one, setup, teardown),
		cmocka_unit_test_setup_teardown(one_direction_has_failed, setup, teardown),
		cmocka_unit_test_setup_teardown(those_alone_are_apart, setup, teardown),
		cmocka_unit_test_setup_teardown(a_latency_is_one, setup, teardown),
		cmocka_unit_test_setup_teardown(each_player_has_its_own, setup, teardown),
	};

	return cmocka_run_group_tests_name("meetings", tests, NULL, NULL);
}
