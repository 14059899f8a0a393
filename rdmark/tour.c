// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The tour: the main tests of one host after another, with the options given, a line each. */
#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/process.h"
#include "base/outlet.h"
#include "base/terminal.h"
#include "base/units.h"
#include "memory/gpu.h"
#include "host/hwtree.h"
#include "rdmark.h"
#include "proto/fields.h"
#include "proto/json_memory.h"
#include "report/document.h"
#include "report/list.h"
#include "session/program.h"

#define TOUR_MAX 7 /* programs */

struct tour {
	struct tour_test {
		const char *name;
		bool lasts;           /* its command line says how long */
		struct fault refused; /* set: it refuses the options */
	} tests[TOUR_MAX];
	size_t count;
	char **words; /* the options given, ended by NULL */
	char *host;
	const char *json; /* the file that gets the documents, "-": stdout; NULL: none */
	struct stop stop;
	struct streams streams;
	struct fault fault;
	json_t *disturbed;  /* array: a line for each test that was */
	bool shown, headed; /* both ends have been printed; and the head of the table */
	bool over;          /* a program printed help or a list: so would all others */
	bool said;          /* the last program printed a document: its command line was valid */
};

static bool has_gpu(void)
{
	struct gpu_info *list = NULL;
	struct fault absent = {0};
	size_t count = 0;

	if (gpu_list(&list, &count, &absent))
		return false;
	free(list);
	return count > 0;
}

static double result_number(const json_t *o, const char *key)
{
	return json_number_value(json_object_get(o, key));
}

/* Print the hosts and devices of both ends, once. */
static void show_ends(struct tour *t, const json_t *document)
{
	static const char *const who[] = {"client", "server"};
	const json_t *ends = json_object_get(document, "ends");

	for (int i = 0; i < 2 && !t->shown && json_object_size(ends); i++) {
		const json_t *end = json_object_get(ends, who[i]);
		double rate = result_number(end, "rate_gbps");

		fprintf(stderr, RDMARK ": %s %s: %s port %.0f, %s", who[i],
			json_text_at(end, "host"), json_text_at(end, "device"),
			result_number(end, "port"), json_text_at(end, "transport"));
		fprintf(stderr, rate > 0 ? " %g Gb/s\n" : ", rate unknown\n", rate);
	}
	t->shown |= json_object_size(ends) > 0;
}

/* The row that the tour prints: the first of the largest size. NULL: none. ROWS: of how many. */
static const json_t *tour_row(const json_t *document, size_t *rows)
{
	const json_t *row, *best = NULL;
	size_t i;

	json_array_foreach (json_object_get(document, "results"), i, row)
		if (document_shows(document, row)) {
			++*rows;
			if (!best || result_number(row, "message_bytes") >
					     result_number(best, "message_bytes"))
				best = row;
		}
	return best;
}

static const char table_head[] =
	"test       size     median[us]    p99[us]  rate[Gb/s]  of link[%]  \302\261[%]\n";

/* Print the head of the table, once. */
static void print_head(struct tour *t, FILE *out)
{
	if (!t->headed)
		fputs(table_head, out);
	t->headed = true;
}

/* A column of the table; "-" where VALUE is not known. */
static void print_number(FILE *out, int width, int decimals, double value)
{
	if (value > 0)
		fprintf(out, " %*.*f", width, decimals, value);
	else
		fprintf(out, " %*s", width, "-");
}

static void print_row(FILE *out, const json_t *row)
{
	const json_t *ceilings = json_object_get(json_object_get(row, "limit"), "ceilings");
	json_int_t connection =
		json_integer_value(json_object_get(json_object_get(row, "varied"), "reconnect"));
	double gbps =
		json_object_get(row, "latency_mean_us") ? 0 : result_number(row, "bandwidth_gbps");
	double link = result_number(ceilings, "link_gbps");
	double sure = result_number(row, "plus_minus_percent");

	fprintf(out, "%-8s", units_size((uint64_t)result_number(row, "message_bytes")).text);
	print_number(out, 10, 2, result_number(row, "latency_p50_us"));
	print_number(out, 10, 2, result_number(row, "latency_p99_us"));
	print_number(out, 11, 2, gbps);
	print_number(out, 11, 1, link > 0 ? 100 * gbps / link : 0);
	if (sure > 100)
		fprintf(out, "  >100");
	else
		print_number(out, 5, sure < 10 ? 1 : 0, sure);
	if (connection)
		fprintf(out, "  connection %" JSON_INTEGER_FORMAT, connection);
	if (json_is_true(json_object_get(json_object_get(row, "quality"), "disturbed")))
		terminal_put(out, TERMINAL_YELLOW, "  !");
}

