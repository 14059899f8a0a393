// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The messages "done" and "over", in which an end tells what it found; and what was lost. */
#include "endpoint/worker.h"
#include "measure/meter.h"
#include "measure/results.h"
#include "measure/together.h"
#include "plan/test.h"
#include "proto/fields.h"

/*
 * True if messages may be lost unnoticed, and the receiver counts them: of a stream whose messages
 * consume receives; a receiver without them polls memory. A ping-pong's client counts itself.
 */
static bool receiver_counts(const struct endpoint *ep)
{
	return experiment_loses(&ep->options->experiment) && !ep->test->latency &&
	       endpoint_receives(ep);
}

/*
 * Set the rates of REC, a sender's record with its losses, to those of the messages that arrived,
 * but no higher than those of RECEIVER, the record of the end that received (NULL: none). sent_gbps
 * keeps the rate at which messages were sent.
 */
static void rate_arrived_only(struct record *rec, const struct record *receiver)
{
	if (!rec->messages || !(rec->seconds > 0))
		return;
	rec->sent_gbps = rec->bandwidth_gbps;
	rec->timed_messages = rec->messages > rec->lost ? rec->messages - rec->lost : 0;
	record_set_rates(rec, rec->seconds);
	if (receiver && receiver->seconds > 0 && receiver->messages_per_s < rec->messages_per_s) {
		rec->timed_messages = receiver->timed_messages;
		record_set_rates(rec, receiver->seconds);
	}
	if (receiver && receiver->plus_minus.slices)
		rec->plus_minus = receiver->plus_minus;
	/* The peak is for sent messages; for arrived ones only the average is known. */
	if (rec->lost && rec->bandwidth_peak_gbps > 0)
		rec->bandwidth_peak_gbps = rec->bandwidth_gbps;
}

/*
 * The number of messages that worker I's peer says it has sent, in "done", or received, in "over".
 */
static uint64_t messages_of(const json_t *m, unsigned i)
{
	return (uint64_t)json_integer_value(json_array_get(json_object_get(m, "messages"), i));
}

/* The messages that came to T's worker. */
static uint64_t arrived(const struct meter *t)
{
	return (t->round.arrivals ? &t->arrivals : &t->round)->result.messages;
}

static uint64_t lost_of(uint64_t sent, uint64_t came)
{
	return sent > came ? sent - came : 0;
}

/* With -g: what has come to each QP of the messages in DONE. */
static json_t *count_receivers(struct measure *ms, const json_t *done)
{
	uint64_t copies = experiment_copies(&ms->options->experiment);
	json_t *to = json_array();

	for (unsigned i = 0; i < ms->ep->workers; i++) {
		struct worker *t = &ms->ep->worker[i];
		uint64_t sent = messages_of(done, i) / copies;

		for (unsigned qp = 0; qp < t->qps.count; qp++) {
			uint64_t came = recv_queue_arrived(&t->receives, qp);

			json_array_append_new(
				to, json_pack("{s:I, s:I}", "received", (json_int_t)came, "lost",
					      (json_int_t)lost_of(sent, came)));
		}
	}
	return to;
}

void loss_count(struct measure *ms, const json_t *done)
{
	json_decref(ms->receivers);
	ms->receivers = NULL;
	if (!done || !receiver_counts(ms->ep))
		return;
	for (unsigned i = 0; i < ms->ep->workers; i++)
		ms->meter[i].lost = lost_of(messages_of(done, i), arrived(&ms->meter[i]));
	if (ms->options->experiment.mcg)
		ms->receivers = count_receivers(ms, done);
}

/* Of the messages that SENDER's worker I has sent, so many were LOST. */
static void set_lost(struct found *sender, unsigned i, uint64_t lost)
{
	sender->workers[i].lost = lost;
	sender->record.lost += lost;
	rate_arrived_only(&sender->workers[i], NULL);
}

/* With -g: keep what came to each QP of the peer, as its message OVER says. */
static int read_receivers(struct measure *ms, const json_t *over)
{
	json_t *of = json_object_get(over, "receivers"), *one;
	uint64_t count;
	size_t i;

	if (message_has(over, "receivers",
			json_array_size(of) == ms->ep->workers * ms->options->experiment.mcg,
			ms->fault))
		return -1;
	json_array_foreach (of, i, one)
		if (message_u64(one, "received", RECORD_COUNT_MAX, &count, ms->fault) ||
		    message_u64(one, "lost", RECORD_COUNT_MAX, &count, ms->fault))
			return -1;
	ms->receivers = json_incref(of);
	return 0;
}

/* The messages that T's worker has sent. */
static uint64_t sent_by(const struct meter *t)
{
	return results_copies(t) * t->round.result.messages;
}

int loss_share(struct measurement *meas, const json_t *over)
{
	struct meter *all = meas->ms->meter;
	const struct endpoint *ep = all->ep;
	struct found *mine = &meas->mine, *theirs = &meas->theirs;
	bool both = meas->attr.both, follows = both || !over;

	if (!receiver_counts(ep))
		return 0;
	if (over && message_numbers(over, "messages", ep->workers, INT64_MAX, ep->fault))
		return -1;
	for (unsigned i = 0; i < ep->workers; i++) {
		if (over)
			set_lost(mine, i, lost_of(sent_by(&all[i]), messages_of(over, i)));
		if (follows)
			set_lost(theirs, i, all[i].lost);
	}
	/* In both directions, no record is of an end that received. */
	if (over)
		rate_arrived_only(&mine->record, !both && theirs->measured ? &theirs->record : NULL);
	if (follows)
		rate_arrived_only(&theirs->record, !both && mine->measured ? &mine->record : NULL);
	return over && ep->options->experiment.mcg ? read_receivers(meas->ms, over) : 0;
}

