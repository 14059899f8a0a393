// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What each worker records into: histogram, samples, marks of the peak. At both ends, for as long
 * as the session's QPs.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/hist.h"
#include "base/touch.h"
#include "endpoint/worker.h"
#include "measure/meter.h"
#include "measure/verify.h"
#include "plan/test.h"

bool meter_span(const struct meter *all, unsigned first, unsigned step, uint64_t span[2])
{
	span[0] = UINT64_MAX;
	span[1] = 0;
	for (unsigned i = first; i < all->ep->workers; i += step) {
		const struct round_result *r = &all[i].round.result;

		if (!r->timed_messages)
			continue; /* its clock never ran */
		span[0] = r->start_ticks < span[0] ? r->start_ticks : span[0];
		span[1] = r->end_ticks > span[1] ? r->end_ticks : span[1];
	}
	return span[0] < span[1];
}

bool measure_keeps_samples(const struct options *o, const struct repeat *r)
{
	return !experiment_endless(&o->experiment) && !r->most;
}

/* Allocate T's histogram, and if KEEP room for every sample, at the end that takes them. */
static int allocate_samples(struct meter *t, bool keep)
{
	uint64_t iters = t->ep->options->experiment.iters;

	if (!t->ep->test->latency || !endpoint_leads(t->ep))
		return 0;
	t->hist = malloc(sizeof(*t->hist));
	if (keep)
		t->samples = touch_calloc(iters, sizeof(*t->samples));
	if (t->hist && (t->samples || !keep))
		return 0;
	return fault_raise(&t->worker->fault, FAULT_LOCAL, ENOMEM,
			   "allocating samples of %llu iterations", (unsigned long long)iters);
}

static int allocate_peak(struct meter *t)
{
	const struct endpoint *ep = t->ep;
	const struct experiment *e = &ep->options->experiment;

	if (ep->test->latency || !endpoint_sends(ep) || ep->options->output.no_peak)
		return 0;
	return peak_init(&t->peak, e->tx_depth * e->qps)
		       ? fault_raise(&t->worker->fault, FAULT_LOCAL, ENOMEM,
				     "allocating marks for the peak")
		       : 0;
}

int meter_turns(struct meter *t)
{
	const struct round *r = &t->round;
	uint64_t pause_ns = r->gap_ns;

	if (r->paced)
		pause_ns =
			(uint64_t)clock_ticks_to_ns(r->clock, (double)(r->paced->burst_step >> 64));
	return turns_begin(&t->turns, &t->worker->control->progress, pause_ns, &t->worker->fault);
}

static int allocate_meter_job(void *arg, unsigned i)
{
	struct measure *ms = arg;
	const struct output_options *o = &ms->options->output;
	bool keep = (o->histogram || o->unsorted) && measure_keeps_samples(ms->options, ms->repeat);
	struct meter *t = &ms->meter[i];

	return allocate_samples(t, keep) || allocate_peak(t) ? -1 : 0;
}

int measure_make(struct measure *ms)
{
	unsigned all = ms->ep->workers;

	ms->meter = calloc(all, sizeof(*ms->meter));
	ms->records = calloc(2 * all, sizeof(*ms->records));
	if (!ms->meter || !ms->records)
		return fault_raise(ms->fault, FAULT_LOCAL, ENOMEM,
				   "allocating the records of %u threads", all);
	for (unsigned i = 0; i < all; i++) {
		ms->meter[i].ep = ms->ep;
		ms->meter[i].worker = &ms->ep->worker[i];
	}
	if (endpoint_each(ms->ep, allocate_meter_job, ms) || verify_make(ms))
		return -1;
	return ms->test->open ? ms->test->open(ms, &ms->own) : 0;
}

void measure_release(struct measure *ms)
{
	if (ms->test->close)
		ms->test->close(ms->own);
	json_decref(ms->receivers);
	verify_release(ms);
	for (unsigned i = 0; ms->meter && i < ms->ep->workers; i++) {
		struct meter *t = &ms->meter[i];

		peak_release(&t->peak);
		free(t->hist);
		free(t->samples);
	}
	free(ms->meter);
	free(ms->records);
}
