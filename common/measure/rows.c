// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Turn the records of a round, of both ends, into rows, and judge them by the thresholds. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "measure/conditions.h"
#include "measure/results.h"
#include "measure/together.h"
#include "measure/verify.h"

/*
 * The buckets that are not empty, as [lowest, highest, count] in microseconds. Computed like the
 * record's figures, since other rounding could put the smallest sample below its own bucket.
 */
static json_t *histogram_json(const struct measure *ms, const struct hist *h)
{
	json_t *to = json_array();
	const double us = operation_latency_us(&ms->test->operation, 1);

	for (unsigned i = 0; i < HIST_BUCKETS; i++) {
		double low = (double)hist_bucket_low(i), width = (double)hist_bucket_width(i);

		if (h->bucket[i])
			json_array_append_new(
				to, json_pack("[f, f, I]", us * clock_ticks_to_ns(ms->clock, low),
					      us * clock_ticks_to_ns(ms->clock, low + width),
					      (json_int_t)h->bucket[i]));
	}
	return to;
}

/* All samples in us, thread after thread, to be freed by the caller; NULL: none were kept. */
static double *samples_us(const struct measure *ms)
{
	const double leg = operation_latency_us(&ms->test->operation, 1);
	uint64_t count = 0, n = 0;
	double *us;

	for (unsigned i = 0; i < ms->ep->workers && ms->meter[i].samples; i++)
		count += ms->meter[i].round.result.timed_messages;
	us = count ? malloc(count * sizeof(*us)) : NULL;
	for (unsigned i = 0; us && i < ms->ep->workers; i++) {
		const struct meter *t = &ms->meter[i];

		for (uint64_t k = 0; k < t->round.result.timed_messages; k++)
			us[n++] = leg * clock_ticks_to_ns(ms->clock, (double)t->samples[k]);
	}
	return us;
}

/* The sum of two records measured at the same time: counts add up, the longer time counts. */
static struct record sum_records(const struct record *a, const struct record *b)
{
	struct record sum = *a;

	sum.messages += b->messages;
	sum.lost += b->lost;
	sum.timed_messages += b->timed_messages;
	sum.sent_gbps += b->sent_gbps;
	sum.bandwidth_peak_gbps += b->bandwidth_peak_gbps;
	sum.seconds = a->seconds > b->seconds ? a->seconds : b->seconds;
	if (sum.seconds > 0)
		record_set_rates(&sum, sum.seconds);
	sum.interrupted |= b->interrupted;
	results_add_pace(&sum, b);
	quality_add(&sum.quality, &b->quality);
	/* these belong to one end alone */
	sum.plus_minus = (struct plus_minus){0};
	sum.intervals.count = 0;
	sum.intervals.worst_gbps = 0;
	sum.cpu.percent = sum.cpu.user_s = sum.cpu.system_s = sum.cpu.s_per_gb = 0;
	return sum;
}

/* The rows, and what they point to. */
struct rows {
	struct result_row *row;
	struct record *own; /* of rows that are sums made here */
	size_t count, owned;
	struct explained *explained;
	double *samples_us;
};

static struct result_row *add_row(struct rows *to, const struct record *rec, enum result_end end,
				  enum result_direction direction)
{
	struct result_row *row = &to->row[to->count++];

	*row = (struct result_row){.record = rec, .by = end, .direction = direction, .thread = -1};
	return row;
}

/* Worker I's record, of this end if MINE, else of the peer; NULL: it has none. */
static const struct record *worker_record(const struct measurement *meas, bool mine, unsigned i)
{
	const struct record *rec = &meas->ms->meter[i].record;

	if (!mine)
		return meas->their_records ? &meas->their_records[i] : NULL;
	return rec->messages_per_s > 0 ? rec : NULL;
}

/*
 * Clear what a sum over a device's threads cannot have: there is no histogram of them together, so
 * only their messages and message rate are known.
 */
static void clear_latency(struct record *sum)
{
	memset(&sum->latency, 0, sizeof(sum->latency));
	memset(&sum->corrected, 0, sizeof(sum->corrected));
	sum->intervals.worst_us = 0;
	sum->bandwidth_gbps = 0;
	sum->plus_minus = (struct plus_minus){0};
}

/*
 * Add a row for each thread of an end, and one for each device if a device has several threads. ALL
 * is the end's own row.
 */
