// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The command sweep: measures pairs of all nodes, judges them, measures the suspects again with
 * little else on the fabric, and judges all of it.
 */
#include "sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "pairs/lines.h"
#include "pairs/pairs.h"
#include "report/document.h"
#include "report/list.h"
#include "step.h"

#define START_IN_S    5
#define RETEST_FOR_NS UINT64_C(300000000000)
#define ALONE_SHARE   8 /* one host in four is busy when this share of all hosts is pairs */

/*
 * The words of `run` on each node, with FIRST and MORE (NULL: none): of two equal options run takes
 * the second. Those that run would refuse there are refused here.
 */
static int put_run(struct node_sweep *s, struct words *command, const char *first,
		   char *const *more)
{
	words_put(command, s->own);
	words_put(command, "run");
	words_put_all(command, s->run.word);
	sweep_put_hosts(s, command);
	words_put(command, first);
	if (more)
		words_put_all(command, more);
	words_put_all(command, s->program.word);
	if (command->count == WORDS_MAX)
		return fault_raise(&s->fault, FAULT_USAGE, 0, "more than %d words", WORDS_MAX);
	return run_check(command->word + 2, &s->lasts_s, &s->fault);
}

/* The command line that starts it on all nodes at START_S. NULL with the fault raised. */
static char **make_run(struct node_sweep *s, double start_s, char *const *more)
{
	struct words command = {0};
	char start[32];

	snprintf(start, sizeof(start), "--start=%.0f", start_s);
	if (put_run(s, &command, start, more))
		return NULL;
	return launch_command(&s->launch, command.word, &s->known, &s->fault);
}

/* The words of `judge`. */
static void make_judge(struct node_sweep *s, struct words *command)
{
	words_put(command, PAIRS);
	words_put(command, "judge");
	words_put(command, "--suspects");
	words_put(command, s->suspects);
	words_put(command, "--retest");
	words_put(command, s->retest);
	if (s->travels[0]) {
		words_put(command, "--hosts");
		words_put(command, s->travels[0]);
	}
	words_put_all(command, s->judge.word);
	words_put(command, s->output);
}

/* A new file: lines of another cluster would be judged together with these. */
static int open_output(struct node_sweep *s)
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

/* All that can be refused is refused here, before anything is measured. */
static int prepare(struct node_sweep *s)
{
	struct words command = {0};
	char **run = make_run(s, 1, NULL);

	launch_free_command(run);
	if (!run)
		return -1;
	make_judge(s, &command);
	if (open_output(s) || judge_check(command.word + 2, &s->fault))
		return -1;
	/* The suspects of an earlier sweep are not to be taken for those of this one if it fails.
	 */
	return document_put(s->suspects, "", &s->stop, &s->fault);
}

/* Run STEP on all nodes, with MORE options. */
static int run_step(struct node_sweep *s, struct step *step, char *const *more)
{
	int rc;

	step->out = s->out;
	step->start_s = ceil((double)clock_utc_ns() / 1e9 + s->start_in_s);
	step->name = s->launch.words;
	step->command = make_run(s, step->start_s, more);
	if (!step->command)
		return -1;
	step->lasts_s = s->lasts_s;
	rc = step_run(step, &s->stop, &s->fault);
	if (step->overdue)
		fprintf(stderr,
			PAIRS ": the last slot was over, and %s had not ended: it was told to\n",
			step->name);
	launch_free_command(step->command);
	return rc;
}

/* Leave out those hosts that have not begun, or not come to their end. Returns how many. */
static uint32_t leave_out(struct node_sweep *s, bool begun)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->known.n; i++) {
		struct host *h = &s->known.host[i];

		h->left_out |= begun ? !h->came : !h->done;
		n += h->left_out;
	}
	return n;
}

/*
 * srun ends a step at once if a node does not answer at its start. True if STEP was one: some hosts
 * have begun and none has ended; those that have not begun are left out from now on.
 */
static bool can_do_without(struct node_sweep *s, const struct step *step)
{
	char *list;

	if (s->launch.kind != LAUNCH_SRUN || step->ends || !step->status || step->overdue ||
	    step->players >= s->known.n || !leave_out(s, true))
		return false;
	list = hosts_list(&s->known, true);
	fprintf(stderr, PAIRS ": srun ended, and these had not begun: %s. Once more without them\n",
		list ? list : "?");
	free(list);
	return true;
}

/* Measure all pairs. Hosts that have not come to their end are left out from then on. */
static int measure(struct node_sweep *s, struct step *step)
{
	int rc = run_step(s, step, NULL);

	if (!rc && can_do_without(s, step)) {
		*step = (struct step){.hosts = &s->known};
		if (ftruncate(s->out, 0))
			return fault_raise(&s->fault, FAULT_LOCAL, errno, "emptying %s", s->output);
		rc = run_step(s, step, NULL);
	}
	if (*step->taken && ftruncate(s->out, 0))
		return -1;
	if (!rc && step->ends)
		leave_out(s, false);
	return rc;
}

/* Judge what there is; *SAID is what the judge printed. Returns its exit status, or -1. */
static int judge(struct node_sweep *s, char **said)
{
	struct words command = {0};
	int status;

	make_judge(s, &command);
	status = sweep_start(s, &command, said);
	if (status > 128)
		return fault_raise(&s->fault, FAULT_LOCAL, 0, "the judge was ended by signal %d",
				   status - 128);
	return status;
}

/* There is such a file, and something in it. */
static bool has_bytes(const char *file)
{
	struct stat st;

	return stat(file, &st) == 0 && st.st_size > 0;
}

