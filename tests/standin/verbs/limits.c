// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What this process may pin is SIMVERBS_MEMLOCK (bytes; no limit), whoever runs the tests, and where. */
#include <stdlib.h>
#include <sys/resource.h>

int getrlimit(__rlimit_resource_t which, struct rlimit *limit)
{
	const char *bytes = getenv("SIMVERBS_MEMLOCK");
	int rc = prlimit(0, which, NULL, limit);

	if (rc == 0 && which == RLIMIT_MEMLOCK)
		limit->rlim_cur = limit->rlim_max = bytes ? strtoull(bytes, NULL, 10) : RLIM_INFINITY;
	return rc;
}
