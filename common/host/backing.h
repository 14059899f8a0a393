/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * backing: what a host buffer is made of: ordinary pages (pin.h), huge pages of the system's pool,
 * or a file that is mapped: a hugetlbfs, DAX or device file as well as any other.
 *
 * Huge pages come from the pinned node as far as it has any; the pool's reservation says before the
 * first touch whether there are enough. A file's content is left as it is, until messages come.
 */
#ifndef RDMARK_HOST_BACKING_H
#define RDMARK_HOST_BACKING_H

#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "host/pin.h"

struct backing {
	enum backing_kind {
		BACKING_PAGES,
		BACKING_HUGE,
		BACKING_FILE
	} kind;
	const char *file;      /* of BACKING_FILE; borrowed */
	uint64_t offset_bytes; /* in it, a multiple of the page size */
};

/* A buffer made of it. A zeroed one holds nothing. */
struct backing_map {
	void *addr;
	size_t bytes; /* as mapped */
	enum backing_kind kind;
	char what[128]; /* "huge pages of 2 MiB"; "" for ordinary ones */
};

/*
 * Map at least BYTES, near the node of P (NULL: none), page aligned; all but a file's are zero.
 * Returns 0, or -1 with the fault raised.
 */
int backing_map(struct backing_map *m, const struct backing *b, const struct pin *p, size_t bytes,
		struct fault *f);

/* Unmap; safe on a zeroed object. */
void backing_unmap(struct backing_map *m);

#endif
