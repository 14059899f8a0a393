/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pages: have the kernel make the pages of new memory, by several threads if there is much of it.
 *
 * The kernel makes and zeroes a page when it is first touched, and that is most of what allocating
 * and registering a large buffer costs. Threads that live as long as the call share the work, on
 * the CPUs that the caller may use. Where memory is bound to no node, a page goes to the node of
 * whoever touches it first, so then they are made by the caller alone, unless there is one node.
 *
 * Nothing here fails: without threads, or with a kernel before 5.14, it takes longer.
 */
#ifndef RDMARK_HOST_PAGES_H
#define RDMARK_HOST_PAGES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Make the pages, PAGE_BYTES each, of [ADDR, ADDR + BYTES): new anonymous memory, whose first bytes
 * are those of a page. BOUND: it is bound to a node, or the calling thread is. What is in it stays.
 */
void pages_make(void *addr, size_t bytes, size_t page_bytes, bool bound);

#endif
