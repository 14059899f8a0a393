// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "host/pin.h"

#include <errno.h>
#include <numaif.h>
#include <sched.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/units.h"
#include "host/pages.h"
#include "host/sysfs.h"

#define MAX_NODES   1024 /* the most that Linux can have */
#define LONG_BITS   (8 * sizeof(unsigned long))
#define HUGE_PAGE   ((size_t)2 << 20)
#define CHECK_PAGES 4096
#define CHECK_BATCH 256

/* The kernel takes "maxnode" as one more than the number of bits. */
struct node_mask {
	unsigned long word[MAX_NODES / LONG_BITS];
};

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static void set_reason(struct pin *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void set_reason(struct pin *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(p->reason, sizeof(p->reason), fmt, ap);
	va_end(ap);
}

/*
 * The calling thread's affinity mask. Its bytes are those of a sysfs_set: both are arrays of
 * native words, lowest CPU first; on big-endian 32-bit machines they would not be.
 */
static int get_cpus(struct sysfs_set *cpus)
{
	_Static_assert(sizeof(unsigned long) == sizeof(cpus->word[0]) ||
			       __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
		       "an affinity mask can be read as 64-bit words");
	memset(cpus, 0, sizeof(*cpus));
	return sched_getaffinity(0, sizeof(*cpus), (cpu_set_t *)cpus) ? -errno : 0;
}

static void show_cpus(struct pin *p, const struct sysfs_set *cpus)
{
	sysfs_set_format(cpus, p->cpus, sizeof(p->cpus));
	p->cpu_count = sysfs_set_count(cpus);
}

/* CPUs of NODE; a kernel without NUMA has node 0, with all. Returns 0 or -errno. */
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

/* May this process have memory of NODE (cpusets)? If the kernel will not tell: perhaps. */
static bool memory_allowed(int node)
{
	struct node_mask allowed = {{0}};

	if (node >= MAX_NODES)
		return false;
	if (get_mempolicy(NULL, allowed.word, MAX_NODES + 1, NULL, MPOL_F_MEMS_ALLOWED))
		return true;
	return allowed.word[(size_t)node / LONG_BITS] >> ((size_t)node % LONG_BITS) & 1;
}

/* Returns 0 or a positive errno. */
static int bind_memory(void *addr, size_t bytes, int node)
{
	struct node_mask mask = {{0}};

	mask.word[(size_t)node / LONG_BITS] |= 1ul << ((size_t)node % LONG_BITS);
	return mbind(addr, bytes, MPOL_BIND, mask.word, MAX_NODES + 1, MPOL_MF_MOVE) ? errno : 0;
}

static bool is_forbidden(int errnum)
{
	return errnum == EPERM || errnum == ENOSYS;
}

/* BYTES of new memory, NULL and errno if there is none. */
static void *map(size_t bytes)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
	void *addr = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);

	return addr == MAP_FAILED ? NULL : addr;
}

/* Would the kernel bind memory? Returns 0 or a positive errno. */
static int try_binding(int node)
{
	void *page = map(page_size());
	int rc;

	if (!page)
		return 0; /* pin_alloc() will say it better */
	rc = bind_memory(page, page_size(), node);
	munmap(page, page_size());
	return rc;
}

/* Why a node cannot be had, in order of looking. */
enum obstacle {
	HAVE_IT,
	NO_SUCH_NODE,
	NO_CPUS,   /* memory only */
	NO_MEMORY, /* a cpuset denies its memory */
	MASKED,    /* the affinity mask has none of its CPUs */
	REFUSED    /* by the kernel: errno says why */
};

/*
 * Bind the thread to those of CPUS that belong to NODE; CPUS is then that set. *ERRNUM is the
 * kernel's with REFUSED.
 */
static enum obstacle bind_thread(int node, struct sysfs_set *cpus, int *errnum)
{
	struct sysfs_set wanted;
	int count = 0;

	if (node >= MAX_NODES || read_node_cpus(node, &wanted))
		return NO_SUCH_NODE;
	if (!sysfs_set_count(&wanted))
		return NO_CPUS;
	if (!memory_allowed(node))
		return NO_MEMORY;
	for (size_t i = 0; i < sizeof(wanted.word) / sizeof(wanted.word[0]); i++)
		wanted.word[i] &= cpus->word[i];
	count = sysfs_set_count(&wanted);
	if (!count)
		return MASKED;
	if (count < sysfs_set_count(cpus) &&
	    sched_setaffinity(0, sizeof(wanted), (cpu_set_t *)&wanted)) {
		*errnum = errno;
		return REFUSED;
	}
	*cpus = wanted;
	return HAVE_IT;
}

