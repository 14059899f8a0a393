// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The hosts that have to be clients of this one, and which of them never came.
 *
 * An incast has none: there each host is the server of a round, so the clients of that round name
 * it, and no turn says who its clients are. A victim is a sender in other rounds, which name it.
 */
#include <errno.h>
#include <stdlib.h>

#include "pairs/grow.h"
#include "run.h"

int run_callers_init(struct run *r)
{
	struct run_callers *c = &r->callers;

	c->now.round = -1;
	c->heard = calloc((size_t)r->players.rails * r->players.hosts.n, sizeof(*c->heard));
	return c->heard ? 0 : fault_raise(&r->fault, FAULT_LOCAL, ENOMEM, "calloc");
}

static size_t place_of(const struct run *r, unsigned rail, uint32_t host)
{
	return (size_t)rail * r->players.hosts.n + host;
}

void run_callers_heard(struct run *r, unsigned rail, uint32_t host)
{
	if (host != SCHEDULE_NOBODY)
		r->callers.heard[place_of(r, rail, host)] = true;
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

/* Keep the call of the round that is over. Without memory it is forgotten, and nobody is blamed. */
static void keep_call(struct run_callers *c, const struct run_call *call)
{
	struct run_call *more = grow(c->call, c->calls, sizeof(*more));

	if (!more)
		return;
	c->call = more;
	c->call[c->calls++] = *call;
}

void run_callers_round(struct run *r)
{
	struct run_callers *c = &r->callers;
	const struct schedule_turn *own = &r->turns[r->players.self];

	if (c->now.round >= 0) {
		c->now.rails = rails_up(r, c->now.round);
		keep_call(c, &c->now);
	}
	c->now.round = -1;
	if (r->round < (int64_t)r->time.rounds && own->peer != SCHEDULE_NOBODY && !own->client &&
	    !own->victim)
		c->now = (struct run_call){.round = r->round, .client = own->peer};
}

void run_callers_say(struct run *r)
{
	const struct run_callers *c = &r->callers;

	for (size_t i = 0; i < c->calls; i++)
		for (unsigned rail = 0; rail < r->players.rails; rail++)
			if ((c->call[i].rails >> rail & 1) &&
			    !c->heard[place_of(r, rail, c->call[i].client)])
				run_say_absent(r, rail, c->call[i].round, c->call[i].client);
}

void run_callers_release(struct run *r)
{
	free(r->callers.heard);
	free(r->callers.call);
	r->callers = (struct run_callers){0};
}
