// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The command sweep: measures all pairs, judges them, measures the suspects again with nothing else
 * on the fabric, and judges all of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/sibling.h"
#include "pairs/hosts.h"
#include "launch.h"
#include "pairs/option.h"
#include "pairs/pairs.h"
#include "report/list.h"
#include "step.h"

#define WORDS_MAX  512
#define START_IN_S 5
#define SUSPECTS   6 /* exit status of judge */

static const char usage[] =
	"usage: rdmark-pairs sweep --launch LAUNCHER [OPTION...] [-- PROGRAM [OPTION...]]\n"
	"\n"
	"  --launch LAUNCHER  srun, mpirun, clush, pdsh or ssh, with options of its own\n"
	"  --output FILE      the lines of all runs (pairs.jsonl); must not exist\n"
	"  --suspects FILE    the hosts that are suspects, a line each (suspects.txt)\n"
	"  --once             do not measure the suspects again\n"
	"  --start-in S       the first slot begins S seconds after the launcher (5)\n"
	"\n"
	"--groups, --baseline, --matrix and --prom are those of judge; all other options,\n"
	"and what follows --, are those of run.\n";

/* Words of a command line. */
struct words {
	char *word[WORDS_MAX + 1]; /* ended by NULL */
	size_t count;
};

struct sweep {
	const char *launcher, *output, *suspects, *hosts;
	const char *groups;    /* the file of --schedule group=FILE, which the judge reads, too */
	char retest[PATH_MAX]; /* OUTPUT.retest: what the judge wants measured again */
	double start_in_s;
	bool judges_groups;               /* --groups was given */
	bool once;                        /* suspects are not measured again */
	struct words run, program, judge; /* of the user: options of run, "--" and what follows */
	struct launch launch;
	char own[PATH_MAX]; /* this program */
	int out;
	struct stop stop;
	struct fault fault;
};

static void put(struct words *w, const char *word)
{
	if (w->count < WORDS_MAX)
		w->word[w->count++] = (char *)(uintptr_t)word;
	w->word[w->count] = NULL;
}

static int read_start_in(struct sweep *s, const char *text)
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

/* Each step has a start of its own. */
static int refuse_start(struct sweep *s)
{
	if (fault_is(&s->fault))
		return -1;
	fault_raise(&s->fault, FAULT_USAGE, 0, "sweep sets --start itself");
	return fault_fix(&s->fault, "say with --start-in how many seconds the launcher needs");
}

/* Options of the judge that the user can give; the others are those of run. */
static bool is_of_judge(struct sweep *s, char ***argv)
{
	static const char *const names[] = {"--groups", "--baseline", "--matrix", "--prom"};
	const char *value;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		value = option_value(argv, names[i], &s->fault);
		if (value) {
			s->judges_groups |= i == 0;
			put(&s->judge, names[i]);
			put(&s->judge, value);
			return true;
		}
	}
	return false;
}

/* An option of run, of which two matter here, too. */
static void put_run(struct sweep *s, char **argv)
{
	char **at = argv;
	const char *value;

	if ((value = option_value(&at, "--hosts", &s->fault)))
		s->hosts = value;
	else if ((value = option_value(&at, "--schedule", &s->fault)))
		s->groups = strncmp(value, "group=", 6) == 0 ? value + 6 : NULL;
	put(&s->run, *argv);
}

static int read_command_line(struct sweep *s, char **argv)
{
	const char *value;

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
		else if (strcmp(*argv, "--once") == 0)
			s->once = true;
		else if (!is_of_judge(s, &argv))
			put_run(s, argv);
	}
	if (fault_is(&s->fault))
		return -1;
	for (; *argv; argv++)
		put(&s->program, *argv);
	if (s->groups && !s->judges_groups) {
		put(&s->judge, "--groups");
		put(&s->judge, s->groups);
	}
	if (s->run.count == WORDS_MAX || s->program.count == WORDS_MAX)
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

