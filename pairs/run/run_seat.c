// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What plays for one rail: the clients of its turns, one after the other. */
#include <math.h>
#include <signal.h>
#include <stdio.h>

#include "base/clock.h"
#include "run.h"

#define LATE_SHARE    0.6 /* of a part: a run that cannot begin before that is not begun */
#define CONNECT_SHARE 0.5
#define TIMEOUT_SHARE 0.8
#define ENDING_NS     UINT64_C(2000000)   /* between looks at a process that is about to be gone */
#define KILLED_NS     UINT64_C(100000000) /* between looks at one that SIGKILL has not ended yet */

static void skip_parts(struct run *r, struct run_seat *s, struct run_turn *t)
{
	for (; t->round >= 0 && t->part < r->time.parts; t->part++)
		run_say_missed(r, s, t);
	t->round = -1;
}

void run_seat_turn(struct run *r, struct run_seat *s, const struct schedule_turn *turn)
{
	struct run_turn *t = s->client.pid ? &s->next : &s->now;

	if (t->round >= 0)
		skip_parts(r, s, t);
	if (s->client.pid && s->now.round >= 0 && !s->over) {
		struct run_turn rest = s->now;

		rest.part++;
		skip_parts(r, s, &rest);
		s->over = true;
	}
	*t = (struct run_turn){.round = turn->client ? r->round : -1, .turn = *turn};
}

static void start_client(struct run *r, struct run_seat *s, uint64_t begin_ns, uint64_t now_ns)
{
	uint64_t part_ns = timetable_part_ns(&r->time);
	const struct run_turn *t = &s->now;
	struct program_call call = {
		.rail = r->players.rail[s->rail],
		.auth = r->auth,
		.port = (uint16_t)players_port(&r->players, t->turn.peer, s->rail, t->turn.lane),
		.timeout_ns = (uint64_t)(TIMEOUT_SHARE * (double)part_ns),
		.address = players_address(&r->players, t->turn.peer),
		.connect_ns = (uint64_t)(CONNECT_SHARE * (double)part_ns),
		.reversed = run_reversed(r, t->part),
	};
	struct fault f = {0};

	s->late_s = (double)(now_ns - begin_ns) / 1e9;
	s->began_ns = now_ns;
	s->cut_ns = begin_ns + timetable_cut_ns(&r->time);
	s->end_ns = begin_ns + part_ns;
	s->told = s->over = false;
	if (program_line_start(&r->line, &call, &s->client, &f)) {
		struct outcome o = {.exit = 1, .cause = "other", .fault = OUTCOME_CLIENT};

		fault_format(&f, o.error, sizeof(o.error));
		run_say_pair(r, s, t, &o, NAN);
		s->now.part++;
	}
}

/* How far the server's clock is ahead of this one; NaN: the run did not come to that. */
static double clock_ahead_s(const struct run_seat *s, const struct outcome *o)
{
	if (!o->server_ns || !o->client_ns)
		return NAN;
	return timetable_ahead_s(o->server_ns, o->client_ns, (int64_t)s->began_ns);
}

/* The client has ended with STATUS: write its line. */
static void client_ended(struct run *r, struct run_seat *s, int status)
{
	uint64_t took_ns = clock_utc_ns() - s->began_ns;
	char error[600];
	struct outcome o;
	double ahead_s;

	process_last_error(&s->client, error, sizeof(error));
	outcome_read(&o, s->client.said, s->client.said_n, r->line.latency);
	outcome_ended(&o, status, error);
	process_release(&s->client);
	ahead_s = clock_ahead_s(s, &o);
	if (s->told && !o.has_value) {
		o.cause = "lost";
		o.fault = OUTCOME_UNKNOWN;
		snprintf(o.error, sizeof(o.error), "the slot ended before there was a figure");
		o.fix[0] = '\0';
	} else if (s->told) {
		o.cause = NULL;
		o.error[0] = o.fix[0] = '\0';
	}
	if (!isnan(ahead_s) && timetable_off(&r->time, ahead_s)) {
		o.cause = "clock";
		o.fault = OUTCOME_UNKNOWN; /* the judge knows what other clocks say */
	}
	if (took_ns > r->longest_ns)
		r->longest_ns = took_ns;
	run_say_pair(r, s, &s->now, &o, ahead_s);
	s->now.part++;
	if (s->over) {
		s->now = s->next;
		s->next.round = -1;
	}
}

static void tend_client(struct run *r, struct run_seat *s, uint64_t now_ns)
{
	int status;

	if (!process_poll(&s->client, &status)) {
		client_ended(r, s, status);
		return;
	}
	if (now_ns >= s->end_ns)
		process_signal(&s->client, SIGKILL);
	else if (now_ns >= s->cut_ns && !s->told)
		process_signal(&s->client, SIGINT);
	s->told |= now_ns >= s->cut_ns;
}

void run_seat_step(struct run *r, struct run_seat *s)
{
	uint64_t now_ns = clock_utc_ns(), begin_ns;

	if (s->client.pid)
		tend_client(r, s, now_ns);
	while (!s->client.pid && s->now.round >= 0) {
		begin_ns = timetable_begin(&r->time, (uint32_t)s->now.round, s->now.part);
		if (s->now.part == r->time.parts || r->stopping) {
			s->now.round = -1;
		} else if (now_ns < begin_ns) {
			break;
		} else if ((double)(now_ns - begin_ns) >
			   LATE_SHARE * (double)timetable_part_ns(&r->time)) {
			run_say_missed(r, s, &s->now);
			s->now.part++;
		} else {
			start_client(r, s, begin_ns, now_ns);
		}
	}
}

uint64_t run_seat_due_ns(const struct run *r, const struct run_seat *s)
{
	uint64_t now_ns = clock_utc_ns();

	if (s->client.pid && !s->client.out)
		return now_ns + ENDING_NS;
	if (s->client.pid && now_ns >= s->end_ns)
		return now_ns + KILLED_NS;
	if (s->client.pid)
		return s->told ? s->end_ns : s->cut_ns;
	if (s->now.round >= 0)
		return timetable_begin(&r->time, (uint32_t)s->now.round, s->now.part);
	return UINT64_MAX;
}
