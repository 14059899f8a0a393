// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* rules: what is due by the clock while a round runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "measure/rules.h"

#define MS UINT64_C(1000000)
#define S  (1000 * MS)

/* A round that began at 100 s, in which all has happened just then. */
static const struct rules_times begun = {100 * S, 100 * S, 100 * S, 100 * S,
					 100 * S, 100 * S, 100 * S, 100 * S};
static const struct rules plain = {.timeout_ns = 10 * S, .peer_timeout_ns = 10 * S};

static void test_nothing_is_due_at_once(void **state)
{
	(void)state;
	assert_int_equal(rules_due(&plain, &begun, 100 * S, false, false), 0);
	assert_int_equal(rules_until_next(&plain, &begun, 100 * S), S);
}

static void test_the_peer_hears_once_a_second_or_sooner(void **state)
{
	struct rules hasty = plain;

	(void)state;
	assert_int_equal(rules_due(&plain, &begun, 101 * S, false, false), DUE_ALIVE);
	hasty.peer_timeout_ns = 2 * S; /* a quarter of the shorter patience */
	assert_int_equal(rules_due(&hasty, &begun, 100 * S + 499 * MS, false, false), 0);
	assert_int_equal(rules_due(&hasty, &begun, 100 * S + 500 * MS, false, false), DUE_ALIVE);
	assert_int_equal(rules_until_next(&hasty, &begun, 100 * S + 200 * MS), 300 * MS);
}

static void test_a_silent_peer_comes_before_a_stuck_loop(void **state)
{
	struct rules_times t = begun;

	(void)state;
	t.said_ns = 110 * S;
	assert_int_equal(rules_due(&plain, &t, 110 * S, false, false), DUE_SILENT);
	t.heard_ns = 105 * S;
	assert_int_equal(rules_due(&plain, &t, 110 * S, false, false), DUE_STUCK);
	assert_int_equal(rules_due(&plain, &t, 110 * S, false, true), 0); /* no loop here */
	t.moved_ns = 105 * S;
	assert_int_equal(rules_due(&plain, &t, 110 * S, false, false), 0);
	/* One that is done may be silent. */
	assert_int_equal(rules_due(&plain, &t, 115 * S - 1, true, false) & ~DUE_ALIVE, 0);
	assert_int_equal(rules_due(&plain, &t, 115 * S, true, false) & ~DUE_ALIVE, DUE_STUCK);
}

static void test_a_peer_that_was_asked_to_end_has_the_timeout(void **state)
{
	struct rules_times t = begun;

	(void)state;
	t.said_ns = t.heard_ns = t.moved_ns = 114 * S + 500 * MS;
	t.asked_end_ns = 105 * S;
	assert_int_equal(rules_due(&plain, &t, 115 * S - 1, false, true), 0);
	assert_int_equal(rules_due(&plain, &t, 115 * S, false, true), DUE_LEAVE);
	assert_int_equal(rules_due(&plain, &t, 115 * S, false, false), DUE_LEAVE);
	assert_int_equal(rules_due(&plain, &t, 115 * S, true, false), DUE_LEAVE);
	t.heard_ns = t.moved_ns = 105 * S; /* the signal explains the end better */
	assert_int_equal(rules_due(&plain, &t, 115 * S, false, false), DUE_LEAVE);
}

static void test_a_duration_begins_with_the_loops(void **state)
{
	struct rules r = plain;
	struct rules_times t = begun;

	(void)state;
	r.duration_ns = 200 * MS;
	t.start_ns = 100 * S + 50 * MS; /* both ends begin then */
	assert_int_equal(rules_until_next(&r, &t, 100 * S), 250 * MS);
	assert_int_equal(rules_due(&r, &t, 100 * S + 249 * MS, false, false), 0);
	assert_int_equal(rules_due(&r, &t, 100 * S + 250 * MS, false, false), DUE_FINISH);
	/* one that was over before the thread looked is due at once */
	assert_int_equal(rules_until_next(&r, &t, 100 * S + 300 * MS), 0);
}

static void test_reports_and_the_live_line(void **state)
{
	struct rules r = plain;

	(void)state;
	r.interval_ns = 300 * MS;
	assert_int_equal(rules_due(&r, &begun, 100 * S + 300 * MS, false, false), DUE_REPORT);
	r.live = true;
	assert_int_equal(rules_due(&r, &begun, 100 * S + 500 * MS, false, false),
			 DUE_REPORT | DUE_LIVE);
	r.interval_ns = 0;
	assert_int_equal(rules_until_next(&r, &begun, 100 * S), 500 * MS);
}

