// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From a round's ticks to its record, and from records to the report. */
#include "session/state.h"

#include <string.h>

static void latency_of(const struct session *s, struct record *rec)
{
	const struct clock *c = &s->clock;
	const struct hist *h = s->hist;
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

/* From ticks to the record. Only an end whose loop reads the clock has one of its own. */
void round_measure(struct session *s, struct session_round *sr)
{
	const struct round *r = &sr->round;
	struct record *rec = &sr->mine;
	double bits = (double)sr->message_bytes * 8;

	memset(rec, 0, sizeof(*rec));
	rec->message_bytes = sr->message_bytes;
	rec->qps = s->qps.count;
	rec->messages = r->messages;
	rec->interrupted = s->interrupted;
	rec->run = sr->run;
	clock_calibrate(&s->clock);
	rec->seconds = clock_ticks_to_ns(&s->clock, (double)(r->end_ticks - r->start_ticks)) / 1e9;
	sr->measured = !sr->warmup && r->timed_messages && r->end_ticks > r->start_ticks;
	if (!sr->measured)
		return;
	rec->messages_per_s = (double)r->timed_messages / rec->seconds;
	worst_to_record(&sr->worst, s->test->latency, rec);
	if (s->test->latency) {
		latency_of(s, rec);
		return;
	}
	rec->bandwidth_gbps = rec->messages_per_s * bits / 1e9;
	if (!r->no_peak) {
		double best = peak_rate(&s->peak) / s->clock.ns_per_tick * bits; /* bits per ns */

		/* A run shorter than one send queue has but its average. */
		rec->bandwidth_peak_gbps = best > rec->bandwidth_gbps ? best : rec->bandwidth_gbps;
	}
}

void round_add_usage(const struct session *s, struct session_round *sr, uint64_t messages)
{
	const struct usage *u = &sr->usage;
	struct record *rec = &sr->mine;

	if (!sr->cpu_util)
		return;
	if (!sr->measured)
		*rec = (struct record){
			.message_bytes = sr->message_bytes, .qps = s->qps.count, .run = sr->run};
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
static json_t *histogram_json(const struct session *s)
{
	json_t *to = json_array();
	const double us = 1.0 / 2 / 1000;

	for (unsigned i = 0; i < HIST_BUCKETS; i++) {
		double low = (double)hist_bucket_low(i), width = (double)hist_bucket_width(i);

		if (s->hist->bucket[i])
			json_array_append_new(
				to, json_pack("[f, f, I]", us * clock_ticks_to_ns(&s->clock, low),
					      us * clock_ticks_to_ns(&s->clock, low + width),
					      (json_int_t)s->hist->bucket[i]));
	}
	return to;
}

static void samples_to_us(const struct session *s, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		double us = clock_ticks_to_ns(&s->clock, (double)s->samples[i]) / 2 / 1000;

		memcpy(&s->samples[i], &us, sizeof(us)); /* in place: both are eight bytes */
	}
}

static void judge(struct session *s, const struct record *rec)
{
	if (!s->report.about.server)
		gates_judge(&s->gates, rec, s->test->latency ? "ping_pong" : "client_to_server");
}

/* Hand the records to the report, and with the client's what only this end has of it. */
static void show(struct session *s, const struct record *client, const struct record *server)
{
	struct report_result result = {.client = client, .server = server, .held = client->run};

	if (!s->report.about.server && s->samples) {
		samples_to_us(s, client->messages);
		result.samples_us = (const double *)(const void *)s->samples;
	}
	if (!s->report.about.server && s->hist && s->options.output.histogram)
		result.histogram = histogram_json(s);
	s->measured = true;
	if (client->run)
		repeat_keep(&s->repeat, client, server, &s->fault);
	else
		judge(s, client);
	report_result(&s->report, &result);
	json_decref(result.histogram);
}

static void show_round(struct session *s, const struct session_round *sr)
{
	const struct record *mine = sr->measured ? &sr->mine : NULL;
	const struct record *theirs = sr->theirs_measured ? &sr->theirs : NULL;
	const struct record *beside = sr->measured || sr->cpu_util ? &sr->mine : NULL;

	if (!s->report.about.server) {
		if (mine)
			show(s, mine, theirs);
	} else if (theirs) {
		show(s, theirs, beside);
	} else if (mine) { /* cut off: what this end knows */
		show(s, mine, mine);
	} else if (fault_is(&s->fault) && sr->answered && !sr->warmup) {
		report_note(&s->report, "%llu messages of %llu B had been answered",
			    (unsigned long long)sr->round.messages,
			    (unsigned long long)sr->message_bytes);
	}
}

static void show_repeated(struct session *s)
{
	const struct repeat_run *median = repeat_median(&s->repeat);
	struct report_result result = {&median->client};
	char text[256];

	if (median->server_measured)
		result.server = &median->server;
	judge(s, &median->client);
	report_row(&s->report, &result);
	report_summary(&s->report, repeat_summary(&s->repeat),
		       repeat_text(&s->repeat, text, sizeof(text)));
}

void round_repeated(struct session *s)
{
	struct watch w;

	if (!s->repeat.count)
		return;
	session_alive_start(s, &w);
	show_repeated(s);
	session_alive_stop(s, &w);
	repeat_start(&s->repeat, 0);
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
