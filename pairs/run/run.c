// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* `rdmark-pairs run`: opens all, waits for what comes, and closes all. */
#include "run.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/terminal.h"
#include "base/units.h"
#include "pairs/pairs.h"
#include "report/forms.h"
#include "report/list.h"

#define SETUP_NS    UINT64_C(400000000) /* what a run needs more than -D, where nobody says more */
#define FUTURE_NS   (UINT64_C(86400) * UNITS_NS_PER_S)
#define GRACE_NS    UINT64_C(500000000)  /* for clients to end after a signal */
#define LOOK_NS     UINT64_C(1000000000) /* a clock that is set meanwhile is noticed by then */
#define SLOT_MIN_NS UINT64_C(50000000)

/* Leave out the rounds that --for leaves no time. */
static void limit_rounds(struct run *r)
{
	uint64_t most = r->asked.for_ns / r->time.slot_ns;

	if (r->asked.for_ns && most < r->schedule.rounds)
		r->schedule.rounds = most ? (uint32_t)most : 1;
	r->time.rounds = r->schedule.rounds;
}

/* The length of a slot: --slot, or the runs of -D and what they need more. */
static int set_slot(struct run *r)
{
	uint64_t run_ns = r->line.duration_ns;

	r->time.parts =
		r->line.both_ways && !r->asked.one_way && !schedule_is_incast(&r->schedule) ? 2 : 1;
	r->time.slot_ns = r->asked.slot_ns;
	if (run_line_victim(r))
		return -1;
	if (!r->time.slot_ns && run_ns)
		r->time.slot_ns = r->time.parts * (run_ns + SETUP_NS);
	if (!r->time.slot_ns) {
		fault_raise(&r->fault, FAULT_USAGE, 0, "the length of a slot is not known");
		return fault_fix(&r->fault, "give --slot, or -D to the program after --");
	}
	if (r->time.slot_ns < SLOT_MIN_NS || r->time.slot_ns > FUTURE_NS ||
	    timetable_cut_ns(&r->time) <= run_ns) {
		fault_raise(&r->fault, FAULT_USAGE, 0, "a slot of %s for %u of %s",
			    units_ns(r->time.slot_ns).text, r->time.parts, units_ns(run_ns).text);
		return fault_fix(&r->fault, "use a longer --slot, --one-way, or a shorter -D");
	}
	limit_rounds(r);
	return 0;
}

/* Say how long a slot is, if nobody did. One host says it for all. */
static void say_slot(const struct run *r)
{
	if (!r->asked.slot_ns && !r->players.self)
		terminal_note(stderr, "slots of %s: %u of %s, and %s for each to begin and end",
			      units_ns(r->time.slot_ns).text, r->time.parts,
			      units_ns(r->line.duration_ns).text, units_ns(SETUP_NS).text);
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
	if (ahead_s > (double)FUTURE_NS / 1e9) {
		fault_raise(&r->fault, FAULT_USAGE, 0, "--start is %.0f s from now", ahead_s);
		return fault_fix(&r->fault, "start within a day, or set this host's clock");
	}
	round = timetable_round(&r->time, now_ns);
	if (round >= (int64_t)r->time.rounds) {
		fault_raise(&r->fault, FAULT_USAGE, 0, "the run was over %.0f s ago",
			    -ahead_s - (double)r->time.rounds * (double)r->time.slot_ns / 1e9);
		return fault_fix(&r->fault, "give a later --start, or set this host's clock");
	}
	if (round >= 0)
		terminal_note(stderr,
			      "%s began %.1f s late and may miss slots. Fix: give a later "
			      "--start (sweep: a longer --start-in).",
			      r->players.hosts.host[r->players.self].name, -ahead_s);
	return 0;
}

/* Slurm's nodes have munge. Elsewhere the user says who may use the servers of all nodes. */
static int choose_auth(struct run *r)
{
	r->auth = r->asked.auth ? r->asked.auth : r->line.auth;
	if (!r->auth && getenv("SLURM_JOB_ID"))
		r->auth = "munge";
	if (r->auth)
		return 0;
	fault_raise(&r->fault, FAULT_USAGE, 0, "--auth is missing");
	fault_cause(&r->fault, "Everybody could use this host's servers while the run lasts");
	return fault_fix(&r->fault,
			 "say who may: --auth=munge, --auth=key:FILE, or --auth=none for "
			 "everybody");
}

