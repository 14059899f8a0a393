// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "host/pin.h"

#include <errno.h>
#include <numaif.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/text.h"

/*
 * Read the CPUs of NODE. A kernel without NUMA has only node 0, with all CPUs. Returns 0 or -errno.
 */
static int read_node_cpus(int node, struct sysfs_set *cpus)
{
	struct sysfs_set online;

	if (sysfs_read_set(&online, "devices/system/node/online")) {
		memset(cpus, node ? 0 : 0xff, sizeof(*cpus));
		return node ? -ENODEV : 0;
	}
	if (!sysfs_set_has(&online, node))
		return -ENODEV;
	return sysfs_read_set(cpus, "devices/system/node/node%d/cpulist", node);
}

/* True if this process may use memory of NODE (cpusets), or if the kernel does not tell. */
static bool memory_allowed(int node)
{
	struct sysfs_set allowed = {0};

	return get_mempolicy(NULL, (unsigned long *)allowed.mask, SYSFS_SET_MAX + 1, NULL,
			     MPOL_F_MEMS_ALLOWED) ||
	       sysfs_set_has(&allowed, node);
}

int pin_bind(void *addr, size_t bytes, int node, int policy)
{
	struct sysfs_set nodes = {0};

	CPU_SET_S((size_t)node, sizeof(nodes), nodes.mask);
	/* mbind() takes the number of bits plus one. */
	return mbind(addr, bytes, policy, (unsigned long *)nodes.mask, SYSFS_SET_MAX + 1,
		     policy == MPOL_BIND ? MPOL_MF_MOVE : 0)
		       ? errno
		       : 0;
}

/* Bind a page to NODE to see whether the kernel permits it. Returns 0 or a positive errno. */
static int probe_binding(int node)
{
	size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
	void *page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int rc;

	if (page == MAP_FAILED)
		return 0; /* memory_alloc() reports that */
	rc = pin_bind(page, bytes, node, MPOL_BIND);
	munmap(page, bytes);
	return rc;
}

#define FAST_SHARE 0.8 /* of the fastest CPU's capacity; favoured cores differ by less */

/*
 * Where the kernel knows fast and slow CPUs, take the slow ones out of CPUS. Returns whether there
 * are any.
 */
static bool keep_fast(struct sysfs_set *cpus)
{
	struct sysfs_set fast = {0};
	int64_t capacity, most = 0;

	for (int pass = 0; pass < 2; pass++)
		for (int cpu = 0; cpu < (int)SYSFS_SET_MAX; cpu++) {
			if (!sysfs_set_has(cpus, cpu))
				continue;
			if (sysfs_read_int(&capacity, "devices/system/cpu/cpu%d/cpu_capacity", cpu))
				return false;
			most = capacity > most ? capacity : most;
			if (pass && (double)capacity >= FAST_SHARE * (double)most)
				CPU_SET_S((size_t)cpu, sizeof(fast), fast.mask);
		}
	if (sysfs_set_count(&fast) == sysfs_set_count(cpus))
		return false;
	*cpus = fast;
	return true;
}

/* Why a thread cannot be pinned to a node, in the order of the checks. */
enum pin_obstacle {
	PIN_OK,
	PIN_NO_SUCH_NODE,
	PIN_NO_CPUS,   /* the node has only memory */
	PIN_NO_MEMORY, /* a cpuset denies its memory */
	PIN_MASKED,    /* the affinity mask has none of its CPUs */
	PIN_REFUSED    /* sched_setaffinity() failed */
};

/* What is said before and after the node, and how --numa helps itself. */
static const struct {
	int errnum;
	const char *before, *after, *fix;
} obstacles[] = {
	[PIN_NO_SUCH_NODE] = {ENODEV, "", " does not exist here",
			      "use --numa auto, or a node that `rdmark list` shows"},
	[PIN_NO_CPUS] = {EINVAL, "", " has no CPU",
			 "use --numa auto, or a node that `rdmark list` shows"},
	[PIN_NO_MEMORY] =
		{EPERM, "memory of ", " is not allowed here",
		 "widen the cpuset (cpuset.mems) of the container or job, or use --numa auto"},
	[PIN_MASKED] =
		{EPERM, "the affinity mask has no CPU of ", "",
		 "start it on the node's CPUs (with taskset, numactl or job options), or use "
		 "--numa auto"},
};

/*
 * Bind the thread to those of CPUS that belong to NODE and are not slow (*SLOW: some are); CPUS
 * becomes that set. *ERRNUM is set with PIN_REFUSED only.
 */
