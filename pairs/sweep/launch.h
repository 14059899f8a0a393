/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * launch: the command that starts one process on every node: srun, mpirun, clush, pdsh or ssh. They
 * also forward the output, and clean up.
 *
 * The words that the user gives come first. What each launcher needs in addition, so that one dead
 * node does not end the others, that nobody waits for a free slot and that lines stay as they are,
 * is added here.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"
#include "pairs/hosts.h"

enum launch_kind {
	LAUNCH_SRUN,
	LAUNCH_MPIRUN,
	LAUNCH_CLUSH,
	LAUNCH_PDSH,
	LAUNCH_SSH
};

struct launch {
	enum launch_kind kind;
	char *words; /* those of the user, bytes of them: an argz vector; owned */
	size_t bytes;
	int names; /* a file in memory: the hosts for clush and pdsh; -1: none */
};

/*
 * Read COMMAND, such as "srun" or "clush -g compute": words separated by blanks. Returns 0, or -1
 * with FAULT_USAGE or FAULT_LOCAL. Call launch_release() in either case.
 */
int launch_read(struct launch *l, const char *command, struct fault *f);

/* True if it starts a process on each node of the allocation of Slurm that this is in. */
bool launch_takes_allocation(const struct launch *l);

/* What tells it to end, and all that it started: pdsh leaves its ssh behind at SIGTERM; at SIGINT srun only
 * says what runs. */
int launch_end_signal(const struct launch *l);

/*
 * The command line that starts COMMAND (its words, ended by NULL) on every node, but on none that is
 * left out; mpirun cannot do that. HOSTS has none if they are not known; only ssh cannot do without.
 * Returns what launch_free_command() releases, before the next one is made; NULL with a fault.
 */
char **launch_command(struct launch *l, char *const *command, const struct hosts *hosts,
		      struct fault *f);

/* Release COMMAND, whose words are one block, which begins at the first. */
void launch_free_command(char **command);

void launch_release(struct launch *l);
