// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "endpoint/worker.h"
#include "measure/meter.h"
#include "measure/results.h"
#include "plan/test.h"

/*
 * True if messages of a stream may be lost unnoticed. In a latency test the client itself notices a
 * lost round trip.
 */
static bool stream_may_lose(const struct endpoint *ep)
{
	return experiment_loses(&ep->options->experiment) && !ep->test->latency;
}

/* True if the receiver counts the messages: if they consume its receives. */
static bool receiver_counts(const struct endpoint *ep)
{
	return stream_may_lose(ep) && (ep->test->receives != RECEIVES_NONE || ep->immediate);
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

void loss_count(struct meter *all, const json_t *done)
{
	const struct endpoint *ep = all->ep;
	const json_t *sent = json_object_get(done, "messages");

	/* Without receives (as in receiver_counts()) a receiver polls memory, and counts none. */
	if (!stream_may_lose(ep) || !ep->worker[0].qps.rx_depth)
		return;
	for (unsigned i = 0; i < ep->workers; i++) {
		const struct round *r = all[i].both ? &all[i].arrivals : &all[i].round;
		uint64_t arrived = r->result.messages;
		uint64_t here = (uint64_t)json_integer_value(json_array_get(sent, i));

		all[i].lost = here > arrived ? here - arrived : 0;
	}
}

void loss_of_receivers(struct measure *ms, const json_t *done)
{
	const json_t *sent = json_object_get(done, "messages");
	uint64_t copies = experiment_copies(&ms->options->experiment);

	json_decref(ms->receivers);
	ms->receivers = NULL;
	if (!ms->options->experiment.mcg || ms->test->latency || !done)
		return;
	ms->receivers = json_array();
	for (unsigned i = 0; i < ms->ep->workers; i++) {
		struct worker *t = &ms->ep->worker[i];
		uint64_t here = (uint64_t)json_integer_value(json_array_get(sent, i)) / copies;

		for (unsigned qp = 0; qp < t->qps.count; qp++) {
			uint64_t came = recv_queue_arrived(&t->receives, qp);

			json_array_append_new(
				ms->receivers,
				json_pack("{s:I, s:I}", "received", (json_int_t)came, "lost",
					  (json_int_t)(here > came ? here - came : 0)));
		}
	}
}

int loss_read_receivers(struct measure *ms, const json_t *done)
{
	json_t *of = json_object_get(done, "receivers"), *one;
	uint64_t count;
	size_t i;

	json_decref(ms->receivers);
	ms->receivers = NULL;
	if (!ms->options->experiment.mcg || ms->test->latency)
		return 0;
	if (message_has(done, "receivers",
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

void loss_describe(const struct meter *all, json_t *m)
{
	uint64_t resent = 0;
	json_t *lost = json_array();

	for (unsigned i = 0; i < all->ep->workers; i++) {
		resent += all[i].round.result.resent;
		json_array_append_new(lost, json_integer((json_int_t)all[i].lost));
	}
	if (all->ep->test->latency)
		json_object_set_new(m, "resent", json_integer((json_int_t)resent));
	if (stream_may_lose(all->ep))
		json_object_set(m, "lost", lost);
	json_decref(lost);
}

int loss_read(const struct meter *all, struct found *mine, const struct record *by, const json_t *m)
{
	const struct endpoint *ep = all->ep;
	const json_t *lost = json_object_get(m, "lost"), *v;
	size_t i;

	if (!stream_may_lose(ep))
		return 0;
	if (message_numbers(m, "lost", ep->workers, INT64_MAX, ep->fault))
		return -1;
	json_array_foreach (lost, i, v) {
		uint64_t n = (uint64_t)json_integer_value(v);

		if (message_has(m, "lost",
				n <= results_copies(&all[i]) * all[i].round.result.messages,
				ep->fault))
			return -1;
		mine->workers[i].lost = n;
		mine->record.lost += n;
		if (receiver_counts(ep))
			rate_arrived_only(&mine->workers[i], NULL);
	}
	if (receiver_counts(ep))
		rate_arrived_only(&mine->record, by);
	return 0;
}

void loss_cap_rate(struct record *receiver, const struct record *sender)
{
	if (receiver->messages_per_s * record_copies(receiver) * sender->seconds <=
	    (double)receiver->messages)
		return;
	receiver->timed_messages = receiver->messages;
	record_set_rates(receiver, sender->seconds);
}

void loss_set_in_peer_records(const struct meter *all, struct found *theirs,
			      const struct record *by)
{
	if (!receiver_counts(all->ep))
		return;
	for (unsigned i = 0; i < all->ep->workers; i++) {
		theirs->record.lost += all[i].lost;
		theirs->workers[i].lost = all[i].lost;
		rate_arrived_only(&theirs->workers[i], NULL);
	}
	rate_arrived_only(&theirs->record, by);
}
