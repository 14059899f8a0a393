// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/idle.h"

#include <math.h>
#include <string.h>

void idle_start(struct idle_time *i, unsigned cqs)
{
	memset(i, 0, sizeof(*i));
	i->cqs = cqs;
	i->least_ticks = UINT64_MAX;
}

/* The empty polls of this pause: the first one is the one that makes all CQs empty. */
static uint64_t pause_polls(const struct idle_time *i)
{
	return i->empty < i->cqs ? 0 : i->empty - i->cqs + 1;
}

/*
 * How long this pause is, from the end of its first empty poll to the end of its last one. Those
 * after the last clock reading took as long as those just before it.
 */
static uint64_t pause_ticks(const struct idle_time *i)
{
	if (i->timed < 2)
		return 0;
	return i->last_ticks - i->first_ticks +
	       (pause_polls(i) - i->timed) * i->step_ticks / i->step_polls;
}

static bool is_power_of_2(uint64_t n)
{
	return !(n & (n - 1));
}

bool idle_empty(struct idle_time *i, bool fresh)
{
	uint64_t polls;

	if (fresh) {
		i->ticks += pause_ticks(i);
		i->pauses += i->timed > 0;
		i->empty = i->timed = 0;
	}
	i->empty++;
	polls = pause_polls(i);
	/* 1, 2, 3, 4, 6, 8, 12, 16 … */
	return polls && is_power_of_2(polls % 3 ? polls : polls / 3);
}

void idle_timed(struct idle_time *i, uint64_t ticks)
{
	uint64_t polls = pause_polls(i);

	if (!polls)
		return;
	i->step_ticks = ticks - i->last_ticks;
	i->step_polls = polls > i->timed ? polls - i->timed : 1;
	i->last_ticks = ticks;
	if (polls == 1)
		i->first_ticks = ticks;
	else if (i->step_polls == 1 && i->step_ticks < i->least_ticks)
		i->least_ticks = i->step_ticks;
	i->timed = polls;
}

void idle_end(struct idle_time *i)
{
	i->empty = i->timed = 0;
}

double idle_share(const struct idle_time *i, uint64_t run_ticks)
{
	double first = i->least_ticks < UINT64_MAX ? (double)i->least_ticks : 0;
	double pauses = (double)(i->pauses + (i->timed > 0));

	if (!i->cqs || !run_ticks)
		return NAN;
	return fmin(((double)(i->ticks + pause_ticks(i)) + pauses * first) / (double)run_ticks, 1);
}