static int open_run(struct run *r)
{
	struct fault *f = &r->fault;

	if (program_line_read(&r->line, r->asked.program, r->asked.program_words, f) ||
	    players_find(&r->players, &r->asked.players, f) ||
	    schedule_open(&r->schedule, &r->asked.schedule, &r->players.hosts, f) ||
	    players_check_ports(&r->players, schedule_lanes(&r->schedule), f))
		return -1;
	if (set_slot(r) || choose_auth(r) || check_start(r))
		return -1;
	say_slot(r);
	snprintf(r->id, sizeof(r->id), "%" PRIu64 ".%03u-%" PRIu64,
		 r->time.start_ns / UNITS_NS_PER_S, (unsigned)(r->time.start_ns / 1000000 % 1000),
		 r->asked.schedule.seed);
	r->turns = calloc(r->players.hosts.n, sizeof(*r->turns));
	if (!r->turns)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "calloc");
	for (unsigned i = 0; i < r->players.rails; i++)
		r->seat[i] = (struct run_seat){.rail = i, .now.round = -1, .next.round = -1};
	return run_callers_init(r) ? -1 : run_servers_start(r);
}

/* After the first round that was played: was the slot long enough? */
static void judge_slot(struct run *r)
{
	if (r->longest_ns > timetable_cut_ns(&r->time))
		r->needed_s = ceil((double)(r->longest_ns * r->time.parts) / 1e8 * 1.5) / 10;
}

/* Rounds have passed: those between were missed, and the turns of this one begin. */
static void begin_round(struct run *r, int64_t round)
{
	int64_t before = r->round;

	if (before >= 0 && r->longest_ns && before == 0)
		judge_slot(r);
	for (r->round = before + 1; r->round <= round && r->round < (int64_t)r->time.rounds;
	     r->round++) {
		schedule_round(&r->schedule, (uint32_t)r->round, r->turns);
		run_callers_round(r);
		for (unsigned i = 0; i < r->players.rails; i++)
			run_seat_turn(r, &r->seat[i], &r->turns[r->players.self]);
	}
	r->round = round;
	if (round >= (int64_t)r->time.rounds)
		run_callers_round(r);
	else
		run_servers_round(r);
}

/* A signal has come: clients end with what they have, and no other begins. */
static void stop_run(struct run *r)
{
	uint64_t end_ns = run_now_ns(r) + GRACE_NS;

	for (unsigned i = 0; i < r->players.rails; i++) {
		struct run_seat *s = &r->seat[i];

		process_signal(&s->client, r->stopping ? SIGKILL : SIGINT);
		s->told = true;
		s->end_ns = s->end_ns < end_ns ? s->end_ns : end_ns;
		s->next.round = -1;
	}
	r->stopping = true;
}

/* Wait for a child, a signal, or until DUE_NS. */
static void wait_for_more(struct run *r, uint64_t due_ns)
{
	struct pollfd p[1 + PLAYERS_RAILS_MAX + 64];
	uint64_t now_ns = run_now_ns(r), ns = due_ns > now_ns ? due_ns - now_ns : 0;
	struct fault f = {0};
	nfds_t n = 1;

	for (unsigned i = 0; i < r->players.rails; i++)
		if (r->seat[i].client.out)
			p[n++] = (struct pollfd){.fd = r->seat[i].client.out, .events = POLLIN};
	for (unsigned i = 0; i < r->servers; i++)
		if (r->server[i].process.out)
			p[n++] = (struct pollfd){.fd = r->server[i].process.out, .events = POLLIN};
	if (stop_wait_any(&r->stop, p, n, clock_now_ns() + (ns < LOOK_NS ? ns : LOOK_NS), &f) < 0)
		stop_run(r);
}

/* One turn of the loop. Returns false when all is over. */
static bool play(struct run *r)
{
	int64_t round = timetable_round(&r->time, run_now_ns(r));
	uint64_t due_ns = UINT64_MAX;
	bool busy = false;

	run_servers_read(r);
	if (!r->stopping && round > r->round)
		begin_round(r, round);
	for (unsigned i = 0; i < r->players.rails; i++) {
		uint64_t ns;

		run_seat_step(r, &r->seat[i]);
		ns = run_seat_due_ns(r, &r->seat[i]);
		due_ns = ns < due_ns ? ns : due_ns;
		busy |= r->seat[i].client.pid || r->seat[i].now.round >= 0;
	}
	if (r->deaf || fault_is(&r->fault))
		return false;
	if (!busy && (r->stopping || r->round >= (int64_t)r->time.rounds))
		return false;
	if (!r->stopping && r->round < (int64_t)r->time.rounds) {
		uint64_t next_ns = timetable_begin(&r->time, (uint32_t)(r->round + 1), 0);

		due_ns = next_ns < due_ns ? next_ns : due_ns;
	}
	wait_for_more(r, due_ns);
	return true;
}

