// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One CPU for one thread. */
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "host/pin.h"
#include "host/sysfs.h"

/* Is CPU the lowest of its core's hardware threads, or alone as far as is known? */
static bool is_first_of_core(int cpu)
{
	struct sysfs_set siblings;

	if (sysfs_read_set(&siblings, "devices/system/cpu/cpu%d/topology/thread_siblings_list",
			   cpu))
		return true;
	for (int i = 0; i < cpu; i++)
		if (sysfs_set_has(&siblings, i))
			return false;
	return true;
}

/* The NTH of CPUS that is (or is not) the first of its core; *LEFT counts down; -1: no more. */
static int find(const struct sysfs_set *cpus, bool first, unsigned *left)
{
	for (int cpu = 0; cpu < (int)SYSFS_SET_MAX; cpu++)
		if (sysfs_set_has(cpus, cpu) && is_first_of_core(cpu) == first && (*left)-- == 0)
			return cpu;
	return -1;
}

void pin_core(struct pin *p, unsigned nth, bool from_end)
{
	struct sysfs_set cpus = {{0}}, one = {{0}};
	unsigned left;
	int cpu, count;

	if (sched_getaffinity(0, sizeof(cpus), (cpu_set_t *)&cpus))
		return;
	count = sysfs_set_count(&cpus);
	left = count ? nth % (unsigned)count : 0;
	if (from_end && count)
		left = (unsigned)count - 1 - left;
	cpu = find(&cpus, true, &left);
	if (cpu < 0)
		cpu = find(&cpus, false, &left);
	if (cpu < 0)
		return;
	one.word[cpu / 64] = UINT64_C(1) << (cpu % 64);
	if (sched_setaffinity(0, sizeof(one), (cpu_set_t *)&one))
		return;
	if (!sysfs_set_count(&p->before))
		p->before = cpus;
	text_add(p->reason, sizeof(p->reason), "; one CPU for each thread%s",
		 (unsigned)count <= nth ? ", of which there are too few" : "");
}
