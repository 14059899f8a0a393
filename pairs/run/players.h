/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * players: who the others are, and which of them this process is.
 *
 * Each rail of a host is a player of its own, and the process of that host plays for all of them:
 * player = host * rails + rail. Rails of the same number meet.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "pairs/hosts.h"

#define PLAYERS_RAILS_MAX 16

struct players_asked {
	const char *hosts; /* a list or a file; NULL: the launcher says */
	const char *self;  /* NULL: the launcher, or this host's name, says */
	const char *rails; /* "mlx5_0,mlx5_1"; NULL: one, whose device is not named */
	bool anyone;       /* this is whichever of them: nothing is going to run */
	uint64_t port, port_step;
};

struct players {
	struct hosts hosts;
	uint32_t self; /* the number of this host */
	unsigned rails;
	char rail[PLAYERS_RAILS_MAX][64]; /* "": no device is named */
	uint64_t port, port_step;
};

/*
 * Find them: the hosts as asked for, else from SLURM_STEP_NODELIST; this one by its name (--self,
 * SLURMD_NODENAME, gethostname), else by the launcher's number. Returns 0, or -1 with FAULT_USAGE or
 * FAULT_LOCAL.
 */
int players_find(struct players *p, const struct players_asked *asked, struct fault *f);

/*
 * See that each server of each host has a port, with LANES for each rail (schedule_lanes). Returns
 * 0, or -1 with FAULT_USAGE.
 */
int players_check_ports(const struct players *p, uint32_t lanes, struct fault *f);

/* Where to reach HOST; and the port of its server for LANE of RAIL, when there are LANES. */
const char *players_address(const struct players *p, uint32_t host);
uint64_t players_port(const struct players *p, uint32_t host, unsigned rail, uint32_t lane);

void players_release(struct players *p);
