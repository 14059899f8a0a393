// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/peak.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int peak_init(struct peak *p, uint64_t window)
{
	uint64_t entries = 4;

	memset(p, 0, sizeof(*p));
	if (window > SIZE_MAX / sizeof(*p->mark) / 4)
		return -ENOMEM;
	/* Marks are at least one message apart, so a window holds at most WINDOW + 1 of them. */
	while (entries < window + 2)
		entries *= 2;
	p->mark = calloc(entries, sizeof(*p->mark));
	if (!p->mark)
		return -ENOMEM;
	p->mask = entries - 1;
	p->window = window;
	return 0;
}

void peak_release(struct peak *p)
{
	free(p->mark);
	memset(p, 0, sizeof(*p));
}

void peak_start(struct peak *p, uint64_t ticks)
{
	p->mark[0] = (struct peak_mark){ticks, 0};
	p->next = 0;
	p->end = 1;
	p->start = (struct peak_mark){ticks, INT64_MAX};
	p->best = 0;
}

double peak_rate(const struct peak *p)
{
	return p->best;
}
