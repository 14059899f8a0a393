// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The command sweep: measures pairs of all nodes, judges them, measures the suspects again with
 * nothing else on the fabric, and judges all of it.
 */
#include "sweep.h"

#include <argz.h>
#include <errno.h>
#include <fcntl.h>
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
#include "pairs/pairs.h"
#include "report/list.h"
#include "step.h"

#define START_IN_S 5

/*
 * The command line that starts `run` on all nodes, with MORE options: of two equal ones run takes
 * the second. What run would refuse there is refused here. NULL with the fault raised.
 */
static char **make_run(struct sweep *s, double start_s, char *const *more, char *const *hosts)
{
	struct words command = {0};
	char start[32];

	snprintf(start, sizeof(start), "--start=%.0f", start_s);
	words_put(&command, s->own);
	words_put(&command, "run");
	words_put(&command, start);
	words_put_all(&command, s->run.word);
	words_put_all(&command, more);
	words_put_all(&command, s->program.word);
	if (command.count == WORDS_MAX) {
		fault_raise(&s->fault, FAULT_USAGE, 0, "more than %d words", WORDS_MAX);
		return NULL;
	}
	if (run_check(command.word + 2, s->launch.kind == LAUNCH_SRUN, &s->fault))
		return NULL;
	return launch_command(&s->launch, command.word, hosts, &s->fault);
}

