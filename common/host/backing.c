// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "host/backing.h"

#include <errno.h>
#include <fcntl.h>
#include <numaif.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "base/units.h"
#include "host/pages.h"
#include "host/sysfs.h"

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

/* Map BYTES in huge pages of the default size, preferably on the pinned thread's node. */
static int map_huge(struct backing_map *m, const struct pin *p, size_t bytes, struct fault *f)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB;
	/* The default size of mmap(); 0: the kernel has no huge pages. */
	size_t page = sysfs_proc_bytes("/proc/meminfo", "Hugepagesize");
	size_t len = page ? (bytes + page - 1) / page * page : bytes;
	void *addr = mmap(NULL, len, PROT_READ | PROT_WRITE, flags, -1, 0);

	if (addr == MAP_FAILED)
		return raise_no_huge_pages(bytes, page, errno, f);
	/* Preferred, not bound: if the node had too few, touching one would raise SIGBUS. */
	if (p && p->node >= 0)
		pages_bind(addr, len, p->node, MPOL_PREFERRED);
	pages_make(addr, len, page ? page : (size_t)sysconf(_SC_PAGESIZE), p && p->node >= 0);
	m->addr = addr;
	m->bytes = len;
	text_copy(m->what, sizeof(m->what), "huge pages of ");
	text_add(m->what, sizeof(m->what), "%s", units_size(page).text);
	return 0;
}

/* Map BYTES of B's file FD, which has them if it is a regular file: touching the buffer past its
 * end would raise SIGBUS. */
static int map_open_file(struct backing_map *m, const struct backing *b, int fd, size_t bytes,
			 struct fault *f)
{
	uint64_t end = b->offset_bytes + bytes;
	struct stat st;
	void *addr;

	if (fstat(fd, &st))
		return fault_raise(f, FAULT_LOCAL, errno, "fstat(%s)", b->file);
	if (S_ISREG(st.st_mode) && (uint64_t)st.st_size < end) {
		fault_raise(f, FAULT_USAGE, 0,
			    "--mmap %s: the file has %s, but the buffers need %s", b->file,
			    units_size((uint64_t)st.st_size).text, units_size(end).text);
		return fault_fix(f, "truncate -s %llu %s", (unsigned long long)end, b->file);
	}
	addr = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)b->offset_bytes);
	if (addr == MAP_FAILED) {
		fault_raise(f, FAULT_LOCAL, errno, "mmap(%s, offset %llu)", b->file,
			    (unsigned long long)b->offset_bytes);
		return fault_fix(f, "give --mmap a file that can be mapped shared and writable, "
				    "and --mmap-offset a multiple of the page size");
	}
	m->addr = addr;
	m->bytes = bytes;
	text_add(m->what, sizeof(m->what), "file %s", b->file);
	return 0;
}

static int map_file(struct backing_map *m, const struct backing *b, size_t bytes, struct fault *f)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = open(b->file, O_RDWR | O_CLOEXEC), rc;

	if (fd < 0) {
		fault_raise(f, FAULT_LOCAL, errno, "open(%s)", b->file);
		return fault_fix(f, "give --mmap a file that this user may read and write");
	}
	rc = map_open_file(m, b, fd, (bytes + page - 1) / page * page, f);
	close(fd);
	return rc;
}

int backing_map(struct backing_map *m, const struct backing *b, const struct pin *p, size_t bytes,
		struct fault *f)
{
	memset(m, 0, sizeof(*m));
	m->kind = b->kind;
	if (b->kind == BACKING_HUGE)
		return map_huge(m, p, bytes, f);
	if (b->kind == BACKING_FILE)
		return map_file(m, b, bytes, f);
	m->addr = pin_alloc(p, bytes, f);
	m->bytes = bytes;
	return m->addr ? 0 : -1;
}

void backing_unmap(struct backing_map *m)
{
	if (m->addr && m->kind == BACKING_PAGES)
		pin_free(m->addr, m->bytes);
	else if (m->addr)
		munmap(m->addr, m->bytes);
	memset(m, 0, sizeof(*m));
}