/* Read the record FROM, which must be of this round, into REC. */
static int read_record(const struct endpoint *ep, const struct round_attr *attr, struct record *rec,
		       const json_t *from)
{
	struct fault *f = ep->fault;
	int rc = record_from_json(rec, from, f);

	if (rc == 0 && rec->message_bytes != attr->message_bytes)
		rc = fields_raise(record_fields(), from, "message_bytes", f);
	if (rc == 0 && rec->copies && rec->copies != ep->options->experiment.mcg)
		rc = fields_raise(record_fields(), from, "copies", f);
	rec->run = attr->run;
	rec->message_bytes = attr->message_bytes; /* the row of one that is refused is shown, too */
	return rc;
}

/* Read the records of the peer's workers, and behind them what is known of its devices. */
static int read_parts(const struct endpoint *ep, const struct round_attr *attr,
		      struct found *theirs, const json_t *done)
{
	const json_t *v;
	size_t i;

	json_array_foreach (json_object_get(done, "parts"), i, v) {
		struct record device, *rec = i < ep->workers ? &theirs->workers[i] : &device;

		if (i == ep->workers + ep->rails)
			break;
		if (read_record(ep, attr, rec, v))
			return -1;
		if (rec == &device)
			theirs->devices[i - ep->workers] = device.plus_minus;
	}
	return 0;
}

/* A latency test: how many messages both ends sent again. */
static int read_resent(struct measurement *meas, const json_t *done)
{
	struct record *both[] = {&meas->mine.record, &meas->theirs.record};
	uint64_t resent;

	if (message_u64_if(done, "resent", RECORD_COUNT_MAX, &resent, meas->ms->fault))
		return -1;
	for (unsigned i = 0; i < meas->ms->ep->workers; i++)
		resent += meas->ms->meter[i].round.result.resent;
	for (unsigned i = 0; i < 2 && meas->ms->test->latency; i++)
		if (both[i]->lost)
			both[i]->resent = resent;
	return 0;
}

/*
 * Limit the rate of RECEIVER to SENDER's: who polls late, and finds its whole queue full, would
 * otherwise seem faster.
 */
static void cap_rate(struct record *receiver, const struct record *sender)
{
	if (receiver->messages_per_s * record_copies(receiver) * sender->seconds <=
	    (double)receiver->messages)
		return;
	receiver->timed_messages = receiver->messages;
	record_set_rates(receiver, sender->seconds);
}

int results_read(struct measurement *meas, const json_t *done)
{
	const json_t *from = json_object_get(done, "record");
	struct found *theirs = &meas->theirs;

	if (conditions_read(meas, done) ||
	    (from && read_record(meas->ms->ep, &meas->attr, &theirs->record, from)) ||
	    read_parts(meas->ms->ep, &meas->attr, theirs, done))
		return -1;
	theirs->measured = theirs->record.messages || theirs->record.qps;
	if (!meas->watch->leader && meas->mine.measured)
		cap_rate(&meas->mine.record, &theirs->record);
	if (meas->attr.both && together_read(&meas->both, done, meas->ms->fault))
		return -1;
	return read_resent(meas, done);
}

/* Add the records of this end's workers to M, and behind them what is known of its devices. */
static void describe_parts(const struct endpoint *ep, const struct found *mine, json_t *m)
{
	json_t *parts = json_array();

	for (unsigned i = 0; i < ep->workers; i++)
		json_array_append_new(parts, record_to_json(&mine->workers[i]));
	for (unsigned d = 0; d < ep->rails && mine->devices[0].slices; d++) {
		struct record rec = {.message_bytes = mine->record.message_bytes,
				     .plus_minus = mine->devices[d]};

		json_array_append_new(parts, record_to_json(&rec));
	}
	json_object_set_new(m, "parts", parts);
}

/* Add to M the numbers of each worker's messages: sent, or received; and those sent again. */
static void describe_messages(const struct meter *all, json_t *m)
{
	bool over = message_is(m, "over");
	json_t *messages = json_array();
	uint64_t resent = 0;

	for (unsigned i = 0; i < all->ep->workers; i++) {
		uint64_t count = over ? arrived(&all[i]) : sent_by(&all[i]);

		resent += all[i].round.result.resent;
		json_array_append_new(messages, json_integer((json_int_t)count));
	}
	json_object_set_new(m, "messages", messages);
	if (all->ep->test->latency)
		json_object_set_new(m, "resent", json_integer((json_int_t)resent));
}

json_t *results_message(struct measurement *meas, const char *type)
{
	const struct meter *all = meas->ms->meter;
	const struct found *mine = &meas->mine;
	const struct record none = {.message_bytes = meas->attr.message_bytes,
				    .quality = mine->record.quality};
	bool row = mine->measured || meas->attr.cpu_util;
	json_t *m = message_new(type);

	describe_messages(all, m);
	if (meas->ms->receivers)
		json_object_set(m, "receivers", meas->ms->receivers);
	conditions_describe(meas, m);
	if (meas->attr.both && mine->measured)
		together_describe(&meas->both, all, m);
	if (row || round_is_timed(&meas->attr))
		json_object_set_new(m, "record", record_to_json(row ? &mine->record : &none));
	if (mine->measured && all->ep->workers > 1)
		describe_parts(all->ep, mine, m);
	return m;
}