/* The words of `judge`. */
static void make_judge(struct sweep *s, struct words *command)
{
	words_put(command, PAIRS);
	words_put(command, "judge");
	words_put(command, "--suspects");
	words_put(command, s->suspects);
	words_put(command, "--retest");
	words_put(command, s->retest);
	words_put_all(command, s->judge.word);
	words_put(command, s->output);
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

/* The suspects of an earlier sweep are not to be taken for those of this one if it fails. */
static int clear_suspects(struct sweep *s)
{
	int fd = open(s->suspects, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	if (fd < 0)
		return fault_raise(&s->fault, FAULT_LOCAL, errno, "writing %s", s->suspects);
	close(fd);
	return 0;
}

/* All that can be refused is refused here, before anything is measured. */
static int prepare(struct sweep *s, char *const *hosts)
{
	char *const none[] = {NULL};
	struct words command = {0};
	char **run = make_run(s, 1, none, hosts);

	if (!run)
		return -1;
	launch_free_command(run);
	make_judge(s, &command);
	return open_output(s) || judge_check(command.word + 2, &s->fault) || clear_suspects(s) ? -1
											       : 0;
}

/* Run on all nodes, with MORE options. AGAIN: these are the suspects. */
static int run_step(struct sweep *s, char *const *more, bool again, char *const *hosts)
{
	struct step step = {.out = s->out, .again = again};
	struct timespec now;
	int rc;

	clock_gettime(CLOCK_REALTIME, &now);
	step.start_s = ceil((double)now.tv_sec + s->start_in_s);
	step.command = make_run(s, step.start_s, more, hosts);
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

/* Judge what there is; *SAID is what the judge printed. Returns its exit status, or -1. */
static int judge(struct sweep *s, char **said)
{
	struct words command = {0};
	struct sibling_attr attr = {.envp = environ, .in = -1, .heard = true};
	struct sibling child;
	int status;

	make_judge(s, &command);
	attr.argv = command.word;
	fflush(stdout);
	if (sibling_start(&child, &attr, &s->fault))
		return -1;
	status = sibling_wait(&child, &s->stop, said, &s->fault);
	if (status >= 0 && !WIFEXITED(status))
		status = fault_raise(&s->fault, FAULT_LOCAL, 0, "the judge was ended by signal %d",
				     WTERMSIG(status));
	return status < 0 ? -1 : WEXITSTATUS(status);
}

/* True if STATUS of the judge is a verdict, and no failure. */
static bool is_verdict(int status)
{
	return status == 0 || status == FAULT_PEER || status == FAULT_THRESHOLD ||
	       status == FAULT_UNAVAILABLE;
}

/* There is such a file, and something in it. */
static bool has_bytes(const char *file)
{
	struct stat st;

	return stat(file, &st) == 0 && st.st_size > 0;
}

/* The judge said why it has no verdict: with other options, or another disk, it may have one. */
static void say_where(const struct sweep *s)
{
	fprintf(stderr, PAIRS ": the lines are in %s: `rdmark-pairs judge %s`\n", s->output,
		s->output);
}

/*
 * Measure the suspects again alone, and judge all of it. Returns the exit status. If that comes to
 * nothing, what the judge said before, *SAID, and its STATUS stay; a signal leaves its fault.
 */
static int measure_again(struct sweep *s, char *const *hosts, char **said, int status)
{
	/* There are no parts of an incast. */
	char *const alone[] = {"--schedule", "full", "--alone", "--only", s->retest, NULL};
	char *more = NULL;
	int now = -1;

	fprintf(stderr, PAIRS ": the suspects are measured again, one pair at a time\n");
	if (!run_step(s, s->incast ? alone : alone + 2, true, hosts) ||
	    s->fault.code == FAULT_INTERRUPTED)
		now = judge(s, &more);
	if (is_verdict(now)) {
		free(*said);
		*said = more;
		return now;
	}
	free(more);
	if (fault_is(&s->fault) && s->fault.code != FAULT_INTERRUPTED) {
		fault_print(&s->fault, PAIRS ": the suspects were not measured again", stderr);
		fault_clear(&s->fault);
	} else
		say_where(s);
	return status;
}

/* Returns the exit status, or -1. */
static int sweep_all(struct sweep *s, char *const *hosts)
{
	char *const none[] = {NULL};
	char *said = NULL;
	int status;

	if (run_step(s, none, false, hosts) &&
	    (s->fault.code != FAULT_INTERRUPTED || !has_bytes(s->output)))
		return -1;
	status = judge(s, &said);
	if (!is_verdict(status))
		say_where(s);
	else if (!fault_is(&s->fault) && !s->once && has_bytes(s->retest))
		status = measure_again(s, hosts, &said, status);
	fputs(said ? said : "", stdout);
	free(said);
	return status;
}

/* The names of the hosts in s->hosts, ended by NULL; NULL: no such file, or with the fault raised.
 */
static char **read_names(struct sweep *s)
{
	struct hosts hosts = {0};
	char **names = NULL, *words = NULL;
	size_t bytes = 0;
	int failed = 0;

	if (!s->hosts)
		return NULL;
	if (!hosts_read(&hosts, s->hosts, &s->fault) && !hosts_complete(&hosts, &s->fault)) {
		names = calloc(hosts.n + 1, sizeof(*names));
		for (uint32_t i = 0; !failed && i < hosts.n; i++)
			failed = argz_add(&words, &bytes, hosts.host[i].name);
		if (names && !failed) {
			argz_extract(words, bytes, names);
		} else {
			free(words);
			fault_raise(&s->fault, FAULT_LOCAL, ENOMEM, "calloc");
		}
	}
	hosts_release(&hosts);
	return names;
}

/* What was not begun leaves no file that would refuse the next try. */
static void close_output(struct sweep *s)
{
	if (s->out < 0)
		return;
	if (fault_is(&s->fault) && !has_bytes(s->output))
		unlink(s->output);
	close(s->out);
}

int sweep_command(char **argv)
{
	struct sweep s = {.output = "pairs.jsonl",
			  .suspects = "suspects.txt",
			  .start_in_s = START_IN_S,
			  .out = -1,
			  .stop = {.fd = -1}};
	char **hosts = NULL;
	int status = sweep_options(&s, argv);

	if (status > 0)
		return list_finish(stdout, PAIRS);
	if (status || stop_init(&s.stop, &s.fault))
		goto out;
	if (readlink("/proc/self/exe", s.own, sizeof(s.own) - 1) < 0)
		snprintf(s.own, sizeof(s.own), "%s", PAIRS);
	hosts = read_names(&s);
	status = fault_is(&s.fault) || prepare(&s, hosts) ? -1 : sweep_all(&s, hosts);
out:
	launch_free_command(hosts);
	launch_release(&s.launch);
	stop_release(&s.stop);
	close_output(&s);
	return fault_is(&s.fault) ? pairs_failed(&s.fault) : status;
}
