// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The command line of `rdmark-pairs sweep`, those of the commands that it starts here, and what
 * travels to the hosts in that of `run`: they need not have the files of this host.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/process.h"
#include "join.h"
#include "pairs/pairs.h"
#include "pairs/schedule.h"
#include "sweep.h"

#define OPTION(...) COMMAND_OPTION(node_sweep, __VA_ARGS__)

/* Some are of run: what is in their files travels to the hosts. */
static const struct option_row options[] = {
	OPTION(launcher, "launch", "LAUNCHER", OPTION_TEXT, 0,
	       "srun, mpirun, clush or pdsh, with options of its own; or ssh"),
	OPTION(hosts, "hosts", "LIST", OPTION_TEXT, 0,
	       "a,b[1-9], or a file of lines: NAME [ADDRESS[:PORT]]"),
	OPTION(passed, "auth", "METHOD", OPTION_TEXT, 0,
	       "how both ends prove who they are: key:FILE or none"),
	OPTION(schedule, "schedule", "NAME", OPTION_TEXT, 0,
	       "which pairs: quick, full, and others of run"),
	OPTION(dry_run, "dry-run", NULL, OPTION_FLAG, 0,
	       "print the number of pairs and the time; measure none"),
	OPTION(output, "output", "FILE", OPTION_TEXT, 0,
	       "write the lines of all runs (pairs.jsonl); must not exist"),
	OPTION(suspects, "suspects", "FILE", OPTION_TEXT, 0,
	       "write the suspects, a host a line (suspects.txt)"),
	OPTION(once, "once", NULL, OPTION_FLAG, 0, "do not screen and test with few pairs at a time"),
	OPTION(test_for_ns, "test-for", "S", OPTION_SECONDS, 0,
	       "do that for S seconds at most (5m)"),
	OPTION(start_in_s, "start-in", "S", COMMAND_SECONDS, 86400,
	       "the first slot begins S seconds after the launcher (5)"),
	OPTION(start, "start", "EPOCH", OPTION_TEXT, 0, NULL), /* these are refused */
	OPTION(start, "plan", "FILE", OPTION_TEXT, 0, NULL),
	{.name = NULL},
};

static const struct command sweep = {
	.name = "rdmark-pairs sweep",
	.synopsis = "--launch LAUNCHER [OPTION...] [-- PROGRAM [OPTION...]]",
	.more = "Measures pairs of nodes (every pair with --schedule full), then few pairs at a\n"
		"time, tests who may be slow with others, and reports.\n"
		"\n"
		"Also of run: --seed, --slot, --one-way, --at-once, --for, --rails, --port,\n"
		"--port-step and --title; and of judge: --groups, --baseline, --expect and\n"
		"--matrix.\n",
	.options = options,
};

/* Options of judge. */
static const struct option_row judge_options[] = {
	OPTION(judged, "groups", "FILE", OPTION_TEXT, 0, NULL),
	OPTION(judged, "baseline", "FILE", OPTION_TEXT, 0, NULL),
	OPTION(judged, "expect", "GBPS", OPTION_TEXT, 0, NULL),
	OPTION(judged, "matrix", "FILE", OPTION_TEXT, 0, NULL),
	{.name = NULL},
};

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

int sweep_start(struct node_sweep *s, const struct words *command, char **said)
{
	struct process_attr attr = {.argv = command->word, .heard = said, .orphan = SIGTERM};
	struct process p;
	int status;

	fflush(stdout);
	if (process_start(&p, &attr, &s->fault))
		return -1;
	status = process_wait(&p, &s->stop, &s->fault);
	*said = p.said;
	p.said = NULL;
	process_release(&p);
	return status < 0 ? -1 : process_exit_status(status);
}

/* Read an option of sweep, judge or run; or a word that run refuses. */
static int read_option(struct node_sweep *s, struct option_words *w)
{
	char *const *word = w->next;
	struct words *to = &s->run;
	const struct option_row *row;
	const char *value;
	int rc = options_next(sweep.options, w, &row, &value, &s->fault);

	if (rc > 0 && row->field != offsetof(struct node_sweep, passed))
		return command_store(row, value, s, &s->fault);
	if (rc == 0 && (rc = options_next(judge_options, w, &row, &value, &s->fault)) > 0) {
		to = &s->judge;
		if (command_store(row, value, s, &s->fault))
			return -1;
	}
	if (rc == 0) {
		rc = options_next(run_options_command()->options, w, &row, &value, &s->fault);
		if (rc == 0 && **w->next == '-')
			return command_refuse(&(struct command){.name = sweep.name,
								.options = run_options_command()->options},
					      *w->next, &s->fault);
		w->next += rc == 0;
	}
	while (rc >= 0 && word < w->next)
		words_put(to, *word++);
	return rc < 0 ? -1 : 0;
}

