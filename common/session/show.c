// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From the records of a round, both ends', to the rows of the report. */
#include "session/loss.h"
#include "session/verify.h"
#include <stdlib.h>
#include <string.h>

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
