// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "measure/confidence.h"

#include <math.h>
#include <stdlib.h>

/* The confidence interval of COUNT simultaneous runs within SPAN (start and end, in ticks). */
static struct plus_minus confidence_of(const struct slices *const *run, unsigned count,
				       const uint64_t span[2])
{
	struct interval in = slices_confidence(run, count, span, SLICES_MARKS, INTERVAL_CONFIDENCE);

	return plus_minus_of(&in);
}

/* The time axis of a latency test's slices is the sum of its round trips. */
void confidence_of_worker(struct meter *t)
{
	struct round *r = &t->round;
	const struct slices *run = &r->result.slices;
	uint64_t span[2] = {r->result.start_ticks, r->result.end_ticks};

	if (t->ms->test->latency) {
		span[0] = 0;
		span[1] = t->hist->sum;
		slices_end(&r->result.slices, span[1], hist_count(t->hist));
	} else {
		slices_end(&r->result.slices, span[1], r->result.messages);
	}
	t->record.plus_minus = confidence_of(&run, 1, span);
}

/*
 * The confidence interval of every STEP-th worker from the FIRST on, together. Bandwidth: over the
 * slices of all, which share one clock. Latency: the average of the workers' intervals.
 */
static struct plus_minus confidence_of_group(const struct measure *ms, unsigned first,
					     unsigned step)
{
	const struct slices **run = calloc(ms->ep->workers, sizeof(*run));
	struct plus_minus s = {.slices = ms->meter[first].record.plus_minus.slices};
	uint64_t span[2] = {0, 0};
	unsigned count = 0;

	for (unsigned i = first; i < ms->ep->workers && run; i += step) {
		const struct meter *t = &ms->meter[i];

		run[count++] = &t->round.result.slices;
		s.percent += t->record.plus_minus.percent;
		s.unknown = s.unknown ? s.unknown : t->record.plus_minus.unknown;
		if (!t->round.result.timed_messages)
			continue; /* its clock never ran */
		if (!span[0] || t->round.result.start_ticks < span[0])
			span[0] = t->round.result.start_ticks;
		if (t->round.result.end_ticks > span[1])
			span[1] = t->round.result.end_ticks;
	}
	if (!count)
		s = (struct plus_minus){0};
	else if (ms->test->latency)
		s.percent /= count;
	else
		s = confidence_of(run, count, span);
	free(run);
	return s;
}

void confidence_of_end(struct measurement *meas)
{
	const struct endpoint *ep = meas->ms->ep;

	meas->mine.plus_minus = confidence_of_group(meas->ms, 0, 1);
	for (unsigned d = 0; d < ep->rails && ep->rails > 1 && ep->workers > ep->rails; d++)
		meas->my_devices[d] = confidence_of_group(meas->ms, d, ep->rails);
}

void confidence_describe(const struct measurement *meas, json_t *m)
{
	json_t *devices;

	if (!meas->my_devices[0].slices)
		return;
	devices = json_array();
	for (unsigned d = 0; d < meas->ms->ep->rails; d++) {
		struct record rec = {.plus_minus = meas->my_devices[d]};

		json_array_append_new(devices, record_to_json(&rec));
	}
	json_object_set_new(m, "devices", devices);
}

int confidence_read(struct measurement *meas, const json_t *m)
{
	const json_t *devices = json_object_get(m, "devices"), *v;
	size_t d;

	if (json_array_size(devices) != meas->ms->ep->rails)
		return 0;
	json_array_foreach (devices, d, v) {
		struct record rec;

		if (record_from_json(&rec, v, meas->ms->fault))
			return -1;
		meas->their_devices[d] = rec.plus_minus;
	}
	return 0;
}
