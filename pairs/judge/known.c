// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Lines of hosts that are none of the sweep: what they say is not believed. */
#include <string.h>

#include "known.h"

static bool is_known(const struct hosts *known, const char *name)
{
	uint32_t at = name ? hosts_find(known, name) : 0;

	return !name || (at != HOSTS_NONE && strcmp(known->host[at].name, name) == 0);
}

bool known_line(const struct hosts *known, const char *host, const char *from, const char *to)
{
	return !known || !known->n ||
	       (is_known(known, host) && is_known(known, from) && is_known(known, to));
}

int known_read(struct hosts *known, const char *list, struct fault *f)
{
	fault_phase(f, "reading the hosts");
	return list && (hosts_read(known, list, f) || hosts_complete(known, f)) ? -1 : 0;
}
