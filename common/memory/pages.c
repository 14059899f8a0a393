// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "memory/pages.h"

#include <errno.h>
#include <numaif.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/sysfs.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define CHECK_PAGES 4096
#define THREADS_MAX 8 /* more do not populate a node's memory faster */

/* The threads keep nothing on their stacks; small ones save address space where it is limited. */
#define STACK_BYTES ((size_t)256 << 10)

/*
 * The size that a thread populates at a time: milliseconds of work, while creating a thread takes
 * microseconds.
 */
#define SLICE_BYTES ((size_t)16 << 20)

/* The memory to populate. Each thread fetches the next slice until there is none. */
struct page_job {
	char *addr;
	size_t bytes, page, slice;
	atomic_size_t next; /* offset of the next slice */
};

/* Populate the pages of a slice in one call, which is much faster than touching each. Then write to
 * each page, for kernels without MADV_POPULATE_WRITE. */
static void populate_slice(char *addr, size_t bytes, size_t page)
{
	madvise(addr, bytes, MADV_POPULATE_WRITE);
	for (size_t i = 0; i < bytes; i += page) {
		volatile char *first = addr + i;

		*first = *first;
	}
}

/* A thread's work: populate slices until none is left. */
static void *populate_slices(void *arg)
{
	struct page_job *h = arg;
	size_t at;

	while ((at = atomic_fetch_add(&h->next, h->slice)) < h->bytes)
		populate_slice(h->addr + at, h->bytes - at < h->slice ? h->bytes - at : h->slice,
			       h->page);
	return NULL;
}

/* The number of threads, the caller included. If the memory is not BOUND and there are several
 * nodes, only the caller touches it, so that it comes from the caller's node. */
static unsigned choose_threads(const struct page_job *h, bool bound)
{
	size_t slices = (h->bytes + h->slice - 1) / h->slice;
	struct sysfs_set cpus = {0};
	unsigned most = THREADS_MAX;

	if (slices < most)
		most = (unsigned)slices;
	if (most < 2 || (!bound && sysfs_node_count() > 1))
		return 1;
	if (sched_getaffinity(0, sizeof(cpus), cpus.mask))
		return 1;
	return (unsigned)sysfs_set_count(&cpus) < most ? (unsigned)sysfs_set_count(&cpus) : most;
}

void pages_make(void *addr, size_t bytes, size_t page_bytes, bool bound)
{
	struct page_job h = {
		.addr = addr,
		.bytes = bytes,
		.page = page_bytes,
		.slice = page_bytes > SLICE_BYTES ? page_bytes : SLICE_BYTES,
	};
	unsigned threads = choose_threads(&h, bound), helpers = 0;
	pthread_t helper[THREADS_MAX];
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	while (helpers + 1 < threads &&
	       !pthread_create(&helper[helpers], &attr, populate_slices, &h))
		helpers++;
	pthread_attr_destroy(&attr);
	populate_slices(&h);
	while (helpers)
		pthread_join(helper[--helpers], NULL);
}

int pages_check(const void *addr, size_t bytes, int node, size_t *on_node, size_t *pages)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), total, looked;
	uintptr_t first = (uintptr_t)addr / page * page;
	void *at[CHECK_PAGES];
	int where[CHECK_PAGES];

	*on_node = 0;
	*pages = 0;
	if (!bytes)
		return 0;
	total = ((uintptr_t)addr + bytes - 1) / page - first / page + 1;
	looked = total < CHECK_PAGES ? total : CHECK_PAGES;
	for (size_t i = 0; i < looked; i++)
		at[i] = (void *)(first + page * (i * total / looked));
	memset(where, 0xff, sizeof(where));
	if (move_pages(0, looked, at, NULL, where, 0) < 0)
		return -errno;
	for (size_t i = 0; i < looked; i++)
		*on_node += where[i] == node;
	*pages = looked;
	return 0;
}
