// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* peak: against an adapter whose rate is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "base/peak.h"
#include "draw.h"

/* An adapter and a program, in a time of their own. */
struct world {
	uint64_t depth, group; /* of a send queue; messages for each completion */
	unsigned qps;          /* served in turn, message by message */
	uint64_t gap, late;    /* ticks of a message; until its completion can be seen */
	uint64_t hold, one_in; /* the program stands still so long, once in so many steps */
	uint64_t messages;     /* in all */
};

/* Time goes by for the program: a step of its own, and now and then a hold-up. */
static void pass(const struct world *w, uint64_t *now, uint64_t step, uint64_t *x)
{
	*now += step;
	if (w->one_in && draw(x) % w->one_in == 0)
		*now += draw(x) % (2 * w->hold);
}

/*
 * The loop of a stream on that adapter: what is posted is done one message after the other, and
 * message i of a QP can be seen with the last of its group. The rate that its peak says.
 */
static double peak_in(const struct world *w)
{
	uint64_t now = 1000, x = w->hold + w->group, posted = 0, seen = 0,
		 busy = now;
	uint64_t *done_at = calloc(w->messages + w->depth * w->qps, sizeof(*done_at));
	const uint64_t turn = w->qps * w->group; /* messages of one group of each QP */
	struct peak_run run = {now, w->qps * (w->group - 1), 1};
	struct peak p;
	double rate;

	assert_non_null(done_at);
	assert_int_equal(peak_init(&p, w->depth * w->qps), 0);
	peak_start(&p, &run);
	while (seen < w->messages) {
		uint64_t found = seen;

		for (; posted < seen + w->depth * w->qps; posted++) {
			busy = (busy > now ? busy : now) + w->gap;
			done_at[posted] = busy + w->late;
		}
		pass(w, &now, w->depth, &x); /* posting takes time, too */
		/* The groups of all QPs end one after the other, at the end of each turn. */
		for (unsigned batch = 0; batch < 16 && found < posted; batch++) {
			uint64_t last = found / turn * turn + (w->group - 1) * w->qps +
					found % turn / w->group;

			if (last >= posted || done_at[last] > now)
				break;
			found += w->group;
		}
		pass(w, &now, 20, &x);
		if (found > seen) {
			pass(w, &now, 0, &x);
			peak_add(&p, now, found);
			seen = found;
		} else {
			pass(w, &now, 0, &x);
			peak_empty(&p, now);
		}
	}
	rate = p.best;
	peak_release(&p);
	free(done_at);
	return rate;
}

static void it_is_never_more_than_the_adapter_did(void **state)
{
	static const uint64_t holds[] = {0, 100, 1000, 3000, 20000, 1000000};
	static const uint64_t groups[] = {1, 8, 48};

	(void)state;
	for (int h = 0; h < 6; h++)
		for (int g = 0; g < 3; g++)
			for (unsigned qps = 1; qps <= 4; qps *= 4)
				for (uint64_t gap = 50; gap <= 5000; gap *= 10) {
					const struct world w = {
						.depth = 192,
						.group = groups[g],
						.qps = qps,
						.gap = gap,
						.late = 4000,
						.hold = holds[h],
						.one_in = h ? 100 : 0,
						.messages = 192 * 400,
					};
					double share = peak_in(&w) * (double)gap;

					if (share > 1.02)
						fail_msg(
							"%.3f of the adapter's rate: hold %d, group %d, "
							"%u QPs, gap %d",
							share, (int)holds[h], (int)groups[g], qps,
							(int)gap);
					if (!h && qps == 1 && share < 0.95)
						fail_msg("no more than %.3f", share);
				}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_never_more_than_the_adapter_did),
	};

	return cmocka_run_group_tests_name("peak_adapter", tests, NULL, NULL);
}
