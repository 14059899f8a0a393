// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "measure/together.h"

#include <limits.h>
#include <math.h>

#include "measure/meter.h"

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
static int ask_clock(struct link *l, uint64_t *apart_ns, uint64_t *took_ns)
{
	uint64_t before = clock_raw_ns(), after, there;
	json_t *m;
	int rc;

	if (link_send(l, message_new("clock")) || link_expect(l, "clock", &m))
		return -1;
	after = clock_raw_ns();
	rc = message_u64(m, "raw_ns", NS_MAX, &there, l->fault);
	json_decref(m);
	*took_ns = after - before;
	*apart_ns = there - (before + *took_ns / 2);
	return rc;
}

/*
 * Client: find how far the clocks are apart, by the shortest of TRIES round trips, and send the
 * server the time at which both ends start.
 */
static int propose_start(struct both_ways *b, struct link *l)
{
	uint64_t least_ns = UINT64_MAX, ahead_ns, most_ns = link_patience_ns(l) / 4;

	for (int i = 0; i < TRIES; i++) {
		uint64_t apart_ns, took_ns;

		if (ask_clock(l, &apart_ns, &took_ns))
			return -1;
		if (took_ns < least_ns) {
			least_ns = took_ns;
			b->apart_ns = apart_ns;
		}
	}
	ahead_ns = AHEAD_NS + AHEAD_TRIPS * least_ns;
	b->begin_ns = clock_raw_ns() + (ahead_ns < most_ns ? ahead_ns : most_ns);
	return link_send(l, json_pack("{s:s, s:I, s:I}", "type", "go", "begin_ns",
				      (json_int_t)(b->begin_ns + b->apart_ns), "client_ns",
				      (json_int_t)b->begin_ns));
}

/* Server: answer the client's clock requests, and adopt its start time. */
static int accept_start(struct both_ways *b, struct link *l)
{
	uint64_t client_ns = 0;
	json_t *m = NULL;
	int rc;

	for (int i = 0; i < TRIES; i++) {
		if (link_expect(l, "clock", &m))
			return -1;
		json_decref(m);
		m = message_new("clock");
		json_object_set_new(m, "raw_ns", json_integer((json_int_t)clock_raw_ns()));
		if (link_send(l, m))
			return -1;
	}
	if (link_expect(l, "go", &m))
		return -1;
	rc = message_u64(m, "begin_ns", NS_MAX, &b->begin_ns, l->fault) ||
			     message_u64(m, "client_ns", NS_MAX, &client_ns, l->fault)
		     ? -1
		     : 0;
	json_decref(m);
	b->apart_ns = client_ns - b->begin_ns;
	/* Ignore a start time too far off, or long past: each end then begins when it can. */
	if ((int64_t)(b->begin_ns - clock_raw_ns()) > (int64_t)l->timeout_ns / 2)
		b->begin_ns = 0;
	return rc;
}

int together_agree(struct both_ways *b, struct link *l, bool server)
{
	return server ? accept_start(b, l) : propose_start(b, l);
}

uint64_t together_begins_ns(const struct both_ways *b)
{
	int64_t ahead_ns = (int64_t)(b->begin_ns - clock_raw_ns());

	return b->begin_ns && ahead_ns > 0 ? clock_now_ns() + (uint64_t)ahead_ns : 0;
}

void together_begin(const struct both_ways *b, const struct round_control *c)
{
	while (b->begin_ns && (int64_t)(b->begin_ns - clock_raw_ns()) > 0 &&
	       !atomic_load_explicit(&c->abort, memory_order_relaxed))
		;
}

/* The time in ns at which C showed TICKS, also before it was calibrated. */
static uint64_t ticks_to_time_ns(const struct clock *c, uint64_t ticks)
{
	return c->start.ns +
	       (uint64_t)(int64_t)clock_ticks_to_ns(c, (double)(int64_t)(ticks - c->start.ticks));
}

/* The number of messages that all threads of this end had completed at TICKS, times PARTS. */
static uint64_t completed_at(const struct meter *all, uint64_t ticks)
{
	double sum = 0;

	for (unsigned i = 0; i < all->ep->workers; i++)
		if (all[i].round.result.timed_messages)
			sum += slices_messages_at(&all[i].round.result.slices, ticks);
	return (uint64_t)(sum * PARTS + 0.5);
}

/* The number of slices of the thread with the fewest, which is the resolution of the timeline. */
static unsigned fewest_slices(const struct meter *all)
{
	unsigned least = SLICES_MARKS;

	for (unsigned i = 0; i < all->ep->workers; i++)
		if (all[i].round.result.slices.count < least)
			least = all[i].round.result.slices.count;
	return least ? least - 1 : 0; /* the first mark is the start */
}

