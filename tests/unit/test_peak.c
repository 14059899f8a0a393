// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* peak: against all pairs of marks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/peak.h"

#define MARKS 1000

static uint64_t draw(uint64_t *x)
{
	uint64_t z = (*x += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* What the loop reports. */
struct report {
	uint64_t ticks;
	uint64_t messages;
	bool empty; /* a span may start here */
};

/*
 * For each report the latest possible start at least WINDOW messages before it; the best rate of
 * those spans. A span that took no time has no rate.
 */
static double brute_force(const struct report *mark, size_t count, uint64_t window)
{
	double best = 0;

	for (size_t j = 1; j < count; j++) {
		for (size_t i = j; i-- > 0;) {
			uint64_t messages = mark[j].messages - mark[i].messages;
			uint64_t ticks = mark[j].ticks - mark[i].ticks;

			if (messages < window || !mark[i].empty)
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
 * more, one in FULL with more left in the CQ (0: none).
 */
static void make_marks(struct report *mark, size_t count, uint64_t batch, uint64_t pause,
		       uint64_t full, uint64_t *x)
{
	mark[0] = (struct report){draw(x) >> 20, 0, true};
	for (size_t i = 1; i < count; i++) {
		uint64_t n = 1 + draw(x) % batch;

		mark[i].messages = mark[i - 1].messages + n;
		mark[i].ticks = mark[i - 1].ticks + draw(x) % (pause + 1);
		if (draw(x) % 4)
			mark[i].ticks += n * 10;
		mark[i].empty = !full || draw(x) % full;
	}
}

static void feed(struct peak *p, const struct report *mark, size_t count)
{
	peak_start(p, mark[0].ticks);
	for (size_t i = 1; i < count; i++)
		peak_add(p, mark[i].ticks, mark[i].messages, mark[i].empty);
}

static void it_finds_what_trying_all_finds(void **state)
{
	static const uint64_t windows[] = {1, 2, 3, 7, 64, 127, 128, 500, 5000};
	static const uint64_t batches[] = {1, 2, 16, 100, 1000};
	struct report mark[MARKS];
	uint64_t x = 1;

	(void)state;
	for (size_t w = 0; w < sizeof(windows) / sizeof(windows[0]); w++) {
		struct peak p;

		assert_int_equal(peak_init(&p, windows[w]), 0);
		for (size_t b = 0; b < sizeof(batches) / sizeof(batches[0]); b++) {
			for (uint64_t pause = 0; pause < 1000; pause = pause * 10 + 1) {
				double got, want;

				make_marks(mark, MARKS, batches[b], pause, b + w, &x);
				feed(&p, mark, MARKS);
				got = peak_rate(&p);
				want = brute_force(mark, MARKS, windows[w]);
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
	peak_start(&p, 1000);
	assert_true(peak_rate(&p) == 0);
	peak_add(&p, 2000, 50, true);
	peak_add(&p, 3000, 99, true);
	assert_true(peak_rate(&p) == 0);
	peak_add(&p, 5000, 100, true);
	assert_true(peak_rate(&p) == 100.0 / 4000);
	peak_release(&p);
}

/* A steady stream with one burst in the middle: the peak is the burst's. */
static void a_burst_is_seen(void **state)
{
	struct peak p;
	uint64_t ticks = 0;

	(void)state;
	assert_int_equal(peak_init(&p, 100), 0);
	peak_start(&p, 0);
	for (uint64_t n = 1; n <= 10000; n++) {
		ticks += n > 5000 && n <= 5100 ? 2 : 10;
		peak_add(&p, ticks, n, true);
	}
	assert_true(peak_rate(&p) == 0.5);
	peak_release(&p);
}

/* A coarse clock may stand still over a whole window; that must not wipe out what was seen. */
static void a_clock_that_stands_still(void **state)
{
	struct peak p;

	(void)state;
	assert_int_equal(peak_init(&p, 10), 0);
	peak_start(&p, 0);
	peak_add(&p, 0, 10, true);
	assert_true(peak_rate(&p) == 0);
	peak_add(&p, 5, 20, true);
	peak_add(&p, 5, 30, true);
	assert_true(peak_rate(&p) == 2);
	peak_add(&p, 6, 40, true);
	assert_true(peak_rate(&p) == 10);
	peak_release(&p);
}

static void starting_again_forgets(void **state)
{
	struct peak p;

	(void)state;
	assert_int_equal(peak_init(&p, 4), 0);
	peak_start(&p, 0);
	for (uint64_t n = 1; n <= 100; n++)
		peak_add(&p, n, n, true);
	assert_true(peak_rate(&p) == 1);
	peak_start(&p, 1000000);
	assert_true(peak_rate(&p) == 0);
	peak_add(&p, 1000008, 4, true);
	assert_true(peak_rate(&p) == 0.5);
	peak_release(&p);
}

static void the_ring_holds_a_full_window_of_single_messages(void **state)
{
	(void)state;
	for (uint64_t window = 1; window < 70; window++) {
		struct report mark[MARKS];
		uint64_t x = window;
		struct peak p;

		assert_int_equal(peak_init(&p, window), 0);
		make_marks(mark, MARKS, 1, 50, 0, &x);
		feed(&p, mark, MARKS);
		assert_true(p.end - p.next <= p.mask);
		assert_true(peak_rate(&p) == brute_force(mark, MARKS, window));
		peak_release(&p);
	}
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
	peak_start(&p, 0);
	for (uint64_t n = 1; n <= 1000; n++)
		peak_add(&p, 10 * n, n, true);
	for (uint64_t n = 1016; n < 2000; n += 16)
		peak_add(&p, 20000 + n % 1000, n, false);
	peak_add(&p, 21000, 2000, true);
	for (uint64_t n = 2001; n <= 3000; n++)
		peak_add(&p, 21000 + 10 * (n - 2000), n, true);
	assert_true(peak_rate(&p) == 0.1);
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
		cmocka_unit_test(a_huge_window_is_refused),
		cmocka_unit_test(releasing_twice_is_fine),
	};

	return cmocka_run_group_tests_name("peak", tests, NULL, NULL);
}
