// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "measure/together.h"

#include <math.h>

#include "base/units.h"

#define TRIES       8       /* round trips to compare the clocks by */
#define AHEAD_NS    2000000 /* more than threads take to get ready */
#define AHEAD_TRIPS 4       /* round trips in which the start time certainly arrives */
#define STEPS       100     /* of a timeline (message counts over time), as sent to the peer */
#define PARTS       1024 /* units per message in a timeline: a step seldom ends with a whole one */
_Static_assert(STEPS < SLICES_MARKS, "a timeline has a mark for each step and its start");
#define NS_MAX (INT64_MAX / 4)

/*
 * Ask for the server's clock. *APART_NS is how far it is ahead of this end's, assuming that the
 * answer left after half of the round trip, *TOOK_NS.
 */
static int ask_clock(struct measure *ms, uint64_t *apart_ns, uint64_t *took_ns)
{
	uint64_t before = clock_raw_ns(), after, there;
	json_t *m;
	int rc;

	if (link_send(ms->link, message_new("clock")) || link_expect(ms->link, "clock", &m))
		return -1;
	after = clock_raw_ns();
	rc = message_u64(m, "raw_ns", NS_MAX, &there, ms->fault);
	json_decref(m);
	*took_ns = after - before;
	*apart_ns = there - (before + *took_ns / 2);
	return rc;
}

/*
 * Client: find how far the clocks are apart, by the shortest of TRIES round trips, and send the
 * server the time at which both ends start.
 */
static int propose_start(struct measurement *meas)
{
	struct measure *ms = meas->ms;
	uint64_t least_ns = UINT64_MAX, ahead_ns, most_ns = link_patience_ns(ms->link) / 4;
	json_t *m;

	for (int i = 0; i < TRIES; i++) {
		uint64_t apart_ns, took_ns;

		if (ask_clock(ms, &apart_ns, &took_ns))
			return -1;
		if (took_ns < least_ns) {
			least_ns = took_ns;
			meas->both.apart_ns = apart_ns;
		}
	}
	ahead_ns = AHEAD_NS + AHEAD_TRIPS * least_ns;
	meas->both.begin_ns = clock_raw_ns() + (ahead_ns < most_ns ? ahead_ns : most_ns);
	m = message_new("go");
	json_object_set_new(m, "begin_ns",
			    json_integer((json_int_t)(meas->both.begin_ns + meas->both.apart_ns)));
	json_object_set_new(m, "client_ns", json_integer((json_int_t)meas->both.begin_ns));
	return link_send(ms->link, m);
}

/* Server: answer the client's clock requests, and adopt its start time. */
static int accept_start(struct measurement *meas)
{
	struct measure *ms = meas->ms;
	uint64_t client_ns;
	json_t *m = NULL;
	int rc = -1;

	for (int i = 0; i <= TRIES; i++) {
		if (link_expect(ms->link, i < TRIES ? "clock" : "go", &m))
			return -1;
		if (i == TRIES)
			break;
		json_decref(m);
		m = message_new("clock");
		json_object_set_new(m, "raw_ns", json_integer((json_int_t)clock_raw_ns()));
		if (link_send(ms->link, m))
			return -1;
	}
	if (message_u64(m, "begin_ns", NS_MAX, &meas->both.begin_ns, ms->fault) == 0 &&
	    message_u64(m, "client_ns", NS_MAX, &client_ns, ms->fault) == 0) {
		meas->both.apart_ns = client_ns - meas->both.begin_ns;
		rc = 0;
	}
	json_decref(m);
	/* Ignore a start time too far off, or long past: each end then begins when it can. */
	if ((int64_t)(meas->both.begin_ns - clock_raw_ns()) >
	    (int64_t)ms->options->local.timeout_ns / 2)
		meas->both.begin_ns = 0;
	return rc;
}

int together_agree(struct measurement *meas)
{
	return meas->ms->ep->server ? accept_start(meas) : propose_start(meas);
}

uint64_t together_begins_ns(const struct measurement *meas)
{
	int64_t ahead_ns = (int64_t)(meas->both.begin_ns - clock_raw_ns());

	return meas->both.begin_ns && ahead_ns > 0 ? clock_now_ns() + (uint64_t)ahead_ns : 0;
}

void together_begin(const struct measurement *meas, const struct round_control *c)
{
	while (meas->both.begin_ns && (int64_t)(meas->both.begin_ns - clock_raw_ns()) > 0 &&
	       !atomic_load_explicit(&c->abort, memory_order_relaxed))
		;
}

