// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/report.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/phase.h"
#include "base/units.h"
#include "proto/json_memory.h"

/* Start with empty results for one client's run. */
static void begin_report(struct report *r)
{
	r->run = (struct report_run){
		.results = json_array(),
		.summaries = json_array(),
		.ends = json_object(),
		.points = json_array(),
		.intervals = json_array(),
		.own = json_object(),
	};
	r->run.json_failures = json_memory_failures();
	clock_utc(r->run.started);
}

static void forget_report(struct report *r)
{
	json_decref(r->run.results);
	json_decref(r->run.summaries);
	json_decref(r->run.ends);
	json_decref(r->run.points);
	json_decref(r->run.intervals);
	json_decref(r->run.own);
	notes_forget(r);
	r->run = (struct report_run){.results = NULL};
}

static const struct form form_none = {.connected = banner_print};

/* A rate that the run does not have is not printed; a parser of perftest's form gets a number. */
static void number_row(struct report *r, const struct result *result,
		       const struct result_row *shown, FILE *out)
{
	const struct output_options *o = &r->about.options->output;
	char text[COLUMNS_ROW];

	(void)result;
	if (o->only != ONLY_LATENCY && o->format != FORMAT_PERFTEST &&
	    !record_has_rate(shown->record))
		return;
	fprintf(out, "%s\n", columns_row(r, shown->record, text, sizeof(text)));
}

static const struct form form_number = {
	.number = true,
	.open = perftest_warn,
	.connected = banner_print,
	.row = number_row,
};

/* Stdout's form, by the options. */
static const struct form *choose_form(const struct output_options *o)
{
	if (document_to_stdout(o->json) || document_to_stdout(o->csv))
		return &form_none;
	if (o->only != ONLY_ALL)
		return &form_number;
	return o->format == FORMAT_PERFTEST ? perftest_form() : table_form();
}

int report_open(struct report *r, const struct report_about *about, struct fault *f)
{
	const struct output_options *o = &about->options->output;

	fault_phase(f, PHASE_OPEN_OUTPUT);
	*r = (struct report){.about = *about, .form = choose_form(o)};
	r->tty = isatty(STDERR_FILENO) && !o->quiet;
	begin_report(r);
	if (r->form->open)
		r->form->open(r);
	if (document_to_stdout(o->json) && document_to_stdout(o->csv))
		return fault_usage(f, "give one of them a file: --json=FILE or --csv=FILE",
				   "--json and --csv both go to stdout");
	if (document_try(o, f))
		return -1;
	return o->csv ? csv_open(r, f) : 0;
}

void report_serve(struct report *r, const struct test *test)
{
	r->header_done &= r->about.test == test;
	r->about.test = test;
}

/* On a terminal: what to type on the other host, from the ADDRESS "[::]:18515" of this server. */
static void say_what_to_type(const struct report *r, const char *address)
{
	const struct local_options *l = &r->about.options->local;
	const char *port = strrchr(address, ':');
	int size = port ? (int)(port - address) : 0;
	char host[256] = "", option[24] = "";

	if (!r->tty || !port || l->persistent)
		return;
	if (strncmp(address, "[::]", 4) == 0 || strncmp(address, "0.0.0.0", 7) == 0)
		gethostname(host, sizeof(host) - 1);
	else
		snprintf(host, sizeof(host), "%.*s", *address == '[' ? size - 2 : size,
			 address + (*address == '['));
	if (strcmp(port, ":18515") != 0)
		snprintf(option, sizeof(option), "-p %s ", port + 1);
	report_log(r, "on the other host, type: %s %s%s", r->about.program, option, host);
}

void report_listening(struct report *r, const char *address)
{
	uint64_t wait_ns = r->about.options->local.wait_ns;

	if (r->form->listening)
		r->form->listening();
	report_log(r, "ready on %s", address);
	if (wait_ns)
		report_log(r, "exits if no client comes for %s (--wait)", units_ns(wait_ns).text);
	say_what_to_type(r, address);
}

/* The end with its first device; further devices are in more_devices. */
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

/* Another experiment of a sweep begins: keep that for the document. */
static void begin_point(struct report *r)
{
	json_t *varied = experiment_varied(r->about.options);

	if (varied && document_keeps(r->about.options))
		json_array_append_new(r->run.points,
				      json_pack("{s:O, s:o}", "varied", varied, "effective",
						json_effective(&r->run.effective)));
	json_decref(varied);
}

