// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Compute a round's records from its ticks. */
#include "measure/results.h"

#include <math.h>
#include <stdlib.h>

#include "base/rate.h"
#include "endpoint/worker.h"
#include "measure/meter.h"
#include "plan/test.h"
#include "stat/quantile.h"

#define STALL 10 /* a sample of this many medians is a stall */

/*
 * Coordinated omission: a ping-pong takes no samples during a stall, so a stall counts as one
 * sample, however long it is. Fill REC with their number, and the share of RUN_TICKS spent in them.
 * With --latency_rate each message is timed from when the schedule has it sent: a stall is many
 * samples, and none is counted.
 */
static void set_stalls(const struct endpoint *ep, const struct hist *h, uint64_t run_ticks,
		       struct record *rec)
{
	double median = hist_percentile(h, 50);
	struct hist_excess e;

	if (ep->options->experiment.latency_rate || !hist_count(h) || !run_ticks)
		return;
	e = hist_excess(h, STALL * median, median);
	rec->stalls = e.count;
	rec->stall_percent = fmin(100 * e.sum / (double)run_ticks, 100);
}

/* Set the percentiles of H, whose ticks are worth US, and their limits. */
static void set_percentiles(const struct hist *h, double us, struct record *rec)
{
	for (enum percentile p = 0; p < PERCENTILES && hist_count(h); p++) {
		struct quantile q =
			quantile_of_hist(h, percentile_percent(p), INTERVAL_CONFIDENCE);

		rec->percentile.us[p] = us * q.value;
		rec->percentile.low_us[p] = us * q.low;
		rec->percentile.high_us[p] = us * q.high;
	}
}

void results_set_latency(const struct endpoint *ep, const struct hist *h, uint64_t run_ticks,
			 struct record *rec)
{
	const double us = operation_latency_us(&ep->test->operation, 1);
	const double tick_us = us * clock_ticks_to_ns(ep->clock, 1);

	rec->latency_min_us = hist_count(h) ? tick_us * (double)h->min : 0;
	rec->latency_max_us = tick_us * (double)h->max;
	rec->latency_mean_us = tick_us * hist_mean(h);
	rec->latency_stdev_us = tick_us * hist_stdev(h);
	set_percentiles(h, tick_us, rec);
	set_stalls(ep, h, run_ticks, rec);
}

uint64_t results_copies(const struct meter *t)
{
	return endpoint_leads(t->ep) ? experiment_copies(&t->ep->options->experiment) : 1;
}

/*
 * Set the rates of REC, whose messages took from SPAN's start to its end. Returns false if nothing
 * was timed.
 */
static bool set_rates(const struct endpoint *ep, const uint64_t span[2], struct record *rec)
{
	if (!rec->timed_messages || span[1] <= span[0])
		return false;
	record_set_rates(rec, clock_ticks_to_ns(ep->clock, (double)(span[1] - span[0])) / 1e9);
	if (ep->test->latency)
		rec->bandwidth_gbps = 0;
	return true;
}

static void set_peak(const struct meter *t, struct record *rec)
{
	double bits = (double)rec->message_bytes * 8;
	double best = t->peak.best / t->ep->clock->ns_per_tick * bits; /* bits per ns */

	/* A run shorter than one send queue has no peak sample: its peak is its average. */
	rec->bandwidth_peak_gbps = best > rec->bandwidth_gbps ? best : rec->bandwidth_gbps;
}

/* Set in REC the rate of T's schedule, and how many messages were posted late. */
static void set_pace(const struct meter *t, struct record *rec)
{
	const struct paced *p = t->round.paced;

	if (!t->ep->test->latency)
		rec->rate_limit_gbps =
			rate_gbps(t->ep->options->experiment.rate_limit, rec->message_bytes) /
			t->ep->workers;
	rec->late_messages = p->late;
	rec->late_max_us = clock_ticks_to_ns(t->ep->clock, (double)p->latest_ticks) / 1e3;
}

