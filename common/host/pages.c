// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "host/pages.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "host/sysfs.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define THREADS_MAX 8 /* a node's memory is not made faster by more */

/* Small, so that where address space is short nothing else lacks it; they hold nothing. */
#define STACK_BYTES ((size_t)256 << 10)

/* What a thread takes at a time: some milliseconds of work, against microseconds for a thread. */
#define SLICE_BYTES ((size_t)16 << 20)

/* What there is to do; everybody takes the next slice until there is none. */
struct heap {
	char *addr;
	size_t bytes, page, slice;
	atomic_size_t taken; /* bytes from the start */
};

/* All in one call, which is much quicker; those that it did not make are made as they are written.
 */
static void make_slice(char *addr, size_t bytes, size_t page)
{
	madvise(addr, bytes, MADV_POPULATE_WRITE);
	for (size_t i = 0; i < bytes; i += page) {
		volatile char *first = addr + i;

		*first = *first;
	}
}

static void *make_slices(void *arg)
{
	struct heap *h = arg;
	size_t at;

	while ((at = atomic_fetch_add(&h->taken, h->slice)) < h->bytes)
		make_slice(h->addr + at, h->bytes - at < h->slice ? h->bytes - at : h->slice,
			   h->page);
	return NULL;
}

static bool has_one_node(void)
{
	struct sysfs_set nodes;

	return sysfs_read_set(&nodes, "devices/system/node/online") || sysfs_set_count(&nodes) == 1;
}

/* How many threads are worth it, the caller among them. */
static unsigned threads_for(const struct heap *h, bool bound)
{
	size_t slices = (h->bytes + h->slice - 1) / h->slice;
	struct sysfs_set cpus = {{0}};
	unsigned most = THREADS_MAX;

	if (slices < most)
		most = (unsigned)slices;
	if (most < 2 || (!bound && !has_one_node()))
		return 1;
	if (sched_getaffinity(0, sizeof(cpus), (cpu_set_t *)&cpus))
		return 1;
	return (unsigned)sysfs_set_count(&cpus) < most ? (unsigned)sysfs_set_count(&cpus) : most;
}

void pages_make(void *addr, size_t bytes, size_t page_bytes, bool bound)
{
	struct heap h = {
		.addr = addr,
		.bytes = bytes,
		.page = page_bytes,
		.slice = page_bytes > SLICE_BYTES ? page_bytes : SLICE_BYTES,
	};
	unsigned threads = threads_for(&h, bound), helpers = 0;
	pthread_t helper[THREADS_MAX];
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	while (helpers + 1 < threads && !pthread_create(&helper[helpers], &attr, make_slices, &h))
		helpers++;
	pthread_attr_destroy(&attr);
	make_slices(&h);
	while (helpers)
		pthread_join(helper[--helpers], NULL);
}
