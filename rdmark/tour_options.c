// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "tour_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/process.h"
#include "base/text.h"
#include "cli/sweep.h"
#include "plan/operation.h"
#include "report/document.h"
#include "rdmark.h"

#define USUAL "send_lat,send_bw,write_lat,write_bw,read_lat,read_bw"

/* True if TEST runs its schedule, which has one value of each option. */
static bool has_schedule(const struct tour_options *o, const struct test *test)
{
	return test->schedule && !o->plain;
}

/* The kind of connections that was asked for; NULL: none. */
static struct tour_option *connection(const struct tour_options *o)
{
	for (struct tour_option *i = o->option; i < o->option + o->options; i++)
		if (OPTION_IS(i->row, experiment.connection))
			return i;
	return NULL;
}

/* True if TEST has I. Without its kind of connections a test loses no messages, either. */
static bool has(const struct tour_options *o, const struct test *test, const struct tour_option *i)
{
	const char *value = strchr(i->word, '=');
	const struct tour_option *c = connection(o);
	bool schedule = has_schedule(o, test);
	struct fault why = {0};
	struct options as;

	if (c && (i == c || OPTION_IS(i->row, output.max_loss))) {
		char *line[] = {(char *)(uintptr_t)test->name, c->word, NULL};

		if (operation_parse(test, line, &as, &why) ||
		    operation_check_points(test, &as, o->plain, &why))
			return false;
	}
	return options_applies(i->row, operation_traits(test) | (schedule ? TRAIT_SCHEDULE : 0)) &&
	       !(schedule && value && sweep_is(i->row, value + 1));
}

/* Take the LIST of --tests, in place of that before. Returns 0 or -1. */
static int read_tests(struct tour_options *o, const char *list, struct fault *f)
{
	char *copy = strdup(list ? list : ""), *rest = copy, *name;
	const struct test *const *all;
	size_t count = rdmark_tests(&all), i;
	int rc = 0;

	free(o->test);
	o->tests = 0;
	o->test = calloc(copy ? strlen(copy) + 1 : 1, sizeof(struct test *));
	if (!copy || !o->test)
		rc = fault_raise(f, FAULT_LOCAL, ENOMEM, "--tests");
	while (!rc && (name = strsep(&rest, ","))) {
		for (i = 0; i < count && strcmp(all[i]->name, name) != 0;)
			i++;
		if (i < count)
			o->test[o->tests++] = all[i];
		else
			rc = fault_raise(f, FAULT_USAGE, 0, "--tests: '%.60s' is no test", name);
	}
	free(copy);
	return rc ? fault_fix(f, "--tests send_lat,read_bw, of: %s", process_programs()) : 0;
}

/*
 * Keep ROW with VALUE for the tests, or what the tour itself does with it. Refuse what is for a
 * single test: of --prom each would replace the file of the one before. Returns 0 or -1.
 */
static int add_option(struct tour_options *o, const struct option_row *row, const char *value,
		      struct fault *f)
{
	struct tour_option *to = &o->option[o->options];

	if (OPTION_IS(row, output.json)) {
		if (value && !*value)
			return options_refuse_missing(row, f);
		o->json = value ? value : "-";
		return 0;
	}
	if (OPTION_IS(row, output.prom) || OPTION_IS(row, output.out_json) ||
	    OPTION_IS(row, output.out_json_file) || OPTION_IS(row, output.csv) ||
	    OPTION_IS(row, local.list) || OPTION_IS(row, experiment.run_infinitely)) {
		fault_raise(f, FAULT_USAGE, 0, "--%s cannot be used with all tests", row->name);
		return fault_fix(f, "name a test: rdmark write_bw --%s ...", row->name);
	}
	o->plain |= OPTION_IS(row, experiment.plain);
	o->lasts |= OPTION_IS(row, experiment.iters) || OPTION_IS(row, experiment.duration_ns);
	if (OPTION_IS(row, experiment.connection) && connection(o)) { /* the last one counts */
		to = connection(o);
		free(to->word);
		o->options--;
	}
	to->row = row;
	if (asprintf(&to->word, "--%s%s%s", row->name, value ? "=" : "", value ? value : "") < 0)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "--%s", row->name);
	o->options++;
	return 0;
}