/* Print a line for TEST: its result or verdict, or its exit STATUS if it measured nothing. */
static void show_test(struct tour *t, const char *test, const json_t *document, int status)
{
	FILE *out = document_to_stdout(t->json) ? stderr : stdout;
	const json_t *verdict = json_object_get(document, "verdict");
	size_t rows = 0;
	const json_t *row = tour_row(document, &rows);
	const char *why = json_text_at(json_object_get(row, "quality"), "text");
	const char *error = json_text_at(json_object_get(document, "error"), "call");

	show_ends(t, document);
	if (row && !verdict)
		print_head(t, out);
	t->said = document;
	if (!document)
		return; /* the program has printed why on standard error */
	fprintf(out, "%-10s ", test);
	if (verdict)
		terminal_verdict(out, json_text_at(verdict, "text"));
	else if (row)
		print_row(out, row);
	else
		fprintf(out, "not measured (exit status %d)%s%s", status, error[0] ? ": " : "",
			error);
	if (row && !verdict && rows > 1)
		fprintf(out, " (the largest of %zu rows)", rows);
	fputc('\n', out);
	if (why[0])
		json_array_append_new(t->disturbed,
				      json_sprintf("%s: disturbed (!): %s", test, why));
	fflush(out);
}

/* Print a line for TEST, which refuses the options. */
static void show_refused(struct tour *t, const struct tour_test *test)
{
	FILE *out = document_to_stdout(t->json) ? stderr : stdout;

	print_head(t, out);
	fprintf(out, "%-10s refused: %s\n", test->name, test->refused.call);
	fflush(out);
}

/* Append DOCUMENT to the file of --json, as a line. Returns 0, or -1 with the fault raised. */
static int keep_document(struct tour *t, json_t *document)
{
	char *text;
	int rc;

	if (!t->json)
		return 0;
	fault_phase(&t->fault, "keeping the documents");
	text = json_line(json_incref(document), JSON_COMPACT | JSON_REAL_PRECISION(15));
	rc = document_add(t->json, text, &t->stop, &t->fault);
	free(text);
	if (!rc && fflush(stdout) == EOF)
		rc = fault_raise(&t->fault, FAULT_LOCAL, errno, "writing to stdout");
	return rc;
}

/* The last document in TEXT, that of the whole run: --interval prints others first. NULL: none. */
static json_t *last_document(const char *text)
{
	size_t size = strlen(text), at = 0;
	json_t *last = NULL, *o;
	json_error_t error;

	while ((at += strspn(text + at, " \t\r\n")) < size &&
	       (o = json_memory_load(text + at, size - at, JSON_DISABLE_EOF_CHECK, &error))) {
		at += (size_t)error.position;
		json_decref(last);
		last = o;
	}
	if (json_object_get(last, "test"))
		return last;
	json_decref(last);
	return NULL;
}

/*
 * The command line of TEST, which the caller frees; to RUN it: quiet, with its document on stdout.
 * The host comes first, so that no option without its value takes it. NULL: no memory.
 */
static char **line_of(const struct tour *t, const struct tour_test *test, bool run)
{
	const char *more[] = {"--json", "--quiet", "--duration=1"};
	size_t count = 0, mores = run ? 3 - test->lasts : 0;
	char **line;

	while (t->words[count])
		count++;
	line = calloc(count + 6, sizeof(*line));
	if (!line)
		return NULL;
	line[0] = (char *)(uintptr_t)test->name;
	line[1] = t->host;
	memcpy((void *)(line + 2), (void *)t->words, count * sizeof(*line));
	for (size_t i = 0; i < mores; i++)
		line[2 + count + i] = (char *)(uintptr_t)more[i];
	return line;
}

/* Run TEST. Its exit status, 128 and more for a signal's; or -1 with the fault raised. */
static int run_test(struct tour *t, const struct tour_test *test)
{
	char **line = line_of(t, test, true);
	struct process_attr attr = {.argv = line, .heard = true, .orphan = SIGTERM};
	struct process p = {0};
	json_t *document;
	int status = -1;

	fault_phase(&t->fault, "the tour");
	if (!line)
		fault_raise(&t->fault, FAULT_LOCAL, ENOMEM, "starting %s", test->name);
	else if (process_start(&p, &attr, &t->fault) == 0)
		status = process_wait(&p, &t->stop, &t->fault);
	free((void *)line);
	document = status < 0 ? NULL : last_document(p.said ? p.said : "");
	if (status >= 0 && !document && p.said_n) { /* output of --help or --version */
		fputs(p.said, stdout);
		t->over = true;
	}
	process_release(&p);
	if (status < 0)
		return -1;
	status = process_exit_status(status);
	show_test(t, test->name, document, status);
	if (document && keep_document(t, document))
		status = -1;
	json_decref(document);
	return status;
}

