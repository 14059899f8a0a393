/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pages: makes the kernel allocate the pages of new memory, with several threads for large buffers.
 *
 * The kernel allocates and zeroes a page at its first access. That is most of the cost of
 * allocating and registering a large buffer. Threads that exist only during the call share the
 * work, on the CPUs that the caller may use. A page of memory without a NUMA binding goes to the
 * node of the thread that first accesses it; so then only the caller's thread does it, unless there
 * is one node.
 *
 * Nothing here fails: without threads, or with a kernel before 5.14, it takes longer.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Allocate the pages, of PAGE_BYTES each, of [ADDR, ADDR + BYTES): new anonymous memory that starts
 * at a page boundary. BOUND: the memory or the calling thread is bound to a node. The content does
 * not change.
 */
void pages_make(void *addr, size_t bytes, size_t page_bytes, bool bound);

/*
 * Count the pages of [ADDR, ADDR + BYTES) with move_pages(2): *ON_NODE of *PAGES are on NODE. It
 * checks at most 4096 pages, evenly spread; an untouched page is on no node. Returns 0, or -errno
 * with both numbers 0 (a container may forbid the call).
 */
int pages_check(const void *addr, size_t bytes, int node, size_t *on_node, size_t *pages);
