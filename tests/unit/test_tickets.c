// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* tickets: what atomic operations return and leave is judged as it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/tickets.h"

#define LANES 3
#define COUNT 100
#define ALL   (LANES * COUNT)

struct world {
	struct slots counters, returned;
	bool swaps;
};

static struct slots make(unsigned count)
{
	struct slots s = {
		.message_bytes = sizeof(uint64_t),
		.qps = LANES,
		.count = count,
		.in_place = true,
		.window = 7,
	};

	s.data = malloc(slots_bytes(&s));
	assert_non_null(s.data);
	assert_int_equal(slots_init(&s), 0);
	slots_poison(&s);
	return s;
}

static void set_up(struct world *w, bool swaps)
{
	*w = (struct world){make(1), make(COUNT), swaps};
	tickets_begin(&w->counters);
}

static void tear_down(struct world *w)
{
	free(w->counters.data);
	free(w->returned.data);
	slots_release(&w->counters);
	slots_release(&w->returned);
}

static uint64_t get(const struct slots *s, unsigned qp, unsigned n)
{
	uint64_t value;

	memcpy(&value, slots_payload(s, qp, n), sizeof(value));
	return value;
}

static void put(const struct slots *s, unsigned qp, unsigned n, uint64_t value)
{
	memcpy(slots_payload(s, qp, n), &value, sizeof(value));
}

/* Operation N of LANE, as a NIC does it. */
static void operate(struct world *w, unsigned qp, unsigned n)
{
	unsigned counter = tickets_counter(qp, w->swaps);
	uint64_t had = get(&w->counters, counter, 0), expected = tickets_first(7) + n;

	put(&w->returned, qp, n, had);
	if (!w->swaps || had == expected)
		put(&w->counters, counter, 0, w->swaps ? expected + 1 : had + 1);
}

/* All but operation SKIPPED (of QP 1), the QPs in turn; TWICE is done twice. COUNT: none. */
static struct slots_tally run(struct world *w, unsigned skipped, unsigned twice)
{
	struct slots_tally t = {0};

	for (unsigned n = 0; n < COUNT; n++)
		for (unsigned qp = LANES; qp-- > 0;) {
			if (qp == 1 && n == skipped)
				continue;
			operate(w, qp, n);
			if (qp == 1 && n == twice)
				operate(w, qp, n);
		}
	assert_int_equal(tickets_check(&w->returned, w->swaps, &t), 0);
	tickets_check_counters(&w->counters, COUNT, w->swaps, &t);
	assert_int_equal(t.messages, ALL + LANES);
	assert_int_equal(t.bytes, 8 * (ALL + LANES));
	return t;
}

static void every_value_once(void **state)
{
	(void)state;
	for (int swaps = 0; swaps < 2; swaps++) {
		struct world w;
		struct slots_tally t;

		set_up(&w, swaps);
		t = run(&w, COUNT, COUNT);
		assert_int_equal(t.errors, 0);
		assert_false(t.found);
		tear_down(&w);
	}
}

static void one_that_was_not_done_is_lost(void **state)
{
	(void)state;
	for (int swaps = 0; swaps < 2; swaps++) {
		struct world w;
		struct slots_tally t;

		set_up(&w, swaps);
		t = run(&w, 40, COUNT);
		assert_int_equal(t.lost, 1);
		assert_true(t.found);
		assert_int_equal(t.first.name.qp, 1);
		assert_int_equal(t.first.name.number, 40);
		/*
		 * A counter is wrong, too. The swaps behind it did not find what they expected,
		 * and did not swap.
		 */
		assert_int_equal(t.errors, swaps ? 2 + COUNT - 41 : 2);
		tear_down(&w);
	}
}

static void one_that_was_done_twice_is_wrong(void **state)
{
	struct world w;
	struct slots_tally t;

	(void)state;
	set_up(&w, false);
	t = run(&w, COUNT, 40);
	assert_int_equal(t.errors, 2); /* the last value, and the counter, is one too high */
	tear_down(&w);
	set_up(&w, true);
	t = run(&w, COUNT, 40); /* the second one finds what the first has left */
	assert_int_equal(t.errors, 1);
	tear_down(&w);
}

static void two_that_return_the_same_are_no_atomics(void **state)
{
	struct world w;
	struct slots_tally t = {0};

	(void)state;
	set_up(&w, false);
	run(&w, COUNT, COUNT);
	put(&w.returned, 2, 9, get(&w.returned, 0, 5));
	assert_int_equal(tickets_check(&w.returned, false, &t), 0);
	assert_int_equal(t.errors, 1);
	tear_down(&w);
}

static void other_values_are_wrong(void **state)
{
	(void)state;
	for (int swaps = 0; swaps < 2; swaps++) {
		struct world w;
		struct slots_tally t = {0};

		set_up(&w, swaps);
		run(&w, COUNT, COUNT);
		put(&w.returned, 0, 3, tickets_first(6) + 3);
		put(&w.returned, 2, 4, get(&w.returned, 2, 4) ^ 1ull << 60);
		put(&w.counters, 0, 0, 12345);
		assert_int_equal(tickets_check(&w.returned, swaps, &t), 0);
		tickets_check_counters(&w.counters, COUNT, swaps, &t);
		assert_int_equal(t.errors, 3);
		assert_int_equal(t.lost, 0);
		assert_int_equal(t.first.name.number, 3);
		tear_down(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_value_once),
		cmocka_unit_test(one_that_was_not_done_is_lost),
		cmocka_unit_test(one_that_was_done_twice_is_wrong),
		cmocka_unit_test(two_that_return_the_same_are_no_atomics),
		cmocka_unit_test(other_values_are_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