/* The user named NODE and cannot have it. */
static int refuse(const struct pin *p, int node, enum obstacle why, int errnum, struct fault *f)
{
	char have[128];
	struct sysfs_set set;

	switch (why) {
	case NO_SUCH_NODE:
		if (sysfs_read_set(&set, "devices/system/node/online"))
			strcpy(have, "0");
		else
			sysfs_set_format(&set, have, sizeof(have));
		fault_raise(f, FAULT_USAGE, ENODEV, "--numa %d", node);
		fault_cause(f, "There is no NUMA node %d; this machine has %s", node, have);
		break;
	case NO_CPUS:
		fault_raise(f, FAULT_USAGE, EINVAL, "--numa %d", node);
		fault_cause(f, "NUMA node %d has memory, but no CPU to run on", node);
		break;
	case NO_MEMORY:
		fault_raise(f, FAULT_USAGE, EPERM, "--numa %d", node);
		fault_cause(f,
			    "This process may not use memory of NUMA node %d "
			    "(Mems_allowed_list in /proc/self/status): cpuset, container or job",
			    node);
		return fault_fix(f, "widen the cpuset (cpuset.mems), or use --numa auto");
	case MASKED:
		read_node_cpus(node, &set);
		sysfs_set_format(&set, have, sizeof(have));
		fault_raise(f, FAULT_USAGE, EPERM, "--numa %d", node);
		fault_cause(f, "NUMA node %d has CPUs %s; this process was started on %s", node,
			    have, p->cpus);
		return fault_fix(f, "start it on the node's CPUs (taskset, numactl, job options), "
				    "or use --numa auto");
	default:
		fault_raise(f, FAULT_LOCAL, errnum, "sched_setaffinity(node %d)", node);
		fault_cause(f, "The kernel or a container's seccomp filter refuses it");
		return fault_fix(f,
				 "use --numa none, and place the program with taskset or numactl");
	}
	return fault_fix(f, "use --numa auto, or a node that --list shows");
}

/* The NIC's node cannot be had: that is no fault, but the reader of the result must know. */
static void excuse(struct pin *p, int node, enum obstacle why, int errnum)
{
	switch (why) {
	case NO_SUCH_NODE:
		set_reason(p, "not pinned: the NIC's node %d does not exist here", node);
		break;
	case NO_CPUS:
		set_reason(p, "not pinned: the NIC's node %d has no CPU", node);
		break;
	case NO_MEMORY:
		set_reason(p, "not pinned: memory of the NIC's node %d is not allowed here", node);
		break;
	case MASKED:
		set_reason(p, "not pinned: the affinity mask has no CPU of the NIC's node %d",
			   node);
		break;
	default:
		set_reason(p, "not pinned: sched_setaffinity: %s", strerror(errnum));
	}
}

int pin_thread(struct pin *p, int wish, int nic_node, struct fault *f)
{
	int node = wish == PIN_AUTO ? nic_node : wish;
	struct sysfs_set cpus, before;
	enum obstacle why;
	int errnum;

	memset(p, 0, sizeof(*p));
	p->node = -1;
	errnum = -get_cpus(&cpus);
	before = cpus;
	show_cpus(p, &cpus);
	if (wish == PIN_NONE || (wish == PIN_AUTO && node < 0)) {
		set_reason(p, "not pinned: %s", wish == PIN_NONE ? "--numa none" : "node unknown");
		return 0;
	}
	why = errnum ? REFUSED : bind_thread(node, &cpus, &errnum);
	if (why != HAVE_IT && wish != PIN_AUTO)
		return refuse(p, node, why, errnum, f);
	if (why != HAVE_IT) {
		excuse(p, node, why, errnum);
		return 0;
	}
	p->node = node;
	p->before = before;
	show_cpus(p, &cpus);
	if (wish == PIN_AUTO)
		set_reason(p, "the NIC's node");
	else
		set_reason(p, "--numa %d", node);
	errnum = try_binding(node);
	if (errnum)
		snprintf(p->reason + strlen(p->reason), sizeof(p->reason) - strlen(p->reason),
			 "; its memory is not bound: mbind: %s", strerror(errnum));
	return 0;
}

