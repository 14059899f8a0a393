/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * backing: the memory of a host buffer: ordinary pages (pin.h), huge pages of the system's pool, or
 * a mapped file, which may be a hugetlbfs, DAX or device file.
 *
 * Huge pages come from the pinned node as far as it has some. The pool's reservation tells before
 * the first access whether there are enough. The content of a file stays as it is until messages
 * arrive.
 */
#pragma once

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
	const char *file;      /* of BACKING_FILE; lent */
	uint64_t offset_bytes; /* offset in the file, a multiple of the page size */
};

/* A mapped buffer. A zeroed one is empty. */
struct backing_map {
	void *addr;
	size_t bytes; /* as mapped */
	enum backing_kind kind;
	char what[128]; /* "huge pages of 2 MiB"; "" for ordinary pages */
};

/*
 * Map at least BYTES on the node of P (NULL: any), page aligned. The content is zero, except for a
 * file. Returns 0, or -1 with the fault raised.
 */
int backing_map(struct backing_map *m, const struct backing *b, const struct pin *p, size_t bytes,
		struct fault *f);

/* Unmap; safe on a zeroed object. */
void backing_unmap(struct backing_map *m);