/* A new file: lines of another cluster would be judged together with these. */
static int open_output(struct sweep *s)
{
	s->out = open(s->output, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
	if (s->out >= 0)
		return 0;
	fault_raise(&s->fault, FAULT_USAGE, errno, "cannot create %s", s->output);
	return fault_fix(&s->fault,
			 errno == EEXIST ? "choose another --output: what runs have written there "
					   "stays"
					 : "choose an --output that can be written");
}

static void put_all(struct words *w, char *const *words)
{
	while (*words)
		put(w, *words++);
}

/* Run on all nodes. MORE options come last: of two equal ones run takes the second. */
static int run_step(struct sweep *s, char *const *more, char *const *hosts)
{
	struct step step = {.out = s->out};
	struct words command = {0};
	struct timespec now;
	char start[32];
	int rc;

	clock_gettime(CLOCK_REALTIME, &now);
	step.start_s = ceil((double)now.tv_sec + s->start_in_s);
	snprintf(start, sizeof(start), "--start=%.0f", step.start_s);
	put(&command, s->own);
	put(&command, "run");
	put(&command, start);
	put_all(&command, s->run.word);
	put_all(&command, more);
	put_all(&command, s->program.word);
	if (command.count == WORDS_MAX)
		return fault_raise(&s->fault, FAULT_USAGE, 0, "more than %d words", WORDS_MAX);
	step.command = launch_command(&s->launch, command.word, hosts, &s->fault);
	if (!step.command)
		return -1;
	rc = step_run(&step, &s->stop, &s->fault);
	if (step.overdue)
		fprintf(stderr,
			PAIRS ": the last slot was over, and %s had not ended: it was told to\n",
			step.command[0]);
	launch_free_command(step.command);
	return rc;
}

/* Judge what there is. Returns the exit status, or -1; if SAID, what the judge printed is there. */
static int judge(struct sweep *s, char **said)
{
	struct words command = {0};
	struct sibling_attr attr = {.envp = environ, .in = -1, .heard = said != NULL};
	struct sibling child;
	int status;

	put(&command, PAIRS);
	put(&command, "judge");
	put(&command, "--suspects");
	put(&command, s->suspects);
	put(&command, "--retest");
	put(&command, s->retest);
	put_all(&command, s->judge.word);
	put(&command, s->output);
	attr.argv = command.word;
	fflush(stdout);
	if (sibling_start(&child, &attr, &s->fault))
		return -1;
	status = sibling_wait(&child, &s->stop, said, &s->fault);
	if (status < 0)
		return -1;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	return fault_raise(&s->fault, FAULT_LOCAL, 0, "the judge was ended by signal %d",
			   WTERMSIG(status));
}

static bool has_retest(const struct sweep *s)
{
	struct stat st;

	return stat(s->retest, &st) == 0 && st.st_size > 0;
}

/* Returns the exit status, or -1. */
static int sweep_all(struct sweep *s, char *const *hosts)
{
	char *const none[] = {NULL};
	char *const alone[] = {"--alone", "--only", s->retest, NULL};
	char *said = NULL;
	int status;

	if (open_output(s) || run_step(s, none, hosts))
		return -1;
	status = judge(s, &said);
	if (status < 0 || s->once || !has_retest(s)) {
		fputs(said ? said : "", stdout);
		free(said);
		return status;
	}
	free(said);
	fprintf(stderr, PAIRS ": the suspects are measured again, one pair at a time\n");
	if (run_step(s, alone, hosts))
		return -1;
	return judge(s, NULL);
}

/* The names of the hosts in s->hosts, ended by NULL; NULL: no such file, or with the fault raised.
 */
static char **read_names(struct sweep *s)
{
	struct hosts hosts = {0};
	char **names = NULL;

	if (!s->hosts)
		return NULL;
	if (!hosts_read(&hosts, s->hosts, &s->fault) && !hosts_complete(&hosts, &s->fault)) {
		names = calloc(hosts.n + 1, sizeof(*names));
		for (uint32_t i = 0; names && i < hosts.n; i++)
			names[i] = strdup(hosts.host[i].name);
		if (!names)
			fault_raise(&s->fault, FAULT_LOCAL, ENOMEM, "calloc");
	}
	hosts_release(&hosts);
	return names;
}

int sweep_command(char **argv)
{
	struct sweep s = {.output = "pairs.jsonl",
			  .suspects = "suspects.txt",
			  .start_in_s = START_IN_S,
			  .out = -1,
			  .stop = {.fd = -1}};
	char **hosts = NULL;
	int status = -1;

	if (*argv && (strcmp(*argv, "--help") == 0 || strcmp(*argv, "-h") == 0)) {
		fputs(usage, stdout);
		return list_finish(stdout, PAIRS);
	}
	if (read_command_line(&s, argv) || stop_init(&s.stop, &s.fault))
		goto out;
	if (readlink("/proc/self/exe", s.own, sizeof(s.own) - 1) < 0)
		snprintf(s.own, sizeof(s.own), "%s", PAIRS);
	hosts = read_names(&s);
	if (fault_is(&s.fault))
		goto out;
	status = sweep_all(&s, hosts);
	if (status < 0 && s.fault.code == FAULT_INTERRUPTED)
		judge(&s, NULL);
out:
	launch_free_command(hosts);
	launch_release(&s.launch);
	stop_release(&s.stop);
	if (s.out >= 0)
		close(s.out);
	return status < 0 ? pairs_failed(&s.fault) : status;
}
