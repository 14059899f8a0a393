// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Turn the records of a round, of both ends, into rows, and judge them by the thresholds. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hist.h"
#include "base/units.h"
#include "endpoint/rail.h"
#include "explain/limit.h"
#include "measure/meter.h"
#include "measure/results.h"
#include "measure/together.h"
#include "plan/test.h"

/*
 * A tick of a round trip in us. All latencies are that many ticks: other rounding could put the
 * smallest sample below its own bucket.
 */
static double tick_us(const struct endpoint *ep)
{
	return operation_latency_us(&ep->test->operation, 1) * clock_ticks_to_ns(ep->clock, 1);
}

/* The buckets that are not empty, as [lowest, highest, count] in microseconds. */
static json_t *histogram_json(const struct hist *h, double us)
{
	json_t *to = json_array();

	for (unsigned i = 0; i < HIST_BUCKETS; i++) {
		double low = (double)hist_bucket_low(i), width = (double)hist_bucket_width(i);

		if (h->bucket[i])
			json_array_append_new(to,
					      json_pack("[f, f, I]", us * low, us * (low + width),
							(json_int_t)h->bucket[i]));
	}
	return to;
}

/* All samples in us, thread after thread, to be freed by the caller; NULL: none were kept. */
static double *samples_us(const struct meter *all)
{
	const double us = tick_us(all->ep);
	uint64_t count = 0, n = 0;
	double *to;

	for (unsigned i = 0; i < all->ep->workers && all[i].samples; i++)
		count += all[i].round.result.timed_messages;
	to = count ? malloc(count * sizeof(*to)) : NULL;
	for (unsigned i = 0; to && i < all->ep->workers; i++)
		for (uint64_t k = 0; k < all[i].round.result.timed_messages; k++)
			to[n++] = us * (double)all[i].samples[k];
	return to;
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

/* The sum over the threads of device D of the end that FOUND it, in the time of the longest. */
static struct record sum_device(const struct endpoint *ep, const struct found *found, unsigned d)
{
	struct record sum = {0};
	double seconds = 0;

	for (unsigned i = d; i < ep->workers; i += ep->rails) {
		const struct record *of = &found->workers[i];

		if (!(of->messages_per_s > 0))
			continue;
		results_add(&sum, of);
		seconds = of->seconds > seconds ? of->seconds : seconds;
	}
	sum.qps = found->record.qps / ep->rails;
	if (seconds > 0)
		record_set_rates(&sum, seconds);
	if (ep->test->latency)
		sum.bandwidth_gbps = 0;
	else
		sum.plus_minus = found->devices[d];
	return sum;
}

/*
 * Add a row for each thread of an end (MINE: this one), and one for each device if a device has
 * several threads. ALL is the end's own row.
 */
static void add_worker_rows(struct rows *to, const struct endpoint *ep, const struct found *found,
			    bool mine, const struct result_row *all)
{
	const struct result_row like = *all;
	struct result_row *row;

	for (unsigned i = 0; i < ep->workers; i++) {
		if (!(found->workers[i].messages_per_s > 0))
			continue;
		row = add_row(to, &found->workers[i], like.by, like.direction);
		row->thread = (int)i;
		row->device = rail_end(&ep->rail[i % ep->rails], mine)->device;
	}
	for (unsigned d = 0; d < ep->rails && ep->rails > 1 && ep->workers > ep->rails; d++) {
		struct record *sum = &to->own[to->owned++];

		*sum = sum_device(ep, found, d);
		row = add_row(to, sum, like.by, like.direction);
		row->device = rail_end(&ep->rail[d], mine)->device;
	}
}

/* Add the row of what END measured, and return it; NULL: it measured nothing. */
static const struct result_row *add_end(struct rows *to, const struct measurement *meas,
					enum result_end end)
{
	bool mine = end == measurement_end(meas, true);
	const struct found *found = mine ? &meas->mine : &meas->theirs;
	enum result_direction direction = RESULT_FORWARD;
	bool pulls = operation_pulls(&meas->ms->test->operation);

	if (!found->measured && !(mine && meas->attr.cpu_util))
		return NULL;
	if (meas->ms->test->latency)
		direction = RESULT_PING_PONG;
	else if ((meas->attr.both ? end == RESULT_SERVER : meas->attr.reverse) != pulls)
		direction = RESULT_BACKWARD;
	return add_row(to, &found->record, end, direction);
}

/* ROW, or NULL if it has no rate, but only the CPU use of an end that measured nothing else. */
static const struct result_row *with_rate(const struct result_row *row)
{
	return row && row->record->messages ? row : NULL;
}

/* Choose what this end's table shows of two directions: their sum, or the rows of both ends. */
static void choose_both(struct rows *to, const struct measurement *meas,
			const struct result_row *const end[2], struct result *result)
{
	const struct record *const rec[2] = {&meas->mine.record, &meas->theirs.record};
	const struct output_options *o = &meas->ms->options->output;
	enum result_end me = measurement_end(meas, true);
	struct record *both = &to->own[to->owned++];
	/* In perftest's format the directions have tables of their own. */
	bool apart = o->both_rows && o->format != FORMAT_PERFTEST;

	results_add(both, rec[0]);
	results_add(both, rec[1]);
	both->qps = rec[0]->qps;
	together_sum(&meas->both, rec, both);
	result->main = add_row(to, both, RESULT_BOTH, RESULT_BOTH_WAYS);
	result->shown[0] = apart ? end[RESULT_CLIENT] : result->main;
	result->shown[1] = apart ? end[RESULT_SERVER] : NULL;
	result->local = end[me];
	result->remote = end[!me];
}

/* The same of one direction; an end may have no row. */
static void choose_leader(const struct measurement *meas, const struct result_row *const end[2],
			  struct result *result)
{
	const struct result_row *own = with_rate(end[measurement_end(meas, true)]);
	const struct result_row *leader = with_rate(end[meas->attr.reverse]);
	const struct result_row *other = with_rate(end[!meas->attr.reverse]);

	/* A server shows its own row if it has one, a client that of the leader. */
	result->shown[0] = meas->ms->ep->server && own ? own : leader ? leader : own;
	/* The main row is the same at both ends. */
	result->main = leader               ? leader
		       : other              ? other
		       : end[RESULT_CLIENT] ? end[RESULT_CLIENT]
					    : end[RESULT_SERVER];
}

/* Add all rows of the round to TO, and choose in RESULT those that this end's table shows. */
static void collect_rows(struct rows *to, const struct measurement *meas, struct result *result)
{
	const struct endpoint *ep = meas->ms->ep;
	const struct result_row *end[2];

	end[RESULT_CLIENT] = add_end(to, meas, RESULT_CLIENT);
	end[RESULT_SERVER] = add_end(to, meas, RESULT_SERVER);
	if (meas->attr.both && end[0] && end[1])
		choose_both(to, meas, end, result);
	else
		choose_leader(meas, end, result);
	for (int i = 0; i < 2 && ep->workers > 1; i++) {
		bool mine = (i == RESULT_SERVER) == ep->server;

		if (with_rate(end[i]))
			add_worker_rows(to, ep, mine ? &meas->mine : &meas->theirs, mine, end[i]);
	}
	for (size_t i = 0; i < to->count; i++) {
		struct result_row *row = &to->row[i];

		conditions_judge(meas, row);
		if (row->thread < 0 && !row->device)
			row->verified = verify_tally(meas, row->direction);
	}
	result->row = to->row;
	result->rows = to->count;
	result->cpu_percent = meas->mine.record.cpu_percent;
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
	struct explained *e = rows->explained = malloc(2 * sizeof(*e));
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

/* The rate of the slower end's ports, of both ways twice; 0: unknown. */
static double link_gbps(const struct endpoint *ep, const struct result_row *row)
{
	double mine = 0, theirs = 0;

	for (unsigned i = 0; i < ep->rails; i++) {
		const struct rail *r = &ep->rail[i];

		if (!(r->mine.rate_gbps > 0) || !(r->theirs.rate_gbps > 0))
			return 0;
		mine += r->mine.rate_gbps;
		theirs += r->theirs.rate_gbps;
	}
	return (mine < theirs ? mine : theirs) * (row->direction == RESULT_BOTH_WAYS ? 2 : 1);
}

/*
 * Check ROW against the thresholds. Of a sum of both directions each is checked instead, the slower
 * one first, and the sum as perftest does; without a rate, they did not run at the same time.
 */
static void judge_row(struct measure *ms, const struct result *result, const struct result_row *row)
{
	const struct result_row *slow = result->local, *fast = result->remote;
	double gbps = link_gbps(ms->ep, row);

	if (row->direction != RESULT_BOTH_WAYS || !record_has_rate(row->record)) {
		gates_judge(ms->gates, row, GATES_ALL, gbps);
		return;
	}
	if (slow->record->bandwidth_gbps > fast->record->bandwidth_gbps) {
		slow = result->remote;
		fast = result->local;
	}
	gates_judge(ms->gates, slow, GATES_EACH, gbps / 2);
	gates_judge(ms->gates, fast, GATES_EACH, gbps / 2);
	gates_judge(ms->gates, row, GATES_SUMMED, gbps);
}

/* Check the shown rows against the thresholds. */
void round_judge(struct measure *ms, const struct result *result)
{
	for (size_t i = 0; i < 2 && result->shown[i] && !ms->ep->server; i++)
		judge_row(ms, result, result->shown[i]);
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
	struct result result = {
		.evidence = meas->evidence, .snapshot = meas->snapshot, .receivers = ms->receivers};
	const struct hist *hist = ms->meter[0].hist;

	if (rows.row && rows.own)
		collect_rows(&rows, meas, &result);
	else
		fault_raise(ms->fault, FAULT_LOCAL, ENOMEM, "allocating %zu rows", max_rows);
	explain_rows(&rows, meas, &result);
	if (meas->mine.measured)
		result.samples_us = rows.samples_us = samples_us(ms->meter);
	if (hist && meas->mine.measured &&
	    (ms->options->output.histogram || ms->options->output.histogram_only))
		result.histogram = histogram_json(hist, tick_us(ms->ep));
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
	if (meas->mine.measured || meas->theirs.measured)
		tell_round(meas);
	else if (fault_is(ms->fault) && meas->answered && !meas->attr.warmup)
		ms->audience.round(ms->report, meas, NULL);
	link_alive_stop(ms->link);
}
