// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "measure/together.h"

#include <math.h>

#include "measure/meter.h"
#include "proto/fields.h"

#define TRIES 8 /* round trips to compare the clocks by */

#define ROW(member) FIELD(struct both_part, member, FIELD_REQUIRED)
static const struct field part_rows[] = {ROW(began_ns), ROW(ended_ns), ROW(messages)};
static const struct fields part_table = FIELDS(part_rows, "the peer's time has an invalid");

/* Server: answer the client, the last time when the round begins. */
static int tell_clock(struct both_ways *b, struct link *l, const struct clock *c)
{
	json_t *m;

	for (int i = 0; i < TRIES; i++) {
		if (link_expect(l, "clock", &m))
			return -1;
		json_decref(m);
		m = message_new("clock");
		b->go_ticks = clock_ticks(c);
		json_object_set_new(m, "raw_ns", json_integer((json_int_t)clock_raw_ns()));
		if (link_send(l, m))
			return -1;
	}
	return 0;
}

/* Client: how far the server's clock is ahead, the shortest round trip tells: half of it is one way. */
static int ask_clock(struct both_ways *b, struct link *l, const struct clock *c)
{
	uint64_t least_ns = UINT64_MAX, ahead_ns = 0, there_ns = 0;
	json_t *m;

	for (int i = 0; i < TRIES; i++) {
		uint64_t before_ns = clock_raw_ns(), took_ns;
		int rc;

		if (link_send(l, message_new("clock")) || link_expect(l, "clock", &m))
			return -1;
		took_ns = clock_raw_ns() - before_ns;
		rc = message_u64(m, "raw_ns", INT64_MAX, &there_ns, l->fault);
		json_decref(m);
		if (rc)
			return -1;
		if (took_ns < least_ns)
			ahead_ns = there_ns - before_ns - took_ns / 2;
		least_ns = took_ns < least_ns ? took_ns : least_ns;
	}
	b->go_ticks = clock_ticks(c) -
		      (uint64_t)((double)(clock_raw_ns() + ahead_ns - there_ns) / c->ns_per_tick);
	return 0;
}

int together_begin(struct both_ways *b, struct link *l, const struct endpoint *ep)
{
	return ep->server ? tell_clock(b, l, ep->clock) : ask_clock(b, l, ep->clock);
}

void together_describe(struct both_ways *b, const struct meter *all, json_t *m)
{
	struct both_part *mine = &b->part[0];
	uint64_t span[2];

	if (!meter_span(all, 0, 1, span) || span[0] < b->go_ticks)
		return;
	mine->began_ns = clock_ticks_to_ns(all->ep->clock, (double)(span[0] - b->go_ticks));
	mine->ended_ns = clock_ticks_to_ns(all->ep->clock, (double)(span[1] - b->go_ticks));
	json_object_set_new(m, "sent", fields_write(&part_table, mine, json_object()));
}

int together_read(struct both_ways *b, const json_t *m, struct fault *f)
{
	const json_t *from = json_object_get(m, "sent");

	return from ? fields_read(&part_table, &b->part[1], from, f) : 0;
}

/* When both sent: from the later start to the earlier end; 0 ns, if they never did. */
static double common_ns(const struct both_ways *b, double *from_ns)
{
	const struct both_part *mine = &b->part[0], *theirs = &b->part[1];

	*from_ns = fmax(mine->began_ns, theirs->began_ns);
	return fmax(fmin(mine->ended_ns, theirs->ended_ns) - *from_ns, 0);
}

void together_count(struct both_ways *b, const struct meter *all)
{
	const struct clock *c = all->ep->clock;
	double from_ns, ns = common_ns(b, &from_ns);
	uint64_t from = b->go_ticks + (uint64_t)(from_ns / c->ns_per_tick);
	uint64_t to = from + (uint64_t)(ns / c->ns_per_tick);

	for (unsigned i = 0; i < all->ep->workers; i++) {
		const struct round_result *r = &all[i].round.result;

		if (r->timed_messages)
			b->part[0].messages += slices_messages_at(&r->slices, to) -
					       slices_messages_at(&r->slices, from);
	}
}

double together_percent(const struct both_ways *b)
{
	const struct both_part *mine = &b->part[0], *theirs = &b->part[1];
	double from_ns, ns = common_ns(b, &from_ns);

	if (!(mine->ended_ns > 0) || !(theirs->ended_ns > 0))
		return NAN;
	return 100 * ns / (fmax(mine->ended_ns, theirs->ended_ns) -
			   fmin(mine->began_ns, theirs->began_ns));
}

/* True if both directions ran at the same time for at least one message: less has no rate. */
static bool has_rate(const struct both_ways *b)
{
	return together_percent(b) > 0 && b->part[0].messages + b->part[1].messages >= 1;
}

/*
 * The interval of the sum of A and B, of runs that may have held each other up: half of it is at
 * most the sum of theirs.
 */
static struct plus_minus sum_plus_minus(const struct record *a, const struct record *b)
{
	const struct plus_minus *p = &a->plus_minus, *q = &b->plus_minus;

	return (struct plus_minus){
		.slices = p->slices < q->slices ? p->slices : q->slices,
		.percent = (p->percent * a->bandwidth_gbps + q->percent * b->bandwidth_gbps) /
			   (a->bandwidth_gbps + b->bandwidth_gbps),
		.unknown = p->unknown > q->unknown ? p->unknown : q->unknown,
	};
}

/*
 * The share of REC's messages that arrived. The peer's counts may say that more was lost than sent.
 */
static double share_arrived(const struct record *rec)
{
	return rec->lost < rec->messages
		       ? (double)(rec->messages - rec->lost) / (double)rec->messages
		       : 0;
}

void together_sum(const struct both_ways *b, const struct record *const rec[2], struct record *sum)
{
	double messages = 0, from_ns;

	sum->timed_messages = 0;
	if (!has_rate(b))
		return;
	for (int i = 0; i < 2; i++)
		messages += share_arrived(rec[i]) * b->part[i].messages;
	sum->timed_messages = (uint64_t)(messages + 0.5);
	record_set_rates(sum, common_ns(b, &from_ns) / 1e9);
	if (sum->bandwidth_gbps > 0)
		sum->plus_minus = sum_plus_minus(rec[0], rec[1]);
	/* The peak of both together is unknown: show the average. */
	if (rec[0]->bandwidth_peak_gbps > 0)
		sum->bandwidth_peak_gbps = sum->bandwidth_gbps;
}
