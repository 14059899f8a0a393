// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The servers of this host: one for each rail, or for each sender of an incast; and the hosts that
 * have to be clients of this one, and which of them never came.
 *
 * An incast has none of these: there each host is the server of a round, so the clients of that
 * round name it, and no turn says who its clients are.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/text.h"
#include "run.h"

#define TIMEOUT_SHARE 0.8

static int start_server(struct run *r, struct run_server *s)
{
	struct program_call call = {
		.rail = r->players.rail[s->rail],
		.auth = r->auth,
		.port = (uint16_t)players_port(&r->players, r->players.self, s->rail, s->lane),
		.timeout_ns = (uint64_t)(TIMEOUT_SHARE * (double)timetable_part_ns(&r->time)),
	};

	s->started_round = r->round;
	s->started_here_ns = clock_utc_ns();
	s->last = (struct outcome){0};
	return program_line_start(&r->line, &call, &s->process, &r->fault);
}

int run_servers_start(struct run *r)
{
	uint64_t n = (uint64_t)r->players.rails * schedule_lanes(&r->schedule);

	if (n > RUN_SERVERS_MAX) {
		fault_raise(&r->fault, FAULT_USAGE, 0, "%llu servers on each host",
			    (unsigned long long)n);
		return fault_fix(&r->fault,
				 "use an incast of fewer senders: %d servers are the most",
				 RUN_SERVERS_MAX);
	}
	r->server = calloc(n, sizeof(*r->server));
	r->callers.heard = calloc((size_t)r->players.rails * r->players.hosts.n, sizeof(bool));
	r->callers.call = calloc(r->time.rounds, sizeof(*r->callers.call));
	if (!r->server || !r->callers.heard || !r->callers.call)
		return fault_raise(&r->fault, FAULT_LOCAL, ENOMEM, "calloc");
	for (r->servers = 0; r->servers < n; r->servers++) {
		struct run_server *s = &r->server[r->servers];

		s->rail = r->servers % r->players.rails;
		s->lane = r->servers / r->players.rails;
		if (start_server(r, s))
			return -1;
	}
	return 0;
}

static bool *heard_of(const struct run *r, unsigned rail, uint32_t host)
{
	return &r->callers.heard[(size_t)rail * r->players.hosts.n + host];
}

static void hear_from(struct run *r, unsigned rail, uint32_t host)
{
	if (host != SCHEDULE_NOBODY)
		*heard_of(r, rail, host) = true;
}

/* Who meets this host in ROUND, or `nobody`. */
static uint32_t partner_in(struct run *r, int64_t round, uint32_t nobody)
{
	uint32_t peer;

	if (round < 0 || round >= r->schedule.rounds)
		return nobody;
	schedule_round(&r->schedule, (uint32_t)round, r->turns);
	peer = r->turns[r->players.self].peer;
	return peer == SCHEDULE_NOBODY ? nobody : peer;
}

/*
 * A client of S told its clock, but not its name. If its clock is right, it is who meets this host
 * in the round of that time; if this host's is, or if the client has corrected its own, in this
 * round. Either has come, then; or who met this host in the round before, if its document is late.
 */
static void hear_client(struct run *r, const struct run_server *s)
{
	const struct outcome *o = &s->last;
	struct timetable_vote v;

	v.peer = partner_in(r, timetable_round(&r->time, (uint64_t)o->client_ns), SCHEDULE_NOBODY);
	v.or_peer = partner_in(r, r->round, v.peer);
	v.ahead_s = (double)(o->client_ns - o->server_ns) / 1e9;
	hear_from(r, s->rail, v.peer);
	hear_from(r, s->rail, v.or_peer);
	hear_from(r, s->rail, partner_in(r, r->round - 1, SCHEDULE_NOBODY));
	if (o->client_ns && o->server_ns && v.peer != SCHEDULE_NOBODY)
		run_hear_clock(r, &v);
}