/* The judge said why it has no verdict: with other options, or another disk, it may have one. */
static void say_where(const struct node_sweep *s)
{
	fprintf(stderr, PAIRS ": the lines are in %s: `rdmark-pairs judge %s`\n", s->output,
		s->output);
}

/*
 * Measure the suspects again: pairs of different hosts side by side, but few enough that most of
 * the network is idle, for as long as the user allows. Returns -1, too, if not all come to their end
 * that came to it in FIRST.
 */
static int run_again(struct node_sweep *s, const struct step *first)
{
	struct step step = {.hosts = &s->known};
	uint64_t most = first->asked / ALONE_SHARE ? first->asked / ALONE_SHARE : 1;
	char at_once[24], limit[32], *only = lines_join(s->retest, &step.again, &s->fault);
	/* There are no parts of an incast. */
	char *const more[] = {"--schedule", "full", "--alone", "--at-once", at_once,
			      "--for",      limit,  "--only",  only,        NULL};
	int rc = -1;

	snprintf(at_once, sizeof(at_once), "%" PRIu64,
		 s->at_once && s->at_once < most ? s->at_once : most);
	snprintf(limit, sizeof(limit), "%.3f", (double)s->retest_for_ns / 1e9);
	fprintf(stderr, PAIRS ": the suspects are measured again, %s pair%s at a time\n",
		strcmp(at_once, "1") == 0 ? "one" : at_once, strcmp(at_once, "1") == 0 ? "" : "s");
	if (only && !fault_is(&s->fault))
		rc = run_step(s, &step, s->incast ? more : more + 2);
	free(only);
	if (!rc && (step.status || step.ends < first->ends))
		rc = fault_raise(&s->fault, FAULT_PEER, 0,
				 "%s ended with status %d, and %u of %u nodes came to their end",
				 step.name, step.status, step.ends, first->ends);
	return rc;
}

/*
 * Measure the suspects of FIRST again, and judge all of it. Returns the exit status. If that does not
 * come to its end nothing of it counts: what the judge said before, *SAID, and its STATUS stay, and so
 * do its files and the lines that it judged; a signal leaves its fault.
 */
static int measure_again(struct node_sweep *s, const struct step *first, char **said, int status)
{
	off_t judged = lseek(s->out, 0, SEEK_END);
	char *more = NULL;
	int rc = run_again(s, first), now = rc ? -1 : judge(s, &more);

	if (sweep_is_verdict(now)) {
		free(*said);
		*said = more;
		return now;
	}
	free(more);
	if (rc && ftruncate(s->out, judged))
		fprintf(stderr, PAIRS ": %s has lines of a part of that\n", s->output);
	if (fault_is(&s->fault) && s->fault.code != FAULT_INTERRUPTED) {
		fault_print(&s->fault, PAIRS ": the suspects were not measured again", stderr);
		fault_clear(&s->fault);
	} else if (rc)
		fprintf(stderr, PAIRS ": the suspects were not measured again\n");
	else
		say_where(s);
	return status;
}

/* Judge what was measured in STEP, and what is measured again. Returns the exit status, or -1. */
static int judge_all(struct node_sweep *s, const struct step *step)
{
	char *said = NULL;
	int status = judge(s, &said);

	if (!sweep_is_verdict(status))
		say_where(s);
	else if (!fault_is(&s->fault) && !s->once && has_bytes(s->retest))
		status = measure_again(s, step, &said, status);
	fputs(said ? said : "", stdout);
	free(said);
	if (step->needed_s > 0)
		fprintf(stderr,
			PAIRS ": the slots were too short for some runs: --slot %.1f would do\n",
			step->needed_s);
	return status;
}

int sweep_command(char **argv)
{
	struct node_sweep s = {.output = "pairs.jsonl",
			       .suspects = "suspects.txt",
			       .start_in_s = START_IN_S,
			       .retest_for_ns = RETEST_FOR_NS,
			       .launch.names = -1,
			       .out = -1,
			       .stop = {.fd = -1}};
	struct step step = {.hosts = &s.known};
	struct words plan = {0};
	int status = sweep_options(&s, argv);

	if (status > 0)
		return list_finish(stdout, PAIRS);
	if (status || stop_init(&s.stop, &s.fault))
		goto out;
	streams_open(&s.streams, &s.stop);
	if (readlink("/proc/self/exe", s.own, sizeof(s.own) - 1) < 0)
		snprintf(s.own, sizeof(s.own), "%s", PAIRS);
	if (sweep_find_hosts(&s))
		status = -1;
	else if (s.dry_run)
		status = put_run(&s, &plan, "--dry-run", NULL);
	else if (prepare(&s))
		status = -1;
	else if (measure(&s, &step) &&
		 ((s.fault.code != FAULT_INTERRUPTED && s.fault.code != FAULT_LOCAL) ||
		  !has_bytes(s.output)))
		status = -1;
	else /* what was written is judged if no more can be, too */
		status = judge_all(&s, &step);
out:
	sweep_release_hosts(&s);
	launch_release(&s.launch);
	/* What was not begun leaves no file that would refuse the next try. */
	if (s.out >= 0 && fault_is(&s.fault) && !has_bytes(s.output))
		unlink(s.output);
	if (s.out >= 0)
		close(s.out);
	if (fault_is(&s.fault))
		status = pairs_failed(&s.fault);
	else if (list_finish(stdout, PAIRS))
		status = FAULT_LOCAL;
	streams_close(&s.streams);
	stop_release(&s.stop);
	return status;
}
