// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Ordinary pages, bound to the node of a pinned thread. */
#include <errno.h>
#include <numaif.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/units.h"
#include "host/pin.h"
#include "memory/memory.h"
#include "memory/pages.h"

#define HUGE_PAGE ((size_t)2 << 20)

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* BYTES rounded up to pages, or to 2 MiB from that size on; 0 if BYTES is too large. */
static size_t mapped_size(size_t bytes)
{
	size_t unit = bytes >= HUGE_PAGE ? HUGE_PAGE : page_bytes();

	if (bytes > SIZE_MAX / 2)
		return 0;
	return bytes ? (bytes + unit - 1) / unit * unit : unit;
}

static int raise_no_memory(size_t bytes, int errnum, struct fault *f)
{
	struct rlimit as;

	fault_raise(f, FAULT_LOCAL, errnum, "mmap(%s)", units_size(bytes).text);
	if (!getrlimit(RLIMIT_AS, &as) && as.rlim_cur != RLIM_INFINITY) {
		fault_cause(f, "The limit on address space (RLIMIT_AS) is %s",
			    units_size(as.rlim_cur).text);
		return fault_fix(f, "ulimit -v unlimited, or use smaller sizes (-s) or, where the "
				    "test has them, smaller depths (-t, -r)");
	}
	fault_cause(f, "The machine has %s of free memory",
		    units_size((size_t)sysconf(_SC_AVPHYS_PAGES) * page_bytes()).text);
	return fault_fix(f, "use smaller sizes (-s), or, where the test has them, smaller depths "
			    "(-t, -r) or fewer QPs (-q)");
}

/* Map LEN bytes at a multiple of ALIGN; both are multiples of the page size. Returns NULL with
 * errno on failure. */
static void *map_aligned(size_t len, size_t align)
{
	size_t extra = align - page_bytes(), head;
	char *addr =
		mmap(NULL, len + extra, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (addr == MAP_FAILED)
		return NULL;
	head = -(uintptr_t)addr & (align - 1);
	if (head)
		munmap(addr, head);
	if (extra - head)
		munmap(addr + head + len, extra - head);
	return addr + head;
}

/* Aligned to 2 MiB from that size on, so that the kernel may use huge pages. */
static int alloc_pages(struct memory *m, const struct memory_attr *attr, struct fault *f)
{
	size_t len = mapped_size(attr->bytes);
	int node = attr->pin ? attr->pin->node : -1, rc;
	void *addr;

	errno = ENOMEM;
	addr = len ? map_aligned(len, len >= HUGE_PAGE ? HUGE_PAGE : page_bytes()) : NULL;
	if (!addr)
		return raise_no_memory(attr->bytes, errno, f);
	rc = node >= 0 ? pin_bind(addr, len, node, MPOL_BIND) : 0;
	if (rc && rc != EPERM && rc != ENOSYS) {
		munmap(addr, len);
		fault_raise(f, FAULT_LOCAL, rc, "mbind(node %d)", node);
		fault_cause(f, "The kernel refuses memory of this node: the cpuset has changed, or "
			       "the node is offline");
		return fault_fix(f, "use --numa none, or widen the cpuset (cpuset.mems)");
	}
	pages_make(addr, len, page_bytes(), node >= 0);
	m->host = addr;
	m->mapped_bytes = len;
	return 0;
}

const struct memory_ops *memory_pages(void)
{
	static const struct memory_ops ops = {.name = "pages", .alloc = alloc_pages};

	return &ops;
}
