// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The command sweep: measures pairs of all nodes, judges them, measures what the judge plans, and
 * judges all of it, until nothing is planned.
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
#include "pairs/pairs.h"
#include "report/document.h"
#include "report/list.h"
#include "join.h"
#include "step.h"

#define START_IN_S  5
#define TEST_FOR_NS UINT64_C(300000000000)

#define NOTHING_COUNTS "this did not come to its end, and nothing of it counts"

/*
 * The words of `run` on each node, with FIRST, and for PLAN, unless that is NULL. Those that run would
 * refuse there are refused here.
 */
static int put_run(struct node_sweep *s, struct words *command, const char *first,
		   const struct plan *plan)
{
	words_put(command, s->own);
	words_put(command, "run");
	words_put_all(command, s->run.word);
	sweep_put_hosts(s, plan ? plan->words : NULL, command);
	words_put(command, first);
	if (plan) /* of two equal options run takes the second */
		words_put(command, plan->limit);
	words_put_all(command, s->program.word);
	if (command->count == WORDS_MAX)
		return fault_raise(&s->fault, FAULT_USAGE, 0, "more than %d words", WORDS_MAX);
	return run_check(command->word + 2, &s->times, &s->fault);
}

/* The command line that starts it on all nodes at START_S. NULL with the fault raised. */
static char **make_run(struct node_sweep *s, double start_s, const struct plan *plan)
{
	struct words command = {0};
	char start[32];

	snprintf(start, sizeof(start), "--start=%.0f", start_s);
	if (put_run(s, &command, start, plan))
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
	words_put(command, "--plan");
	words_put(command, s->plan);
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

/* Slots of PLAN for which there is time. */
static unsigned slots_of(const struct node_sweep *s, const struct plan *plan)
{
	double fit = (double)s->test_for_ns / 1e9 / s->times.slot_s;

	return fit < plan->slots ? (unsigned)fit : plan->slots;
}

/* Say what is about to be measured, and how long that takes. */
static void say_plan(const struct node_sweep *s, const struct plan *plan)
{
	unsigned slots = slots_of(s, plan);
	char part[64] = "";

	if (slots < plan->slots)
		snprintf(part, sizeof(part), "the first %u of ", slots);
	fprintf(stderr, PAIRS ": %s: %s%u slots of %g s, %.0f s\n",
		plan->tests ? "testing candidates with controls"
			    : "screening with few pairs at a time",
		part, plan->slots, s->times.slot_s, ceil(slots * s->times.slot_s));
}

/* Run STEP on all nodes, for PLAN or, if that is NULL, the schedule. */
static int run_step(struct node_sweep *s, struct step *step, const struct plan *plan)
{
	int rc;

	step->out = s->out;
	step->start_s = ceil((double)clock_utc_ns() / 1e9 + s->start_in_s);
	step->name = s->launch.words;
	step->end_signal = launch_end_signal(&s->launch);
	step->command = make_run(s, step->start_s, plan);
	if (!step->command)
		return -1;
	step->lasts_s = s->times.lasts_s;
	if (plan)
		say_plan(s, plan);
	rc = step_run(step, &s->stop, &s->fault);
	if (step->overdue)
		fprintf(stderr,
			PAIRS ": the last slot was over, and %s had not ended: it was told to\n",
			step->name);
	launch_free_command(step->command);
	return rc;
}

/*
 * Leave out those hosts that have not begun, or those that have not come to their end and are in no
 * plan. Returns how many.
 */
static uint32_t leave_out(struct node_sweep *s, bool begun)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->known.n; i++) {
		struct host *h = &s->known.host[i];

		h->left_out |= begun ? !h->came : !h->done && !h->planned;
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

/* Measure all pairs of PLAN, or of the schedule. */
static int measure(struct node_sweep *s, struct step *step, const struct plan *plan)
{
	off_t before = lseek(s->out, 0, SEEK_END);
	int rc;

	for (uint32_t i = 0; i < s->known.n; i++)
		s->known.host[i].came = s->known.host[i].done = false;
	rc = run_step(s, step, plan);
	if (!rc && can_do_without(s, step)) {
		*step = (struct step){.hosts = &s->known};
		if (ftruncate(s->out, before))
			return fault_raise(&s->fault, FAULT_LOCAL, errno, "emptying %s", s->output);
		rc = run_step(s, step, plan);
	}
	if (*step->taken && ftruncate(s->out, before))
		return -1;
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
 * Measure what the judge has planned, as long as the user allows. Returns 0, or -1: nothing of it
 * counts, since nobody came to its end.
 */
static int run_plan(struct node_sweep *s)
{
	off_t before = lseek(s->out, 0, SEEK_END);
	struct step step = {.hosts = &s->known};
	struct plan plan = {0};
	int rc = join_plan(&plan, s->plan, &s->known, &s->fault);

	snprintf(plan.limit, sizeof(plan.limit), "--for=%.3f", (double)s->test_for_ns / 1e9);
	leave_out(s, false);
	if (!rc)
		rc = measure(s, &step, &plan);
	if (!rc && !step.complete)
		rc = fault_raise(&s->fault, FAULT_PEER, 0, "%s ended with status %d", step.name,
				 step.status);
	if (rc && ftruncate(s->out, before))
		fprintf(stderr, PAIRS ": %s has lines of a part of that\n", s->output);
	s->test_for_ns -= (uint64_t)(slots_of(s, &plan) * s->times.slot_s * 1e9);
	free(plan.words);
	return rc;
}

/*
 * Measure and judge until nothing is planned. *SAID is what the judge says, and STATUS its exit
 * status: they stay, as do its files and the lines that it judged, if what it planned does not come to
 * its end. A signal leaves its fault. Returns the exit status.
 */
static int test_all(struct node_sweep *s, char **said, int status)
{
	while (!s->once && !fault_is(&s->fault) && has_bytes(s->plan)) {
		char *more = NULL;
		int rc, now;

		if ((double)s->test_for_ns / 1e9 < s->times.slot_s) {
			fprintf(stderr, PAIRS ": the time of --test-for is over: %s is not measured\n",
				s->plan);
			break;
		}
		rc = run_plan(s);
		now = rc ? -1 : judge(s, &more);
		if (sweep_is_verdict(now)) {
			free(*said);
			*said = more;
			status = now;
			continue;
		}
		free(more);
		if (!rc)
			say_where(s);
		else if (s->fault.code == FAULT_INTERRUPTED)
			fprintf(stderr, PAIRS ": " NOTHING_COUNTS "\n");
		else
			fault_print(&s->fault, PAIRS ": " NOTHING_COUNTS, stderr);
		if (s->fault.code != FAULT_INTERRUPTED)
			fault_clear(&s->fault);
		break;
	}
	return status;
}

/* Judge what was measured, and what is planned after that. Returns the exit status, or -1. */
static int judge_all(struct node_sweep *s)
{
	char *said = NULL;
	int status = judge(s, &said);

	if (!sweep_is_verdict(status))
		say_where(s);
	else
		status = test_all(s, &said, status);
	fputs(said ? said : "", stdout);
	free(said);
	return status;
}

int sweep_command(char **argv)
{
	struct node_sweep s = {.output = "pairs.jsonl",
			       .suspects = "suspects.txt",
			       .start_in_s = START_IN_S,
			       .test_for_ns = TEST_FOR_NS,
			       .launch.names = -1,
			       .out = -1,
			       .stop = {.fd = -1}};
	struct step step = {.hosts = &s.known};
	struct words run = {0};
	int status = sweep_options(&s, argv);

	if (status > 0)
		return list_finish(PAIRS, &s.fault, 0);
	if (status || stop_init(&s.stop, &s.fault))
		goto out;
	streams_open(&s.streams, &s.stop);
	if (readlink("/proc/self/exe", s.own, sizeof(s.own) - 1) < 0)
		snprintf(s.own, sizeof(s.own), "%s", PAIRS);
	if (sweep_find_hosts(&s))
		status = -1;
	else if (s.dry_run)
		status = put_run(&s, &run, "--dry-run", NULL);
	else if (prepare(&s))
		status = -1;
	else if (measure(&s, &step, NULL) &&
		 ((s.fault.code != FAULT_INTERRUPTED && s.fault.code != FAULT_LOCAL) ||
		  !has_bytes(s.output)))
		status = -1;
	else /* what was written is judged if no more can be, too */
		status = judge_all(&s);
out:
	sweep_release_hosts(&s);
	launch_release(&s.launch);
	/* What was not begun leaves no file that would refuse the next try. */
	if (s.out >= 0 && fault_is(&s.fault) && !has_bytes(s.output))
		unlink(s.output);
	if (s.out >= 0)
		close(s.out);
	status = list_finish(PAIRS, &s.fault, status);
	streams_close(&s.streams);
	stop_release(&s.stop);
	return status;
}