void pin_undo(struct pin *p)
{
	if (sysfs_set_count(&p->before))
		sched_setaffinity(0, sizeof(p->before), (cpu_set_t *)&p->before);
	memset(p, 0, sizeof(*p));
	p->node = -1;
}

/* What BYTES take up, 0 if that cannot be. */
static size_t mapped_size(size_t bytes)
{
	size_t unit = bytes >= HUGE_PAGE ? HUGE_PAGE : page_size();

	if (bytes > SIZE_MAX / 2)
		return 0;
	return bytes ? (bytes + unit - 1) / unit * unit : unit;
}

static void *raise_no_memory(size_t bytes, int errnum, struct fault *f)
{
	char text[32], limit[32];
	struct rlimit as;

	fault_raise(f, FAULT_LOCAL, errnum, "mmap(%s)",
		    units_format_size(bytes, text, sizeof(text)));
	if (!getrlimit(RLIMIT_AS, &as) && as.rlim_cur != RLIM_INFINITY) {
		fault_cause(f, "RLIMIT_AS is %s",
			    units_format_size(as.rlim_cur, limit, sizeof(limit)));
		fault_fix(f, "ulimit -v unlimited, or smaller messages (-s) or depths (-t, -r)");
	} else {
		size_t ram = (size_t)sysconf(_SC_AVPHYS_PAGES) * page_size();

		fault_cause(f, "The machine has %s of free memory",
			    units_format_size(ram, limit, sizeof(limit)));
		fault_fix(f,
			  "use smaller messages (-s), smaller depths (-t, -r) or fewer QPs (-q)");
	}
	return NULL;
}

/* LEN bytes whose address is a multiple of ALIGN (both of the page size); NULL and errno. */
static void *map_aligned(size_t len, size_t align)
{
	size_t extra = align - page_size(), head;
	char *addr = map(len + extra);

	if (!addr)
		return NULL;
	head = -(uintptr_t)addr & (align - 1);
	if (head)
		munmap(addr, head);
	if (extra - head)
		munmap(addr + head + len, extra - head);
	return addr + head;
}

void *pin_alloc(const struct pin *p, size_t bytes, struct fault *f)
{
	size_t len = mapped_size(bytes);
	void *addr;
	int rc;

	if (!len)
		return raise_no_memory(bytes, ENOMEM, f);
	addr = map_aligned(len, len >= HUGE_PAGE ? HUGE_PAGE : page_size());
	if (!addr)
		return raise_no_memory(bytes, errno, f);
	rc = p && p->node >= 0 ? bind_memory(addr, len, p->node) : 0;
	if (rc && !is_forbidden(rc)) {
		fault_raise(f, FAULT_LOCAL, rc, "mbind(node %d)", p->node);
		fault_cause(f, "The kernel refuses memory of this node: the cpuset has changed or "
			       "the node is offline");
		fault_fix(f, "use --numa none, or widen the cpuset (cpuset.mems)");
		munmap(addr, len);
		return NULL;
	}
	pages_make(addr, len, page_size(), p && p->node >= 0);
	return addr;
}

void pin_free(void *addr, size_t bytes)
{
	if (addr)
		munmap(addr, mapped_size(bytes));
}

/* Ask for COUNT pages and add those on NODE to *ON_NODE. Returns 0 or -errno. */
static int check_batch(void **page, size_t count, int node, size_t *on_node)
{
	int where[CHECK_BATCH];

	memset(where, 0xff, sizeof(where));
	if (move_pages(0, count, page, NULL, where, 0) < 0)
		return -errno;
	for (size_t i = 0; i < count; i++)
		*on_node += where[i] == node;
	return 0;
}

int pin_check(const void *addr, size_t bytes, int node, size_t *on_node, size_t *pages)
{
	size_t page = page_size(), total, looked, done = 0, batch;
	uintptr_t first = (uintptr_t)addr / page * page;
	void *at[CHECK_BATCH];
	int rc;

	*on_node = 0;
	*pages = 0;
	if (!bytes)
		return 0;
	total = ((uintptr_t)addr + bytes - 1) / page - first / page + 1;
	looked = total < CHECK_PAGES ? total : CHECK_PAGES;
	while (done < looked) {
		for (batch = 0; batch < CHECK_BATCH && done < looked; batch++, done++)
			at[batch] = (void *)(first + page * (done * total / looked));
		rc = check_batch(at, batch, node, on_node);
		if (rc) {
			*on_node = 0;
			return rc;
		}
	}
	*pages = looked;
	return 0;
}