static int run_tests(struct tour *t)
{
	int first = 0;

	for (size_t i = 0; i < t->count; i++) {
		const struct tour_test *test = &t->tests[i];
		int status;

		if (fault_is(&test->refused)) {
			show_refused(t, test);
			continue;
		}
		status = run_test(t, test);
		if (status < 0)
			return -1;
		if (t->over)
			return status;
		if (status == 128 + SIGINT && !t->stop.signal) /* sent to it alone */
			t->stop.signal = SIGINT;
		if (t->stop.signal)
			return stop_raise(&t->stop, &t->fault);
		if (t->said && (status == FAULT_PEER || status == FAULT_DEADLINE)) {
			fault_phase(&t->fault, "the tour");
			fault_raise(&t->fault, (enum fault_code)status, 0,
				    "%s of %s was not measured", test->name, t->host);
			return fault_fix(&t->fault,
					 "start `rdmark server --auth=none` on %s: it serves every "
					 "test",
					 t->host);
		}
		if (status && !t->shown)
			return status; /* the other tests would fail, too */
		if (!first ||
		    (first == FAULT_UNAVAILABLE && status)) /* which another one may be sure of */
			first = status;
	}
	return first;
}

/* Add the program NAME, as it reads its command line itself. Returns 0 or -1. */
static int add_test(struct tour *t, const char *name)
{
	struct tour_test *to = &t->tests[t->count++];
	struct program p = {.name = name};
	const struct test *const *all;

	to->name = name;
	for (size_t i = rdmark_tests(&all); i-- > 0;)
		if (strcmp(all[i]->name, name) == 0)
			p.test = all[i];
	p.argv = line_of(t, to, false);
	if (!p.argv)
		return fault_raise(&t->fault, FAULT_LOCAL, ENOMEM, "calloc");
	if (command_line_read(&p) == 0) {
		t->json = p.options.output.json;
		to->lasts = options_given(&p.options, "iters") ||
			    options_given(&p.options, "duration") ||
			    (p.test->schedule && !p.options.experiment.plain); /* its windows */
	}
	to->refused = p.fault;
	free((void *)p.argv);
	return 0;
}

/* Read ARGV: "rdmark", the host and the rest. Returns 0, or -1 with the fault raised. */
static int read_line(struct tour *t, char **argv)
{
	static const char *const usual[] = {"send_lat", "send_bw", "write_lat", "write_bw",
					    "read_lat", "read_bw", "gdr_bw"};
	size_t refused = 0, count = sizeof(usual) / sizeof(usual[0]) - !has_gpu();

	fault_phase(&t->fault, "reading the command line");
	t->host = argv[1];
	t->words = argv + 2;
	for (size_t i = 0; i < count; i++) {
		if (add_test(t, usual[i]))
			return -1;
		refused += fault_is(&t->tests[i].refused);
	}
	if (refused == count) {
		t->fault = t->tests[0].refused;
		return -1;
	}
	if (!t->json || document_to_stdout(t->json))
		return 0;
	return document_try(&(struct output_options){.json_lines = t->json}, &t->fault);
}

int tour_command(char **argv)
{
	struct tour t = {.stop = {.fd = -1}, .disturbed = json_array()};
	const json_t *line;
	int status;
	size_t i;

	hwtree_prepare(); /* or each program would say it */
	status = read_line(&t, argv) || stop_init(&t.stop, &t.fault) ? -1 : 0;
	if (!status) {
		streams_open(&t.streams, &t.stop);
		status = run_tests(&t);
	}
	json_array_foreach (t.disturbed, i, line)
		terminal_note(stderr, "%s", json_string_value(line));
	json_decref(t.disturbed);
	if (fault_is(&t.fault))
		status = rdmark_failed(&t.fault);
	else
		status = status ? status : list_finish(stdout, RDMARK);
	streams_close(&t.streams);
	stop_release(&t.stop);
	if (t.stop.signal == SIGINT)
		stop_die(SIGINT); /* for a shell's loop */
	return status;
}
