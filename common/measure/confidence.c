// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>

#include "measure/results.h"

/* The confidence interval of COUNT simultaneous runs within SPAN (start and end, in ticks). */
static struct plus_minus confidence_of(const struct slices *const *run, unsigned count,
				       const uint64_t span[2])
{
	struct interval in = slices_confidence(run, count, span, SLICES_MARKS, INTERVAL_CONFIDENCE);

	return plus_minus_of(&in);
}

/* The time axis of a latency test's slices is the sum of its round trips. */
struct plus_minus confidence_of_worker(struct meter *t)
{
	struct round_result *r = &t->round.result;
	const struct slices *run = &r->slices;
	bool latency = t->ep->test->latency;
	uint64_t span[2] = {latency ? 0 : r->start_ticks, latency ? t->hist->sum : r->end_ticks};

	slices_end(&r->slices, span[1], latency ? hist_count(t->hist) : r->messages);
	return confidence_of(&run, 1, span);
}

/*
 * Bandwidth: over the slices of all, which share one clock. Latency: the average of the workers'
 * intervals.
 */
struct plus_minus confidence_of_group(const struct meter *all, const struct record *records,
				      unsigned first, unsigned step)
{
	unsigned workers = all->ep->workers, count = 0;
	const struct slices **run = calloc(workers, sizeof(*run));
	struct plus_minus s = {.slices = records[first].plus_minus.slices};
	uint64_t span[2] = {0, 0};

	for (unsigned i = first; i < workers && run; i += step) {
		const struct round_result *r = &all[i].round.result;

		run[count++] = &r->slices;
		s.percent += records[i].plus_minus.percent;
		s.unknown = s.unknown ? s.unknown : records[i].plus_minus.unknown;
		if (!r->timed_messages)
			continue; /* its clock never ran */
		if (!span[0] || r->start_ticks < span[0])
			span[0] = r->start_ticks;
		if (r->end_ticks > span[1])
			span[1] = r->end_ticks;
	}
	if (!count)
		s = (struct plus_minus){0};
	else if (all->ep->test->latency)
		s.percent /= count;
	else
		s = confidence_of(run, count, span);
	free(run);
	return s;
}