/* The time of step I after the start of a timeline of LENGTH. */
static uint64_t timeline_step(uint64_t length, size_t i)
{
	return (uint64_t)((double)length * (double)i / STEPS);
}

void together_describe(struct both_ways *b, const struct meter *all, json_t *m)
{
	const struct clock *c = all->ep->clock;
	uint64_t span[2], start_ns, took_ns;
	struct slices *mine = &b->sent[0];
	json_t *sent;

	if (!meter_span(all, 0, 1, span))
		return;
	start_ns = ticks_to_time_ns(c, span[0]);
	took_ns = ticks_to_time_ns(c, span[1]) - start_ns;
	b->marks[0] = fewest_slices(all);
	slices_start(mine, start_ns, 0);
	sent = json_array();
	for (unsigned i = 1; i <= STEPS; i++) {
		slices_add(mine, start_ns + timeline_step(took_ns, i),
			   completed_at(all, span[0] + timeline_step(span[1] - span[0], i)));
		json_array_append_new(sent, json_integer((json_int_t)mine->mark[i].messages));
	}
	json_object_set_new(m, "course",
			    json_pack("{s:I, s:I, s:i, s:o}", "start_ns", (json_int_t)start_ns,
				      "end_ns", (json_int_t)mine->mark[STEPS].ticks, "marks",
				      (int)b->marks[0], "sent", sent));
}

int together_read(struct both_ways *b, const json_t *m, struct fault *f)
{
	const json_t *timeline = json_object_get(m, "course"), *v;
	const json_t *sent = json_object_get(timeline, "sent");
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
	b->marks[1] = (unsigned)marks;
	start_ns -= b->apart_ns;
	end_ns -= b->apart_ns;
	slices_start(&b->sent[1], start_ns, 0);
	json_array_foreach (sent, i, v) {
		if (message_has(timeline, "sent",
				json_is_integer(v) && json_integer_value(v) >= (json_int_t)last &&
					json_integer_value(v) < NS_MAX,
				f))
			return -1;
		last = (uint64_t)json_integer_value(v);
		slices_add(&b->sent[1], start_ns + timeline_step(end_ns - start_ns, i + 1), last);
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

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

double together_measure(struct both_ways *b)
{
	const struct slices_mark *mine = b->sent[0].mark, *theirs = b->sent[1].mark;
	uint64_t *both = b->span_ns, first, last;

	if (!b->sent[0].count || !b->sent[1].count)
		return NAN;
	first = earlier(mine[0].ticks, theirs[0].ticks);
	both[0] = later(mine[0].ticks, theirs[0].ticks);
	both[1] = earlier(mine[STEPS].ticks, theirs[STEPS].ticks);
	last = later(mine[STEPS].ticks, theirs[STEPS].ticks);
	return both[0] < both[1] ? (double)(both[1] - both[0]) / (double)(last - first) * 100 : 0;
}

/* The number of messages that direction I sent while both ran, times PARTS; 0: they never did. */
static double sent_together(const struct both_ways *b, int i)
{
	const uint64_t *both = b->span_ns;

	if (both[0] >= both[1])
		return 0;
	return slices_messages_at(&b->sent[i], both[1]) - slices_messages_at(&b->sent[i], both[0]);
}

/* Less than one message has no rate. */
bool together_has_rate(const struct both_ways *b)
{
	return sent_together(b, 0) + sent_together(b, 1) >= PARTS;
}

void together_sum(const struct both_ways *b, const struct record *const rec[2], struct record *sum)
{
	const struct slices *const timeline[2] = {&b->sent[0], &b->sent[1]};
	unsigned marks = UINT_MAX;
	struct interval in;
	double messages = 0;

	sum->timed_messages = 0;
	sum->seconds = 0;
	sum->messages_per_s = sum->bandwidth_gbps = sum->bandwidth_peak_gbps = 0;
	if (!together_has_rate(b))
		return;
	for (int i = 0; i < 2; i++) {
		unsigned within = marks_within(timeline[i], b->marks[i], b->span_ns);

		messages += share_arrived(rec[i]) * sent_together(b, i);
		marks = within < marks ? within : marks;
	}
	in = slices_confidence(timeline, 2, b->span_ns, marks, INTERVAL_CONFIDENCE);
	sum->timed_messages = (uint64_t)(messages / PARTS + 0.5);
	record_set_rates(sum, (double)(b->span_ns[1] - b->span_ns[0]) / 1e9);
	sum->plus_minus = plus_minus_of(&in);
	/* The peak of both together is unknown: show the average. */
	if (rec[0]->bandwidth_peak_gbps > 0)
		sum->bandwidth_peak_gbps = sum->bandwidth_gbps;
}
