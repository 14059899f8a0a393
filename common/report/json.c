// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* rdmark's own JSON document. Its keys are a promise: they only grow (rdmark(7)). */
#include "report/forms.h"

#include "wire/message.h"

#define SCHEMA_VERSION 1

const char *forms_by(enum report_end by)
{
	static const char *const name[] = {"client", "server", "both"};

	return name[by];
}

const char *report_direction_name(enum report_direction direction)
{
	static const char *const name[] = {"client_to_server", "server_to_client", "both",
					   "ping_pong"};

	return name[direction];
}

json_t *json_result(const struct report_row *row)
{
	const struct record *rec = row->record;
	json_t *to = record_to_json(rec);

	json_object_set_new(to, "measured_by", json_string(forms_by(row->by)));
	json_object_set_new(to, "direction", json_string(report_direction_name(row->direction)));
	json_object_set_new(to, "bytes",
			    json_integer((json_int_t)(rec->messages * rec->message_bytes)));
	if (row->thread >= 0)
		json_object_set_new(to, "thread", json_integer(row->thread));
	if (row->device)
		json_object_set_new(to, "device", json_string(row->device));
	return to;
}

static const char *status_of(const struct fault *problem, bool interrupted)
{
	if (problem->code == FAULT_UNAVAILABLE)
		return "unavailable";
	if (problem->code == FAULT_THRESHOLD)
		return "below_threshold";
	if (problem->code == FAULT_INTERRUPTED)
		return "interrupted";
	if (fault_is(problem))
		return "failed";
	return interrupted ? "interrupted" : "ok";
}

json_t *json_document(const struct report *r, const struct fault *problem, bool interrupted)
{
	json_t *d = json_object();

	json_object_set_new(d, "schema_version", json_integer(SCHEMA_VERSION));
	json_object_set_new(d, "generator", json_string("rdmark " RDMARK_VERSION));
	json_object_set_new(d, "test", json_string(r->about.test));
	json_object_set_new(d, "role", json_string(r->about.server ? "server" : "client"));
	json_object_set_new(d, "started_utc", json_string(r->started));
	json_object_set_new(d, "status", json_string(status_of(problem, interrupted)));
	json_object_set_new(d, "error",
			    fault_is(problem) ? message_fault_json(problem) : json_null());
	json_object_set_new(d, "experiment",
			    experiment_describe(&r->about.options->experiment, r->about.test));
	json_object_set(d, "effective", r->effective);
	json_object_set(d, "ends", r->ends);
	json_object_set(d, "results", r->results);
	if (json_array_size(r->summaries))
		json_object_set(d, "summaries", r->summaries);
	if (json_object_size(r->counters))
		json_object_set(d, "counters", r->counters);
	json_object_update(d, r->own);
	return d;
}
