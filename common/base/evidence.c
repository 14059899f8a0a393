// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/evidence.h"

#include <math.h>

struct evidence evidence_unknown(void)
{
	return (struct evidence){NAN, NAN, NAN, NAN, NAN};
}

bool evidence_is_known(const struct evidence *e)
{
	return !isnan(e->full_share) || !isnan(e->schedule_share) || !isnan(e->alone_ns) ||
	       !isnan(e->completion_ns) || !isnan(e->busy_share);
}