/* Those due from 100 s to END_NS, each made a bit late; the last is what is left at END_NS. */
static unsigned reports(const struct rules *r, uint64_t end_ns, uint64_t *last_ns, bool *whole)
{
	struct rules_times t = begun;
	uint64_t now = 100 * S;
	unsigned count = 0;

	t.heard_ns = t.moved_ns = t.said_ns = 200 * S;
	while (now < end_ns) {
		uint64_t ns = rules_until_next(r, &t, now);

		assert_true(ns > 0);
		now += ns;
		if (now < end_ns && rules_due(r, &t, now, false, false) & DUE_REPORT) {
			now += 700000;
			rules_reported(r, &t, now);
			count++;
		}
	}
	*last_ns = end_ns - t.reported_ns;
	*whole = rules_whole(r, &t, end_ns);
	return count;
}

static void test_intervals_keep_to_their_grid_up_to_the_end(void **state)
{
	struct rules r = plain;
	struct rules_times late = begun;
	uint64_t last_ns;
	bool whole;

	(void)state;
	r.interval_ns = 500 * MS;
	/* -n: nobody knows how long that takes */
	assert_int_equal(reports(&r, 102 * S, &last_ns, &whole), 3);
	assert_true(whole && last_ns == 500 * MS - 700000);
	assert_int_equal(reports(&r, 102 * S + 3 * MS, &last_ns, &whole), 4);
	assert_true(!whole && last_ns == 3 * MS - 700000);
	/* -D 2: the last messages, which come a bit later, are of the last interval */
	r.expected_ns = 2 * S;
	assert_int_equal(reports(&r, 102 * S + 3 * MS, &last_ns, &whole), 3);
	assert_true(whole && last_ns == 503 * MS - 700000);
	assert_int_equal(reports(&r, 101 * S + 600 * MS, &last_ns, &whole), 3); /* interrupted */
	assert_true(!whole && last_ns == 100 * MS - 700000);
	r.expected_ns = 2 * S + 40 * MS;
	assert_int_equal(reports(&r, 102 * S + 41 * MS, &last_ns, &whole), 3);
	assert_true(whole && last_ns == 541 * MS - 700000);
	r.expected_ns = 1700 * MS;
	assert_int_equal(reports(&r, 101 * S + 701 * MS, &last_ns, &whole), 3);
	assert_true(!whole && last_ns == 201 * MS - 700000);
	r.expected_ns = 200 * MS;
	assert_int_equal(reports(&r, 100 * S + 201 * MS, &last_ns, &whole), 0);
	assert_true(!whole && last_ns == 201 * MS);
	/* a run that does not end in time has intervals none the less */
	assert_true(reports(&r, 104 * S, &last_ns, &whole) >= 6);
	/* one that comes very late skips those that are over, and the next is not due at once */
	rules_reported(&r, &late, 101 * S + 900 * MS);
	assert_int_equal(late.interval_base_ns, 102 * S);
	assert_int_equal(rules_due(&r, &late, 102 * S, false, false) & DUE_REPORT, 0);
	assert_int_equal(rules_due(&r, &late, 102 * S + 500 * MS, false, false) & DUE_REPORT,
			 DUE_REPORT);
	assert_false(rules_whole(&r, &late, 101 * S + 950 * MS));
	assert_false(rules_whole(&r, &late, 102 * S + 100 * MS));
	assert_true(rules_whole(&r, &late, 102 * S + 499 * MS));
	rules_reported(&r, &late, 102 * S + 501 * MS);
	assert_int_equal(late.interval_base_ns, 102 * S + 500 * MS);
}

static void test_standstill_and_the_connections_end(void **state)
{
	struct rules r = plain;

	(void)state;
	r.quiet_ns = 20 * MS;
	assert_int_equal(rules_until_next(&r, &begun, 100 * S), 20 * MS);
	assert_int_equal(rules_due(&r, &begun, 100 * S + 20 * MS, false, false), DUE_STANDSTILL);
	r.until_ns = 100 * S + 5 * MS;
	assert_int_equal(rules_until_next(&r, &begun, 100 * S), 5 * MS);
	assert_int_equal(rules_until_next(&r, &begun, 100 * S + 5 * MS), 0);
}

static void test_without_a_round_only_the_word_is_due(void **state)
{
	struct rules r = {.timeout_ns = S, .peer_timeout_ns = S};

	(void)state;
	assert_int_equal(rules_due(&r, &begun, 200 * S, true, true), DUE_ALIVE);
	assert_int_equal(rules_until_next(&r, &begun, 100 * S), 250 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_is_due_at_once),
		cmocka_unit_test(test_the_peer_hears_once_a_second_or_sooner),
		cmocka_unit_test(test_a_silent_peer_comes_before_a_stuck_loop),
		cmocka_unit_test(test_a_peer_that_was_asked_to_end_has_the_timeout),
		cmocka_unit_test(test_a_duration_begins_with_the_loops),
		cmocka_unit_test(test_reports_and_the_live_line),
		cmocka_unit_test(test_intervals_keep_to_their_grid_up_to_the_end),
		cmocka_unit_test(test_standstill_and_the_connections_end),
		cmocka_unit_test(test_without_a_round_only_the_word_is_due),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
