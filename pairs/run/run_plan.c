// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What a run is going to be: its command line, its players, its schedule, its slots and its start.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "admit/auth.h"
#include "base/clock.h"
#include "base/terminal.h"
#include "base/units.h"
#include "pairs/pairs.h"
#include "run.h"

#define SETUP_NS    UINT64_C(400000000) /* what a run needs more than -D, where nobody says more */
#define FUTURE_NS   (UINT64_C(86400) * UNITS_NS_PER_S)
#define SLOT_MIN_NS UINT64_C(50000000)

#define OPTION(...) COMMAND_OPTION(run_asked, __VA_ARGS__)

static const struct option_row options[] = {
	OPTION(start_s, "start", "EPOCH", COMMAND_SECONDS, 1e12,
	       "when the first slot begins, in seconds since 1970"),
	OPTION(schedule.name, "schedule", "NAME", OPTION_TEXT, 0,
	       "quick, full, incast=K or file=F"),
	OPTION(schedule.seed, "seed", "N", OPTION_NUMBER, UINT32_MAX,
	       "seed of the random pairs (1)"),
	OPTION(slot_ns, "slot", "S", OPTION_SECONDS, 0, "length of a slot in seconds (from -D)"),
	OPTION(schedule.plan, "plan", "FILE", OPTION_TEXT, 0,
	       "the pairs that judge --plan wrote, not a schedule's"),
	OPTION(one_way, "one-way", NULL, OPTION_FLAG, 0, "do not measure the second direction"),
	OPTION(schedule.at_once, "at-once", "N", OPTION_NUMBER, SCHEDULE_HOSTS_MAX,
	       "at most N pairs in a slot"),
	OPTION(for_ns, "for", "S", OPTION_SECONDS, 0, "omit the rounds that end after S seconds"),
	OPTION(dry_run, "dry-run", NULL, OPTION_FLAG, 0,
	       "print the number of pairs and the time; measure none"),
	OPTION(players.hosts, "hosts", "LIST", OPTION_TEXT, 0,
	       "a,b[1-9], or a file of lines: NAME [ADDRESS[:PORT]]"),
	OPTION(players.self, "self", "NAME", OPTION_TEXT, 0, "the name of this host in that list"),
	OPTION(players.rails, "rails", "LIST", OPTION_TEXT, 0,
	       "devices: first meets first, second meets second"),
	OPTION(players.port, "port", "P", OPTION_NUMBER, UINT16_MAX,
	       "TCP port of the first host's server (18600)"),
	OPTION(players.port_step, "port-step", "N", OPTION_NUMBER, UINT16_MAX,
	       "host I has port P + N * I: several hosts on one address"),
	OPTION(auth, "auth", "METHOD", OPTION_TEXT, 0,
	       "how both ends prove who they are: key:FILE or none"),
	OPTION(title, "title", "TEXT", OPTION_TEXT, 200,
	       "what this run is, for documents and pictures"),
	{.name = NULL},
};