int sweep_options(struct node_sweep *s, char **argv)
{
	struct option_words w = {.next = argv};

	while (*w.next && strcmp(*w.next, "--") != 0) {
		if (command_helps(&sweep, *w.next))
			return 1;
		if (read_option(s, &w))
			return -1;
	}
	argv = w.next;
	if (s->start) /* each step has its own */
		return fault_usage(&s->fault,
				   "omit them; --start-in says how many seconds the launcher needs",
				   "sweep sets --start and --plan itself");
	for (; *argv; argv++)
		words_put(&s->program, *argv);
	if (s->run.count == WORDS_MAX || s->program.count == WORDS_MAX ||
	    s->judge.count == WORDS_MAX)
		return fault_raise(&s->fault, FAULT_USAGE, 0, "more than %d words", WORDS_MAX);
	if (snprintf(s->plan, sizeof(s->plan), "%s.plan", s->output) >= (int)sizeof(s->plan))
		return fault_raise(&s->fault, FAULT_USAGE, ENAMETOOLONG, "--output");
	if (!s->launcher)
		return fault_usage(&s->fault,
				   "say what starts a process on every node: srun, mpirun, "
				   "clush, pdsh or ssh",
				   "sweep needs --launch");
	return launch_read(&s->launch, s->launcher, &s->fault);
}

/* Those of --hosts, or of the allocation of Slurm if srun uses all of it. */
static int find_hosts(struct node_sweep *s)
{
	const char *list = getenv("SLURM_JOB_NODELIST");

	if (s->hosts)
		return hosts_read(&s->known, s->hosts, &s->fault);
	if (list && launch_takes_allocation(&s->launch))
		return hosts_expand(&s->known, list, "SLURM_JOB_NODELIST", &s->fault);
	return 0;
}

/* WORD with what is in FILE, with whose name it ends; as it is if that is too long. */
static char *join(struct node_sweep *s, const char *word, const char *file)
{
	char *joined = join_lines(file, NULL, &s->fault), *text = NULL;

	if (joined && asprintf(&text, "%.*s%s", (int)(file - word), word, joined) < 0) {
		fault_raise(&s->fault, FAULT_LOCAL, ENOMEM, "malloc");
		text = NULL;
	}
	free(joined);
	return text;
}

/* The hosts as a list, unless they have addresses. */
static char *join_hosts(struct node_sweep *s)
{
	bool plain = true;
	char *list;

	for (uint32_t i = 0; i < s->known.n; i++)
		plain &= !*s->known.host[i].address && !s->known.host[i].port;
	list = plain ? hosts_list(&s->known, false) : NULL;
	if (plain && !list)
		fault_raise(&s->fault, FAULT_LOCAL, ENOMEM, "malloc");
	if (fault_is(&s->fault))
		return NULL;
	if (list && (strlen(list) <= JOIN_BYTES_MAX || !s->hosts || hosts_are_listed(s->hosts)))
		return list;
	free(list);
	return join(s, s->hosts, s->hosts);
}

int sweep_find_hosts(struct node_sweep *s)
{
	const char *file = s->schedule ? schedule_file(s->schedule) : NULL;

	if (find_hosts(s) || ((s->hosts || s->known.n) && hosts_complete(&s->known, &s->fault)))
		return -1;
	if (s->known.n)
		s->travels[0] = join_hosts(s);
	if (file && !fault_is(&s->fault))
		s->travels[1] = join(s, s->schedule, file);
	else if (s->schedule)
		s->travels[1] = strdup(s->schedule);
	return fault_is(&s->fault) ? -1 : 0;
}

void sweep_put_hosts(const struct node_sweep *s, const char *plan, struct words *command)
{
	const char *const pairs[][2] = {{"--hosts", s->travels[0]},
					{"--schedule", plan ? NULL : s->travels[1]},
					{"--plan", plan}};

	for (int i = 0; i < 3; i++)
		if (pairs[i][1]) {
			words_put(command, pairs[i][0]);
			words_put(command, pairs[i][1]);
		}
}

void sweep_release_hosts(struct node_sweep *s)
{
	for (int i = 0; i < 2; i++)
		free(s->travels[i]);
	hosts_release(&s->known);
}
