// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "host/backing.h"

#include <dirent.h>
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

#define POOLS     "kernel/mm/hugepages"
#define LONG_BITS (8 * sizeof(unsigned long))
#define NODES_MAX 1024

/* The size of huge page that mmap() takes if none is named; 0: the kernel has none. */
static size_t huge_bytes(void)
{
	unsigned long long kib = 0;
	char line[128];
	FILE *in = fopen("/proc/meminfo", "re");

	while (in && fgets(line, sizeof(line), in))
		if (sscanf(line, "Hugepagesize: %llu kB", &kib) == 1)
			break;
	if (in)
		fclose(in);
	return (size_t)kib * 1024;
}

/* "512 of 2 MiB free, 0 of 1 GiB": what the pools of each size have. Returns BUF. */
static const char *pools(char *buf, size_t size)
{
	char path[512];
	struct dirent *e;
	DIR *dir;

	buf[0] = '\0';
	snprintf(path, sizeof(path), "%s/" POOLS, sysfs_root());
	dir = opendir(path);
	while (dir && (e = readdir(dir))) {
		unsigned long long kib;
		int64_t free_pages;
		char page[32];

		if (sscanf(e->d_name, "hugepages-%llukB", &kib) != 1 ||
		    sysfs_read_int(&free_pages, POOLS "/%s/free_hugepages", e->d_name))
			continue;
		text_add(buf, size, "%s%lld of %s", buf[0] ? ", " : "", (long long)free_pages,
			 units_format_size(kib * 1024, page, sizeof(page)));
	}
	if (dir)
		closedir(dir);
	if (!buf[0])
		text_add(buf, size, "no pool of any size");
	return buf;
}

static int no_huge_pages(size_t bytes, size_t page, int errnum, struct fault *f)
{
	unsigned long long want = page ? (bytes + page - 1) / page : 0;
	char size[32], unit[32], have[160];

	units_format_size(bytes, size, sizeof(size));
	fault_raise(f, FAULT_LOCAL, errnum, "mmap(%s, MAP_HUGETLB)", size);
	fault_cause(f, "Free huge pages: %s; it takes %llu of %s", pools(have, sizeof(have)), want,
		    page ? units_format_size(page, unit, sizeof(unit)) : "a size that is unknown");
	if (!page)
		return fault_fix(f, "leave --use_hugepages out: this kernel has none");
	return fault_fix(f,
			 "sysctl vm.nr_hugepages=%llu or more (each end and thread takes as many), "
			 "or leave --use_hugepages out",
			 want);
}

/* Wished for, not demanded: of a node that has too few the kernel would kill whoever touches. */
static void prefer_node(void *addr, size_t bytes, int node)
{
	unsigned long mask[NODES_MAX / LONG_BITS] = {0};

	if (node < 0 || node >= NODES_MAX)
		return;
	mask[(size_t)node / LONG_BITS] = 1ul << ((size_t)node % LONG_BITS);
	mbind(addr, bytes, MPOL_PREFERRED, mask, NODES_MAX + 1, 0);
}

static int map_huge(struct backing_map *m, const struct pin *p, size_t bytes, struct fault *f)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB;
	size_t page = huge_bytes(), len = page ? (bytes + page - 1) / page * page : bytes;
	void *addr = mmap(NULL, len, PROT_READ | PROT_WRITE, flags, -1, 0);
	char unit[32];

	if (addr == MAP_FAILED)
		return no_huge_pages(bytes, page, errno, f);
	if (p)
		prefer_node(addr, len, p->node);
	pages_make(addr, len, page ? page : (size_t)sysconf(_SC_PAGESIZE), p && p->node >= 0);
	m->addr = addr;
	m->bytes = len;
	text_copy(m->what, sizeof(m->what), "huge pages of ");
	text_add(m->what, sizeof(m->what), "%s", units_format_size(page, unit, sizeof(unit)));
	return 0;
}

/* A regular file that ends before the buffer does would kill whoever touches what is behind. */
static int check_file(const struct backing *b, int fd, size_t bytes, struct fault *f)
{
	uint64_t end = b->offset_bytes + bytes;
	char want[32], have[32];
	struct stat st;

	if (fstat(fd, &st))
		return fault_raise(f, FAULT_LOCAL, errno, "fstat(%s)", b->file);
	if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size >= end)
		return 0;
	fault_raise(f, FAULT_USAGE, 0, "--mmap %s: it has %s, and %s are needed from its start",
		    b->file, units_format_size((uint64_t)st.st_size, have, sizeof(have)),
		    units_format_size(end, want, sizeof(want)));
	return fault_fix(f, "truncate -s %llu %s", (unsigned long long)end, b->file);
}

static int map_open_file(struct backing_map *m, const struct backing *b, int fd, size_t bytes,
			 struct fault *f)
{
	void *addr;

	if (check_file(b, fd, bytes, f))
		return -1;
	addr = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)b->offset_bytes);
	if (addr == MAP_FAILED) {
		fault_raise(f, FAULT_LOCAL, errno, "mmap(%s, offset %llu)", b->file,
			    (unsigned long long)b->offset_bytes);
		return fault_fix(f, "--mmap wants a file that can be mapped shared and written to, "
				    "--mmap-offset a multiple of its page size");
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
		return fault_fix(f, "--mmap wants a file that this user may read and write");
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
