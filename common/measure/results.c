// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Compute a round's records from its ticks, and exchange them with the peer. */
#include "measure/results.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "measure/conditions.h"
#include "measure/load.h"
#include "measure/loss.h"
#include "measure/confidence.h"
#include "measure/together.h"
#include "stat/quantile.h"
#include "cli/percentile.h"

#define STALL       10    /* a sample of this many medians is a stall */
#define SAME_BUCKET 0.998 /* the middle of a bucket that is cut off differs by less */

/* Ticks from one message to the next without a stall: the median, plus --latency_gap. */
static uint64_t expected_interval(const struct measure *ms, double median_ticks)
{
	double gap_ns = (double)ms->options->experiment.latency_gap_us * 1e3;
	double ticks = median_ticks + gap_ns / ms->clock->ns_per_tick;

	return ticks > 1 ? (uint64_t)ticks : 1;
}

/*
 * Percentile P of H in us, corrected for stalls; NaN if there are too few samples for it. Those
 * that are made from one stall are no more than one: as many real ones as for any percentile must
 * be as long as it.
 */
static double corrected_us(const struct measure *ms, const struct hist *h, uint64_t interval,
			   const struct percentile *p)
{
	double ticks;

	if (hist_corrected_count(h, interval) < percentile_needs(p))
		return NAN;
	ticks = hist_corrected_percentile(h, interval, p->percent);
	if (hist_excess(h, ticks * SAME_BUCKET, 0).count < PERCENTILE_BEYOND)
		return NAN;
	return operation_latency_us(&ms->test->operation, clock_ticks_to_ns(ms->clock, ticks));
}

/*
 * Coordinated omission: a ping-pong takes no samples during a stall, so a stall counts as one
 * sample, however long it is. Fill REC with the share of RUN_TICKS spent in stalls, and with the
 * percentiles of H corrected for the expected interval between two round trips. --latency_rate
 * needs no correction: it times a message from when the schedule has it sent.
 */
static void set_stalls(const struct measure *ms, const struct hist *h, uint64_t run_ticks,
		       struct record *rec)
{
	double median = hist_percentile(h, 50);
	uint64_t interval = expected_interval(ms, median);
	struct hist_excess e;

	if (ms->options->experiment.latency_rate || !hist_count(h) || !run_ticks)
		return;
	e = hist_excess(h, STALL * median, median);
	rec->stalls = e.count;
	rec->stall_percent = fmin(100 * e.sum / (double)run_ticks, 100);
	for (const struct percentile *p = percentiles(); p->name; p++)
		record_set(rec, record_find(p->corrected), corrected_us(ms, h, interval, p));
}

/* Set the percentiles of H, whose ticks are worth US, and their limits. */
static void set_percentiles(const struct hist *h, double us, struct record *rec)
{
	for (const struct percentile *p = percentiles(); p->name && hist_count(h); p++) {
		struct quantile q = quantile_of_hist(h, p->percent, INTERVAL_CONFIDENCE);

		record_set(rec, record_find(p->field), us * q.value);
		record_set(rec, record_find(p->low), us * q.low);
		record_set(rec, record_find(p->high), us * q.high);
	}
}

/* Fill REC from H, whose samples took RUN_TICKS: of several threads, the sum of their times. */
static void set_latency(const struct measure *ms, const struct hist *h, uint64_t run_ticks,
			struct record *rec)
{
	const struct clock *c = ms->clock;
	const double us = operation_latency_us(&ms->test->operation, 1);

	rec->latency.min_us = hist_count(h) ? us * clock_ticks_to_ns(c, (double)h->min) : 0;
	rec->latency.max_us = us * clock_ticks_to_ns(c, (double)h->max);
	rec->latency.mean_us = us * clock_ticks_to_ns(c, hist_mean(h));
	rec->latency.stdev_us = us * clock_ticks_to_ns(c, hist_stdev(h));
	set_percentiles(h, us * clock_ticks_to_ns(c, 1), rec);
	set_stalls(ms, h, run_ticks, rec);
}

/* The messages and times of one thread; or of all threads, from the first start to the last end. */
struct span {
	uint64_t start_ticks, end_ticks, messages, timed_messages, lost;
	uint64_t run_ticks; /* the sum of all threads' times */
	unsigned qps;
};

static struct span span_of(const struct meter *t)
{
	const struct round *r = &t->round;

	return (struct span){
		.start_ticks = r->result.start_ticks,
		.end_ticks = r->result.end_ticks,
		.messages = r->result.messages,
		.timed_messages = r->result.timed_messages,
		.lost = r->result.lost + t->lost,
		.qps = t->worker->qps.count,
	};
}