static int read_words(struct tour_options *o, char **argv, struct fault *f)
{
	struct option_words w = {.next = argv};
	const struct options any = {.test = RDMARK};
	const struct option_row *row;
	const char *value;

	while (*w.next || w.letters) {
		char *word = *w.next, letter[] = {'-', w.letters ? *w.letters : '\0', '\0'};
		int rc = options_next(options_table(), &w, &row, &value, f);

		if (rc < 0 || (rc > 0 && add_option(o, row, value, f)))
			return -1;
		if (rc > 0)
			continue;
		if (w.letters || strncmp(word, "--tests", 7) != 0 || !strchr("=", word[7]))
			return w.letters || (*word == '-' && word[1])
				       ? options_refuse_unknown(&any, w.letters ? letter : word, f)
				       : fault_usage(f, "give one host; see rdmark --help",
						     "unexpected argument after the host: %.60s",
						     word);
		if (read_tests(o, word[7] ? word + 8 : w.next[1], f))
			return -1;
		w.next += word[7] ? 1 : 2;
	}
	return 0;
}

/* Refuse I, which no test has, as the first one would, unless it is the default there. */
static void refuse(const struct tour_options *o, const struct tour_option *i, struct fault *f)
{
	const struct test *test = o->test[0];
	char *line[] = {(char *)(uintptr_t)test->name, i->word, NULL}, name[64];
	struct options as;

	if (operation_parse(test, line, &as, f) || operation_check_points(test, &as, o->plain, f) ||
	    !options_applies(i->row, as.traits))
		return;
	fault_raise(f, FAULT_USAGE, 0, "%s%s cannot be used in %s without --plain",
		    as.sweep.axes ? "several values of " : "",
		    options_name(i->row, name, sizeof(name)), test->name);
	fault_fix(f, "add --plain, or omit it");
}

/* Refuse what is wrong with the line of a test, or an option that no test has. Returns 0 or -1. */
static int check(const struct tour_options *o, struct fault *f)
{
	struct options as;

	for (size_t t = o->tests; t-- > 0 && !fault_is(f);) {
		char lacks[64] = "", **line = tour_options_of(o, o->test[t], lacks, sizeof(lacks));

		if (!line)
			fault_raise(f, FAULT_LOCAL, ENOMEM, "calloc");
		else if (operation_parse(o->test[t], line, &as, f) == 0)
			options_check(&as, TRAIT_CLIENT, f);
		free((void *)line);
	}
	for (size_t i = 0, t; i < o->options && !fault_is(f); i++) {
		for (t = 0; t < o->tests && !has(o, o->test[t], &o->option[i]);)
			t++;
		if (t == o->tests)
			refuse(o, &o->option[i], f);
	}
	return fault_is(f) ? -1 : 0;
}

int tour_options_read(struct tour_options *o, char **argv, bool gpu, struct fault *f)
{
	size_t letters = 1;

	fault_phase(f, "reading the command line");
	for (char **word = argv; *word; word++)
		letters += strlen(*word);
	o->host = argv[1];
	o->option = calloc(letters, sizeof(*o->option));
	if (!o->option)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "calloc");
	if (read_words(o, argv + 2, f) ||
	    (!o->test && read_tests(o, gpu ? USUAL ",gdr_bw" : USUAL, f)) || check(o, f))
		return -1;
	if (!o->json || document_to_stdout(o->json))
		return 0;
	return document_try(&(struct output_options){.json_lines = o->json}, f);
}

void tour_options_release(struct tour_options *o)
{
	while (o->options)
		free(o->option[--o->options].word);
	free(o->option);
	free(o->test);
}

char **tour_options_of(const struct tour_options *o, const struct test *test, char *lacks,
		       size_t size)
{
	/* gdr_bw sets the length of its windows itself. */
	const char *first[] = {test->name, "--json", "--quiet",
			       o->lasts || has_schedule(o, test) ? NULL : "--duration=1"};
	char **line = calloc(o->options + 7, sizeof(*line));
	size_t n = 0;

	for (size_t i = 0; line && i < sizeof(first) / sizeof(first[0]); i++)
		if (first[i])
			line[n++] = (char *)(uintptr_t)first[i];
	for (const struct tour_option *i = o->option; line && i < o->option + o->options; i++)
		if (has(o, test, i))
			line[n++] = i->word;
		else
			text_add(lacks, size, "%s--%s", lacks[0] ? ", " : "", i->row->name);
	if (line) {
		line[n++] = (char *)(uintptr_t) "--"; /* a host "0" is no value of --use_cuda */
		line[n] = o->host;
	}
	return line;
}
