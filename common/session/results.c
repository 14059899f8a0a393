// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From a round's ticks to its record, and from records to the report. */
#include "session/loss.h"
#include "session/verify.h"

#include <stdlib.h>
#include <string.h>

static void latency_of(const struct clock *c, const struct hist *h, struct record *rec)
{
	const double us = 1.0 / 2 / 1000; /* half the round trip, in microseconds */

	rec->latency_min_us = h->count ? us * clock_ticks_to_ns(c, (double)h->min) : 0;
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

/*
 * Buckets that are not empty, as [lowest, highest, count], in microseconds; reckoned as the
 * record's figures are, or rounding would put the least sample below its own bucket.
 */
static json_t *histogram_json(const struct session *s, const struct hist *h)
{
	json_t *to = json_array();
	const double us = 1.0 / 2 / 1000;

	for (unsigned i = 0; i < HIST_BUCKETS; i++) {
		double low = (double)hist_bucket_low(i), width = (double)hist_bucket_width(i);

		if (h->bucket[i])
			json_array_append_new(
				to, json_pack("[f, f, I]", us * clock_ticks_to_ns(&s->clock, low),
					      us * clock_ticks_to_ns(&s->clock, low + width),
					      (json_int_t)h->bucket[i]));
	}
	return to;
}

/* All samples in microseconds, one thread's behind the other's; NULL: none were kept. */
static double *samples_us(const struct session *s)
{
	uint64_t count = 0, n = 0;
	double *us;

	for (unsigned i = 0; i < s->strands && s->strand[i].samples; i++)
		count += s->strand[i].round.timed_messages;
	us = count ? malloc(count * sizeof(*us)) : NULL;
	for (unsigned i = 0; us && i < s->strands; i++) {
		const struct strand *t = &s->strand[i];

		for (uint64_t k = 0; k < t->round.timed_messages; k++)
			us[n++] = clock_ticks_to_ns(&s->clock, (double)t->samples[k]) / 2 / 1000;
	}
	return us;
}

/* Both directions at once: rates and counts add up, the longer one says how long it took. */
static struct record sum_of(const struct record *a, const struct record *b)
{
	struct record sum = *a;

	sum.messages += b->messages;
	sum.lost += b->lost;
	sum.messages_per_s += b->messages_per_s;
	sum.bandwidth_gbps += b->bandwidth_gbps;
	sum.bandwidth_peak_gbps += b->bandwidth_peak_gbps;
	sum.seconds = a->seconds > b->seconds ? a->seconds : b->seconds;
	sum.interrupted |= b->interrupted;
	pace_add(&sum, b);
	/* what is of one end alone */
	sum.intervals = 0;
	sum.worst_interval_gbps = 0;
	sum.cpu_percent = sum.cpu_user_s = sum.cpu_system_s = sum.cpu_s_per_gb = 0;
	return sum;
}

/* Records in the form that the report takes, as many as there are. */
struct rows {
	struct report_row *row;
	struct record *own; /* of rows that are sums made here */
	size_t count, owned;
	const struct record *figure; /* what a run is judged by, the same at both ends */
};

static struct report_row *add(struct rows *to, const struct record *rec, enum report_end by,
			      enum report_direction direction)
{
	struct report_row *row = &to->row[to->count++];

	*row = (struct report_row){.record = rec, .by = by, .direction = direction, .thread = -1};
	return row;
}

/* Strand I's record at END; where the peer made it, from what it sent. */
static bool part_of(const struct session_round *sr, bool mine, unsigned i, struct record *rec)
{
	struct fault known = {0}; /* that it can be read is known: take_records() */

	if (mine) {
		*rec = sr->session->strand[i].record;
		return rec->messages_per_s > 0;
	}
	return record_from_json(rec, json_array_get(sr->their_parts, i), &known) == 0;
}

/* What each thread of END did, and where a device has several: what each device did. */
static void add_parts(struct rows *to, const struct session_round *sr, bool mine,
		      const struct report_row *all)
{
	const struct session *s = sr->session;
	struct report_row like = *all;

	for (unsigned i = 0; i < s->strands; i++) {
		struct record *rec = &to->own[to->owned];
		struct report_row *row;

		if (!part_of(sr, mine, i, rec))
			continue;
		to->owned++;
		row = add(to, rec, like.by, like.direction);
		row->thread = (int)i;
		row->device =
			mine ? s->strand[i].rail->mine.device : s->strand[i].rail->theirs.device;
	}
	for (unsigned d = 0; d < s->rails && s->rails > 1 && s->strands > s->rails; d++) {
		struct record *sum = &to->own[to->owned++], part;
		struct report_row *row;

		memset(sum, 0, sizeof(*sum));
		for (unsigned i = d; i < s->strands; i += s->rails)
			if (part_of(sr, mine, i, &part))
				*sum = sum->messages ? sum_of(sum, &part) : part;
		sum->qps *= s->strands / s->rails;
		sum->bandwidth_peak_gbps = 0;
		row = add(to, sum, like.by, like.direction);
		row->device = mine ? s->rail[d].mine.device : s->rail[d].theirs.device;
	}
}

/* What END measured, and below it of its threads and devices. NULL: nothing. */
static const struct report_row *add_end(struct rows *to, const struct session_round *sr,
					enum report_end end)
{
	const struct session *s = sr->session;
	bool mine = (end == REPORT_SERVER) == s->report.about.server;
	enum report_direction direction = REPORT_FORWARD;

	if (mine ? !sr->measured && !sr->cpu_util : !sr->theirs_measured)
		return NULL;
	if (s->test->latency)
		direction = REPORT_PING_PONG;
	else if (sr->both ? end == REPORT_SERVER : sr->reverse)
		direction = REPORT_BACKWARD;
	return add(to, mine ? &sr->mine : &sr->theirs, end, direction);
}

/* NULL for the CPU use of an end that measured nothing else. */
static const struct report_row *with_rate(const struct report_row *row)
{
	return row && row->record->messages ? row : NULL;
}

/* All rows of the round, and which of them this end's table shows. */
static void collect(struct rows *to, const struct session_round *sr, struct report_result *result)
{
	const struct session *s = sr->session;
	const struct report_row *client = add_end(to, sr, REPORT_CLIENT);
	const struct report_row *server = add_end(to, sr, REPORT_SERVER);
	const struct report_row *own = s->report.about.server ? server : client;
	const struct report_row *leader = sr->reverse ? server : client, *sum;

	if (sr->both && client && server) {
		struct record *both = &to->own[to->owned++];

		*both = sum_of(&sr->mine, &sr->theirs);
		sum = add(to, both, REPORT_BOTH, REPORT_BOTH_WAYS);
		to->figure = both;
		result->shown[0] = s->options.output.both_rows ? client : sum;
		result->shown[1] = s->options.output.both_rows ? server : NULL;
	} else {
		own = with_rate(own);
		leader = with_rate(leader);
		/* A server's table has what it measured itself; a client's what the sender did. */
		result->shown[0] = s->report.about.server && own ? own : leader ? leader : own;
		to->figure = leader ? leader->record : own ? own->record : NULL;
	}
	if (s->strands > 1 && with_rate(client))
		add_parts(to, sr, !s->report.about.server, client);
	if (s->strands > 1 && with_rate(server))
		add_parts(to, sr, s->report.about.server, server);
	for (size_t i = 0; i < to->owned; i++)
		to->own[i].run = sr->run;
	for (size_t i = 0; i < to->count; i++)
		if (to->row[i].thread < 0 && !to->row[i].device)
			to->row[i].verified = verify_json(sr, to->row[i].direction);
	result->row = to->row;
	result->rows = to->count;
	result->cpu_percent = sr->mine.cpu_percent;
	result->held = sr->run != 0;
}

/* Hand the records to the report, and with them what only this end has. */
static void show(struct session *s, const struct session_round *sr)
{
	size_t most = 2 * (1 + s->strands + s->rails) + 1;
	struct rows rows = {
		.row = calloc(most, sizeof(*rows.row)),
		.own = calloc(most, sizeof(*rows.own)),
	};
	struct report_result result = {0};
	struct strand *t = &s->strand[0];
	double *us = NULL;

	if (rows.row && rows.own)
		collect(&rows, sr, &result);
	if (sr->measured)
		result.samples_us = us = samples_us(s);
	if (t->hist && sr->measured && s->options.output.histogram)
		result.histogram = histogram_json(s, t->hist);
	s->measured = true;
	if (!result.held)
		round_judge(s, &result);
	else if (rows.figure)
		repeat_keep(&s->repeat, rows.figure, &result, &s->fault);
	report_result(&s->report, &result);
	loss_note(s, sr);
	pace_remark(s, sr);
	for (size_t i = 0; i < rows.count; i++)
		json_decref(rows.row[i].verified);
	json_decref(result.histogram);
	free(us);
	free(rows.row);
	free(rows.own);
}

static void show_round(struct session *s, const struct session_round *sr)
{
	uint64_t answered = 0;

	if (sr->measured || sr->theirs_measured) {
		show(s, sr);
	} else if (fault_is(&s->fault) && sr->answered && !sr->warmup) {
		for (unsigned i = 0; i < s->strands; i++)
			answered += s->strand[i].round.messages;
		report_note(&s->report, "%llu messages of %llu B had been answered",
			    (unsigned long long)answered, (unsigned long long)sr->message_bytes);
	}
}

/*
 * That takes as long as who reads stdout likes (a pager), so the peer hears meanwhile that this end
 * is alive.
 */
void round_show(struct session *s, const struct session_round *sr)
{
	struct watch w;

	session_alive_start(s, &w);
	show_round(s, sr);
	session_alive_stop(s, &w);
}