static enum pin_obstacle bind_thread(int node, struct sysfs_set *cpus, bool *slow, int *errnum)
{
	struct sysfs_set wanted;
	int count = 0;

	if (read_node_cpus(node, &wanted))
		return PIN_NO_SUCH_NODE;
	if (!sysfs_set_count(&wanted))
		return PIN_NO_CPUS;
	if (!memory_allowed(node))
		return PIN_NO_MEMORY;
	CPU_AND_S(sizeof(wanted), wanted.mask, wanted.mask, cpus->mask);
	count = sysfs_set_count(&wanted);
	if (!count)
		return PIN_MASKED;
	*slow = keep_fast(&wanted);
	count = sysfs_set_count(&wanted);
	if (count < sysfs_set_count(cpus) && sched_setaffinity(0, sizeof(wanted), wanted.mask)) {
		*errnum = errno;
		return PIN_REFUSED;
	}
	*cpus = wanted;
	return PIN_OK;
}

/* Raise the fault that the thread cannot be pinned to NODE, which the user named. Returns -1. */
static int raise_not_pinned(const struct pin *p, int node, enum pin_obstacle why, int errnum,
			    struct fault *f)
{
	if (why == PIN_REFUSED) {
		fault_raise(f, FAULT_LOCAL, errnum, "sched_setaffinity(node %d)", node);
		if (errnum == EBUSY) {
			fault_cause(f, "A thread in SCHED_DEADLINE has all CPUs, not a node's");
			return fault_fix(f, "use --numa none, or another class (chrt -f)");
		}
		fault_cause(f, "The kernel or the container's seccomp filter refuses the call");
		return fault_fix(f, "use --numa none, and pin the program with taskset or numactl");
	}
	fault_raise(f, FAULT_USAGE, obstacles[why].errnum, "--numa %d", node);
	fault_cause(f, "This process may use CPUs %s: %sNUMA node %d%s", p->cpus,
		    obstacles[why].before, node, obstacles[why].after);
	return fault_fix(f, "%s", obstacles[why].fix);
}

/*
 * Write to P->reason why the thread is not pinned to the NIC's node. Without --numa that is not a
 * fault.
 */
static void note_not_pinned(struct pin *p, int node, enum pin_obstacle why, int errnum)
{
	if (why == PIN_REFUSED)
		text_add(p->reason, sizeof(p->reason), "not pinned: sched_setaffinity: %s",
			 strerror(errnum));
	else
		text_add(p->reason, sizeof(p->reason), "not pinned: %sthe NIC's node %d%s",
			 obstacles[why].before, node, obstacles[why].after);
}

int pin_thread(struct pin *p, int wanted, int nic_node, struct fault *f)
{
	int node = wanted == PIN_AUTO ? nic_node : wanted;
	struct sysfs_set cpus = {0}, before;
	enum pin_obstacle why;
	bool slow = false;
	int errnum;

	memset(p, 0, sizeof(*p));
	p->node = -1;
	errnum = sched_getaffinity(0, sizeof(cpus), cpus.mask) ? errno : 0;
	before = cpus;
	sysfs_set_format(&cpus, p->cpus, sizeof(p->cpus));
	if (wanted == PIN_NONE || (wanted == PIN_AUTO && node < 0)) {
		text_add(p->reason, sizeof(p->reason), "not pinned: %s",
			 wanted == PIN_NONE ? "--numa none" : "the NIC's NUMA node is unknown");
		return 0;
	}
	why = errnum ? PIN_REFUSED : bind_thread(node, &cpus, &slow, &errnum);
	if (why != PIN_OK && wanted != PIN_AUTO)
		return raise_not_pinned(p, node, why, errnum, f);
	if (why != PIN_OK) {
		note_not_pinned(p, node, why, errnum);
		return 0;
	}
	p->node = node;
	p->before = before;
	sysfs_set_format(&cpus, p->cpus, sizeof(p->cpus));
	if (wanted == PIN_AUTO)
		text_add(p->reason, sizeof(p->reason), "the NIC's node");
	else
		text_add(p->reason, sizeof(p->reason), "--numa %d", node);
	if (slow)
		text_add(p->reason, sizeof(p->reason), ", its fast CPUs");
	errnum = probe_binding(node);
	if (errnum)
		text_add(p->reason, sizeof(p->reason), "; its memory is not bound: mbind: %s",
			 strerror(errnum));
	return 0;
}

void pin_undo(struct pin *p)
{
	if (sysfs_set_count(&p->before))
		sched_setaffinity(0, sizeof(p->before), p->before.mask);
	memset(p, 0, sizeof(*p));
	p->node = -1;
}

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