static void release_run(struct run *r)
{
	for (unsigned i = 0; i < r->players.rails; i++)
		process_release(&r->seat[i].client);
	for (unsigned i = 0; i < r->servers; i++)
		process_release(&r->server[i].process);
	free(r->server);
	run_callers_release(r);
	free(r->turns);
	schedule_release(&r->schedule);
	players_release(&r->players);
	streams_close(&r->streams);
	stop_release(&r->stop);
}

static int run_all(struct run *r)
{
	int status;

	for (unsigned i = 0; i < r->players.rails; i++)
		run_say_player(r, i);
	while (play(r))
		;
	run_callers_say(r);
	for (unsigned i = 0; i < r->players.rails; i++)
		run_say_done(r, i);
	if (fault_is(&r->fault))
		return pairs_failed(&r->fault);
	if (r->deaf) {
		fault_raise(&r->fault, FAULT_LOCAL, r->deaf, "writing to standard output");
		document_unread(r->deaf, &r->fault);
		return pairs_failed(&r->fault);
	}
	status = r->stop.signal ? FAULT_INTERRUPTED + r->stop.signal : 0;
	return status;
}

/* Of hosts that only the launcher knows: is there a schedule of that name? Its files were read. */
static int check_name(struct run *r)
{
	struct schedule_asked named = {.name = r->asked.schedule.name};
	struct hosts many = {.n = SCHEDULE_HOSTS_MAX};

	if ((strncmp(named.name, "group=", 6) == 0 || strncmp(named.name, "file=", 5) == 0) &&
	    strchr(named.name, '=')[1])
		return 0;
	return schedule_open(&r->schedule, &named, &many, &r->fault);
}

/* Of hosts that are known: all that they would refuse. */
static int check_hosts(struct run *r)
{
	struct fault *f = &r->fault;

	r->asked.players.anyone = true;
	if (players_find(&r->players, &r->asked.players, f) ||
	    schedule_open(&r->schedule, &r->asked.schedule, &r->players.hosts, f))
		return -1;
	return players_check_ports(&r->players, schedule_lanes(&r->schedule), f);
}

/* Say on standard output what the run would be. */
static int say_plan(struct run *r)
{
	uint32_t hosts = r->players.hosts.n, rounds = r->schedule.rounds;
	uint64_t pairs = 0;

	r->turns = calloc(hosts, sizeof(*r->turns));
	if (!r->turns)
		return fault_raise(&r->fault, FAULT_LOCAL, ENOMEM, "calloc");
	for (uint32_t round = 0; round < rounds; round++) {
		schedule_round(&r->schedule, round, r->turns);
		for (uint32_t i = 0; i < hosts; i++)
			pairs += r->turns[i].client;
	}
	printf("nodes: %u, pairs: %llu, rounds: %u of %s, all: %s\n", hosts,
	       (unsigned long long)pairs, rounds, units_ns(r->time.slot_ns).text,
	       units_ns(rounds * r->time.slot_ns).text);
	return 0;
}

int run_check(char **argv, bool in_slurm, struct fault *f)
{
	struct run r = {.stop.fd = -1};
	int rc = run_options(&r.asked, argv, &r.fault);

	if (!r.asked.auth && in_slurm)
		r.asked.auth = "munge";
	if (!rc)
		rc = program_line_read(&r.line, r.asked.program, r.asked.program_words, &r.fault);
	if (!rc)
		rc = r.asked.players.hosts || r.asked.dry_run ? check_hosts(&r) : check_name(&r);
	if (!rc)
		rc = set_slot(&r) || (!r.asked.dry_run && choose_auth(&r)) ? -1 : 0;
	if (!rc && r.asked.dry_run)
		rc = say_plan(&r);
	if (rc)
		*f = r.fault;
	release_run(&r);
	return rc;
}

int run_command(char **argv)
{
	struct run r = {.round = -1, .late_cause = "missed", .stop.fd = -1};
	int rc = run_options(&r.asked, argv, &r.fault);

	if (!rc && r.asked.dry_run)
		rc = run_check(argv, false, &r.fault) ? -1 : 1;
	if (rc > 0)
		return list_finish(stdout, PAIRS);
	if (!rc)
		rc = stop_init(&r.stop, &r.fault);
	if (!rc) {
		streams_open(&r.streams, &r.stop);
		rc = open_run(&r);
	}
	rc = rc ? pairs_failed(&r.fault) : run_all(&r);
	release_run(&r);
	return rc;
}
