// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/units.h"
#include "report/forms.h"

static const struct output_options *output(const struct report *r)
{
	return &r->about.options->output;
}

/* What is of one run of one client. */
static void begin(struct report *r)
{
	time_t now = time(NULL);
	struct tm tm;

	r->results = json_array();
	r->shown = json_array();
	r->summaries = json_array();
	r->ends = json_object();
	r->effective = json_object();
	r->counters = json_object();
	r->own = json_object();
	strftime(r->started, sizeof(r->started), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
}

static void forget(struct report *r)
{
	json_decref(r->results);
	json_decref(r->shown);
	json_decref(r->summaries);
	json_decref(r->ends);
	json_decref(r->effective);
	json_decref(r->counters);
	json_decref(r->own);
	r->results = r->shown = r->summaries = r->ends = r->effective = r->counters = r->own = NULL;
}

int report_open(struct report *r, const struct report_about *about, struct fault *f)
{
	const struct output_options *o = &about->options->output;
	bool document = document_to_stdout(o->json) || document_to_stdout(o->csv);

	fault_phase(f, "opening the output files");
	memset(r, 0, sizeof(*r));
	r->about = *about;
	r->only = !document && o->only != ONLY_ALL;
	r->perftest = !document && !r->only && o->format == FORMAT_PERFTEST;
	r->table = !document && !r->only && !r->perftest;
	r->tty = isatty(STDERR_FILENO) && !o->quiet;
	begin(r);
	if (document_to_stdout(o->json) && document_to_stdout(o->csv)) {
		fault_raise(f, FAULT_USAGE, 0, "--json and --csv both go to stdout");
		return fault_fix(f, "give one of them a file: --json=FILE or --csv=FILE");
	}
	if (document_try(r, f))
		return -1;
	return o->csv ? csv_open(r, f) : 0;
}

void report_note(const struct report *r, const char *fmt, ...)
{
	va_list ap;

	if (output(r)->quiet)
		return;
	va_start(ap, fmt);
	fprintf(stderr, "rdmark: ");
	vfprintf(stderr, fmt, ap);
	fprintf(stderr, "\n");
	va_end(ap);
}

void report_listening(struct report *r, const char *address)
{
	if (r->perftest) {
		perftest_waiting(stdout);
		fflush(stdout);
	}
	report_note(r, "ready on %s", address);
}

static void end_lines(const struct report *r, const char *who, const struct end *e)
{
	char pages[64] = "", rate[32];

	snprintf(rate, sizeof(rate), e->rate_gbps > 0 ? "%g Gb/s" : "rate unknown", e->rate_gbps);
	report_note(r, "%s %s: %s port %" PRId64 " (%s), %s %s%s%s", who, e->host, e->device,
		    e->port, e->device_chosen, e->link_layer, rate, e->pcie_link[0] ? ", " : "",
		    e->pcie_link);
	if (e->gid_index >= 0)
		report_note(r, "%s GID %" PRId64 ": %s (%s, %s)", who, e->gid_index, e->gid,
			    e->gid_type, e->gid_chosen);
	else
		report_note(r, "%s LID 0x%" PRIx64, who, (uint64_t)e->lid);
	if (e->gpu[0])
		report_note(r, "%s %s, distance to the NIC: %s%s%s", who, e->gpu, e->gpu_distance,
			    e->gpu_path[0] ? "; memory by " : "", e->gpu_chosen);
	if (e->memory_made_of[0])
		report_note(r, "%s memory: %s", who, e->memory_made_of);
	if (e->memory_pages)
		snprintf(pages, sizeof(pages),
			 "; %" PRId64 " of %" PRId64 " pages looked at lie there",
			 e->memory_pages_on_node, e->memory_pages);
	if (e->thread_node >= 0)
		report_note(r, "%s NUMA node %" PRId64 ", CPUs %s (%s%s)", who, e->thread_node,
			    e->cpus, e->pinned, pages);
	else
		report_note(r, "%s CPUs %s (%s)", who, e->cpus, e->pinned);
}

static void set_effective(struct report *r, const struct report_effective *e)
{
	json_object_set_new(r->effective, "mtu_bytes", json_integer(e->mtu_bytes));
	json_object_set_new(r->effective, "tx_depth", json_integer(e->tx_depth));
	json_object_set_new(r->effective, "rx_depth", json_integer(e->rx_depth));
	json_object_set_new(r->effective, "inline_bytes", json_integer(e->inline_bytes));
	json_object_set_new(r->effective, "cq_mod", json_integer(e->cq_mod));
	json_object_set_new(r->effective, "warmup", json_integer((json_int_t)e->warmup));
	json_object_set_new(r->effective, "connected_by", json_string(e->connected_by));
	json_object_set_new(r->effective, "exchanged_over", json_string(e->exchanged_over));
}

static json_t *ns_or_null(double ns)
{
	return ns > 0 ? json_real(ns) : json_null();
}

static int decimals(double ns)
{
	return ns < 100 ? 1 : 0;
}

void report_calls(struct report *r, const struct report_calls *c)
{
	json_object_set_new(r->effective, "calls", json_string(c->chosen));
	json_object_set_new(r->effective, "calls_ns", ns_or_null(c->chosen_ns));
	json_object_set_new(r->effective, "other_calls_ns", ns_or_null(c->other_ns));
	if (c->chosen_ns > 0)
		report_note(r, "%s by %s: %.*f ns, %.*f by %s", c->sends ? "posts" : "polls",
			    c->chosen, decimals(c->chosen_ns), c->chosen_ns, decimals(c->other_ns),
			    c->other_ns, c->other);
}

static bool by_rdma_cm(const struct report_effective *e)
{
	return strcmp(e->connected_by, "rdma_cm") == 0;
}

/* The first device's end as ever; the others beside it. */
static json_t *ends_json(const struct end *const *end, unsigned rails)
{
	json_t *to = end_to_json(end[0]), *others = json_array();

	for (unsigned i = 1; i < rails; i++)
		json_array_append_new(others, end_to_json(end[i]));
	if (rails > 1)
		json_object_set(to, "more_devices", others);
	json_decref(others);
	return to;
}

void report_connected(struct report *r, const struct report_ends *ends)
{
	const char *me = r->about.server ? "server" : "client";
	const char *they = r->about.server ? "client" : "server";
	unsigned qps = ends->my_qps[0]->count * ends->rails * ends->threads;
	char threads[64] = "";

	json_object_set_new(r->ends, me, ends_json(ends->mine, ends->rails));
	json_object_set_new(r->ends, they, ends_json(ends->theirs, ends->rails));
	set_effective(r, ends->effective);
	if (r->perftest) {
		perftest_banner(r, ends, stdout);
		return;
	}
	for (unsigned i = 0; i < ends->rails; i++) {
		end_lines(r, me, ends->mine[i]);
		end_lines(r, they, ends->theirs[i]);
	}
	if (ends->threads * ends->rails > 1)
		snprintf(threads, sizeof(threads), " on %u threads", ends->threads * ends->rails);
	report_note(r, "%u QP%s%s%s, MTU %u (the smaller of both), inline up to %u bytes, clock %s",
		    qps, qps > 1 ? "s" : "", threads,
		    by_rdma_cm(ends->effective) ? ", connected by rdma_cm" : "",
		    ends->effective->mtu_bytes, ends->effective->inline_bytes,
		    ends->mine[0]->clock);
}

void forms_wipe_live(struct report *r)
{
	if (r->live_shown)
		fprintf(stderr, "\r\033[K");
	r->live_shown = false;
}

void forms_to_table(struct report *r, const struct report_result *result, const struct record *rec)
{
	if (r->only) {
		table_only(r, rec, stdout);
	} else if (r->perftest) {
		perftest_row(r, result, rec, stdout);
	} else if (r->table) {
		if (!r->header_done)
			table_header(r, stdout);
		table_row(r, rec, result->cpu_percent, stdout);
		if (result->samples_us)
			table_samples(r, result, rec->messages - rec->lost, stdout);
	}
	fflush(stdout);
}

static void to_csv(struct report *r, const struct report_result *result)
{
	for (size_t i = 0; i < result->rows; i++)
		csv_row(r, &result->row[i], r->csv);
	if (fflush(r->csv) == EOF && !r->csv_errnum)
		r->csv_errnum = errno;
}

void report_shown(struct report *r, const struct report_result *result)
{
	forms_wipe_live(r);
	for (size_t i = 0; i < 2 && result->shown[i]; i++) {
		forms_to_table(r, result, result->shown[i]->record);
		r->header_done = true;
		json_array_append_new(r->shown, json_result(result->shown[i]));
	}
}

void report_result(struct report *r, const struct report_result *result)
{
	forms_wipe_live(r);
	if (!result->held)
		report_shown(r, result);
	if (csv_rows(r))
		to_csv(r, result);
	for (size_t i = 0; i < result->rows; i++) {
		json_t *row = json_result(&result->row[i]);

		if (i == 0 && result->histogram)
			json_object_set(row, "latency_histogram_us", result->histogram);
		summary_worst(r, &result->row[i]);
		json_array_append_new(r->results, row);
	}
}

void report_own_result(struct report *r, json_t *result)
{
	json_array_append_new(r->results, result);
}

void report_own_key(struct report *r, const char *key, json_t *value)
{
	json_object_set_new(r->own, key, value);
}

FILE *report_own_table(struct report *r)
{
	forms_wipe_live(r);
	return r->table || r->perftest ? stdout : NULL;
}

FILE *report_own_csv(struct report *r)
{
	return csv_rows(r);
}

void report_counters(struct report *r, const char *who, json_t *counters, bool shown)
{
	bool mine = strcmp(who, r->about.server ? "server" : "client") == 0;
	const char *name;
	json_t *one;

	json_object_set(r->counters, who, counters);
	forms_wipe_live(r);
	json_object_foreach(counters, name, one)
	{
		json_int_t change = json_integer_value(json_object_get(one, "change"));

		if (!change && !shown)
			continue;
		/* perftest prints its own end's, without saying what they are. */
		if (r->perftest && mine)
			printf("\t%s=%" JSON_INTEGER_FORMAT "\n", name, change);
		else if (!r->perftest)
			fprintf(stderr, "rdmark: %s %s: %+" JSON_INTEGER_FORMAT "\n", who, name,
				change);
	}
}

int report_next(struct report *r, const struct fault *problem, bool interrupted, struct fault *f)
{
	int rc;

	fault_phase(f, "writing the results");
	forms_wipe_live(r);
	rc = document_write(r, problem, interrupted, f);
	fflush(stdout);
	forget(r);
	begin(r);
	return rc;
}

int report_close(struct report *r, const struct fault *problem, bool interrupted, struct fault *f)
{
	int rc;

	fault_phase(f, "writing the results");
	forms_wipe_live(r);
	if (r->perftest && r->header_done)
		perftest_rule(stdout);
	rc = r->about.options ? document_write(r, problem, interrupted, f) : 0;
	if (r->csv && r->csv != stdout) {
		if (fclose(r->csv) == EOF && !r->csv_errnum)
			r->csv_errnum = errno;
		if (r->csv_errnum)
			rc = document_refused(output(r)->csv, r->csv_errnum, f);
	}
	errno = 0;
	if (fflush(stdout) == EOF || ferror(stdout)) {
		rc = fault_raise(f, FAULT_LOCAL, errno ? errno : EIO, "writing to stdout");
		fault_cause(f, "It is closed, or what reads it is gone, or the disk is full");
	}
	forget(r);
	memset(r, 0, sizeof(*r));
	return rc;
}
