// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The hosts that have to be clients of this one, and which of them never came.
 *
 * An incast has none: there each host is the server of a round, so the clients of that round name
 * it, and no turn says who its clients are. A victim is a sender in other rounds, which name it.
 */
#include <errno.h>
#include <stdlib.h>

#include "run.h"

int run_callers_init(struct run *r)
{
	struct run_callers *c = &r->callers;

	c->heard = calloc((size_t)r->players.rails * r->players.hosts.n, sizeof(*c->heard));
	c->call = calloc(r->time.rounds, sizeof(*c->call));
	return c->heard && c->call ? 0 : fault_raise(&r->fault, FAULT_LOCAL, ENOMEM, "calloc");
}

static bool *heard_of(const struct run *r, unsigned rail, uint32_t host)
{
	return &r->callers.heard[(size_t)rail * r->players.hosts.n + host];
}

void run_callers_heard(struct run *r, unsigned rail, uint32_t host)
{
	if (host != SCHEDULE_NOBODY)
		*heard_of(r, rail, host) = true;
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
					  .due = own->peer != SCHEDULE_NOBODY && !own->client &&
						 !own->victim};
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

void run_callers_release(struct run *r)
{
	free(r->callers.heard);
	free(r->callers.call);
}