/* Add BY to SUM. */
static void widen_span(struct span *sum, const struct span *by)
{
	sum->messages += by->messages;
	sum->timed_messages += by->timed_messages;
	sum->lost += by->lost;
	sum->qps += by->qps;
	if (!by->timed_messages)
		return; /* its clock never ran */
	sum->run_ticks += by->end_ticks - by->start_ticks;
	if (!sum->start_ticks || by->start_ticks < sum->start_ticks)
		sum->start_ticks = by->start_ticks;
	if (by->end_ticks > sum->end_ticks)
		sum->end_ticks = by->end_ticks;
}

/* Fill REC with counts and rates of SPAN. Returns false if nothing was timed. */
static bool set_rates(const struct measurement *meas, const struct span *span, struct record *rec)
{
	const struct measure *ms = meas->ms;
	uint64_t ticks = span->end_ticks - span->start_ticks;

	*rec = (struct record){
		.message_bytes = meas->attr.message_bytes,
		.run = meas->attr.run,
		.qps = span->qps,
		.messages = span->messages,
		.timed_messages = span->timed_messages,
		.interrupted = ms->link->interrupted,
		.lost = span->lost,
		.seconds = clock_ticks_to_ns(ms->clock, (double)ticks) / 1e9,
	};
	if (!span->timed_messages || span->end_ticks <= span->start_ticks)
		return false;
	record_set_rates(rec, rec->seconds);
	if (ms->test->latency)
		rec->bandwidth_gbps = 0;
	return true;
}

static void set_peak(const struct meter *t, struct record *rec)
{
	const struct clock *c = t->ms->clock;
	double bits = (double)rec->message_bytes * 8;
	double best = t->peak.best / c->ns_per_tick * bits; /* bits per ns */

	/* A run shorter than one send queue has no peak sample: its peak is its average. */
	rec->bandwidth_peak_gbps = best > rec->bandwidth_gbps ? best : rec->bandwidth_gbps;
}

/* Set in REC the rate of T's schedule, and how many messages were posted late. */
static void set_pace(const struct meter *t, struct record *rec)
{
	const struct measure *ms = t->ms;
	const struct paced *p = t->round.paced;

	if (!ms->test->latency)
		rec->pace.limit_gbps =
			rate_gbps(ms->options->experiment.rate_limit, rec->message_bytes) /
			ms->ep->workers;
	rec->pace.late_messages = p->late;
	rec->pace.late_max_us = clock_ticks_to_ns(ms->clock, (double)p->latest_ticks) / 1e3;
}

void results_add_pace(struct record *sum, const struct record *by)
{
	sum->pace.limit_gbps += by->pace.limit_gbps;
	sum->pace.late_messages += by->pace.late_messages;
	if (by->pace.late_max_us > sum->pace.late_max_us)
		sum->pace.late_max_us = by->pace.late_max_us;
}

