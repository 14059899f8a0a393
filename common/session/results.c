// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From a round's ticks to its record, and from records to the report. */
#include "session/state.h"

static void latency_of(const struct clock *c, const struct hist *h, struct record *rec)
{
	const double us = 1.0 / 2 / 1000; /* half the round trip, in microseconds */

	rec->latency_min_us = hist_count(h) ? us * clock_ticks_to_ns(c, (double)h->min) : 0;
	rec->latency_max_us = us * clock_ticks_to_ns(c, (double)h->max);
	rec->latency_mean_us = us * clock_ticks_to_ns(c, hist_mean(h));
	rec->latency_stdev_us = us * clock_ticks_to_ns(c, hist_stdev(h));
	rec->latency_p50_us = us * clock_ticks_to_ns(c, hist_percentile(h, 50));
	rec->latency_p90_us = us * clock_ticks_to_ns(c, hist_percentile(h, 90));
	rec->latency_p99_us = us * clock_ticks_to_ns(c, hist_percentile(h, 99));
	rec->latency_p99_9_us = us * clock_ticks_to_ns(c, hist_percentile(h, 99.9));
	rec->latency_p99_99_us = us * clock_ticks_to_ns(c, hist_percentile(h, 99.99));
}

/* What one thread did, or all from the first one's start to the last one's end. */
struct span {
	uint64_t start_ticks, end_ticks, messages, timed_messages, lost;
	unsigned qps;
};

static struct span span_of(const struct strand *t)
{
	const struct round *r = &t->round;

	return (struct span){
		.start_ticks = r->start_ticks,
		.end_ticks = r->end_ticks,
		.messages = r->messages,
		.timed_messages = r->timed_messages,
		.lost = r->lost + t->lost,
		.qps = t->qps.count,
	};
}

static void widen(struct span *sum, const struct span *by)
{
	sum->messages += by->messages;
	sum->timed_messages += by->timed_messages;
	sum->lost += by->lost;
	sum->qps += by->qps;
	if (!by->timed_messages)
		return; /* its clock never ran */
	if (!sum->start_ticks || by->start_ticks < sum->start_ticks)
		sum->start_ticks = by->start_ticks;
	if (by->end_ticks > sum->end_ticks)
		sum->end_ticks = by->end_ticks;
}

/* The rates of SPAN; false if there is nothing to reckon them from. */
static bool rates_of(const struct session *s, uint64_t message_bytes, const struct span *span,
		     struct record *rec)
{
	uint64_t ticks = span->end_ticks - span->start_ticks;

	*rec = (struct record){
		.message_bytes = message_bytes,
		.qps = span->qps,
		.messages = span->messages,
		.interrupted = s->interrupted,
		.lost = span->lost,
		.seconds = clock_ticks_to_ns(&s->clock, (double)ticks) / 1e9,
	};
	if (!span->timed_messages || span->end_ticks <= span->start_ticks)
		return false;
	rec->messages_per_s = (double)span->timed_messages / rec->seconds;
	if (!s->test->latency)
		rec->bandwidth_gbps = rec->messages_per_s * (double)message_bytes * 8 / 1e9;
	return true;
}

static void peak_of(const struct strand *t, struct record *rec)
{
	const struct clock *c = &t->session->clock;
	double bits = (double)rec->message_bytes * 8;
	double best = peak_rate(&t->peak) / c->ns_per_tick * bits; /* bits per ns */

	/* A run shorter than one send queue has but its average. */
	rec->bandwidth_peak_gbps = best > rec->bandwidth_gbps ? best : rec->bandwidth_gbps;
}

/* From a strand's ticks to its record, and into the span and histogram of all. */
static void measure_strand(struct strand *t, uint64_t message_bytes, struct span *sum)
{
	struct session *s = t->session;
	struct span span = span_of(t);
	bool measured = rates_of(s, message_bytes, &span, &t->record);

	widen(sum, &span);
	if (measured && s->test->latency && t->hist)
		latency_of(&s->clock, t->hist, &t->record);
	if (measured && !s->test->latency && !t->round.no_peak)
		peak_of(t, &t->record);
	if (measured)
		pace_measure(t, &t->record);
}

/* Only an end whose loop reads the clock has a record of its own. */
static void measure_all(struct session *s, struct session_round *sr)
{
	struct record *rec = &sr->mine;
	struct span sum = {0};

	clock_calibrate(&s->clock);
	for (unsigned i = 0; i < s->strands; i++)
		measure_strand(&s->strand[i], sr->message_bytes, &sum);
	sr->measured = rates_of(s, sr->message_bytes, &sum, rec) && !sr->warmup;
	if (!sr->measured)
		return;
	if (s->strands == 1)
		*rec = s->strand[0].record;
	rec->load_gbps = load_gbps(s);
	if (s->strands == 1)
		return;
	for (unsigned i = 0; i < s->strands; i++)
		pace_add(rec, &s->strand[i].record);
	if (!s->test->latency || !s->strand[0].hist)
		return; /* a peak of several threads at once is nobody's */
	for (unsigned i = 1; i < s->strands; i++)
		hist_merge(s->strand[0].hist, s->strand[i].hist);
	latency_of(&s->clock, s->strand[0].hist, rec);
}

void round_measure(struct session *s, struct session_round *sr)
{
	measure_all(s, sr);
	sr->mine.run = sr->run;
	if (sr->measured)
		worst_to_record(&sr->worst, s->test->latency, &sr->mine);
}

void round_add_usage(struct session_round *sr, uint64_t messages)
{
	const struct usage *u = &sr->usage;
	struct record *rec = &sr->mine;

	if (!sr->cpu_util)
		return;
	if (!sr->measured)
		*rec = (struct record){
			.message_bytes = sr->message_bytes, .qps = rec->qps, .run = sr->run};
	rec->cpu_percent = usage_percent(u);
	rec->cpu_user_s = u->user_s;
	rec->cpu_system_s = u->system_s;
	if (messages)
		rec->cpu_s_per_gb = (u->user_s + u->system_s) * 1e9 /
				    ((double)messages * (double)sr->message_bytes);
}
