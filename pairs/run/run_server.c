// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The servers of this host: one for each rail, or for each sender of an incast. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/phase.h"
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
	if (!r->server)
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

/* Read the documents of the clients that S has served since; the last one may be of its own end. */
static void read_documents(struct run *r, struct run_server *s)
{
	char *line = s->process.said, *end;

	while (line && (end = strchr(line, '\n'))) {
		outcome_read(&s->last, line, (size_t)(end - line), r->line.latency);
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
		fault_phase(&r->fault, PHASE_START_SERVER);
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

void run_servers_release(struct run *r)
{
	for (unsigned i = 0; i < r->servers; i++)
		process_release(&r->server[i].process);
	free(r->server);
}
