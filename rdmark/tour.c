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
#include "report/notes.h"
#include "session/program.h"

static const char *const programs[] = {"send_lat", "send_bw", "write_lat", "write_bw",
				       "read_lat", "read_bw", "gdr_bw"};

#define PROGRAMS (sizeof(programs) / sizeof(programs[0]))

struct tour {
	char *host, **words; /* the options given, ended by NULL */
	struct fault refused[PROGRAMS]; /* set: the program refuses the options */
	size_t count;                   /* of programs that are started */
	struct stop stop;
	struct streams streams;
	struct fault fault;
	bool shown, headed; /* both ends have been printed; and the head of the table */
	char *prove;        /* --prove as typed: for the worst row; NULL: not given */
	const char *worst;  /* the program of the row with the least of its link; NULL: none */
	double worst_share;
};

static bool has_gpu(void)
{
	struct gpu_info *list = NULL;
	struct fault absent = {0};
	size_t count = 0;

	gpu_list(&list, &count, &absent);
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

/* Begin the line of PROGRAM, below the head of the table. */
static void begin_line(struct tour *t, const char *program)
{
	if (!t->headed)
		puts("test       size     median[us]    p99[us]  rate[Gb/s]  of link[%]  \302\261[%]");
	t->headed = true;
	printf("%-10s ", program);
}

/* A column of the table; "-" where VALUE is not known. */
static void print_number(int width, int decimals, double value)
{
	if (value > 0)
		printf(" %*.*f", width, decimals, value);
	else
		printf(" %*s", width, "-");
}

/* Print ROW. Returns its rate as a share of the link's; the rate itself where that is not known. */
static double print_row(const json_t *row)
{
	const json_t *ceilings = json_object_get(json_object_get(row, "limit"), "ceilings");
	double gbps =
		json_object_get(row, "latency_mean_us") ? 0 : result_number(row, "bandwidth_gbps");
	double link = result_number(ceilings, "link_gbps");
	double sure = result_number(row, "plus_minus_percent");

	printf("%-8s", units_size((uint64_t)result_number(row, "message_bytes")).text);
	print_number(10, 2, result_number(row, "latency_p50_us"));
	print_number(10, 2, result_number(row, "latency_p99_us"));
	print_number(11, 2, gbps);
	print_number(11, 1, link > 0 ? 100 * gbps / link : 0);
	print_number(5, sure < 10 ? 1 : 0, sure);
	if (json_is_true(json_object_get(json_object_get(row, "quality"), "disturbed")))
		terminal_put(stdout, TERMINAL_YELLOW, "  !");
	return link > 0 ? gbps / link : gbps;
}

/* Keep PROGRAM as the worst if its SHARE is: 0: it has no rate. */
static void keep_worst(struct tour *t, const char *program, double share)
{
	if (!(share > 0) || strcmp(program, "gdr_bw") == 0 || (t->worst && share >= t->worst_share))
		return;
	t->worst = program;
	t->worst_share = share;
}

/* Print a line for PROGRAM: its result or verdict, or its exit STATUS if it measured nothing. */
static void show_document(struct tour *t, const char *program, const json_t *document, int status)
{
	const json_t *verdict = json_object_get(document, "verdict");
	size_t rows = 0;
	const json_t *row = tour_row(document, &rows);
	const char *why = json_text_at(json_object_get(row, "quality"), "text");
	const char *error = json_text_at(json_object_get(document, "error"), "call");
	double stalls = result_number(row, "stall_percent");

	show_ends(t, document);
	begin_line(t, program);
	if (verdict)
		terminal_verdict(stdout, json_text_at(verdict, "text"));
	else if (row)
		keep_worst(t, program, print_row(row));
	else
		printf("not measured (exit status %d)%s%s", status, error[0] ? ": " : "", error);
	if (!verdict && rows > 1)
		printf(" (the largest of %zu rows)", rows);
	putchar('\n');
	fflush(stdout);
	if (why[0])
		terminal_note(stderr, "%s: disturbed (!): %s", program, why);
	if (stalls >= STALLS_FELT)
		terminal_note(stderr,
			      "%s: stalls took %.1f %% of the run, and percentiles count each once",
			      program, stalls);
}

/*
 * Run PROGRAM with the options given: with PROVE as its own user would, else (NULL) quiet and with
 * its document on stdout, and print its line. The host comes first, so that no option without its
 * value takes it. Its exit status, 128 and more for a signal's; or -1 with the fault raised.
 */
static int run_program(struct tour *t, const char *program, char *prove)
{
	static char json[] = "--json", quiet[] = "--quiet";
	struct process_attr attr = {.heard = !prove, .orphan = SIGTERM};
	struct process p = {0};
	json_t *document;
	json_error_t error;
	size_t count = 0;
	int status = -1;
	char **line;

	while (t->words[count])
		count++;
	attr.argv = line = calloc(count + 5, sizeof(*line));
	if (!line)
		return fault_raise(&t->fault, FAULT_LOCAL, ENOMEM, "starting %s", program);
	line[0] = (char *)(uintptr_t)program;
	line[1] = t->host;
	memcpy((void *)(line + 2), (void *)t->words, count * sizeof(*line));
	line[count + 2] = prove ? prove : json;
	line[count + 3] = prove ? NULL : quiet;
	if (process_start(&p, &attr, &t->fault) == 0)
		status = process_wait(&p, &t->stop, &t->fault);
	free((void *)line);
	status = status < 0 ? -1 : process_exit_status(status);
	if (status >= 0 && !prove) {
		document = json_memory_load(p.said ? p.said : "", p.said_n, 0, &error);
		show_document(t, program, document, status);
		json_decref(document);
	}
	process_release(&p);
	return status;
}

static int run_programs(struct tour *t)
{
	int first = 0;

	for (size_t i = 0; i < t->count; i++) {
		int status = 0;

		if (fault_is(&t->refused[i])) {
			begin_line(t, programs[i]);
			printf("refused: %s\n", t->refused[i].call);
		} else {
			status = run_program(t, programs[i], NULL);
		}
		if (status < 0)
			return -1;
		if (status == 128 + SIGINT && !t->stop.signal) /* sent to it alone */
			t->stop.signal = SIGINT;
		if (t->stop.signal)
			return stop_raise(&t->stop, &t->fault);
		if (status == FAULT_PEER || status == FAULT_DEADLINE) {
			fault_raise(&t->fault, (enum fault_code)status, 0,
				    "%s of %s was not measured", programs[i], t->host);
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

/* --prove: run the program of the worst row again. */
static int prove_worst(struct tour *t)
{
	printf("\n$ %s %s %s\n", t->worst, t->host, t->prove);
	fflush(stdout);
	return run_program(t, t->worst, t->prove);
}

/* Take --prove out of ARGV. */
static char *take_prove(char **argv)
{
	char *prove = NULL;
	size_t kept = 0;

	for (size_t i = 0; argv[i]; i++)
		if (strcmp(argv[i], "--prove") == 0 || strncmp(argv[i], "--prove=", 8) == 0)
			prove = argv[i];
		else
			argv[kept++] = argv[i];
	argv[kept] = NULL;
	return prove;
}

/* Refuse what is of one program: O has its options. */
static int check_options(const struct options *o, struct fault *f)
{
	static const char *const of_one[] = {"csv",      "help",          "interval",       "json",
					     "out_json", "out_json_file", "run_infinitely", "version"};

	for (size_t i = 0; i < sizeof(of_one) / sizeof(of_one[0]); i++)
		if (options_given(o, of_one[i]))
			return fault_usage(f,
					   "name a test: rdmark send_bw HOST; --json-lines=FILE "
					   "keeps the documents of a tour",
					   "--%s cannot be used in a tour", of_one[i]);
	return 0;
}

/* Set what refuses the options: each program reads its command line as when it is started. */
static int read_line(struct tour *t, char **argv)
{
	const struct test *const *all;
	size_t refused = 0, tests = rdmark_tests(&all);

	t->host = argv[1];
	t->words = argv + 2;
	t->count = PROGRAMS - !has_gpu();
	for (size_t i = 0; i < t->count; i++) {
		struct program p = {.name = programs[i], .argv = argv};

		for (size_t k = 0; k < tests; k++)
			if (strcmp(all[k]->name, programs[i]) == 0)
				p.test = all[k];
		if (command_line_read(&p) == 0)
			check_options(&p.options, &p.fault);
		t->refused[i] = p.fault;
		refused += fault_is(&p.fault);
	}
	if (refused < t->count)
		return 0;
	t->fault = t->refused[0];
	return -1;
}

int tour_command(char **argv)
{
	struct tour t = {.stop = {.fd = -1}};
	int status;

	t.prove = take_prove(argv);
	hwtree_prepare(); /* or each program would say it */
	status = read_line(&t, argv) || stop_init(&t.stop, &t.fault) ? -1 : 0;
	if (!status) {
		streams_open(&t.streams, &t.stop);
		status = run_programs(&t);
		if (!fault_is(&t.fault) && t.prove && t.worst && prove_worst(&t) < 0)
			status = -1;
	}
	status = list_finish(RDMARK, &t.fault, status);
	streams_close(&t.streams);
	stop_release(&t.stop);
	if (t.stop.signal == SIGINT)
		stop_die(SIGINT); /* for a shell's loop */
	return status;
}
