// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* `rdmark-pairs run`: opens all, waits for what comes, and closes all. */
#include "run.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "pairs/pairs.h"
#include "report/document.h"
#include "report/list.h"

#define GRACE_NS UINT64_C(500000000)  /* for clients to end after a signal */
#define LOOK_NS  UINT64_C(1000000000) /* a clock that is set meanwhile is noticed by then */

/* Rounds have passed: those between were missed, and the turns of this one begin. */
static void begin_round(struct run *r, int64_t round)
{
	static const struct schedule_turn waits = {.peer = SCHEDULE_NOBODY};
	const struct schedule_turn *turn = &r->turns[r->players.self];

	/* Was the slot long enough? */
	if (!r->looked && r->longest_ns > timetable_cut_ns(&r->time))
		r->needed_s = ceil((double)(r->longest_ns * r->time.parts) / 1e8 * 1.5) / 10;
	r->looked |= r->longest_ns > 0;
	for (r->round++; r->round <= round && r->round < (int64_t)r->time.rounds; r->round++) {
		schedule_round(&r->schedule, (uint32_t)r->round, r->turns);
		for (unsigned i = 0; i < r->players.rails; i++)
			run_seat_turn(r, &r->seat[i],
				      turn->rail && turn->rail != i + 1 ? &waits : turn);
	}
	r->round = round;
	if (round < (int64_t)r->time.rounds)
		run_servers_round(r);
}

/* A signal has come: clients end with what they have, and no other begins. */
static void stop_run(struct run *r)
{
	uint64_t end_ns = clock_utc_ns() + GRACE_NS;

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
	struct pollfd p[2 + PLAYERS_RAILS_MAX + RUN_SERVERS_MAX] = {[1] = {.fd = STDOUT_FILENO}};
	uint64_t now_ns = clock_utc_ns(), ns = due_ns > now_ns ? due_ns - now_ns : 0;
	struct fault f = {0};
	nfds_t n = 2;
	int ready;

	for (unsigned i = 0; i < r->players.rails; i++)
		if (r->seat[i].client.out)
			p[n++] = (struct pollfd){.fd = r->seat[i].client.out, .events = POLLIN};
	for (unsigned i = 0; i < r->servers; i++)
		if (r->server[i].process.out)
			p[n++] = (struct pollfd){.fd = r->server[i].process.out, .events = POLLIN};
	ready = stop_wait_any(&r->stop, p, n, clock_now_ns() + (ns < LOOK_NS ? ns : LOOK_NS), &f);
	if (ready < 0)
		stop_run(r);
	else if (ready && p[1].revents & (POLLERR | POLLHUP)) /* one in no slot writes nothing */
		r->deaf = EPIPE;
}

/* One turn of the loop. Returns false when all is over. */
static bool play(struct run *r)
{
	int64_t round = timetable_round(&r->time, clock_utc_ns());
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
	run_servers_release(r);
	run_plan_release(r);
	streams_close(&r->streams);
	stop_release(&r->stop);
}

static int run_all(struct run *r)
{
	for (unsigned i = 0; i < r->players.rails; i++)
		run_say_player(r, i);
	while (play(r))
		;
	for (unsigned i = 0; i < r->players.rails; i++)
		run_say_done(r, i);
	if (!fault_is(&r->fault) && r->deaf)
		document_stdout_refused(FAULT_LOCAL, r->deaf, &r->fault);
	if (fault_is(&r->fault))
		return fault_print(&r->fault, PAIRS, stderr);
	return r->stop.signal ? FAULT_INTERRUPTED + r->stop.signal : 0;
}

int run_command(char **argv)
{
	struct run r = {.round = -1, .stop.fd = -1};
	int rc = run_options(&r.asked, argv, &r.fault);

	if (!rc && r.asked.dry_run)
		rc = run_check(argv, NULL, &r.fault) ? -1 : 1;
	if (rc > 0)
		return list_finish(PAIRS, &r.fault, 0);
	if (!rc)
		rc = stop_init(&r.stop, &r.fault);
	if (!rc) {
		streams_open(&r.streams, &r.stop);
		rc = run_plan(&r);
	}
	for (unsigned i = 0; !rc && i < r.players.rails; i++)
		r.seat[i] = (struct run_seat){.rail = i, .now.round = -1, .next.round = -1};
	if (!rc)
		rc = run_servers_start(&r);
	rc = rc ? fault_print(&r.fault, PAIRS, stderr) : run_all(&r);
	release_run(&r);
	return rc;
}
