// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Huge pages of the system's pool; its reservation tells before the first access whether there are
 * enough. */
#include <errno.h>
#include <numaif.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/text.h"
#include "base/units.h"
#include "host/pin.h"
#include "host/sysfs.h"
#include "memory/memory.h"
#include "memory/pages.h"

#define POOLS "kernel/mm/hugepages"

/*
 * Write the free pages of each pool of huge pages to BUF: "512 of 2 MiB, 0 of 1 GiB". Returns BUF.
 */
static const char *list_huge_pools(char *buf, size_t size)
{
	char name[SYSFS_NAME];
	unsigned long long kib;
	int64_t free_pages;

	buf[0] = '\0';
	for (unsigned n = 0; !sysfs_name(name, n, POOLS); n++)
		if (sscanf(name, "hugepages-%llukB", &kib) == 1 &&
		    !sysfs_read_int(&free_pages, POOLS "/%s/free_hugepages", name))
			text_add(buf, size, "%s%lld of %s", buf[0] ? ", " : "",
				 (long long)free_pages, units_size(kib * 1024).text);
	if (!buf[0])
		text_add(buf, size, "none");
	return buf;
}

/* Raise the fault that BYTES in huge pages of size PAGE (0: the kernel has none) cannot be mapped.
 * Returns -1. */
static int raise_no_huge_pages(size_t bytes, size_t page, int errnum, struct fault *f)
{
	unsigned long long want = page ? (bytes + page - 1) / page : 0;
	char have[160];

	fault_raise(f, FAULT_LOCAL, errnum, "mmap(%s, MAP_HUGETLB)", units_size(bytes).text);
	fault_cause(f, "Free huge pages: %s; the buffer needs %llu of %s",
		    list_huge_pools(have, sizeof(have)), want,
		    page ? units_size(page).text : "unknown size");
	if (!page)
		return fault_fix(f, "omit --use_hugepages: this kernel has no huge pages");
	return fault_fix(f,
			 "sysctl vm.nr_hugepages=%llu or more (each end and thread needs this "
			 "many), or omit --use_hugepages",
			 want);
}

/* Map huge pages of the default size, preferably on the pinned thread's node. */
static int alloc_huge(struct memory *m, const struct memory_attr *attr, struct fault *f)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB;
	int node = attr->pin ? attr->pin->node : -1;
	/* The default size of mmap(); 0: the kernel has no huge pages. */
	size_t page = sysfs_proc_bytes("/proc/meminfo", "Hugepagesize");
	size_t len = page ? (attr->bytes + page - 1) / page * page : attr->bytes;
	void *addr = mmap(NULL, len, PROT_READ | PROT_WRITE, flags, -1, 0);

	if (addr == MAP_FAILED)
		return raise_no_huge_pages(attr->bytes, page, errno, f);
	/* Preferred, not bound: if the node had too few, touching one would raise SIGBUS. */
	if (node >= 0)
		pin_bind(addr, len, node, MPOL_PREFERRED);
	pages_make(addr, len, page ? page : (size_t)sysconf(_SC_PAGESIZE), node >= 0);
	m->host = addr;
	m->mapped_bytes = len;
	snprintf(m->what, sizeof(m->what), "huge pages of %s", units_size(page).text);
	return 0;
}

const struct memory_ops *memory_huge(void)
{
	static const struct memory_ops ops = {.name = "huge pages", .alloc = alloc_huge};

	return &ops;
}