/* The time in ns at which C showed TICKS, also before it was calibrated. */
static uint64_t ticks_to_time_ns(const struct clock *c, uint64_t ticks)
{
	return c->start.ns +
	       (uint64_t)(int64_t)clock_ticks_to_ns(c, (double)(int64_t)(ticks - c->start.ticks));
}

/* Set SPAN from the first thread's start to the last one's end; false if nothing was timed. */
static bool whole_span(const struct measure *ms, uint64_t span[2])
{
	span[0] = UINT64_MAX;
	span[1] = 0;
	for (unsigned i = 0; i < ms->ep->workers; i++) {
		const struct round *r = &ms->meter[i].round;

		if (!r->result.timed_messages)
			continue;
		span[0] = r->result.start_ticks < span[0] ? r->result.start_ticks : span[0];
		span[1] = r->result.end_ticks > span[1] ? r->result.end_ticks : span[1];
	}
	return span[0] < span[1];
}

/* The number of messages that all threads of this end had completed at TICKS, times PARTS. */
static uint64_t completed_at(const struct measure *ms, uint64_t ticks)
{
	double sum = 0;

	for (unsigned i = 0; i < ms->ep->workers; i++)
		if (ms->meter[i].round.result.timed_messages)
			sum += slices_messages_at(&ms->meter[i].round.result.slices, ticks);
	return (uint64_t)(sum * PARTS + 0.5);
}

/* The number of slices of the thread with the fewest, which is the resolution of the timeline. */
static unsigned fewest_slices(const struct measure *ms)
{
	unsigned least = SLICES_MARKS;

	for (unsigned i = 0; i < ms->ep->workers; i++)
		if (ms->meter[i].round.result.slices.count < least)
			least = ms->meter[i].round.result.slices.count;
	return least ? least - 1 : 0; /* the first mark is the start */
}

/* The time of step I after the start of a timeline of LENGTH. */
static uint64_t timeline_step(uint64_t length, size_t i)
{
	return (uint64_t)((double)length * (double)i / STEPS);
}

/*
 * This end's timeline: how much was sent up to each of STEPS times, by this end's clock in ns.
 * Returns false if nothing was timed.
 */
static bool make_timeline(const struct measure *ms, struct slices *to)
{
	uint64_t span[2], start_ns, took_ns;

	if (!whole_span(ms, span))
		return false;
	start_ns = ticks_to_time_ns(ms->clock, span[0]);
	took_ns = ticks_to_time_ns(ms->clock, span[1]) - start_ns;
	slices_start(to, start_ns, 0);
	for (unsigned i = 1; i <= STEPS; i++)
		slices_add(to, start_ns + timeline_step(took_ns, i),
			   completed_at(ms, span[0] + timeline_step(span[1] - span[0], i)));
	return true;
}

void together_describe(const struct measurement *meas, json_t *m)
{
	struct slices mine;
	json_t *sent;

	if (!meas->measured || !make_timeline(meas->ms, &mine))
		return;
	sent = json_array();
	for (unsigned i = 1; i <= STEPS; i++)
		json_array_append_new(sent, json_integer((json_int_t)mine.mark[i].messages));
	json_object_set_new(m, "course",
			    json_pack("{s:I, s:I, s:i, s:o}", "start_ns",
				      (json_int_t)mine.mark[0].ticks, "end_ns",
				      (json_int_t)mine.mark[STEPS].ticks, "marks",
				      (int)fewest_slices(meas->ms), "sent", sent));
}

int together_read(struct measurement *meas, const json_t *m)
{
	struct fault *f = meas->ms->fault;
	const json_t *timeline = json_object_get(m, "course"), *v;
	const json_t *sent = json_object_get(timeline, "sent");
	struct slices *to = &meas->both.theirs;
	uint64_t start_ns, end_ns, marks, last = 0;
	size_t i;

	if (!timeline)
		return 0;
	if (message_u64(timeline, "start_ns", NS_MAX, &start_ns, f) ||
	    message_u64(timeline, "end_ns", NS_MAX, &end_ns, f) ||
	    message_has(timeline, "end_ns", end_ns > start_ns, f) ||
	    message_u64(timeline, "marks", SLICES_MARKS, &marks, f) ||
	    message_has(timeline, "sent", json_array_size(sent) == STEPS, f))
		return -1;
	meas->both.their_marks = (unsigned)marks;
	slices_start(to, start_ns - meas->both.apart_ns, 0);
	json_array_foreach (sent, i, v) {
		if (message_has(timeline, "sent",
				json_is_integer(v) && json_integer_value(v) >= (json_int_t)last &&
					json_integer_value(v) < NS_MAX,
				f))
			return -1;
		last = (uint64_t)json_integer_value(v);
		slices_add(to,
			   start_ns + timeline_step(end_ns - start_ns, i + 1) - meas->both.apart_ns,
			   last);
	}
	return 0;
}