const struct command *run_options_command(void)
{
	static const struct command run = {
		.name = "rdmark-pairs run",
		.synopsis = "--start EPOCH [OPTION...] [-- PROGRAM [OPTION...]]",
		.more = "Each pair runs PROGRAM with its options. Default: write_bw -D 0.5\n",
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
	if (a->schedule.plan) /* it says how many at once, and that is few */
		a->schedule = (struct schedule_asked){.name = "plan",
						      .plan = a->schedule.plan,
						      .rails = a->players.rails,
						      .seed = a->schedule.seed};
	if (rc || a->start_s > 0 || a->dry_run)
		return rc;
	fault_raise(f, FAULT_USAGE, 0, "--start is missing");
	return fault_fix(f, "give all hosts the same: --start $(( $(date +%%s) + 5 ))");
}

static bool is_incast(const struct run *r)
{
	return r->schedule.kind == SCHEDULE_INCAST;
}

bool run_reversed(const struct run *r, unsigned part)
{
	bool client_sends = is_incast(r) || (r->asked.schedule.plan && r->time.parts == 1);

	return r->line.both_ways && (part == 1 || (client_sends && r->line.to_client));
}

/* The length of a slot: --slot, or the runs of -D and what they need more. */
static int set_slot(struct run *r)
{
	uint64_t run_ns = r->line.duration_ns ? r->line.omit_ns + r->line.duration_ns : 0, most;

	r->time.parts = r->line.both_ways && !r->asked.one_way && !is_incast(r) ? 2 : 1;
	r->time.slot_ns = r->asked.slot_ns;
	if (!r->time.slot_ns && run_ns)
		r->time.slot_ns = r->time.parts * (run_ns + SETUP_NS);
	if (!r->time.slot_ns)
		return fault_usage(&r->fault, "give --slot, or -D to the program after --",
				   "the length of a slot is not known");
	if (r->time.slot_ns < SLOT_MIN_NS || r->time.slot_ns > FUTURE_NS ||
	    timetable_cut_ns(&r->time) <= run_ns)
		return fault_usage(&r->fault, "use a longer --slot, --one-way, or a shorter -D",
				   "a slot of %s for %u of %s", units_ns(r->time.slot_ns).text,
				   r->time.parts, units_ns(run_ns).text);
	most = r->asked.for_ns / r->time.slot_ns;
	if (r->asked.for_ns && most < r->schedule.rounds)
		r->schedule.rounds = most ? (uint32_t)most : 1;
	r->time.rounds = r->schedule.rounds;
	return 0;
}

/* Refuse a start that nobody means; say if the run has begun. */
static int check_start(struct run *r)
{
	uint64_t now_ns = clock_utc_ns();
	double ahead_s = r->asked.start_s - (double)now_ns / 1e9;
	int64_t round;

	if (fabs(ahead_s) > (double)FUTURE_NS / 1e9 * 365) {
		fault_raise(&r->fault, FAULT_USAGE, 0, "--start %.3f is years away",
			    r->asked.start_s);
		return fault_fix(&r->fault, "give seconds since 1970, as date +%%s prints them");
	}
	r->time.start_ns = (uint64_t)(r->asked.start_s * 1e9);
	if (ahead_s > (double)FUTURE_NS / 1e9)
		return fault_usage(&r->fault, "start within a day, or set this host's clock",
				   "--start is %.0f s from now", ahead_s);
	round = timetable_round(&r->time, now_ns);
	if (round >= (int64_t)r->time.rounds)
		return fault_usage(&r->fault, "give a later --start, or set this host's clock",
				   "the run was over %.0f s ago",
				   -ahead_s -
					   (double)r->time.rounds * (double)r->time.slot_ns / 1e9);
	if (round >= 0)
		terminal_note(stderr,
			      "%s began %.1f s late and may miss slots. Fix: give a later "
			      "--start (sweep: a longer --start-in).",
			      r->players.hosts.host[r->players.self].name, -ahead_s);
	return 0;
}

/* The user says who may use the servers of all nodes. */
static int choose_auth(struct run *r)
{
	struct auth auth;

	r->auth = r->asked.auth ? r->asked.auth : r->line.auth;
	if (r->auth)
		return auth_read(&auth, r->auth, &r->fault);
	fault_raise(&r->fault, FAULT_USAGE, 0, "--auth is missing");
	fault_cause(&r->fault, "Everybody could use this host's servers while the run lasts");
	return fault_fix(&r->fault,
			 "say who may: --auth=key:FILE, a file that all nodes have, for example in "
			 "a shared home directory, or --auth=none for everybody");
}

/* Of hosts that only the launcher knows: is there a schedule of that name? Its files were read. */
static int check_name(struct run *r)
{
	struct schedule_asked named = {.name = r->asked.schedule.name};
	struct hosts many = {.n = SCHEDULE_HOSTS_MAX};

	return r->asked.schedule.plan || schedule_file(named.name)
		       ? 0
		       : schedule_open(&r->schedule, &named, &many, &r->fault);
}

/* All but the start. */
static int make_plan(struct run *r)
{
	const struct run_asked *a = &r->asked;
	bool unknown = a->players.anyone && !a->players.hosts && !a->dry_run;

	if (program_line_read(&r->line, a->program, &r->fault))
		return -1;
	if (unknown ? check_name(r)
		    : players_find(&r->players, &a->players, &r->fault) ||
			      schedule_open(&r->schedule, &a->schedule, &r->players.hosts,
					    &r->fault) ||
			      players_check_ports(&r->players, schedule_lanes(&r->schedule),
						  &r->fault))
		return -1;
	if (set_slot(r) || (!a->dry_run && choose_auth(r)))
		return -1;
	r->turns = calloc(r->players.hosts.n + 1, sizeof(*r->turns));
	return r->turns ? 0 : fault_raise(&r->fault, FAULT_LOCAL, ENOMEM, "calloc");
}

int run_plan(struct run *r)
{
	if (make_plan(r) || check_start(r))
		return -1;
	if (!r->asked.slot_ns && !r->players.self) /* one host says it for all */
		terminal_note(stderr, "slots of %s: %u of %s, and %s for each to begin and end",
			      units_ns(r->time.slot_ns).text, r->time.parts,
			      units_ns(r->line.omit_ns + r->line.duration_ns).text,
			      units_ns(SETUP_NS).text);
	snprintf(r->id, sizeof(r->id), "%" PRIu64 ".%03u-%" PRIu64,
		 r->time.start_ns / UNITS_NS_PER_S, (unsigned)(r->time.start_ns / 1000000 % 1000),
		 r->asked.schedule.seed);
	return 0;
}

void run_plan_release(struct run *r)
{
	free(r->turns);
	schedule_release(&r->schedule);
	players_release(&r->players);
}

/* Say on standard output what the run would be. */
static void say_plan(struct run *r)
{
	uint32_t hosts = r->players.hosts.n, rounds = r->schedule.rounds;
	uint64_t pairs = 0;

	for (uint32_t round = 0; round < rounds; round++) {
		schedule_round(&r->schedule, round, r->turns);
		for (uint32_t i = 0; i < hosts; i++)
			pairs += r->turns[i].client;
	}
	printf("nodes: %u, pairs: %llu, rounds: %u of %s, all: %s\n", hosts,
	       (unsigned long long)pairs, rounds, units_ns(r->time.slot_ns).text,
	       units_ns(rounds * r->time.slot_ns).text);
}

/* How long the run lasts; of hosts that only the launcher knows, at most. */
static double longest_s(const struct run *r)
{
	double slot_s = (double)r->time.slot_ns / 1e9, rounds = r->schedule.rounds;

	if (r->players.hosts.n)
		return rounds * slot_s;
	if (r->asked.for_ns)
		return fmax((double)r->asked.for_ns / 1e9, slot_s);
	return fmax(rounds, SCHEDULE_HOSTS_MAX) * slot_s;
}

int run_check(char **argv, struct run_times *times, struct fault *f)
{
	struct run r = {.stop.fd = -1};
	int rc = run_options(&r.asked, argv, &r.fault);

	r.asked.players.anyone = true;
	if (!rc)
		rc = make_plan(&r);
	if (!rc && r.asked.dry_run)
		say_plan(&r);
	if (!rc && times)
		*times = (struct run_times){(double)r.time.slot_ns / 1e9, longest_s(&r)};
	if (rc)
		*f = r.fault;
	run_plan_release(&r);
	return rc;
}