void results_add(struct record *sum, const struct record *by)
{
	sum->message_bytes = by->message_bytes;
	sum->run = by->run;
	sum->copies = by->copies;
	sum->qps += by->qps;
	sum->messages += by->messages;
	sum->timed_messages += by->timed_messages;
	sum->lost += by->lost;
	sum->sent_gbps += by->sent_gbps;
	sum->interrupted |= by->interrupted;
	quality_add(&sum->quality, &by->quality);
	sum->rate_limit_gbps += by->rate_limit_gbps;
	sum->late_messages += by->late_messages;
	if (by->late_max_us > sum->late_max_us)
		sum->late_max_us = by->late_max_us;
}

/* The confidence interval of COUNT simultaneous runs within SPAN (start and end, in ticks). */
static struct plus_minus confidence_of(const struct slices *const *run, unsigned count,
				       const uint64_t span[2])
{
	struct interval in = slices_confidence(run, count, span, INTERVAL_CONFIDENCE);

	return plus_minus_of(&in);
}

/* The same of T alone. The time axis of a latency test's slices is the sum of its round trips. */
static struct plus_minus confidence_of_worker(struct meter *t)
{
	struct round_result *r = &t->round.result;
	const struct slices *run = &r->slices;
	bool latency = t->ep->test->latency;
	uint64_t span[2] = {latency ? 0 : r->start_ticks, latency ? t->hist->sum : r->end_ticks};

	slices_end(&r->slices, span[1], latency ? hist_count(t->hist) : r->messages);
	return confidence_of(&run, 1, span);
}

/*
 * The same of every STEP-th worker from the FIRST on, which have RECORDS. Bandwidth: over the
 * slices of all, which share one clock. Latency: the average of the workers' intervals.
 */
static struct plus_minus confidence_of_group(const struct meter *all, const struct record *records,
					     unsigned first, unsigned step)
{
	const struct slices **run = calloc(all->ep->workers, sizeof(*run));
	struct plus_minus s = {.slices = records[first].plus_minus.slices};
	uint64_t span[2] = {0, 0};
	unsigned count = 0;

	for (unsigned i = first; i < all->ep->workers && run; i += step) {
		run[count++] = &all[i].round.result.slices;
		s.percent += records[i].plus_minus.percent;
		s.unknown = s.unknown ? s.unknown : records[i].plus_minus.unknown;
	}
	if (!count)
		s = (struct plus_minus){0};
	else if (all->ep->test->latency)
		s.percent /= count;
	else if (meter_span(all, first, step, span))
		s = confidence_of(run, count, span);
	free(run);
	return s;
}

/* Compute T's record. */
static void measure_worker(struct meter *t, struct record *rec)
{
	const struct round_result *r = &t->round.result;
	const uint64_t span[2] = {r->start_ticks, r->end_ticks}, copies = results_copies(t);
	bool latency = t->ep->test->latency;

	rec->qps = t->worker->qps.count;
	rec->messages = copies * r->messages;
	rec->timed_messages = copies * r->timed_messages;
	rec->lost = r->lost + (t->round.arrivals ? 0 : t->lost);
	if (!set_rates(t->ep, span, rec))
		return;
	if (latency && t->hist)
		results_set_latency(t->ep, t->hist, span[1] - span[0], rec);
	if (!latency && !t->round.no_peak)
		set_peak(t, rec);
	if (t->round.paced)
		set_pace(t, rec);
	if (!latency || t->hist)
		rec->plus_minus = confidence_of_worker(t);
}

/* True if T's round shows that its clock went back. Not for a clock that was not used. */
static bool went_back(const struct meter *t)
{
	const struct round *r = &t->round;

	if (t->hist && t->hist->max >= HIST_MOST)
		return true;
	if (r->result.peak && !r->no_peak && r->result.peak->went_back)
		return true;
	return r->result.timed_messages && r->result.end_ticks < r->result.start_ticks;
}

