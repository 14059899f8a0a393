/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * join: what is in a file as one word of a command line, for hosts that do not have the file; and the
 * plan of the judge, which travels so.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>

#include "base/fault.h"
#include "pairs/hosts.h"

#define JOIN_BYTES_MAX 40000 /* of all words that ssh gets the kernel takes 128 KiB */

struct plan {
	struct hosts *known; /* the plan's become numbers, which are short, and are marked */
	char *words;         /* of the command line of run; owned */
	unsigned slots;
	bool tests;                     /* else it is a screen */
	char file[PATH_MAX], limit[40]; /* its whole name; --for */
};

/*
 * FILE as one word "lines:…"; its name, if that would be too long, or a word has a "+", which is then
 * said. P: the plan that it is; NULL: it is none. The caller frees it. NULL with FAULT_USAGE or FAULT_LOCAL.
 */
char *join_lines(const char *file, struct plan *p, struct fault *f);

/*
 * Read the plan FILE into P. What is too long for a command line even so goes by the whole name of
 * FILE. Returns 0, or -1 with FAULT_USAGE or FAULT_LOCAL. Free p->words in any case.
 */
int join_plan(struct plan *p, const char *file, struct hosts *known, struct fault *f);
