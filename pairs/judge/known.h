/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* known: the hosts of the sweep, if it knows them: lines of others are impossible. */
#pragma once

#include <stdbool.h>

#include "pairs/hosts.h"

/* Read LIST, or the file of that name; NULL: no hosts. Returns 0, or -1 with the fault raised. */
int known_read(struct hosts *known, const char *list, struct fault *f);

/*
 * True if a line may be of HOST, or of the pair FROM and TO (NULL: it does not say): those names,
 * letter by letter, are of KNOWN. So they may be given to scontrol, for which "ALL" is every node.
 * True of any line if KNOWN is NULL or has no hosts.
 */
bool known_line(const struct hosts *known, const char *host, const char *from, const char *to);