static void add_worker_rows(struct rows *to, const struct measurement *meas, bool mine,
			    const struct result_row *all)
{
	const struct endpoint *ep = meas->ms->ep;
	const struct plus_minus *devices = mine ? meas->my_devices : meas->their_devices;
	const struct result_row like = *all;
	const struct record *part;
	struct result_row *row;

	for (unsigned i = 0; i < ep->workers; i++) {
		const struct rail *r = ep->worker[i].rail;

		part = worker_record(meas, mine, i);
		if (!part)
			continue;
		row = add_row(to, part, like.by, like.direction);
		row->thread = (int)i;
		row->device = mine ? r->mine.nic.name : r->theirs.nic.name;
	}
	for (unsigned d = 0; d < ep->rails && ep->rails > 1 && ep->workers > ep->rails; d++) {
		struct record *sum = &to->own[to->owned++];

		for (unsigned i = d; i < ep->workers; i += ep->rails) {
			part = worker_record(meas, mine, i);
			if (part)
				*sum = sum->messages ? sum_records(sum, part) : *part;
		}
		sum->qps *= ep->workers / ep->rails;
		sum->bandwidth_peak_gbps = 0;
		sum->plus_minus = devices[d];
		if (meas->ms->test->latency)
			clear_latency(sum);
		row = add_row(to, sum, like.by, like.direction);
		row->device = mine ? ep->rail[d].mine.nic.name : ep->rail[d].theirs.nic.name;
	}
}

/* Add the row of what END measured, and return it; NULL: it measured nothing. */
static const struct result_row *add_end(struct rows *to, const struct measurement *meas,
					enum result_end end)
{
	const struct measure *ms = meas->ms;
	bool mine = (end == RESULT_SERVER) == ms->ep->server;
	enum result_direction direction = RESULT_FORWARD;
	bool pulls = operation_pulls(&ms->test->operation);

	if (mine ? !meas->measured && !meas->attr.cpu_util : !meas->theirs_measured)
		return NULL;
	if (ms->test->latency)
		direction = RESULT_PING_PONG;
	else if ((meas->attr.both ? end == RESULT_SERVER : meas->attr.reverse) != pulls)
		direction = RESULT_BACKWARD;
	return add_row(to, mine ? &meas->mine : &meas->theirs, end, direction);
}

/* ROW, or NULL if it has no rate, but only the CPU use of an end that measured nothing else. */
static const struct result_row *with_rate(const struct result_row *row)
{
	return row && row->record->messages ? row : NULL;
}

/* Add all rows of the round to TO, and choose in RESULT those that this end's table shows. */
static void collect_rows(struct rows *to, const struct measurement *meas, struct result *result)
{
	const struct measure *ms = meas->ms;
	const struct result_row *client = add_end(to, meas, RESULT_CLIENT);
	const struct result_row *server = add_end(to, meas, RESULT_SERVER);
	const struct result_row *own = ms->ep->server ? server : client;
	const struct result_row *leader = meas->attr.reverse ? server : client;
	const struct result_row *other = with_rate(meas->attr.reverse ? client : server);
	/* In perftest's format the directions have tables of their own. */
	bool apart = ms->options->output.both_rows && ms->options->output.format != FORMAT_PERFTEST;

	if (meas->attr.both && client && server) {
		struct record *both = &to->own[to->owned++];

		*both = sum_records(&meas->mine, &meas->theirs);
		together_sum(meas, both);
		result->main = add_row(to, both, RESULT_BOTH, RESULT_BOTH_WAYS);
		result->shown[0] = apart ? client : result->main;
		result->shown[1] = apart ? server : NULL;
		result->local = own;
		result->remote = own == client ? server : client;
	} else {
		own = with_rate(own);
		leader = with_rate(leader);
		/* A server shows its own row if it has one, a client that of the leader. */
		result->shown[0] = ms->ep->server && own ? own : leader ? leader : own;
		/* The main row is the same at both ends. */
		result->main = leader ? leader : other ? other : client ? client : server;
	}
	if (ms->ep->workers > 1 && with_rate(client))
		add_worker_rows(to, meas, !ms->ep->server, client);
	if (ms->ep->workers > 1 && with_rate(server))
		add_worker_rows(to, meas, ms->ep->server, server);
	for (size_t i = 0; i < to->count; i++)
		conditions_judge(meas, &to->row[i]);
	for (size_t i = 0; i < to->count; i++)
		if (to->row[i].thread < 0 && !to->row[i].device)
			to->row[i].verified = verify_tally(meas, to->row[i].direction);
	result->row = to->row;
	result->rows = to->count;
	result->cpu_percent = meas->mine.cpu.percent;
	result->one_of_runs = meas->attr.run != 0;
}

/* The rates of ROWS are above the link's, as E says of one of them: they are doubtful. */
static void mark_above_link(struct rows *rows, const struct explained *e, double gbps)
{
	struct disturbed *d;

	for (size_t i = 0; i < rows->count; i++) {
		d = &rows->row[i].disturbed;
		d->quality[RESULT_CLIENT].above_percent = 100 * gbps / e->limit.ceilings.link_gbps;
		d->reasons[RESULT_CLIENT] |= 1U << (DISTURBED_ABOVE_LINK - DISTURBED_CPU);
	}
}