/* Check that the clock C was steady during the round; if not, raise why in F and return -1. */
static int check_clock(const struct meter *all, struct clock *c, struct fault *f)
{
	fault_phase(f, all->ep->fault->phase);
	for (unsigned i = 0; i < all->ep->workers; i++)
		if (went_back(&all[i]))
			return clock_went_back(c, f);
	return clock_check(c, f);
}

/* Add to the record of FOUND, of several workers, what theirs have. */
static void add_workers(const struct meter *all, struct found *found)
{
	const struct endpoint *ep = all->ep;
	uint64_t run_ticks = 0; /* of all */

	if (ep->test->latency && !all->hist)
		return;
	found->record.plus_minus = confidence_of_group(all, found->workers, 0, 1);
	for (unsigned d = 0; d < ep->rails && ep->rails > 1 && ep->workers > ep->rails; d++)
		found->devices[d] = confidence_of_group(all, found->workers, d, ep->rails);
	if (!ep->test->latency)
		return; /* no peak is reported for several threads */
	for (unsigned i = 0; i < ep->workers; i++) {
		const struct round_result *r = &all[i].round.result;

		run_ticks += r->timed_messages ? r->end_ticks - r->start_ticks : 0;
		if (i)
			hist_merge(all->hist, all[i].hist);
	}
	results_set_latency(ep, all->hist, run_ticks, &found->record);
}

/* Compute the record of each worker and of all. Only a loop that reads the clock has one. */
static void measure_all(struct measurement *meas)
{
	struct meter *all = meas->ms->meter;
	struct found *found = &meas->mine;
	uint64_t span[2];
	const struct record empty = {
		.message_bytes = meas->attr.message_bytes,
		.run = meas->attr.run,
		.copies = meas->ms->options->experiment.mcg,
		.interrupted = meas->ms->link->interrupted,
		.quality = quality_unknown(),
	};

	clock_calibrate(meas->ms->clock);
	found->record = empty;
	for (unsigned i = 0; i < all->ep->workers; i++) {
		found->workers[i] = empty;
		measure_worker(&all[i], &found->workers[i]);
		results_add(&found->record, &found->workers[i]);
	}
	/* The follower of a ping-pong has no clock of its own. */
	found->measured = meter_span(all, 0, 1, span) && set_rates(all->ep, span, &found->record) &&
			  !meas->attr.warmup && (!all->ep->test->latency || all->hist);
	if (!found->measured)
		return;
	if (all->ep->workers == 1)
		found->record = found->workers[0];
	else
		add_workers(all, found);
}

void results_measure(struct measurement *meas)
{
	struct measure *ms = meas->ms;

	if (fault_is(&meas->clock_fault) || check_clock(ms->meter, ms->clock, &meas->clock_fault))
		return;
	measure_all(meas);
	evidence_measure(meas);
	if (meas->mine.measured && meas->worst.intervals)
		worst_to_record(&meas->worst, ms->test->latency, &meas->mine.record);
}

/* Set the CPU use in REC. MESSAGES are those that the process sent or received meanwhile. */
static void set_usage(const struct usage *u, uint64_t messages, struct record *rec)
{
	rec->cpu_percent = usage_percent(u);
	rec->cpu_user_s = u->user_s;
	rec->cpu_system_s = u->system_s;
	if (messages)
		rec->cpu_s_per_gb = (u->user_s + u->system_s) * 1e9 /
				    ((double)messages * (double)rec->message_bytes);
}

void results_set_usage(struct measurement *meas, uint64_t messages)
{
	struct record *rec = &meas->mine.record;

	if (meas->attr.cpu_util && !meas->mine.measured) /* an end without rates */
		*rec = (struct record){.message_bytes = meas->attr.message_bytes,
				       .qps = rec->qps,
				       .run = meas->attr.run};
	if (meas->attr.cpu_util)
		set_usage(&meas->usage, messages, rec);
	conditions_measure(meas, messages);
}
