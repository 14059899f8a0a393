// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "loop/paced.h"

#include <string.h>

void paced_init(struct paced *p, double messages_per_s, unsigned burst, unsigned chain,
		const struct clock *c)
{
	double ticks = 1e9 / messages_per_s / c->ns_per_tick;

	memset(p, 0, sizeof(*p));
	p->step = (unsigned __int128)((ticks < 0x1p62 ? ticks : 0x1p62) * 0x1p64);
	p->late_ticks = (uint64_t)(PACED_LATE_NS / c->ns_per_tick);
	p->burst = (burst + chain - 1) / chain * chain;
}
