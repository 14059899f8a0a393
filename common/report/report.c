// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/units.h"
#include "report/forms.h"

#define PERFTEST_JSON "perftest_out.json"

static const struct output_options *output(const struct report *r)
{
	return &r->about.options->output;
}

const struct record *forms_own(const struct report *r, const struct report_result *result)
{
	return r->about.server && result->server ? result->server : result->client;
}

static bool to_stdout(const char *file)
{
	return file && strcmp(file, "-") == 0;
}

static int cannot_write(const char *file, int errnum, struct fault *f)
{
	fault_raise(f, FAULT_LOCAL, errnum, "writing %s", file);
	if (errnum == ENOSPC)
		return fault_fix(f, "make room there, or name a file elsewhere");
	return fault_fix(f,
			 "name a file in a directory that exists and that this user may write to");
}

/* A device, pipe or link stays what it is: only a regular file is replaced by a new one. */
static bool is_special(const char *file)
{
	struct stat st;

	return lstat(file, &st) == 0 && !S_ISREG(st.st_mode);
}

/* A document is written beside its place and renamed; see now that this will work. */
static int try_place(const char *file, struct fault *f)
{
	char path[4096];
	FILE *out;

	if (!file || to_stdout(file) || is_special(file))
		return 0;
	snprintf(path, sizeof(path), "%s.%d.tmp", file, (int)getpid());
	out = fopen(path, "we");
	if (!out)
		return cannot_write(file, errno, f);
	fclose(out);
	unlink(path);
	return 0;
}

static const char *perftest_json_file(const struct report *r)
{
	if (output(r)->out_json_file)
		return output(r)->out_json_file;
	return output(r)->out_json ? PERFTEST_JSON : NULL;
}

int report_open(struct report *r, const struct report_about *about, struct fault *f)
{
	const struct output_options *o = &about->options->output;
	time_t now = time(NULL);
	struct tm tm;
	bool document = to_stdout(o->json) || to_stdout(o->csv);

	fault_phase(f, "opening the output files");
	memset(r, 0, sizeof(*r));
	r->about = *about;
	r->only = !document && o->only != ONLY_ALL;
	r->perftest = !document && !r->only && o->format == FORMAT_PERFTEST;
	r->table = !document && !r->only && !r->perftest;
	r->tty = isatty(STDERR_FILENO) && !o->quiet;
	r->results = json_array();
	r->ends = json_object();
	r->effective = json_object();
	strftime(r->started, sizeof(r->started), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
	if (to_stdout(o->json) && to_stdout(o->csv)) {
		fault_raise(f, FAULT_USAGE, 0, "--json and --csv both go to stdout");
		return fault_fix(f, "give one of them a file: --json=FILE or --csv=FILE");
	}
	if (try_place(o->json, f) || try_place(perftest_json_file(r), f))
		return -1;
	if (!o->csv)
		return 0;
	r->csv = to_stdout(o->csv) ? stdout : fopen(o->csv, "we");
	return r->csv ? 0 : cannot_write(o->csv, errno, f);
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
}

void report_connected(struct report *r, const struct end *mine, const struct end *theirs,
		      const struct qp_address *mine_qps, const struct qp_address *their_qps,
		      const struct report_effective *effective)
{
	bool server = r->about.server;

	json_object_set_new(r->ends, server ? "server" : "client", end_to_json(mine));
	json_object_set_new(r->ends, server ? "client" : "server", end_to_json(theirs));
	set_effective(r, effective);
	if (r->perftest) {
		perftest_banner(r, mine, theirs, mine_qps, their_qps, effective, stdout);
		return;
	}
	end_lines(r, server ? "server" : "client", mine);
	end_lines(r, server ? "client" : "server", theirs);
	report_note(r, "%u QP%s, MTU %u (the smaller of both), inline up to %u bytes, clock %s",
		    mine_qps->count, mine_qps->count > 1 ? "s" : "", effective->mtu_bytes,
		    effective->inline_bytes, mine->clock);
}

static void wipe_live(struct report *r)
{
	if (r->live_shown)
		fprintf(stderr, "\r\033[K");
	r->live_shown = false;
}

static void to_table(struct report *r, const struct report_result *result)
{
	const struct record *own = forms_own(r, result);

	if (r->only) {
		table_only(r, own, stdout);
	} else if (r->perftest) {
		perftest_row(r, result, stdout);
	} else if (r->table) {
		if (!r->header_done)
			table_header(r, stdout);
		table_row(r, own, stdout);
		if (result->samples_us)
			table_samples(r, result, stdout);
	}
	fflush(stdout);
}

void report_result(struct report *r, const struct report_result *result)
{
	wipe_live(r);
	to_table(r, result);
	if (r->csv) {
		if (!r->header_done)
			csv_header(r->csv);
		csv_row(r, result->client, "client", r->csv);
		if (result->server)
			csv_row(r, result->server, "server", r->csv);
		fflush(r->csv);
	}
	r->header_done = true;
	json_array_append_new(r->results, json_result(r, result, result->client, "client"));
	if (result->server)
		json_array_append_new(r->results, json_result(r, result, result->server, "server"));
}

/* "5.0 s: 65536 B: 92.1 Gb/s, 0.176 M messages/s", or the mean latency. Returns BUF. */
static const char *progress_text(const struct report *r, uint64_t bytes, uint64_t elapsed_ns,
				 uint64_t interval_ns, uint64_t messages, char *buf, size_t size)
{
	double s = (double)interval_ns / 1e9, rate = s > 0 ? (double)messages / s : 0;

	if (r->about.latency)
		snprintf(buf, size,
			 "%.1f s: %" PRIu64 " B: %.2f usec on average, %" PRIu64 " messages",
			 (double)elapsed_ns / 1e9, bytes,
			 messages ? s * 1e6 / 2 / (double)messages : 0, messages);
	else
		snprintf(buf, size, "%.1f s: %" PRIu64 " B: %.3f Gb/s, %.0f messages/s",
			 (double)elapsed_ns / 1e9, bytes, rate * (double)bytes * 8 / 1e9, rate);
	return buf;
}

void report_interval(struct report *r, uint64_t message_bytes, uint64_t elapsed_ns,
		     uint64_t interval_ns, uint64_t messages)
{
	double s = (double)interval_ns / 1e9, rate = s > 0 ? (double)messages / s : 0;
	char text[160];

	wipe_live(r);
	if (!to_stdout(output(r)->json)) {
		fprintf(stderr, "rdmark: %s\n",
			progress_text(r, message_bytes, elapsed_ns, interval_ns, messages, text,
				      sizeof(text)));
		return;
	}
	printf("{\"interval\": {\"message_bytes\": %" PRIu64
	       ", \"elapsed_s\": %.6f, \"interval_s\": %.6f, "
	       "\"messages\": %" PRIu64 ", \"messages_per_s\": %.3f, ",
	       message_bytes, (double)elapsed_ns / 1e9, s, messages, rate);
	if (r->about.latency)
		printf("\"latency_mean_us\": %.4f}}\n",
		       messages ? s * 1e6 / 2 / (double)messages : 0);
	else
		printf("\"bandwidth_gbps\": %.6f}}\n", rate * (double)message_bytes * 8 / 1e9);
	fflush(stdout);
}

void report_live(struct report *r, uint64_t message_bytes, uint64_t elapsed_ns,
		 uint64_t interval_ns, uint64_t messages)
{
	char text[160];

	if (!r->tty)
		return;
	fprintf(stderr, "\r%s\033[K",
		progress_text(r, message_bytes, elapsed_ns, interval_ns, messages, text,
			      sizeof(text)));
	r->live_shown = true;
}

/* TEXT whole to FILE: a temporary name, then rename; "-" is stdout. */
static int write_document(const char *file, const char *text, struct fault *f)
{
	bool special = is_special(file), bad;
	char path[4096];
	FILE *out;
	int err;

	if (!text)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "making the document for %s", file);
	if (to_stdout(file)) {
		fputs(text, stdout);
		return 0;
	}
	snprintf(path, sizeof(path), special ? "%s" : "%s.%d.tmp", file, (int)getpid());
	out = fopen(path, "we");
	if (!out)
		return cannot_write(file, errno, f);
	errno = 0;
	bad = fputs(text, out) == EOF || fflush(out) == EOF;
	err = errno;
	bad |= fclose(out) == EOF;
	if (!err)
		err = errno;
	if (!bad && (special || rename(path, file) == 0))
		return 0;
	err = err ? err : errno;
	if (!special)
		unlink(path);
	return cannot_write(file, err, f);
}