/*
 * The share of REC's messages that arrived. The peer's counts may say that more was lost than sent.
 */
static double share_arrived(const struct record *rec)
{
	if (rec->lost >= rec->messages)
		return 0;
	return (double)(rec->messages - rec->lost) / (double)rec->messages;
}

/* The number of the timeline's MARKS within BOTH, the time when both ends sent. */
static unsigned marks_within(const struct slices *timeline, unsigned marks, const uint64_t both[2])
{
	double whole = (double)(timeline->mark[STEPS].ticks - timeline->mark[0].ticks);

	return (unsigned)(marks * ((double)(both[1] - both[0]) / whole));
}

/* Find when both directions ran at once, and what percentage of the whole time that is. */
void together_measure(struct measurement *meas)
{
	struct slices *timeline[2] = {&meas->both.mine, &meas->both.theirs};
	uint64_t *both = meas->both.span_ns, first, last;
	double percent = 0;

	if (!timeline[1]->count || !make_timeline(meas->ms, timeline[0]))
		return;
	meas->both.my_marks = fewest_slices(meas->ms);
	both[0] = first = timeline[0]->mark[0].ticks;
	both[1] = last = timeline[0]->mark[STEPS].ticks;
	if (timeline[1]->mark[0].ticks > first)
		both[0] = timeline[1]->mark[0].ticks;
	else
		first = timeline[1]->mark[0].ticks;
	if (timeline[1]->mark[STEPS].ticks < last)
		both[1] = timeline[1]->mark[STEPS].ticks;
	else
		last = timeline[1]->mark[STEPS].ticks;
	if (both[0] < both[1])
		percent = (double)(both[1] - both[0]) / (double)(last - first) * 100;
	meas->quality.overlap_percent = percent; /* printed once, not for each end */
	meas->mine.quality.overlap_percent = meas->theirs.quality.overlap_percent = percent;
}

/*
 * The number of messages that direction I, 0 for this end's, sent while both ran, times PARTS; 0 if
 * they never did.
 */
static double sent_together(const struct measurement *meas, int i)
{
	const struct slices *timeline = i ? &meas->both.theirs : &meas->both.mine;
	const uint64_t *both = meas->both.span_ns;

	if (both[0] >= both[1])
		return 0;
	return slices_messages_at(timeline, both[1]) - slices_messages_at(timeline, both[0]);
}

/* Less than one message has no rate. */
bool together_has_rate(const struct measurement *meas)
{
	return sent_together(meas, 0) + sent_together(meas, 1) >= PARTS;
}

void together_sum(const struct measurement *meas, struct record *sum)
{
	const struct slices *timeline[2] = {&meas->both.mine, &meas->both.theirs};
	const struct record *rec[2] = {&meas->mine, &meas->theirs};
	const uint64_t *both = meas->both.span_ns;
	struct interval in;
	double messages = 0;
	unsigned marks[2];

	sum->timed_messages = 0;
	sum->seconds = 0;
	sum->messages_per_s = sum->bandwidth_gbps = sum->bandwidth_peak_gbps = 0;
	if (!together_has_rate(meas))
		return;
	for (int i = 0; i < 2; i++)
		messages += share_arrived(rec[i]) * sent_together(meas, i);
	marks[0] = marks_within(timeline[0], meas->both.my_marks, both);
	marks[1] = marks_within(timeline[1], meas->both.their_marks, both);
	in = slices_confidence(timeline, 2, both, marks[0] < marks[1] ? marks[0] : marks[1],
			       INTERVAL_CONFIDENCE);
	sum->timed_messages = (uint64_t)(messages / PARTS + 0.5);
	record_set_rates(sum, (double)(both[1] - both[0]) / 1e9);
	sum->plus_minus = plus_minus_of(&in);
	/* The peak of both together is unknown: show the average. */
	if (rec[0]->bandwidth_peak_gbps > 0)
		sum->bandwidth_peak_gbps = sum->bandwidth_gbps;
}
