// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The tour: the main tests of one host after another, a line each. */
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

struct tour {
	char **option; /* options for all programs; ended by NULL */
	size_t options;
	char *host;
	const char *json; /* the file that gets the documents, "-": stdout; NULL: none */
	char *tests;      /* those that the user names, with commas between; NULL: the usual ones */
	bool lasts;       /* the options set the number of messages or the duration */
	struct stop stop;
	struct streams streams;
	struct fault fault;
	bool shown, headed; /* both ends have been printed; and the head of the table */
	bool over;  /* a program printed help or a list: so would all others */
	bool said;  /* the last program printed a document: its command line was valid */
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

/* The row that the tour prints: the first of the largest size. NULL: none. */
static const json_t *tour_row(const json_t *document)
{
	const json_t *row, *best = NULL;
	size_t i;

	json_array_foreach (json_object_get(document, "results"), i, row)
		if (document_shows(document, row) &&
		    (!best ||
		     result_number(row, "message_bytes") > result_number(best, "message_bytes")))
			best = row;
	return best;
}

static const char table_head[] =
	"test       size     median[us]    p99[us]  rate[Gb/s]  of link[%]  \302\261[%]\n";

/* A column of the table; "-" where VALUE is not known. */
static void print_number(FILE *out, int width, int decimals, double value)
{
	if (value > 0)
		fprintf(out, " %*.*f", width, decimals, value);
	else
		fprintf(out, " %*s", width, "-");
}

static void print_row(FILE *out, const char *test, const json_t *row)
{
	const json_t *quality = json_object_get(row, "quality"), *why;
	const json_t *ceilings = json_object_get(json_object_get(row, "limit"), "ceilings");
	json_int_t connection =
		json_integer_value(json_object_get(json_object_get(row, "varied"), "reconnect"));
	double gbps =
		json_object_get(row, "latency_mean_us") ? 0 : result_number(row, "bandwidth_gbps");
	double link = result_number(ceilings, "link_gbps");
	double sure = result_number(row, "plus_minus_percent");
	size_t i;

	fprintf(out, "%-10s %-8s", test,
		units_size((uint64_t)result_number(row, "message_bytes")).text);
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
	if (json_is_true(json_object_get(quality, "disturbed")))
		terminal_put(out, TERMINAL_YELLOW, "  !");
	json_array_foreach (json_object_get(quality, "reasons"), i, why)
		fprintf(out, " %s", json_string_value(why));
	fprintf(out, "\n");
}

static void print_verdict(FILE *out, const char *test, const char *text)
{
	fprintf(out, "%-10s ", test);
	terminal_verdict(out, text);
	fprintf(out, "\n");
}

/* Print a line for TEST: its result or verdict, or its exit STATUS if it measured nothing. */
static void show_test(struct tour *t, const char *test, const json_t *document, int status)
{
	FILE *out = document_to_stdout(t->json) ? stderr : stdout;
	const json_t *verdict = json_object_get(document, "verdict");
	const json_t *row = tour_row(document);

	if (!t->headed && row && !verdict) {
		fputs(table_head, out);
		t->headed = true;
	}
	show_ends(t, document);
	t->said = document;
	if (!document)
		return; /* the program has printed why on standard error */
	if (verdict)
		print_verdict(out, test, json_text_at(verdict, "text"));
	else if (row)
		print_row(out, test, row);
	else
		fprintf(out, "%-10s not measured (exit status %d)\n", test, status);
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

/* The command line of TEST; the caller's to free. NULL: no memory. */
static char **command_line(const struct tour *t, const char *test)
{
	bool own_time = strcmp(test, "gdr_bw") == 0; /* it sets the length of its windows itself */
	const char *first[] = {test, "--json", "--quiet",
			       t->lasts || own_time ? NULL : "--duration=1"};
	char **argv = calloc(t->options + 7, sizeof(*argv));
	size_t n = 0;

	if (!argv)
		return NULL;
	for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
		if (first[i])
			argv[n++] = (char *)(uintptr_t)first[i];
	for (size_t i = 0; i < t->options; i++)
		argv[n++] = t->option[i];
	/* If the last option lacks its value, it takes "--" for it, and not the host. */
	argv[n++] = (char *)(uintptr_t) "--";
	argv[n] = t->host;
	return argv;
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

/* Run TEST. Its exit status, 128 and more for a signal's; or -1 with the fault raised. */
static int run_test(struct tour *t, const char *test)
{
	struct process_attr attr = {
		.argv = command_line(t, test), .heard = true, .orphan = SIGTERM};
	struct process p = {0};
	json_t *document;
	int status = -1;

	fault_phase(&t->fault, "the tour");
	if (!attr.argv)
		fault_raise(&t->fault, FAULT_LOCAL, ENOMEM, "starting %s", test);
	else if (process_start(&p, &attr, &t->fault) == 0)
		status = process_wait(&p, &t->stop, &t->fault);
	free((void *)attr.argv);
	document = status < 0 ? NULL : last_document(p.said ? p.said : "");
	if (status >= 0 && !document && p.said_n) { /* output of --help or --list */
		fputs(p.said, stdout);
		t->over = true;
	}
	process_release(&p);
	if (status < 0)
		return -1;
	status = process_exit_status(status);
	show_test(t, test, document, status);
	if (document && keep_document(t, document))
		status = -1;
	json_decref(document);
	return status;
}

/* Take the LIST of --tests. Returns 0, or -1 with the fault raised. */
static int read_tests(struct tour *t, char *list)
{
	char *copy = strdup(list ? list : ""), *rest = copy, *name;
	int rc = 0;

	while (!rc && (name = strsep(&rest, ",")))
		if (!process_measures(name))
			rc = fault_raise(&t->fault, FAULT_USAGE, 0, "--tests: '%s' is no test",
					 name);
	free(copy);
	t->tests = list;
	return rc ? fault_fix(&t->fault, "--tests send_lat,read_bw, of: %s", process_programs())
		  : 0;
}

/*
 * Separate the options after the host: --json and --tests are the tour's own, the others are the
 * programs'. Refuse --prom: each test would replace the file of the one before.
 */
static int read_options(struct tour *t, char **argv)
{
	t->option = argv;
	for (char **from = argv; *from; from++) {
		const char *value = strchr("=", (*from)[strnlen(*from, 6)]) ? *from + 6 : NULL;

		if (value && strncmp(*from, "--json", 6) == 0) {
			t->json = *value ? value + 1 : "-";
			continue;
		}
		if (strncmp(*from, "--tests", 7) == 0 && strchr("=", (*from)[7])) {
			bool next = !(*from)[7]; /* the list is the next word */

			if (read_tests(t, next ? from[1] : *from + 8))
				return -1;
			from += next;
			continue;
		}
		if (value && strncmp(*from, "--prom", 6) == 0) {
			fault_raise(&t->fault, FAULT_USAGE, 0,
				    "--prom cannot be used with several tests");
			return fault_fix(&t->fault, "name a test: rdmark write_bw --prom FILE %s",
					 t->host);
		}
		t->lasts |= strncmp(*from, "-n", 2) == 0 || strncmp(*from, "-D", 2) == 0 ||
			    strncmp(*from, "--iters", 7) == 0 ||
			    strncmp(*from, "--duration", 10) == 0;
		t->option[t->options++] = *from;
	}
	return 0;
}

static int run_tests(struct tour *t)
{
	char usual[] = "send_lat,send_bw,write_lat,write_bw,read_lat,read_bw,gdr_bw";
	char *rest = t->tests, *test;
	int first = 0;

	if (!rest) {
		rest = usual;
		*(has_gpu() ? usual + strlen(usual) : strrchr(usual, ',')) = '\0';
	}
	while ((test = strsep(&rest, ","))) {
		int status = run_test(t, test);

		if (status < 0)
			return -1;
		if (t->over)
			return status;
		if (status == 128 + SIGINT && !t->stop.signal) /* sent to it alone */
			t->stop.signal = SIGINT;
		if (t->stop.signal)
			return stop_raise(&t->stop, &t->fault);
		if (t->said && (status == FAULT_PEER || status == FAULT_DEADLINE ||
				(status == FAULT_USAGE && !t->shown))) {
			fault_phase(&t->fault, "the tour");
			fault_raise(&t->fault, (enum fault_code)status, 0,
				    "%s of %s was not measured", test, t->host);
			return fault_fix(&t->fault,
					 "start `rdmark server --auth=none` on %s: it serves every "
					 "test",
					 t->host);
		}
		if (status && !t->shown)
			return status; /* the other tests would fail, too */
		/* It may refuse an option that the other tests accept, such as --repeat. */
		if (status == FAULT_USAGE && !t->said && strcmp(test, "gdr_bw") == 0)
			fprintf(stderr,
				RDMARK ": gdr_bw is not part of a tour with these options\n");
		else
			first = first ? first : status;
	}
	return first;
}

int tour_command(char **argv)
{
	struct tour t = {.host = argv[1], .stop = {.fd = -1}};
	int status;

	hwtree_prepare(); /* or each program would say it */
	status = read_options(&t, argv + 2) || stop_init(&t.stop, &t.fault) ? -1 : 0;
	if (!status) {
		streams_open(&t.streams, &t.stop);
		status = run_tests(&t);
	}
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
