// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The JSON that is written: whatever the structs hold (any bytes in the texts, infinities, the
 * largest integers), the document parses, has all its keys and says the same when it is read.
 */
#include <math.h>

#include "base/phase.h"
#include "base/rate.h"
#include "fuzz.h"
#include "plan/test.h"
#include "proto/fields.h"
#include "proto/message.h"
#include "report/report.h"
#include "stat/interval.h"
#include "verbs/gid.h"
#include "verbs/transports.h"

#define ROWS_MAX 4

/* Reads back what TEXT says; it must be JSON. */
static json_t *parse(char *text)
{
	json_error_t error = {.text = "no text"};
	json_t *d = text ? json_loads(text, JSON_REJECT_DUPLICATES, &error) : NULL;

	if (!d)
		fprintf(stderr, "%s: %s\n", error.text, text);
	FUZZ_CHECK(d);
	free(text);
	return d;
}

static void fill_text(struct fuzz_input *in, char *to, size_t size)
{
	char *text = fuzz_text(in, '\0');

	snprintf(to, size, "%s", text);
	free(text);
}

static double fill_real(struct fuzz_input *in)
{
	double v;

	fuzz_bytes(in, &v, sizeof(v));
	return v;
}

static void fill_record(struct fuzz_input *in, struct record *r)
{
	fuzz_bytes(in, r, sizeof(*r));
	r->plus_minus.unknown %= INTERVAL_PHASES + 1; /* as it is made, and as it is read */
}

static void fill_end(struct fuzz_input *in, struct end *e)
{
	memset(e, 0, sizeof(*e));
	fill_text(in, e->host, sizeof(e->host));
	fill_text(in, e->device, sizeof(e->device));
	fill_text(in, e->device_chosen, sizeof(e->device_chosen));
	e->transport = FABRIC_ROCE;
	strcpy(e->clock, "tsc");
	strcpy(e->version, "1.2.3");
	e->active_mtu_bytes = 1024;
	fill_text(in, e->pinned, sizeof(e->pinned));
	fill_text(in, e->firmware, sizeof(e->firmware));
	end_add_argument(e, e->firmware);
	e->rate_gbps = fill_real(in);
	e->port = (int64_t)fuzz_u64(in);
	e->gid_index = (int64_t)fuzz_u64(in);
}

static void fill_fault(struct fuzz_input *in, struct fault *f)
{
	static const enum fault_code codes[] = {
		FAULT_NONE, FAULT_LOCAL,     FAULT_USAGE,       FAULT_PEER,       FAULT_DEADLINE,
		FAULT_DATA, FAULT_THRESHOLD, FAULT_UNAVAILABLE, FAULT_INTERRUPTED};
	uint8_t code = fuzz_u8(in);
	char *call = fuzz_text(in, '\0'), *more = fuzz_text(in, '\0');

	memset(f, 0, sizeof(*f));
	fault_phase(f, (enum phase)(code % PHASE_COUNT));
	fault_raise(f, codes[code % 9], code >> 1, "%s", call);
	fault_cause(f, "%s", more);
	fault_fix(f, "use %s", call);
	free(call);
	free(more);
}

/* What can be a measurement comes back as it was; what cannot is left out or refused, not bent. */
static void check_record(const struct record *r)
{
	json_t *m = record_to_json(r), *d = parse(json_dumps(m, JSON_COMPACT));
	const struct fields *all = record_fields();
	struct fault f = {0};
	struct record b;

	FUZZ_CHECK(json_equal(m, d));
	if (record_from_json(&b, d, &f) == 0) {
		for (size_t i = 0; i < all->count; i++) {
			const char *at = (const char *)r + all->row[i].offset;
			const char *back = (const char *)&b + all->row[i].offset;
			bool is_integer = all->row[i].kind == FIELD_UNSIGNED;
			double v;

			/* Not measured if what it goes with was not. */
			if (field_is_omitted(&all->row[i], r))
				continue;
			memcpy(&v, at, sizeof(v));
			if (is_integer || isfinite(v))
				FUZZ_CHECK(!memcmp(at, back, 8) || (!is_integer && v == 0));
		}
	}
	json_decref(d);
	json_decref(m);
}

