// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The command line of `rdmark-pairs run`. */
#include "pairs/pairs.h"
#include "run.h"

#define OPTION(...) COMMAND_OPTION(run_asked, __VA_ARGS__)

static const struct command_option options[] = {
	OPTION(start_s, "start", "EPOCH", COMMAND_SECONDS, 1e12,
	       "when the first slot begins, in seconds since 1970"),
	OPTION(schedule.name, "schedule", "NAME", COMMAND_TEXT, 0,
	       "quick, full, random=N, ring=D, group=F, file=F,\nincast=K or incast=K,victim"),
	OPTION(schedule.seed, "seed", "N", COMMAND_COUNT, UINT32_MAX, "of the random pairs"),
	OPTION(slot_ns, "slot", "S", COMMAND_TIME, 0, "length of a slot; without it, from -D"),
	OPTION(one_way, "one-way", NULL, COMMAND_FLAG, 0, "leave the second direction out"),
	OPTION(schedule.only, "only", "FILE", COMMAND_TEXT, 0,
	       "only the pairs of these hosts, one a line"),
	OPTION(schedule.at_once, "at-once", "N", COMMAND_COUNT, SCHEDULE_HOSTS_MAX,
	       "at most N pairs in a slot"),
	OPTION(schedule.alone, "alone", NULL, COMMAND_FLAG, 0,
	       "a pair in a slot is alone; so are the few of --at-once"),
	OPTION(for_ns, "for", "S", COMMAND_TIME, 0,
	       "leave out the rounds that end after S seconds"),
	OPTION(dry_run, "dry-run", NULL, COMMAND_FLAG, 0,
	       "say how many pairs, and how long; measure none"),
	OPTION(players.hosts, "hosts", "LIST", COMMAND_TEXT, 0,
	       "a,b[1-9], or a file of lines: NAME [ADDRESS[:PORT]]"),
	OPTION(players.self, "self", "NAME", COMMAND_TEXT, 0, "which of them this one is"),
	OPTION(players.rails, "rails", "LIST", COMMAND_TEXT, 0,
	       "devices: each meets the others of its place"),
	OPTION(players.port, "port", "P", COMMAND_COUNT, UINT16_MAX,
	       "TCP port of the first host's server"),
	OPTION(players.port_step, "port-step", "N", COMMAND_COUNT, UINT16_MAX,
	       "host I has port P + N * I: several hosts on one address"),
	OPTION(auth, "auth", "METHOD", COMMAND_TEXT, 0,
	       "of both ends, as of write_bw; in a job of Slurm: munge"),
	{.name = NULL},
};

const struct command *run_options_command(void)
{
	static const struct command run = {
		.name = "rdmark-pairs run",
		.synopsis = "--start EPOCH [OPTION...] [-- PROGRAM [OPTION...]]",
		.more = "PROGRAM and its options: what a slot measures. Default: write_bw -D 0.5\n",
		.options = options,
	};

	return &run;
}

int run_options(struct run_asked *a, char **argv, struct fault *f)
{
	int rc;

	*a = (struct run_asked){
		.players = {.port = 18600},
		.schedule = {.name = "quick", .seed = 1},
	};
	rc = command_read(run_options_command(), a, argv, &a->program, f);
	if (rc)
		return rc;
	while (a->program[a->program_words])
		a->program_words++;
	if (a->start_s > 0 || a->dry_run)
		return 0;
	fault_raise(f, FAULT_USAGE, 0, "--start is missing");
	return fault_fix(f, "give all hosts the same: --start $(( $(date +%%s) + 5 ))");
}
