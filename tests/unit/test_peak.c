// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* peak: against all pairs of reports. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/peak.h"
#include "draw.h"

#define REPORTS 1000

/* What the loop reports: completions, and before them perhaps a look that found nothing. */
struct report {
	uint64_t ticks;
	uint64_t messages;
	bool idle;           /* there was one, */
	uint64_t idle_ticks; /* before which the clock said this */
};

/*
 * For each report the latest possible start at least WINDOW messages before it, of those that are
 * GRAIN messages apart; the best rate of those spans. A span that took no time has no rate.
 */
static double brute_force(const struct report *r, size_t count, uint64_t window, uint64_t unseen,
			  uint64_t grain)
{
	bool kept[REPORTS] = {true};
	uint64_t next = 0;
	double best = 0;

	for (size_t i = 1; i < count; i++) {
		uint64_t from = r[i - 1].messages + unseen;

		kept[i] = r[i].idle && from >= next;
		next = kept[i] ? from + grain : next;
	}
	for (size_t j = 1; j < count; j++) {
		for (size_t i = j + 1; i-- > 0;) {
			uint64_t from = i ? r[i - 1].messages + unseen : 0;
			int64_t messages = (int64_t)(r[j].messages - from);
			uint64_t ticks = r[j].ticks - r[i].idle_ticks;

			if (messages < (int64_t)window || !kept[i])
				continue;
			if (ticks && (double)messages / (double)ticks > best)
				best = (double)messages / (double)ticks;
			break;
		}
	}
	return best;
}

/*
 * COUNT reports from a random time on: batches of 1 to BATCH messages, pauses of 0 to PAUSE ticks
 * more, all but one in FULL after an empty look (0: all).
 */
static void make_reports(struct report *r, size_t count, uint64_t batch, uint64_t pause,
			 uint64_t full, uint64_t *x)
{
	r[0] = (struct report){draw(x) >> 20, 0, true};
	r[0].idle_ticks = r[0].ticks;
	for (size_t i = 1; i < count; i++) {
		uint64_t n = 1 + draw(x) % batch, took = draw(x) % (pause + 1);

		if (draw(x) % 4)
			took += n * 10;
		r[i].messages = r[i - 1].messages + n;
		r[i].ticks = r[i - 1].ticks + took;
		r[i].idle = !full || draw(x) % full;
		r[i].idle_ticks = r[i - 1].ticks + draw(x) % (took + 1);
	}
}

/* The first empty look comes right after the report before, the second at idle_ticks. */
static void feed(struct peak *p, const struct report *r, size_t count, uint64_t unseen)
{
	const struct peak_run run = {.ticks = r[0].ticks, .unseen = unseen, .cqs = 1};

	peak_start(p, &run);
	for (size_t i = 1; i < count; i++) {
		if (r[i].idle) {
			peak_empty(p, r[i].idle_ticks);
			peak_empty(p, r[i].ticks);
		}
		peak_add(p, r[i].ticks, r[i].messages);
	}
}

static void start(struct peak *p, uint64_t ticks)
{
	const struct peak_run run = {.ticks = ticks, .cqs = 1};

	peak_start(p, &run);
}

/* A report that comes right after an empty look, before which the clock said what it said before.
 */
static void add(struct peak *p, uint64_t ticks, uint64_t messages)
{
	peak_empty(p, ticks);
	peak_add(p, ticks, messages);
}

static void it_finds_what_trying_all_finds(void **state)
{
	static const uint64_t windows[] = {1, 2, 3, 7, 64, 127, 128, 500, 5000, 131072};
	static const uint64_t batches[] = {1, 2, 16, 100, 1000};
	struct report r[REPORTS];
	uint64_t x = 1;

	(void)state;
	for (size_t w = 0; w < sizeof(windows) / sizeof(windows[0]); w++) {
		struct peak p;

		assert_int_equal(peak_init(&p, windows[w]), 0);
		for (size_t b = 0; b < sizeof(batches) / sizeof(batches[0]); b++) {
			for (uint64_t pause = 0; pause < 1000; pause = pause * 10 + 1) {
				uint64_t unseen = draw(&x) % (windows[w] + 1);
				double got, want;

				make_reports(r, REPORTS, batches[b], pause, b + w, &x);
				feed(&p, r, REPORTS, unseen);
				assert_true(p.end - p.next <= p.mask);
				got = p.best;
				want = brute_force(r, REPORTS, windows[w], unseen, p.grain);
				if (got != want)
					fail_msg("window %d, batch %d: %.17g, want %.17g",
						 (int)windows[w], (int)batches[b], got, want);
			}
		}
		peak_release(&p);
	}
}

static void a_short_run_has_no_peak(void **state)
{
	struct peak p;

	(void)state;
	assert_int_equal(peak_init(&p, 100), 0);
	start(&p, 1000);
	assert_true(p.best == 0);
	add(&p, 2000, 50);
	add(&p, 3000, 99);
	assert_true(p.best == 0);
	add(&p, 5000, 100);
	assert_true(p.best == 100.0 / 4000);
	peak_release(&p);
}

/* A steady stream with one burst in the middle: the peak is the burst's. */
static void a_burst_is_seen(void **state)
{
	struct peak p;
	uint64_t ticks = 0;

	(void)state;
	assert_int_equal(peak_init(&p, 100), 0);
	start(&p, 0);
	for (uint64_t n = 1; n <= 10000; n++) {
		ticks += n > 5000 && n <= 5100 ? 2 : 10;
		add(&p, ticks, n);
	}
	assert_true(p.best == 0.5);
	peak_release(&p);
}

