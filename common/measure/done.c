// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The "done" message, in which an end tells what it found. */
#include "measure/meter.h"
#include "measure/results.h"
#include "measure/together.h"
#include "plan/test.h"
#include "proto/fields.h"

/* Read the record FROM, which must be of this round, into REC. */
static int read_record(const struct endpoint *ep, const struct round_attr *attr, struct record *rec,
		       const json_t *from)
{
	struct fault *f = ep->fault;

	if (record_from_json(rec, from, f))
		return -1;
	if (rec->copies && rec->copies != ep->options->experiment.mcg)
		return fields_raise(record_fields(), from, "copies", f);
	rec->run = attr->run;
	return rec->message_bytes == attr->message_bytes
		       ? 0
		       : fields_raise(record_fields(), from, "message_bytes", f);
}

/* Read the records of the peer's workers, and what is known of its devices. */
static int read_parts(const struct endpoint *ep, const struct round_attr *attr,
		      struct found *theirs, const json_t *done)
{
	const json_t *parts = json_object_get(done, "parts"), *v;
	const json_t *devices = json_object_get(done, "devices");
	struct record rec;
	size_t i;

	json_array_foreach (parts, i, v)
		if (i < ep->workers && read_record(ep, attr, &theirs->workers[i], v))
			return -1;
	json_array_foreach (devices, i, v) {
		if (i == ep->rails)
			break;
		if (record_from_json(&rec, v, ep->fault))
			return -1;
		theirs->devices[i] = rec.plus_minus;
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

int results_read(struct measurement *meas, const json_t *done)
{
	const json_t *record = json_object_get(done, "record");
	const json_t *from = record ? record : json_object_get(done, "conditions");
	struct found *theirs = &meas->theirs;

	if (conditions_read(meas, done) ||
	    (from && read_record(meas->ms->ep, &meas->attr, &theirs->record, from)) ||
	    read_parts(meas->ms->ep, &meas->attr, theirs, done))
		return -1;
	theirs->measured = record;
	return read_resent(meas, done);
}

/* Add the records of this end's workers to M, and what is known of its devices. */
static void describe_parts(const struct endpoint *ep, const struct found *mine, json_t *m)
{
	json_t *parts = json_array(), *devices = json_array();

	for (unsigned i = 0; i < ep->workers; i++)
		json_array_append_new(parts, record_to_json(&mine->workers[i]));
	for (unsigned d = 0; d < ep->rails; d++) {
		struct record rec = {.plus_minus = mine->devices[d]};

		json_array_append_new(devices, record_to_json(&rec));
	}
	json_object_set_new(m, "parts", parts);
	if (mine->devices[0].slices)
		json_object_set(m, "devices", devices);
	json_decref(devices);
}

json_t *results_message(struct measurement *meas)
{
	const struct meter *all = meas->ms->meter;
	const struct found *mine = &meas->mine;
	json_t *m = message_new("done"), *messages = json_array();

	for (unsigned i = 0; i < all->ep->workers; i++)
		json_array_append_new(messages,
				      json_integer((json_int_t)(results_copies(&all[i]) *
								all[i].round.result.messages)));
	json_object_set_new(m, "messages", messages);
	if (meas->ms->receivers)
		json_object_set(m, "receivers", meas->ms->receivers);
	loss_describe(all, m);
	conditions_describe(meas, m);
	if (meas->attr.both && mine->measured)
		together_describe(&meas->both, all, m);
	if (mine->measured || meas->attr.cpu_util)
		json_object_set_new(m, "record", record_to_json(&mine->record));
	if (mine->measured && all->ep->workers > 1)
		describe_parts(all->ep, mine, m);
	return m;
}
