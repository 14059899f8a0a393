// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "session/loss.h"

#include "session/transport.h"

void loss_count(struct session *s, const struct session_round *sr, const json_t *done)
{
	const json_t *sent = json_object_get(done, "messages");

	/* Who only watches memory cannot tell. */
	if (!transport_loses(&s->options.experiment) || s->test->latency ||
	    !s->strand[0].qps.rx_depth)
		return;
	for (unsigned i = 0; i < s->strands; i++) {
		struct strand *t = &s->strand[i];
		uint64_t came = sr->both ? t->arrivals.messages : t->round.messages;
		uint64_t all = (uint64_t)json_integer_value(json_array_get(sent, i));

		t->lost = all > came ? all - came : 0;
	}
}

void loss_describe(const struct session *s, json_t *m)
{
	json_t *lost = json_array();

	for (unsigned i = 0; i < s->strands; i++)
		json_array_append_new(lost, json_integer((json_int_t)s->strand[i].lost));
	json_object_set_new(m, "lost", lost);
}

int loss_take(struct session *s, struct session_round *sr, const json_t *m)
{
	const json_t *lost = json_object_get(m, "lost"), *v;
	size_t i;

	if (!transport_loses(&s->options.experiment) || s->test->latency) /* known here */
		return 0;
	if (message_has(m, "lost", json_array_size(lost) == s->strands, &s->fault))
		return -1;
	json_array_foreach (lost, i, v)
		if (message_has(m, "lost", json_is_integer(v) && json_integer_value(v) >= 0,
				&s->fault))
			return -1;
	json_array_foreach (lost, i, v) {
		s->strand[i].record.lost = (uint64_t)json_integer_value(v);
		sr->mine.lost += s->strand[i].record.lost;
	}
	return 0;
}

void loss_slow_down(const struct session *s, struct session_round *sr)
{
	double least_s = sr->theirs.seconds;
	struct record *rec = &sr->mine;

	if (!transport_loses(&s->options.experiment) || s->test->latency || !sr->measured ||
	    rec->seconds >= least_s)
		return;
	rec->seconds = least_s;
	rec->messages_per_s = (double)rec->messages / least_s;
	rec->bandwidth_gbps = rec->messages_per_s * (double)rec->message_bytes * 8 / 1e9;
}

void loss_put(const struct session *s, struct session_round *sr)
{
	if (s->test->latency)
		return;
	for (unsigned i = 0; i < s->strands; i++) {
		uint64_t lost = s->strand[i].lost;

		sr->theirs.lost += lost;
		if (lost && sr->their_parts)
			json_object_set_new(json_array_get(sr->their_parts, i), "lost",
					    json_integer((json_int_t)lost));
	}
}

static void note(const struct session *s, const struct session_round *sr, const struct record *rec,
		 const char *by)
{
	unsigned long long lost = rec->lost, all = rec->messages;

	if (!lost)
		return;
	if (s->test->latency)
		report_note(&s->report,
			    "%llu of %llu round trips of %llu B gave no sample: a message was lost",
			    lost, all, (unsigned long long)sr->message_bytes);
	else
		report_note(&s->report, "%llu of %llu messages of %llu B from the %s were lost",
			    lost, all, (unsigned long long)sr->message_bytes, by);
}

void loss_note(const struct session *s, const struct session_round *sr)
{
	bool server = s->report.about.server;
	bool leads = endpoint_leads(s);

	if (sr->warmup)
		return;
	if (leads || sr->both)
		note(s, sr, &sr->mine, server ? "server" : "client");
	if (!leads || sr->both)
		note(s, sr, &sr->theirs, server ? "client" : "server");
}