/* A coarse clock may stand still over a whole window; that must not wipe out what was seen. */
static void a_clock_that_stands_still(void **state)
{
	struct peak p;

	(void)state;
	assert_int_equal(peak_init(&p, 10), 0);
	start(&p, 0);
	add(&p, 0, 10);
	assert_true(p.best == 0);
	add(&p, 5, 20);
	add(&p, 5, 30);
	assert_true(p.best == 2);
	add(&p, 6, 40);
	assert_true(p.best == 10);
	peak_release(&p);
}

static void starting_again_forgets(void **state)
{
	struct peak p;

	(void)state;
	assert_int_equal(peak_init(&p, 4), 0);
	start(&p, 0);
	for (uint64_t n = 1; n <= 100; n++)
		add(&p, n, n);
	assert_true(p.best == 1);
	start(&p, 1000000);
	assert_true(p.best == 0);
	add(&p, 1000008, 4);
	assert_true(p.best == 0.5);
	peak_release(&p);
}

static void the_ring_holds_a_full_window_of_single_messages(void **state)
{
	(void)state;
	for (uint64_t window = 1; window < 70; window++) {
		struct report r[REPORTS];
		uint64_t x = window;
		struct peak p;

		assert_int_equal(peak_init(&p, window), 0);
		make_reports(r, REPORTS, 1, 50, 0, &x);
		feed(&p, r, REPORTS, 0);
		assert_true(p.end - p.next <= p.mask);
		assert_true(p.best == brute_force(r, REPORTS, window, 0, 1));
		peak_release(&p);
	}
}

/* 1,024 QPs of 128 messages take no more memory than 16, and what they show is the same. */
static void a_long_window_takes_no_more_memory(void **state)
{
	const uint64_t window = 1024 * 128;
	struct peak p;
	uint64_t ticks = 0;

	(void)state;
	assert_int_equal(peak_init(&p, window), 0);
	assert_in_range(p.mask, 1, 4095);
	assert_in_range(p.grain, 2, window / 2000);
	start(&p, 0);
	for (uint64_t n = 1; n <= 5 * window; n++) {
		ticks += n > 2 * window && n <= 3 * window + p.grain ? 2 : 10;
		add(&p, ticks, n);
		assert_in_range(p.end - p.next, 0, p.mask);
	}
	assert_true(p.best == 0.5);
	peak_release(&p);
}

static void a_huge_window_is_refused(void **state)
{
	struct peak p;

	(void)state;
	memset(&p, 0xa5, sizeof(p));
	assert_int_equal(peak_init(&p, UINT64_MAX), -ENOMEM);
	assert_null(p.mark);
	peak_release(&p);
	assert_int_equal(peak_init(&p, UINT64_C(1) << 62), -ENOMEM);
	peak_release(&p);
}

/*
 * The process is held up while 1000 messages complete; then it takes them out of the CQ in batches,
 * as fast as it can. No span may begin among those.
 */
static void a_full_queue_is_no_burst(void **state)
{
	struct peak p;

	(void)state;
	assert_int_equal(peak_init(&p, 100), 0);
	start(&p, 0);
	for (uint64_t n = 1; n <= 1000; n++)
		add(&p, 10 * n, n);
	for (uint64_t n = 1016; n < 2000; n += 16)
		peak_add(&p, 20000 + n % 1000, n);
	peak_add(&p, 21000, 2000);
	for (uint64_t n = 2001; n <= 3000; n++)
		add(&p, 21000 + 10 * (n - 2000), n);
	assert_true(p.best == 0.1);
	peak_release(&p);
}

static void a_clock_that_goes_back_is_told(void **state)
{
	struct peak p;

	(void)state;
	assert_int_equal(peak_init(&p, 4), 0);
	start(&p, 1000);
	peak_add(&p, 1000, 1);
	peak_empty(&p, 1010);
	peak_add(&p, 1010, 2);
	assert_false(p.went_back);
	peak_add(&p, 1009, 3);
	peak_add(&p, 1020, 4);
	assert_true(p.went_back);
	start(&p, 1000);
	assert_false(p.went_back);
	peak_empty(&p, 999);
	peak_add(&p, 1020, 4);
	assert_true(p.went_back);
	peak_release(&p);
}

static void releasing_twice_is_fine(void **state)
{
	struct peak p = {0};

	(void)state;
	peak_release(&p);
	assert_int_equal(peak_init(&p, 8), 0);
	peak_release(&p);
	assert_null(p.mark);
	peak_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_finds_what_trying_all_finds),
		cmocka_unit_test(a_short_run_has_no_peak),
		cmocka_unit_test(a_burst_is_seen),
		cmocka_unit_test(a_clock_that_stands_still),
		cmocka_unit_test(starting_again_forgets),
		cmocka_unit_test(the_ring_holds_a_full_window_of_single_messages),
		cmocka_unit_test(a_full_queue_is_no_burst),
		cmocka_unit_test(a_long_window_takes_no_more_memory),
		cmocka_unit_test(a_huge_window_is_refused),
		cmocka_unit_test(a_clock_that_goes_back_is_told),
		cmocka_unit_test(releasing_twice_is_fine),
	};

	return cmocka_run_group_tests_name("peak", tests, NULL, NULL);
}
