// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/peak.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MARKS_MAX 4096 /* 64 KiB */

int peak_init(struct peak *p, uint64_t window)
{
	uint64_t entries = 4;

	memset(p, 0, sizeof(*p));
	if (window > INT64_MAX / 2)
		return -ENOMEM;
	p->window = window;
	p->grain = (2 * window + MARKS_MAX - 3) / (MARKS_MAX - 2);
	/*
	 * The messages of one window and those completed but not yet polled, at most another
	 * window, limit the number of marks.
	 */
	while (entries < 2 * window / p->grain + 2)
		entries *= 2;
	p->mark = malloc(entries * sizeof(*p->mark));
	if (!p->mark)
		return -ENOMEM;
	memset(p->mark, 0xff, entries * sizeof(*p->mark)); /* no page fault later */
	p->mask = entries - 1;
	return 0;
}

void peak_release(struct peak *p)
{
	free(p->mark);
	memset(p, 0, sizeof(*p));
}

void peak_start(struct peak *p, const struct peak_run *run)
{
	/* Before the first post no message has completed, polled or not. */
	p->mark[0] = (struct peak_mark){run->ticks, 0};
	p->next = 0;
	p->end = 1;
	p->sparse = 0;
	p->start = (struct peak_mark){run->ticks, INT64_MAX};
	p->unseen = run->unseen < p->window ? run->unseen : p->window;
	p->cqs = run->cqs;
	p->messages = 0;
	p->since_ticks = run->ticks;
	p->looks = 0;
	p->went_back = false;
	p->idle = false;
	p->best = 0;
}