/* Explain the rows of the ends, if there is memory for it. */
static void explain_rows(struct rows *rows, const struct measurement *meas,
			 const struct result *result)
{
	struct explained *e = rows->explained = calloc(2, sizeof(*e));
	size_t used = 0;

	for (size_t i = 0; e && i < rows->count && used < 2; i++) {
		struct result_row *row = &rows->row[i];

		/* of one direction the main row, of two each end's */
		if ((row != result->main && !meas->attr.both) ||
		    !explained_row(meas, row, &e[used]))
			continue;
		row->explained = &e[used++];
		if (findings_find(&row->explained->findings, FINDING_ABOVE_LINK))
			mark_above_link(rows, row->explained, row->record->bandwidth_gbps);
	}
}

/* The fix for the first reason that disturbed a row. */
static const char *row_advice(const struct result_row *row)
{
	unsigned reasons = row->disturbed.reasons[0] | row->disturbed.reasons[1];

	for (unsigned i = 0; i < QUALITY_REASONS; i++)
		if (reasons >> i & 1)
			return finding_next(quality_reason(i));
	return "";
}

/* The rate of the slower end's ports, of both ways twice; 0: unknown. */
static double link_gbps(const struct endpoint *ep, const struct result_row *row)
{
	double mine = 0, theirs = 0;

	for (unsigned i = 0; i < ep->rails; i++) {
		const struct rail *r = &ep->rail[i];

		if (!(r->mine.nic.rate_gbps > 0) || !(r->theirs.nic.rate_gbps > 0))
			return 0;
		mine += r->mine.nic.rate_gbps;
		theirs += r->theirs.nic.rate_gbps;
	}
	return (mine < theirs ? mine : theirs) * (row->direction == RESULT_BOTH_WAYS ? 2 : 1);
}

/* Check a shown row against the thresholds, and with --strict also for disturbances. */
static void judge_row(struct measure *ms, const struct result_row *row)
{
	const char *direction = result_direction_name(row->direction);
	char text[512];

	gates_judge(ms->gates, row->record, direction, link_gbps(ms->ep, row));
	if (result_is_disturbed(row))
		gates_doubt(ms->gates, row_advice(row), "%s, %s, was disturbed: %s",
			    units_size(row->record->message_bytes).text, direction,
			    result_disturbance(row, text, sizeof(text)));
}

void round_judge(struct measure *ms, const struct result *result)
{
	for (size_t i = 0; i < 2 && result->shown[i] && !ms->ep->server; i++)
		judge_row(ms, result->shown[i]);
}

/*
 * Tell the rows, samples and histogram of the round, after they are judged; if the round is one of
 * several runs, keep it instead, since the median run is judged. Sets ms->measured.
 */
static void tell_round(struct measurement *meas)
{
	struct measure *ms = meas->ms;
	size_t max_rows = 2 * (1 + ms->ep->workers + ms->ep->rails) + 1;
	struct rows rows = {
		.row = calloc(max_rows, sizeof(*rows.row)),
		.own = calloc(max_rows, sizeof(*rows.own)),
	};
	struct result result = {.evidence = meas->evidence, .snapshot = meas->snapshot};
	const struct hist *hist = ms->meter[0].hist;

	if (rows.row && rows.own)
		collect_rows(&rows, meas, &result);
	else
		fault_raise(ms->fault, FAULT_LOCAL, ENOMEM, "allocating %zu rows", max_rows);
	explain_rows(&rows, meas, &result);
	if (meas->measured)
		result.samples_us = rows.samples_us = samples_us(ms);
	if (hist && meas->measured &&
	    (ms->options->output.histogram || ms->options->output.histogram_only))
		result.histogram = histogram_json(ms, hist);
	ms->measured = true;
	/* A signal ends a run early, which is not a failure. */
	result.failed = fault_is(ms->fault) && ms->fault->code != FAULT_INTERRUPTED;
	if (!result.one_of_runs)
		round_judge(ms, &result);
	else if (with_rate(result.main))
		repeat_keep(ms->repeat, result.main->record, &result, ms->fault);
	ms->audience.round(ms->report, meas, &result);
	json_decref(result.histogram);
	free(rows.samples_us);
	free(rows.explained);
	free(rows.row);
	free(rows.own);
}

/*
 * A reader of stdout, such as a pager, may block this for long, so tell the peer meanwhile that
 * this end is alive.
 */
void round_tell(struct measurement *meas)
{
	struct measure *ms = meas->ms;

	link_alive_start(ms->link);
	if (meas->measured || meas->theirs_measured)
		tell_round(meas);
	else if (fault_is(ms->fault) && meas->answered && !meas->attr.warmup)
		ms->audience.round(ms->report, meas, NULL);
	link_alive_stop(ms->link);
}
