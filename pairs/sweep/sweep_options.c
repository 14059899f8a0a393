// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The command line of `rdmark-pairs sweep`. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "pairs/option.h"
#include "pairs/pairs.h"
#include "sweep.h"

static const char usage[] =
	"usage: rdmark-pairs sweep --launch LAUNCHER [OPTION...] [-- PROGRAM [OPTION...]]\n"
	"\n"
	"  --launch LAUNCHER  srun, mpirun, clush, pdsh or ssh, with options of its own\n"
	"  --output FILE      the lines of all runs (pairs.jsonl); must not exist\n"
	"  --suspects FILE    the hosts that are suspects, a line each (suspects.txt)\n"
	"  --once             do not measure the suspects again\n"
	"  --retest-for S     measure them again for S seconds at most (5m)\n"
	"  --start-in S       the first slot begins S seconds after the launcher (5)\n"
	"\n"
	"Measures pairs of all nodes (every pair with --schedule full), judges, measures\n"
	"the suspects again with little else on the network, and judges all of it.\n"
	"\n"
	"--groups, --baseline, --expect, --matrix and --prom are those of judge; all\n"
	"others, and what follows --, are those of run. With several sizes after --\n"
	"(-s 4k,1m) there is a sweep for each.\n";

void words_put(struct words *w, const char *word)
{
	if (w->count < WORDS_MAX)
		w->word[w->count++] = (char *)(uintptr_t)word;
	w->word[w->count] = NULL;
}

void words_put_all(struct words *w, char *const *words)
{
	while (*words)
		words_put(w, *words++);
}

static int read_start_in(struct node_sweep *s, const char *text)
{
	char *end;

	if (fault_is(&s->fault))
		return -1;
	s->start_in_s = strtod(text, &end);
	if (*text && !*end && s->start_in_s >= 0 && s->start_in_s <= 86400)
		return 0;
	fault_raise(&s->fault, FAULT_USAGE, 0, "--start-in '%.40s' is no time in seconds", text);
	return fault_fix(&s->fault, "use 0 to 86400");
}

static int read_retest_for(struct node_sweep *s, const char *text)
{
	if (fault_is(&s->fault))
		return -1;
	if (!units_parse_seconds(text, &s->retest_for_ns) && s->retest_for_ns)
		return 0;
	fault_raise(&s->fault, FAULT_USAGE, 0, "--retest-for '%.40s' is no time", text);
	return fault_fix(&s->fault, "write 90 or 5m; --once measures nothing again");
}

/* Each step has a start of its own. */
static int refuse_start(struct node_sweep *s)
{
	if (fault_is(&s->fault))
		return -1;
	fault_raise(&s->fault, FAULT_USAGE, 0, "sweep sets --start itself");
	return fault_fix(&s->fault, "say with --start-in how many seconds the launcher needs");
}

/* Options of the judge that the user can give; the others are those of run. */
static bool is_of_judge(struct node_sweep *s, char ***argv)
{
	static const char *const names[] = {"--groups", "--baseline", "--expect", "--matrix",
					    "--prom"};
	const char *value;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		value = option_value(argv, names[i], &s->fault);
		if (value) {
			s->judges_groups |= i == 0;
			s->keeps_figures |= i >= 3;
			words_put(&s->judge, names[i]);
			words_put(&s->judge, value);
			return true;
		}
	}
	return false;
}

/* An option of run; what is in files travels to the hosts, and two matter here, too. */
static void put_run(struct node_sweep *s, char ***argv)
{
	char **at = *argv;
	const char *value;

	if ((value = option_value(argv, "--hosts", &s->fault)))
		s->hosts = value;
	else if ((value = option_value(argv, "--only", &s->fault)))
		s->only = value;
	else if ((value = option_value(argv, "--schedule", &s->fault))) {
		s->schedule = value;
		s->groups = strncmp(value, "group=", 6) == 0 ? value + 6 : NULL;
		s->incast = strncmp(value, "incast=", 7) == 0;
	} else {
		if ((value = option_value(&at, "--at-once", &s->fault)))
			s->at_once = strtoull(value, NULL, 10);
		words_put(&s->run, **argv);
	}
}

/* True if the user asks for help anywhere before "--". */
static bool wants_help(char *const *argv)
{
	for (; *argv && strcmp(*argv, "--") != 0; argv++)
		if (strcmp(*argv, "--help") == 0 || strcmp(*argv, "-h") == 0)
			return true;
	return false;
}

int sweep_options(struct node_sweep *s, char **argv)
{
	const char *value;

	if (wants_help(argv)) {
		fputs(usage, stdout);
		return 1;
	}
	fault_phase(&s->fault, "reading the command line");
	for (; *argv && strcmp(*argv, "--") != 0; argv++) {
		if ((value = option_value(&argv, "--launch", &s->fault)))
			s->launcher = value;
		else if ((value = option_value(&argv, "--output", &s->fault)))
			s->output = value;
		else if ((value = option_value(&argv, "--suspects", &s->fault)))
			s->suspects = value;
		else if ((value = option_value(&argv, "--start-in", &s->fault))) {
			if (read_start_in(s, value))
				return -1;
		} else if (option_value(&argv, "--start", &s->fault))
			return refuse_start(s);
		else if ((value = option_value(&argv, "--retest-for", &s->fault))) {
			if (read_retest_for(s, value))
				return -1;
		} else if (strcmp(*argv, "--dry-run") == 0)
			s->dry_run = true;
		else if (strcmp(*argv, "--once") == 0)
			s->once = true;
		else if (!is_of_judge(s, &argv))
			put_run(s, &argv);
	}
	if (fault_is(&s->fault))
		return -1;
	s->sizes = *argv ? run_sizes(argv + 1) : NULL;
	for (; *argv; argv++)
		words_put(&s->program, *argv);
	if (s->groups && !s->judges_groups) {
		words_put(&s->judge, "--groups");
		words_put(&s->judge, s->groups);
	}
	if (s->run.count == WORDS_MAX || s->program.count == WORDS_MAX ||
	    s->judge.count == WORDS_MAX)
		return fault_raise(&s->fault, FAULT_USAGE, 0, "more than %d words", WORDS_MAX);
	if (snprintf(s->retest, sizeof(s->retest), "%s.retest", s->output) >=
	    (int)sizeof(s->retest))
		return fault_raise(&s->fault, FAULT_USAGE, ENAMETOOLONG, "--output");
	if (!s->launcher) {
		fault_raise(&s->fault, FAULT_USAGE, 0, "sweep needs --launch");
		return fault_fix(&s->fault,
				 "say what starts a process on every node: srun, mpirun, "
				 "clush, pdsh or ssh");
	}
	return launch_read(&s->launch, s->launcher, &s->fault);
}
