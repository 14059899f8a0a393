/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* plan: what the judge has planned, as it is said to the user, and as it travels to the nodes. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"
#include "pairs/hosts.h"

struct plan {
	char *words; /* of the command line of run; owned */
	unsigned slots;
	size_t candidates; /* who is tested, and in no control */
	bool tests;        /* else it is a screen */
	char file[PATH_MAX], limit[40]; /* its whole name; --for */
};

/*
 * Read the plan FILE, and which of the KNOWN hosts it has: these become numbers, which are short. What
 * is too long for a command line even so goes by the whole name of FILE. Returns 0, or -1 with
 * FAULT_USAGE or FAULT_LOCAL. Call plan_release() in any case.
 */
int plan_read(struct plan *p, const char *file, struct hosts *known, struct fault *f);

void plan_release(struct plan *p);
