/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pin: put the measuring thread on a NUMA node, its buffers there too, and check where they are.
 *
 * The node is the NIC's unless the user says otherwise. An affinity mask that the process was
 * started with (taskset, Slurm, cgroup) is respected: the thread gets the part of the node that
 * lies in it, and if that is empty it stays where it is, with the reason kept for the banner. Only
 * an explicit node that cannot be had is a fault. Where a container forbids binding memory, the
 * thread is pinned all the same and the reason says that its memory is not.
 *
 * Of libnuma only the system calls are used (numaif.h): they print nothing and keep no state.
 */
#ifndef RDMARK_HOST_PIN_H
#define RDMARK_HOST_PIN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"
#include "host/sysfs.h"

#define PIN_AUTO (-2) /* the NIC's node */
#define PIN_NONE (-1)

/* Node 0 is a node: a zeroed object is not valid. pin_thread() makes it so, also when it fails. */
struct pin {
	int node;         /* the chosen node, -1: not pinned */
	char cpus[128];   /* the thread's CPUs as a list, "0-15,32-47"; cut with "…" if longer */
	int cpu_count;    /* 0: unknown */
	char reason[160]; /* "the NIC's node", "--numa 1", "not pinned: node unknown", … */
	struct sysfs_set before; /* the CPUs that the thread had; empty if it still has them */
};

/*
 * Choose a node from WISH (PIN_AUTO, PIN_NONE or a node) and NIC_NODE (-1: unknown) and bind the
 * calling thread to its CPUs. Threads made before stay free, those it makes later inherit. Nothing
 * is printed, not even by libnuma. Raises FAULT_USAGE if WISH names a node that does not exist or
 * is not allowed, FAULT_LOCAL if the kernel refuses to pin to it.
 */
int pin_thread(struct pin *p, int wish, int nic_node, struct fault *f);

/*
 * Of the calling thread's CPUs keep one: the NTH, or the same again where there are not so many. A
 * core's first hardware thread comes before any second one. FROM_END: counted from the last, so
 * that two programs on one machine, which count differently, meet as late as can be. Where the
 * kernel refuses, it stays on all of them.
 */
void pin_core(struct pin *p, unsigned nth, bool from_end);

/*
 * Give the calling thread back the CPUs that it had before pin_thread(). For a server that serves
 * another client with another NIC next. Safe on an object that pins nothing.
 */
void pin_undo(struct pin *p);

/*
 * Anonymous memory of at least BYTES (0: one page), page aligned (2 MiB aligned from 2 MiB on),
 * bound to the node of P if there is one (P may be NULL: none), zeroed and touched. Returns NULL
 * with the fault raised. Release with pin_free() and the same BYTES; NULL is fine there.
 */
void *pin_alloc(const struct pin *p, size_t bytes, struct fault *f);
void pin_free(void *addr, size_t bytes);

/*
 * Where the pages of [ADDR, ADDR + BYTES) lie, by move_pages(2): *ON_NODE of *PAGES on NODE. At
 * most 4096 pages are looked at, evenly spread; one never touched is on no node. Returns 0 or
 * -errno (containers may forbid it), both numbers then 0.
 */
int pin_check(const void *addr, size_t bytes, int node, size_t *on_node, size_t *pages);

#endif
