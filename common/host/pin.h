/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pin: pins the measuring thread to a NUMA node, where its buffers are allocated, too (memory.h).
 *
 * The node is the NIC's unless the user chooses another one. The affinity mask of the process
 * (taskset, Slurm, cgroup) is respected: the thread gets those CPUs of the node that are in the
 * mask, without slow ones where the kernel knows of them (cpu_capacity). If there are none, it is
 * not pinned, and the banner shows the reason. Only an explicit node that is not available is a
 * fault. If a container forbids binding memory, the thread is still pinned, and the reason says
 * that its memory is not.
 *
 * Of libnuma only the system calls are used (numaif.h): they print nothing and have no state.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"
#include "host/sysfs.h"

#define PIN_AUTO (-2) /* the NIC's node */
#define PIN_NONE (-1)

/*
 * A zeroed object is not valid, because node 0 exists. pin_thread() sets all fields, also on
 * failure.
 */
struct pin {
	int node;         /* the chosen node, -1: not pinned */
	char cpus[128];   /* the thread's CPUs as a list, "0-15,32-47"; cut with "…" if longer */
	char reason[160]; /* "the NIC's node", "--numa 1", "not pinned: --numa none", … */
	struct sysfs_set before; /* the thread's previous CPUs; empty if they did not change */
};

/*
 * Choose a node from WANTED (PIN_AUTO, PIN_NONE or a node) and NIC_NODE (-1: unknown), and pin the
 * calling thread to its CPUs. Existing threads do not change; threads that it creates later inherit
 * the mask. Nothing is printed, not even by libnuma. Raises FAULT_USAGE if node WANTED does not
 * exist or is not allowed, and FAULT_LOCAL if the kernel refuses to pin.
 */
int pin_thread(struct pin *p, int wanted, int nic_node, struct fault *f);

/*
 * Pin the calling thread to one of its CPUs: the NTH, modulo their number. All cores' first
 * hardware threads come before the second ones. FROM_END: count from the last, so that two programs
 * on one machine, counting from different ends, share CPUs as late as possible. If the kernel
 * refuses, the thread keeps all its CPUs.
 */
void pin_core(struct pin *p, unsigned nth, bool from_end);

/*
 * Restore the CPUs that the calling thread had before pin_thread(). For a server whose next client
 * uses another NIC. Safe on an object that pins nothing.
 */
void pin_undo(struct pin *p);

/* Set the POLICY (mbind(2)) of memory to NODE, 0 or more. Returns 0 or a positive errno. */
int pin_bind(void *addr, size_t bytes, int node, int policy);