/* Read the documents of the clients that S has served since; the last one may be of its own end. */
static void read_documents(struct run *r, struct run_server *s)
{
	char *line = s->process.said, *end;

	while (line && (end = strchr(line, '\n'))) {
		outcome_read(&s->last, line, (size_t)(end - line), r->line.latency);
		hear_client(r, s);
		line = end + 1;
	}
	process_forget_lines(&s->process);
}

/*
 * S has ended with STATUS, which only an error of this host makes it do. A mistake of the user ends
 * the run, unless it is about a device: another host may have the one that is missing here. So does
 * a port that is in use: clients would measure with the server of somebody else.
 */
static void server_ended(struct run *r, struct run_server *s, int status)
{
	struct outcome *o = &s->last;
	char error[600];
	bool port;

	process_last_error(&s->process, error, sizeof(error));
	process_release(&s->process);
	if (!o->cause || WIFSIGNALED(status)) /* it is about a client */
		*o = (struct outcome){0};
	outcome_ended(o, status, error);
	port = strcmp(o->cause, "port") == 0;
	if (port)
		text_copy(o->fix, sizeof(o->fix),
			  "wait until another sweep of these hosts has ended, or give all of "
			  "them another --port");
	if (strcmp(o->error, s->error) != 0)
		run_say_server(r, s, o);
	snprintf(s->error, sizeof(s->error), "%s", o->error);
	if (s->started_round < 0 &&
	    (port || (o->exit == FAULT_USAGE && strcmp(o->cause, "device") != 0))) {
		fault_phase(&r->fault, "starting the server");
		fault_raise(&r->fault, FAULT_USAGE, 0, "%s", o->error);
		fault_fix(&r->fault, "%s", o->fix);
	}
}

void run_servers_read(struct run *r)
{
	for (unsigned i = 0; i < r->servers; i++) {
		struct run_server *s = &r->server[i];
		int status, goes_on;

		if (!s->process.pid)
			continue;
		goes_on = process_poll(&s->process, &status);
		read_documents(r, s);
		if (!goes_on)
			server_ended(r, s, status);
	}
}

void run_servers_round(struct run *r)
{
	for (unsigned i = 0; i < r->servers; i++) {
		struct run_server *s = &r->server[i];

		if (s->process.pid || r->stopping)
			continue;
		r->restarts++;
		if (start_server(r, s))
			fault_clear(&r->fault); /* the next round tries again */
	}
}

/* The rails whose servers run, and did when ROUND began: a client could have reached them. */
static uint32_t rails_up(const struct run *r, int64_t round)
{
	uint64_t begin_ns = timetable_begin(&r->time, (uint32_t)round, 0);
	uint32_t rails = 0;

	for (unsigned i = 0; i < r->servers; i++) {
		const struct run_server *s = &r->server[i];

		if (s->process.pid &&
		    s->started_here_ns + (uint64_t)r->time.correction_ns <= begin_ns)
			rails |= UINT32_C(1) << s->rail;
	}
	return rails;
}

void run_callers_round(struct run *r)
{
	const struct schedule_turn *own = &r->turns[r->players.self];
	struct run_call *call = &r->callers.call[r->round];

	if (r->round > 0 && call[-1].due)
		call[-1].rails = rails_up(r, r->round - 1);
	if (r->round < (int64_t)r->time.rounds)
		*call = (struct run_call){.client = own->peer,
					  .due = own->peer != SCHEDULE_NOBODY && !own->client};
}

void run_callers_say(struct run *r)
{
	for (uint32_t round = 0; round < r->time.rounds; round++) {
		const struct run_call *call = &r->callers.call[round];

		for (unsigned rail = 0; rail < r->players.rails; rail++)
			if ((call->rails >> rail & 1) && !*heard_of(r, rail, call->client))
				run_say_absent(r, rail, round, call->client);
	}
}

void run_servers_release(struct run *r)
{
	for (unsigned i = 0; i < r->servers; i++)
		process_release(&r->server[i].process);
	free(r->server);
	free(r->callers.heard);
	free(r->callers.call);
}
