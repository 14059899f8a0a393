/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * run: `rdmark-pairs run`: this host's part of the measurements of all pairs.
 *
 * One thread plays for all rails of its host: it keeps the servers running, starts clients in the
 * slots of the schedule, and writes a line for each run. It waits in one place only, for its
 * children, for signals and for the timetable; nothing that fails delays a later slot.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/process.h"
#include "base/outlet.h"
#include "outcome.h"
#include "players.h"
#include "program_line.h"
#include "pairs/schedule.h"
#include "timetable.h"

#define RUN_SERVERS_MAX 64
#define RUN_LINE_BYTES  1000 /* without the newline, and without what launchers put in front */

/* What the user asks for. */
struct run_asked {
	struct players_asked players;
	struct schedule_asked schedule;
	double start_s; /* since 1970; 0: not given */
	uint64_t slot_ns;
	uint64_t for_ns; /* how long the rounds may last; 0: all of the schedule */
	uint64_t one_way, dry_run;
	const char *auth, *title; /* TITLE: what this run is; NULL: not given */
	char **program; /* what follows --, ended by NULL */
};

/* A round of a seat: its turn, and the part that is next. */
struct run_turn {
	int64_t round; /* -1: none */
	struct schedule_turn turn;
	unsigned part;
};

/* What plays for one rail. */
struct run_seat {
	unsigned rail;
	struct run_turn now, next; /* the next one waits while a client of an earlier round runs */
	struct process client;
	uint64_t began_ns;       /* of the client */
	uint64_t cut_ns, end_ns; /* when it is interrupted, and killed */
	double late_s;
	uint64_t missed;      /* slots in which a run was not begun in time */
	int64_t missed_until; /* the round after the last of them */
	bool told;            /* it was interrupted */
	bool over; /* its slot is over: what was left of the turn was missed, as is written */
};

/* A server of the program, which stays. */
struct run_server {
	unsigned rail;
	uint32_t lane;
	struct process process;
	int64_t started_round;
	struct outcome last; /* of the client that it has served last */
	char error[400];     /* why it ended, as last written */
};

struct run {
	struct run_asked asked;
	struct players players;
	struct schedule schedule;
	struct schedule_turn *turns; /* of the schedule's hosts, in a round */
	struct timetable time;
	struct program_line line;
	const char *auth;
	char id[64];
	struct run_seat seat[PLAYERS_RAILS_MAX];
	struct run_server *server;
	unsigned servers;
	int64_t round;       /* as timetable_round() */
	uint64_t restarts;   /* of servers */
	uint64_t longest_ns; /* of the runs until the first round was over in which there were any */
	bool looked;         /* and that was so */
	double needed_s;     /* the slot that it would have taken; 0: this one was enough */
	bool stopping;       /* after a signal */
	int deaf;            /* errno: nobody takes our lines */
	struct stop stop;
	struct streams streams;
	struct fault fault;
};

/* Find out what r->asked comes to: players, schedule, slots and start. Returns 0, or -1 with
 * r->fault. Call run_plan_release() in any case. */
int run_plan(struct run *r);
void run_plan_release(struct run *r);

/* Read the command line into A. Returns 0; 1: help was printed; -1 with FAULT_USAGE. */
int run_options(struct run_asked *a, char **argv, struct fault *f);

/*
 * The lines: JSON objects, which rdmark-json(5) describes. r->deaf says if they cannot be written.
 */
void run_say_player(struct run *r, unsigned rail);
void run_say_done(struct run *r, unsigned rail);
void run_say_server(struct run *r, const struct run_server *s, const struct outcome *o);

/* A pair was tried: what came of it, in the turn and part T of SEAT. AHEAD_S: NaN if unknown. */
void run_say_pair(struct run *r, const struct run_seat *seat, const struct run_turn *t,
		  const struct outcome *o, double ahead_s);

/* A part whose run was not begun in time. */
void run_say_missed(struct run *r, struct run_seat *seat, const struct run_turn *t);

/*
 * The line of the object M, without a newline; the caller frees it. NULL: no memory. It has at most
 * RUN_LINE_BYTES: slurmstepd takes 1024 bytes at a time from a task, and puts what other tasks
 * wrote between. What matters least is dropped; only long names make it longer even so.
 */
char *run_line_text(json_t *m);

/* True if PART of a turn is --reversed: the second one, or so that an incast of READs is one. */
bool run_reversed(const struct run *r, unsigned part);

/* Start a seat's turn of r->round. */
void run_seat_turn(struct run *r, struct run_seat *s, const struct schedule_turn *turn);

/* Do what is due: start, interrupt or kill the client, and read what it says. */
void run_seat_step(struct run *r, struct run_seat *s);

/* When that must be called again at the latest; UINT64_MAX: nothing is due. */
uint64_t run_seat_due_ns(const struct run *r, const struct run_seat *s);

/* Start the servers; start those again that have ended, once a round; read what they say. */
int run_servers_start(struct run *r);
void run_servers_round(struct run *r);
void run_servers_read(struct run *r);
void run_servers_release(struct run *r);
