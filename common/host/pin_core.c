// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* pin_core(): binds a thread to one CPU. */

#include "base/text.h"
#include "host/pin.h"
#include "host/sysfs.h"

/* True if CPU is the lowest of its core's hardware threads, or if the siblings are unknown. */
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

/* Find the CPU with number *LEFT among those of CPUS that are (FIRST) or are not the first of their
 * core. *LEFT counts down. Returns -1 if there are too few. */
static int find_nth_cpu(const struct sysfs_set *cpus, bool first, unsigned *left)
{
	for (int cpu = 0; cpu < (int)SYSFS_SET_MAX; cpu++)
		if (sysfs_set_has(cpus, cpu) && is_first_of_core(cpu) == first && (*left)-- == 0)
			return cpu;
	return -1;
}

void pin_core(struct pin *p, unsigned nth, bool from_end)
{
	struct sysfs_set cpus = {0}, one = {0};
	unsigned left;
	int cpu, count;

	if (sched_getaffinity(0, sizeof(cpus), cpus.mask))
		return;
	count = sysfs_set_count(&cpus);
	left = count ? nth % (unsigned)count : 0;
	if (from_end && count)
		left = (unsigned)count - 1 - left;
	cpu = find_nth_cpu(&cpus, true, &left);
	if (cpu < 0)
		cpu = find_nth_cpu(&cpus, false, &left);
	if (cpu < 0)
		return;
	CPU_SET_S((size_t)cpu, sizeof(one), one.mask);
	if (sched_setaffinity(0, sizeof(one), one.mask))
		return;
	if (!sysfs_set_count(&p->before))
		p->before = cpus;
	text_add(p->reason, sizeof(p->reason), "; one CPU for each thread%s",
		 (unsigned)count <= nth ? ", but there are too few" : "");
}
