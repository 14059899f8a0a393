// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "program_line.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cli/sweep.h"

/* What a run sets itself, or what has no place in one. */
static const char *const taken[] = {
	"port",           "json",     "json-lines",
	"persistent",     "reversed", "ready-fd",
	"wait",           "list",     "check",
	"version",        "help",     "out_json",
	"out_json_file",  "csv",      "interval",
	"run_infinitely", "timeout",  "connect-timeout",
	"wait_destroy",   "repeat",   "until-stable", "prove",
	"min-bw",         "max-lat",  "max-loss",
	"min-msgrate",    "limit_bw", "limit_msgrate",
};

static int refuse_word(const char *word, const char *why, struct fault *f)
{
	fault_raise(f, FAULT_USAGE, 0, "'%.80s' after --", word);
	fault_cause(f, "%s", why);
	return fault_fix(f, "omit it");
}

static int refuse_option(const struct option_row *row, const char *why, struct fault *f)
{
	fault_raise(f, FAULT_USAGE, 0, "'--%s' after --", row->name);
	fault_cause(f, "%s", why);
	return fault_fix(f, row->group == GROUP_LIMITS
				    ? "omit it; what each pair must reach is --expect of judge"
				    : "omit it");
}

static int use_option(struct program_line *l, const struct option_row *row, const char *value,
		      struct fault *f)
{
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		if (strcmp(row->name, taken[i]) == 0)
			return refuse_option(
				row, "rdmark-pairs sets this option itself, or cannot use it", f);
	if ((strcmp(row->name, "duration") == 0 &&
	     (!value || units_parse_seconds(value, &l->duration_ns))) ||
	    (strcmp(row->name, "omit") == 0 &&
	     (!value || units_parse_seconds(value, &l->omit_ns))))
		return refuse_option(row, "it needs a time", f);
	if (strcmp(row->name, "auth") == 0)
		l->auth = value;
	if (value && !row->dealt && sweep_is(row, value))
		return fault_usage(f,
				   "measure each by itself, in a loop of the shell, with files of "
				   "its own: --output, --suspects",
				   "several values of --%s after --: %.60s", row->name, value);
	if (strcmp(row->name, "bidirectional") == 0)
		l->both_ways = false;
	return 0;
}

/*
 * Check the options WORDS, which follow the program's name, and keep them for the command lines of
 * the runs: a server has those about its end only. Returns 0 or -1.
 */
static int read_words(struct program_line *l, char **words, struct fault *f)
{
	struct option_words w = {.next = words};

	while (*w.next || w.letters) {
		char **first = w.next;
		const char *word = w.letters ? w.letters : *first, *value;
		const struct option_row *row;
		int rc = options_next(options_table(), &w, &row, &value, f);

		if (rc == 0)
			return refuse_word(word,
					   w.letters || *word == '-'
						   ? "no program has this option"
						   : "only a program and its options stand there",
					   f);
		if (rc < 0 || use_option(l, row, value, f))
			return -1;
		if (strcmp(row->name, "auth") == 0) /* program_line_write() adds it */
			continue;
		for (; first < w.next; first++) {
			if (l->words == PROGRAM_WORDS_MAX)
				return refuse_word(*first, "too many options", f);
			l->about_end[l->words] = row->scope == SCOPE_LOCAL;
			l->word[l->words++] = *first;
		}
	}
	return 0;
}

int program_line_read(struct program_line *l, char **words, struct fault *f)
{
	static char usual[] = "-D0.5";
	size_t length;

	*l = (struct program_line){.program = *words ? *words : "write_bw"};
	if (!process_measures(l->program)) {
		fault_raise(f, FAULT_USAGE, 0, "'%.80s' is no program that measures", l->program);
		return fault_fix(f, "write one of those after --: %s", process_programs());
	}
	if (strcmp(l->program, "reg_lat") == 0)
		return fault_usage(f, "start it on each host, with srun, clush or pdsh",
				   "reg_lat measures one host, no pair");
	length = strlen(l->program);
	l->latency = strcmp(l->program + length - 4, "_lat") == 0;
	l->both_ways = !l->latency && strcmp(l->program, "gdr_bw") != 0;
	l->to_client = strncmp(l->program, "read_", 5) == 0;
	if (*words)
		return read_words(l, words + 1, f);
	l->duration_ns = UNITS_NS_PER_S / 2;
	l->word[l->words++] = usual;
	return 0;
}

static void put_text(struct program_words *to, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void put_text(struct program_words *to, const char *fmt, ...)
{
	char *text = to->text[to->texts++];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(to->text[0]), fmt, args);
	va_end(args);
	to->argv[to->n++] = text;
}

void program_line_write(const struct program_line *l, const struct program_call *call,
			struct program_words *to)
{
	to->n = to->texts = 0;
	to->argv[to->n++] = (char *)l->program;
	for (size_t i = 0; i < l->words; i++)
		if (call->address || l->about_end[i])
			to->argv[to->n++] = l->word[i];
	put_text(to, "--port=%u", call->port);
	put_text(to, "--timeout=%.3f", (double)call->timeout_ns / 1e9);
	put_text(to, "--auth=%s", call->auth);
	to->argv[to->n++] = "--quiet";
	to->argv[to->n++] = "--json";
	if (*call->rail)
		put_text(to, "--ib-dev=%s", call->rail);
	if (call->address)
		put_text(to, "--connect-timeout=%.3f", (double)call->connect_ns / 1e9);
	else
		to->argv[to->n++] = "--persistent";
	if (call->reversed)
		to->argv[to->n++] = "--reversed";
	if (call->address)
		to->argv[to->n++] = (char *)call->address;
	to->argv[to->n] = NULL;
}

int program_line_start(const struct program_line *l, const struct program_call *call,
		       struct process *p, struct fault *f)
{
	struct program_words words;
	struct process_attr attr = {
		.argv = words.argv, .heard = true, .hushed = true, .orphan = SIGKILL};

	program_line_write(l, call, &words);
	return process_start(p, &attr, f);
}
