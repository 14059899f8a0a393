// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* How long copies take, by the speed of their way and what is before them; and their data. */
#include "simcuda.h"

#include <string.h>
#include <time.h>

static uint64_t free_ns[SIM_WAYS]; /* when the engine of each way has nothing more to do */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

uint64_t sim_due(enum sim_way way, size_t bytes, bool first)
{
	const struct sim_conf *c = sim_conf();
	uint64_t start = now_ns();

	if (c->gbps[way] > 0 && free_ns[way] > start)
		start = free_ns[way];
	if (first)
		start += c->latency_ns;
	if (!(c->gbps[way] > 0))
		return start;
	free_ns[way] = start + (uint64_t)((double)bytes * 8 / c->gbps[way] + 0.5);
	return free_ns[way];
}

void sim_wait(uint64_t due_ns)
{
	struct timespec t = {(time_t)(due_ns / 1000000000), (long)(due_ns % 1000000000)};

	while (now_ns() < due_ns)
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

void sim_move(enum sim_way way, void *to, const void *from, size_t bytes, bool last)
{
	struct sim_conf *c = sim_conf();

	memcpy(to, from, bytes);
	if (last && ++c->count.copies[way] == c->flip[way] && bytes)
		((char *)to)[bytes / 2] ^= 0x10;
}
