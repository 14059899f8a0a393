/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * loopback: a port of this host WRITEs to itself, from and to one memory, by a server and a client
 * that are started for it. What they reach does not need the network, nor another host.
 */
#pragma once

#include "base/fault.h"
#include "base/stop.h"

struct loopback {
	const char *device;
	unsigned port;
	const char *memory; /* an option: "--numa=0", "--gpu=1"; "": as the programs choose it */
	double gbps;        /* found: the rate of a window of 0.2 s; 0: none, */
	char failed[512];   /* because */
};

/* Measure it. Returns 0, or -1 with the fault raised: a signal came, or nothing can be started. */
int loopback_run(struct loopback *l, struct stop *stop, struct fault *f);