void report_connected(struct report *r, const struct report_ends *ends)
{
	const char *me = result_end_name(r->about.server);
	const char *they = result_end_name(!r->about.server);
	bool again = json_object_size(r->run.ends); /* a further experiment of a sweep */

	if (!ends->same) {
		json_object_set_new(r->run.ends, me, ends_json(ends->mine, ends->rails));
		if (ends->theirs[0])
			json_object_set_new(r->run.ends, they,
					    ends_json(ends->theirs, ends->rails));
		r->run.end = *ends->mine[0];
		r->run.rails = ends->rails;
	}
	r->run.effective = *ends->effective;
	begin_point(r);
	if (!again)
		r->form->connected(r, ends);
}

void report_shown(struct report *r, const struct result *result)
{
	progress_wipe(r);
	for (size_t i = 0; i < 2 && result->shown[i]; i++) {
		report_row(r, result, result->shown[i], stdout);
		r->run.last = perftest_last(r, result, result->shown[i]);
		notes_shown(r, result->shown[i]);
	}
}

int report_check_room(const struct report *r, struct fault *f)
{
	size_t kept = json_array_size(r->run.results) + json_array_size(r->run.summaries) +
		      json_array_size(r->run.points);

	if (r->csv.file && r->run.rows > kept)
		kept = r->run.rows;
	if (!r->about.options->local.persistent || kept < REPORT_ROWS_MAX)
		return 0;
	return fault_usage(f, "measure less in one run, or start the server without them",
			   "the client has measured %d rows, the maximum that a --persistent "
			   "server writes to --json, --json-lines and --csv",
			   REPORT_ROWS_MAX);
}

void report_result(struct report *r, const struct result *result)
{
	progress_wipe(r);
	if (!result->failed)
		notes_add(r, result);
	else if (result->shown[0])
		notes_failed(r, result->shown[0]);
	if (!result->one_of_runs && !result->failed)
		report_shown(r, result);
	report_counters(r, result->snapshot);
	csv_result(r, result);
	if (r->about.options->experiment.run_infinitely && r->form->close)
		r->form->close(r); /* it was the only row */
	for (size_t i = 0; i < result->rows; i++)
		notes_worst(r, &result->row[i]);
	r->run.rows += result->main != NULL;
	if (result->main && document_keeps(r->about.options))
		json_array_append_new(r->run.results, varied_json(r, json_result(result)));
}

void report_own_result(struct report *r, json_t *result)
{
	if (document_keeps(r->about.options))
		json_array_append(r->run.results, varied_json(r, result));
	json_decref(result);
}

const json_t *report_own_list(struct report *r, const char *key, json_t *value)
{
	json_t *list = json_object_get(r->run.own, key);

	if (!list)
		report_own_key(r, key, list = json_array());
	json_array_append_new(list, varied_json(r, value));
	return list;
}

void report_own_key(struct report *r, const char *key, json_t *value)
{
	json_object_set_new(r->run.own, key, value);
}

FILE *report_own_table(struct report *r)
{
	progress_wipe(r);
	return r->form->table || r->form->perftest ? stdout : NULL;
}

/* Print the notes after the table, and write the documents. */
static int end_run(struct report *r, const struct fault *problem, bool interrupted, bool last,
		   struct fault *f)
{
	int rc;

	fault_phase(f, PHASE_WRITE);
	progress_wipe(r);
	if (!r->about.options) /* report_open() was never called */
		return 0;
	if (last && r->form->close)
		r->form->close(r);
	notes_print(r);
	rc = document_write(r, problem, interrupted, f);
	progress_print_dropped(r);
	return csv_raise(r, f) ? -1 : rc;
}

void report_discard(struct report *r)
{
	fflush(stdout);
	forget_report(r);
	begin_report(r);
	r->header_done &= !r->form->table; /* whose columns are each client's own */
}

int report_next(struct report *r, const struct fault *problem, bool interrupted, struct fault *f)
{
	int rc = end_run(r, problem, interrupted, false, f);

	report_discard(r);
	return rc;
}

int report_close(struct report *r, const struct fault *problem, bool interrupted, struct fault *f)
{
	int rc = end_run(r, problem, interrupted, true, f), why;

	if (csv_close(r, f))
		rc = -1;
	why = outlet_flush(stdout);
	if (!why)
		why = outlet_finish(&r->about.streams->out);
	if (why == EPIPE && !fault_is(f))
		f->signal = SIGPIPE;
	if (why)
		rc = document_stdout_refused(why == EPIPE ? FAULT_INTERRUPTED : FAULT_LOCAL, why, f);
	forget_report(r);
	memset(r, 0, sizeof(*r));
	return rc;
}