/* Compute T's record, and add what it did to SUM. */
static void measure_worker(struct meter *t, const struct measurement *meas, struct span *sum)
{
	struct measure *ms = t->ms;
	struct span span = span_of(t);
	bool measured = set_rates(meas, &span, &t->record);

	widen_span(sum, &span);
	if (measured && ms->test->latency && t->hist)
		set_latency(ms, t->hist, span.end_ticks - span.start_ticks, &t->record);
	if (measured && !ms->test->latency && !t->round.no_peak)
		set_peak(t, &t->record);
	if (measured && t->round.paced)
		set_pace(t, &t->record);
	if (measured && (t->hist || !ms->test->latency))
		confidence_of_worker(t);
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

/* Check that the clock was steady during the round; if not, raise why in F and return -1. */
static int check_clock(struct measure *ms, struct fault *f)
{
	fault_phase(f, ms->fault->phase);
	for (unsigned i = 0; i < ms->ep->workers; i++)
		if (went_back(&ms->meter[i]))
			return clock_went_back(ms->clock, f);
	return clock_check(ms->clock, f);
}

/* Compute the record of each worker and of all. Only a loop that reads the clock has one. */
static void measure_all(struct measurement *meas)
{
	struct measure *ms = meas->ms;
	struct record *rec = &meas->mine;
	struct span sum = {0};

	clock_calibrate(ms->clock);
	for (unsigned i = 0; i < ms->ep->workers; i++)
		measure_worker(&ms->meter[i], meas, &sum);
	meas->measured = set_rates(meas, &sum, rec) && !meas->attr.warmup;
	if (!meas->measured)
		return;
	if (ms->ep->workers == 1)
		*rec = ms->meter[0].record;
	if (ms->ep->loads)
		rec->load_gbps = load_gbps(ms);
	if (ms->ep->workers == 1)
		return;
	for (unsigned i = 0; i < ms->ep->workers; i++)
		results_add_pace(rec, &ms->meter[i].record);
	if (ms->meter[0].hist || !ms->test->latency)
		confidence_of_end(meas);
	if (!ms->test->latency || !ms->meter[0].hist)
		return; /* no peak is reported for several threads */
	for (unsigned i = 1; i < ms->ep->workers; i++)
		hist_merge(ms->meter[0].hist, ms->meter[i].hist);
	set_latency(ms, ms->meter[0].hist, sum.run_ticks, rec);
}

void results_measure(struct measurement *meas)
{
	if (fault_is(&meas->clock_fault) || check_clock(meas->ms, &meas->clock_fault))
		return;
	measure_all(meas);
	evidence_measure(meas);
	if (meas->measured && meas->worst.intervals)
		worst_to_record(&meas->worst, meas->ms->test->latency, &meas->mine);
}

void results_blame_clock(const struct measurement *meas)
{
	if (fault_is(&meas->clock_fault) && !fault_is(meas->ms->fault))
		*meas->ms->fault = meas->clock_fault;
}

/* Add this end's CPU use to its record, if requested; an end without a record gets one for that. */
static void add_usage(struct measurement *meas, uint64_t messages)
{
	const struct usage *u = &meas->usage;
	struct record *rec = &meas->mine;

	if (!meas->attr.cpu_util)
		return;
	if (!meas->measured)
		*rec = (struct record){.message_bytes = meas->attr.message_bytes,
				       .qps = rec->qps,
				       .run = meas->attr.run};
	rec->cpu.percent = usage_percent(u);
	rec->cpu.user_s = u->user_s;
	rec->cpu.system_s = u->system_s;
	if (messages)
		rec->cpu.s_per_gb = (u->user_s + u->system_s) * 1e9 /
				    ((double)messages * (double)meas->attr.message_bytes);
}

void results_set_usage(struct measurement *meas, uint64_t messages)
{
	add_usage(meas, messages);
	conditions_measure(meas, messages);
}

/* Read the record FROM, which must be of this round, into REC. */
static int read_record(const struct measurement *meas, struct record *rec, const json_t *from)
{
	if (record_from_json(rec, from, meas->ms->fault))
		return -1;
	rec->run = meas->attr.run;
	if (rec->message_bytes == meas->attr.message_bytes)
		return 0;
	return fields_raise(record_fields(), from, "message_bytes", meas->ms->fault);
}

/* Read the records of the peer's workers, if there are several. */
static int read_records(struct measurement *meas, const json_t *records)
{
	size_t workers = meas->ms->ep->workers, i;
	const json_t *v;

	if (workers == 1 || json_array_size(records) != workers)
		return 0;
	meas->their_records = calloc(workers, sizeof(*meas->their_records));
	if (!meas->their_records)
		return fault_raise(meas->ms->fault, FAULT_LOCAL, ENOMEM,
				   "allocating records of %zu threads", workers);
	json_array_foreach (records, i, v)
		if (read_record(meas, &meas->their_records[i], v))
			return -1;
	return 0;
}

int results_read(struct measurement *meas, const json_t *done)
{
	const json_t *from = json_object_get(done, "record");

	if (conditions_read(meas, done))
		return -1;
	if (json_is_object(from)) {
		if (read_record(meas, &meas->theirs, from) ||
		    read_records(meas, json_object_get(done, "parts")) ||
		    confidence_read(meas, done))
			return -1;
		meas->theirs_measured = true;
	}
	return loss_read_resent(meas, done);
}

json_t *results_message(const struct measurement *meas)
{
	const struct measure *ms = meas->ms;
	json_t *m = message_new("done"), *messages = json_array(), *records = json_array();

	for (unsigned i = 0; i < ms->ep->workers; i++) {
		const struct meter *t = &ms->meter[i];

		json_array_append_new(messages, json_integer((json_int_t)t->round.result.messages));
		if (meas->measured)
			json_array_append_new(records, record_to_json(&t->record));
	}
	json_object_set_new(m, "messages", messages);
	loss_describe(ms, m);
	conditions_describe(meas, m);
	if (meas->attr.both)
		together_describe(meas, m);
	if (meas->measured || meas->attr.cpu_util)
		json_object_set_new(m, "record", record_to_json(&meas->mine));
	if (meas->measured && ms->ep->workers > 1)
		json_object_set(m, "parts", records);
	confidence_describe(meas, m);
	json_decref(records);
	return m;
}
