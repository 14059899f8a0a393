// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* rdmark's own JSON document. Keys are only added, never removed or changed (rdmark(7)). */
#include "base/phase.h"
#include "explain/limit.h"
#include "report/report.h"

#include "host/port_events.h"
#include "plan/test.h"
#include "proto/fields.h"
#include "proto/evidence.h"
#include "proto/message.h"
#include "proto/snapshot.h"
#include "proto/verified.h"

/* The reasons of both ends, each with its end; what both made belongs to no end. */
json_t *json_reasons(const struct disturbed *d)
{
	json_t *to = json_array();

	for (int end = 0; end < 2; end++)
		for (unsigned i = 0; i < QUALITY_REASONS; i++) {
			bool common = quality_reason(i) >= DISTURBED_OVERLAP;
			unsigned others = common && end ? d->reasons[0] : 0;
			const char *name = finding_name(quality_reason(i));

			if (!(d->reasons[end] & ~others & 1U << i))
				continue;
			json_array_append_new(
				to, common ? json_string(name)
					   : json_sprintf("%s_%s", result_end_name(end), name));
		}
	return to;
}

/* Add to the record's quality what disturbed it, and the conditions at the other end. */
static void add_quality(json_t *to, const struct result_row *row)
{
	const struct disturbed *d = &row->disturbed;
	json_t *quality = json_object_get(to, "quality"), *other;
	struct record rec = {0};
	char text[1024];

	if (!quality)
		return;
	json_object_set_new(quality, "disturbed", json_boolean(result_is_disturbed(row)));
	json_object_set_new(quality, "reasons", json_reasons(d));
	json_object_set_new(quality, "text",
			    json_string(result_disturbance(row, text, sizeof(text))));
	if (row->by == RESULT_BOTH)
		return;
	rec.quality = d->quality[row->by == RESULT_CLIENT ? RESULT_SERVER : RESULT_CLIENT];
	other = record_to_json(&rec);
	if (json_object_get(other, "quality"))
		json_object_set(quality, "other_end", json_object_get(other, "quality"));
	json_decref(other);
}

static json_t *json_row(const struct result_row *row)
{
	const struct record *rec = row->record, known = record_known(rec);
	json_t *to = record_to_json(&known);
	uint64_t messages;

	json_object_set_new(to, "interrupted", json_boolean(rec->interrupted));
	json_object_set_new(to, "measured_by", json_string(result_end_name(row->by)));
	json_object_set_new(to, "direction", json_string(result_direction_name(row->direction)));
	/* Those within the seconds, which are the time when both directions ran. */
	messages = row->direction == RESULT_BOTH_WAYS ? rec->timed_messages : rec->messages;
	json_object_set_new(to, "bytes", json_integer((json_int_t)(messages * rec->message_bytes)));
	if (row->thread >= 0)
		json_object_set_new(to, "thread", json_integer(row->thread));
	if (row->device)
		json_object_set_new(to, "device", json_string(row->device));
	if (row->verified.messages)
		json_object_set_new(to, "verification", verified_to_json(&row->verified));
	if (row->explained) {
		if (row->direction != RESULT_PING_PONG)
			json_object_set_new(to, "limit", explained_limit(row->explained));
		json_object_set_new(to, "diagnosis", findings_json(&row->explained->findings));
	}
	add_quality(to, row);
	return to;
}

json_t *json_result(const struct result *result)
{
	json_t *to = json_row(result->main), *ends = json_object();
	json_t *threads = json_array(), *devices = json_array();
	json_t *evidence = json_object(), *snapshots = json_object();

	for (size_t i = 0; i < result->rows; i++) {
		const struct result_row *row = &result->row[i];

		if (row->thread >= 0)
			json_array_append_new(threads, json_row(row));
		else if (row->device)
			json_array_append_new(devices, json_row(row));
		else if (row->by != RESULT_BOTH)
			json_object_set_new(ends, result_end_name(row->by), json_row(row));
	}
	for (int end = 0; end < 2; end++) {
		const char *name = result_end_name(end);

		if (result->evidence)
			json_add_parts(evidence, name, evidence_to_json(&result->evidence[end]), 1);
		if (result->snapshot)
			json_add_parts(snapshots, name, snapshot_to_json(&result->snapshot[end]), 1);
	}
	if (result->receivers)
		json_object_set(to, "receivers", result->receivers);
	if (result->histogram)
		json_object_set(to, "latency_histogram_us", result->histogram);
	json_add_parts(to, "evidence", evidence, 1);
	json_add_parts(to, "snapshot", snapshots, 1);
	json_add_parts(to, "by_end", ends, 2);
	json_add_parts(to, "by_thread", threads, 1);
	json_add_parts(to, "by_device", devices, 1);
	return to;
}