static void check_end(const struct end *e)
{
	json_t *m = end_to_json(e), *d = parse(json_dumps(m, 0));
	struct fault f = {0};
	struct end b;

	FUZZ_CHECK(json_equal(m, d));
	FUZZ_CHECK(json_object_get(d, "host") && json_object_get(d, "firmware"));
	if (end_from_json(&b, d, &f) == 0) /* what can be true comes back as it was */
		FUZZ_CHECK(b.port == e->port && b.port > 0 && b.port < 256 &&
			   b.gid_index == e->gid_index);
	json_decref(d);
	json_decref(m);
}

static void check_fault(const struct fault *f)
{
	json_t *m = message_from_fault(f), *d;
	struct fault b = {0};

	FUZZ_CHECK(m); /* else the peer is never told */
	d = parse(json_dumps(m, 0));
	FUZZ_CHECK(json_equal(m, d) && message_is(d, "error"));
	message_raise(d, &b);
	FUZZ_CHECK(b.from_peer && fault_is(&b));
	FUZZ_CHECK(strlen(b.call) == strlen(f->call) && strlen(b.fix) == strlen(f->fix));
	json_decref(d);
	json_decref(m);
}

static void check_document(const struct report *r, const struct fault *problem)
{
	static const char *const keys[] = {"schema_version", "generator", "test",   "role",
					   "started_utc",    "status",    "error",  "experiment",
					   "effective",      "ends",      "results"};
	json_t *m = json_document(r, problem, problem->dropping);
	json_t *d = parse(json_dumps(m, problem->errnum & 1 ? JSON_COMPACT : JSON_INDENT(2)));

	FUZZ_CHECK(json_equal(m, d));
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		FUZZ_CHECK(json_object_get(d, keys[i]));
	json_decref(d);
	json_decref(m);
	d = parse(perftest_json(r));
	FUZZ_CHECK(json_object_get(d, "test_info") && json_object_get(d, "results"));
	json_decref(d);
}

static void make_report(struct fuzz_input *in, struct report *r)
{
	unsigned rows = fuzz_u8(in) % (ROWS_MAX + 1);
	struct end e[2];

	fill_end(in, &e[0]);
	fill_end(in, &e[1]);
	check_end(&e[0]);
	r->run.results = json_array();
	r->run.effective = (struct report_effective){.mtu_bytes = 1024, .tx_depth = 128};
	r->run.end = e[0];
	r->run.rails = rows;
	r->run.ends =
		json_pack("{s:o, s:o}", "client", end_to_json(&e[0]), "server", end_to_json(&e[1]));
	while (rows--) {
		struct record rec[2];
		struct result_row row[2] = {
			{.record = &rec[0], .thread = -1},
			{.record = &rec[1], .by = RESULT_SERVER, .thread = 3, .device = "sim0"},
		};

		const struct result result = {.row = row, .rows = 2, .main = &row[0]};

		fill_record(in, &rec[0]);
		fill_record(in, &rec[1]);
		check_record(&rec[0]);
		json_array_append_new(r->run.results, json_result(&result));
		r->run.last = rec[0];
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	uint8_t bits = fuzz_u8(&in);
	struct options o;
	struct fault problem;
	const struct test test = {
		.name = "send_bw", .title = "Send BW Test", .latency = bits & 1};
	struct report r = {.about = {.program = "send_bw",
				     .test = &test,
				     .server = bits & 2,
				     .options = &o}};

	options_init(&o, &(struct experiment){EXPERIMENT_DEFAULTS});
	o.output.gbits = bits >> 2 & 1;
	if (bits & 8)
		fuzz_bytes(&in, &o.experiment, sizeof(o.experiment));
	o.experiment.labels.count %= EXPERIMENT_LABELS_MAX + 1;
	o.experiment.qps = o.experiment.qps % 65536 + 1; /* as the option table has them */
	o.experiment.connection %= CONNECTIONS;
	fill_fault(&in, &problem);
	if (fault_is(&problem))
		check_fault(&problem);
	make_report(&in, &r);
	check_document(&r, &problem);
	json_decref(r.run.results);
	json_decref(r.run.ends);
	return 0;
}
