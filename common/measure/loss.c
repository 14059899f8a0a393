// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "measure/loss.h"

/*
 * True if messages of a stream may be lost unnoticed. In a latency test the client itself notices a
 * lost round trip.
 */
static bool stream_may_lose(const struct measure *ms)
{
	return experiment_loses(&ms->options->experiment) && !ms->test->latency;
}

/* True if the receiver counts the messages: if they consume its receives. */
static bool receiver_counts(const struct measure *ms)
{
	return stream_may_lose(ms) && (ms->test->receives != RECEIVES_NONE || ms->ep->immediate);
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
	if (receiver && receiver->seconds > 0 &&
	    (double)receiver->timed_messages / receiver->seconds < rec->messages_per_s) {
		rec->timed_messages = receiver->timed_messages;
		record_set_rates(rec, receiver->seconds);
	}
	if (receiver && receiver->plus_minus.slices)
		rec->plus_minus = receiver->plus_minus;
	/* The peak is for sent messages; for arrived ones only the average is known. */
	if (rec->lost && rec->bandwidth_peak_gbps > 0)
		rec->bandwidth_peak_gbps = rec->bandwidth_gbps;
}

void loss_count(const struct measurement *meas, const json_t *done)
{
	const struct measure *ms = meas->ms;
	const json_t *sent = json_object_get(done, "messages");

	/* Without receives (as in receiver_counts()) a receiver only polls memory and counts none.
	 */
	if (!stream_may_lose(ms) || !ms->ep->worker[0].qps.rx_depth)
		return;
	for (unsigned i = 0; i < ms->ep->workers; i++) {
		struct meter *t = &ms->meter[i];
		const struct round *r = meas->attr.both ? &t->arrivals : &t->round;
		uint64_t arrived = r->result.messages;
		uint64_t all = (uint64_t)json_integer_value(json_array_get(sent, i));

		t->lost = all > arrived ? all - arrived : 0;
	}
}

static uint64_t resent_here(const struct measure *ms)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < ms->ep->workers; i++)
		sum += ms->meter[i].round.result.resent;
	return sum;
}

void loss_describe(const struct measure *ms, json_t *m)
{
	json_t *lost;

	if (ms->test->latency)
		json_object_set_new(m, "resent", json_integer((json_int_t)resent_here(ms)));
	if (!stream_may_lose(ms))
		return;
	lost = json_array();
	for (unsigned i = 0; i < ms->ep->workers; i++)
		json_array_append_new(lost, json_integer((json_int_t)ms->meter[i].lost));
	json_object_set_new(m, "lost", lost);
}

int loss_read(struct measurement *meas, const json_t *m)
{
	struct measure *ms = meas->ms;
	const json_t *lost = json_object_get(m, "lost"), *v;
	size_t i;

	if (!stream_may_lose(ms))
		return 0;
	if (message_numbers(m, "lost", ms->ep->workers, INT64_MAX, ms->fault))
		return -1;
	json_array_foreach (lost, i, v)
		if (message_has(m, "lost",
				(uint64_t)json_integer_value(v) <=
					ms->meter[i].round.result.messages,
				ms->fault))
			return -1;
	json_array_foreach (lost, i, v) {
		ms->meter[i].record.lost = (uint64_t)json_integer_value(v);
		meas->mine.lost += ms->meter[i].record.lost;
		if (receiver_counts(ms))
			rate_arrived_only(&ms->meter[i].record, NULL);
	}
	if (receiver_counts(ms))
		rate_arrived_only(&meas->mine,
				  !meas->attr.both && meas->theirs_measured ? &meas->theirs : NULL);
	return 0;
}

int loss_read_resent(struct measurement *meas, const json_t *m)
{
	bool latency = meas->ms->test->latency;
	uint64_t sum;

	if (message_u64_if(m, "resent", RECORD_COUNT_MAX, &sum, meas->ms->fault))
		return -1;
	sum += resent_here(meas->ms);
	if (latency && meas->mine.lost)
		meas->mine.resent = sum;
	if (latency && meas->theirs_measured && meas->theirs.lost)
		meas->theirs.resent = sum;
	return 0;
}

void loss_cap_rate(struct measurement *meas)
{
	double sent_in_s = meas->theirs.seconds;
	struct record *rec = &meas->mine;

	if (meas->ms->test->latency || !meas->measured ||
	    rec->messages_per_s * sent_in_s <= (double)rec->messages)
		return;
	rec->timed_messages = rec->messages;
	record_set_rates(rec, sent_in_s);
}

void loss_set_in_peer_records(struct measurement *meas)
{
	const struct measure *ms = meas->ms;

	if (!receiver_counts(ms))
		return;
	for (unsigned i = 0; i < ms->ep->workers; i++) {
		meas->theirs.lost += ms->meter[i].lost;
		if (meas->their_records) {
			meas->their_records[i].lost = ms->meter[i].lost;
			rate_arrived_only(&meas->their_records[i], NULL);
		}
	}
	rate_arrived_only(&meas->theirs, !meas->attr.both && meas->measured ? &meas->mine : NULL);
}