static int write_documents(struct report *r, const struct fault *problem, bool interrupted,
			   struct fault *f)
{
	const char *perftest_file = perftest_json_file(r);
	char *text = NULL, *line = NULL;
	bool lines;
	int rc = 0;

	if (output(r)->json) {
		json_t *d = json_document(r, problem, interrupted);

		/* With --interval the output is JSON lines, and the document is the last of them.
		 */
		lines = output(r)->interval_ns && to_stdout(output(r)->json);
		line = json_dumps(d, lines ? JSON_COMPACT : JSON_INDENT(2));
		if (line && asprintf(&text, "%s\n", line) < 0)
			text = NULL;
		rc = write_document(output(r)->json, text, f);
		free(text);
		free(line);
		json_decref(d);
	}
	if (perftest_file && json_array_size(r->results)) {
		text = perftest_json(r);
		rc |= write_document(perftest_file, text, f);
		free(text);
	}
	return rc;
}

int report_close(struct report *r, const struct fault *problem, bool interrupted, struct fault *f)
{
	int rc;

	fault_phase(f, "writing the results");
	wipe_live(r);
	if (r->perftest && r->header_done)
		perftest_rule(stdout);
	rc = r->about.options ? write_documents(r, problem, interrupted, f) : 0;
	if (r->csv && r->csv != stdout) {
		bool bad = ferror(r->csv) != 0;

		errno = 0;
		if (fclose(r->csv) == EOF || bad)
			rc = cannot_write(output(r)->csv, errno ? errno : EIO, f);
	}
	errno = 0;
	if (fflush(stdout) == EOF || ferror(stdout)) {
		rc = fault_raise(f, FAULT_LOCAL, errno ? errno : EIO, "writing to stdout");
		fault_cause(f, "It is closed, or what reads it is gone, or the disk is full");
	}
	json_decref(r->results);
	json_decref(r->ends);
	json_decref(r->effective);
	memset(r, 0, sizeof(*r));
	return rc;
}