#define WITH(member)           FIELD_IF(struct report_effective, member)
#define ROW(type, member, ...) FIELD(struct report_effective, member, __VA_ARGS__),
static const struct field effective_rows[] = {
#include "report/effective.def"
};
static const struct fields effective_table = FIELDS(effective_rows, NULL);

json_t *json_effective(const struct report_effective *e)
{
	return fields_write(&effective_table, e, json_object());
}

static const char *status_of(const struct fault *problem, bool interrupted)
{
	switch (problem->code) {
	case FAULT_UNAVAILABLE: /* what there is was measured, if it was judged */
		return phase_row(problem->phase)->stage == STAGE_JUDGE ? "cannot_tell"
								       : "unavailable";
	case FAULT_THRESHOLD:
		return "below_threshold";
	case FAULT_INTERRUPTED:
		return "interrupted";
	default:
		return fault_is(problem) ? "failed" : interrupted ? "interrupted" : "ok";
	}
}

/* Add TEXT, which the user gave, as KEY of TO; NULL: he did not. */
static void add_text(json_t *to, const char *key, const char *text)
{
	if (text)
		json_object_set_new(to, key, json_text(text));
}

json_t *json_document(const struct report *r, const struct fault *problem, bool interrupted)
{
	const struct options *o = r->about.options;
	uint64_t dropped = r->run.unshown + r->run.dropped;
	char finished[CLOCK_UTC_BYTES];
	json_t *d = json_pack("{s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:o}",
			      "schema_version", 3, "generator", "rdmark " RDMARK_VERSION, "test",
			      r->about.test->name, "role", r->about.server ? "server" : "client",
			      "started_utc", r->run.started, "finished_utc", clock_utc(finished),
			      "status", status_of(problem, interrupted), "error",
			      fault_is(problem) ? message_fault_json(problem) : json_null(),
			      "experiment", experiment_describe(&o->experiment, o->traits),
			      "effective", json_effective(&r->run.effective));

	add_text(d, "title", o->output.title);
	add_text(d, "peer", o->local.host);
	add_text(d, "device", o->local.device);
	json_object_set(d, "ends", r->run.ends);
	json_object_set(d, "results", r->run.results);
	json_add_parts(d, "summaries", json_incref(r->run.summaries), 1);
	json_add_parts(d, "points", json_incref(r->run.points), 1);
	if (o->output.interval_ns && document_has_intervals(&o->output))
		json_object_set(d, "intervals", r->run.intervals);
	if (dropped)
		json_object_set_new(d, "intervals_dropped", json_integer((json_int_t)dropped));
	json_object_update(d, r->run.own);
	return d;
}

/* True if A and B have the same value at KEY, or both none. */
static bool is_same(const json_t *a, const json_t *b, const char *key)
{
	const json_t *one = json_object_get(a, key), *other = json_object_get(b, key);

	return one == other || json_equal(one, other);
}

bool document_is_whole(const json_t *document)
{
	const char *status = json_text_at(document, "status");

	return !strcmp(status, "ok") || !strcmp(status, "below_threshold") ||
	       !strcmp(status, "cannot_tell");
}

bool document_shows(const json_t *document, const json_t *result)
{
	const json_t *run = json_object_get(result, "run"), *one, *median;
	size_t i;

	json_array_foreach (json_object_get(document, "summaries"), i, one) {
		median = json_object_get(one, "median_run");
		if (run && median && is_same(result, one, "message_bytes") &&
		    is_same(result, one, "varied"))
			return json_equal(run, median);
	}
	return true;
}
