// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "session/calls.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/phase.h"
#include "measure/results.h"
#include "report/report.h"

/* Whether worker I, which was there DONE times, goes on: up to COUNT times, or until UNTIL_NS. */
static bool goes_on(struct calls *c, unsigned i, uint64_t done, uint64_t count, uint64_t until_ns)
{
	struct stop *stop = c->ms->link->stop;

	if (!i)
		stop_drain(stop);
	if (stop->signal || c->failed)
		return false;
	return until_ns ? clock_now_ns() < until_ns : done < count;
}

static int run_thread(void *arg, unsigned i)
{
	struct calls *c = arg;
	const struct experiment *e = &c->ms->options->experiment;
	uint64_t until_ns, done = 0;
	int rc = 0;

	while (rc == 0 && goes_on(c, i, done++, c->warmup, 0))
		rc = c->job(c, i);
	for (unsigned k = 0; k < c->steps * (c->led ? c->ms->ep->workers : 1); k++)
		hist_reset(&c->hist[i * c->steps + k]);
	until_ns = e->duration_ns ? clock_now_ns() + e->duration_ns : 0;
	done = 0;
	while (rc == 0 && goes_on(c, i, done++, e->iters, until_ns))
		rc = c->job(c, i);
	c->failed = c->failed || rc;
	return rc;
}

/* Tell the row of step K, of BYTES, whose samples of all threads are in H. */
static void tell_step(struct calls *c, unsigned k, const struct hist *h, uint64_t bytes)
{
	struct measure *ms = c->ms;
	uint64_t count = hist_count(h);
	struct record rec = {.message_bytes = bytes,
			     .step = c->step[k],
			     .messages = count,
			     .timed_messages = count,
			     .interrupted = ms->link->interrupted};
	const struct result_row row = {
		.record = &rec, .by = RESULT_CLIENT, .direction = RESULT_NO_WAY, .thread = -1};
	const struct result result = {.row = &row,
				      .rows = 1,
				      .main = &row,
				      .shown = {&row},
				      .failed = fault_is(ms->fault) &&
						ms->fault->code != FAULT_INTERRUPTED};

	results_set_latency(ms->ep, h, 0, &rec);
	record_set_rates(&rec,
			 clock_ticks_to_ns(ms->clock, (double)h->sum) / 1e9 / ms->ep->workers);
	report_result(ms->report, &result);
}

/* Tell what was measured: thread 0's samples become those of all. */
static int tell(struct calls *c, uint64_t bytes)
{
	struct measure *ms = c->ms;
	struct hist *all = c->hist;

	for (unsigned i = c->steps; i < ms->ep->workers * c->steps; i++)
		hist_merge(&all[i % c->steps], &all[i]);
	if (clock_check(ms->clock, ms->fault))
		return -1;
	clock_calibrate(ms->clock);
	ms->link->interrupted = ms->link->stop->signal;
	if (!hist_count(&all[c->steps - 1]))
		return fault_is(ms->fault) || ms->measured ? 0
							   : measure_unfinished(ms, PHASE_MEASURE);
	if (ms->link->interrupted)
		report_note(ms->report, "interrupted after %" PRIu64 " calls", hist_count(all));
	for (unsigned k = 0; k < c->steps; k++)
		tell_step(c, k, &all[k], bytes);
	ms->measured = true;
	return 0;
}

int calls_run(struct calls *c, uint64_t bytes)
{
	int rc;

	c->hist = calloc(c->ms->ep->workers * c->steps, sizeof(*c->hist));
	if (!c->hist)
		return fault_raise(c->ms->fault, FAULT_LOCAL, ENOMEM, "allocating samples");
	c->warmup = plan_warmup(&c->ms->options->experiment, bytes ? bytes : 1, true);
	fault_phase(c->ms->fault, PHASE_MEASURE);
	clock_calibrate(c->ms->clock);
	rc = c->led ? run_thread(c, 0) : endpoint_each(c->ms->ep, run_thread, c);
	/* After a failure, too: what was measured before. */
	rc = tell(c, bytes) || rc ? -1 : 0;
	free(c->hist);
	return rc;
}
