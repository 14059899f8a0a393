/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * peak: the best rate over any span of one full send queue, found while the run goes on.
 *
 * The loop reports (time, messages completed so far) once per batch of completions. A span may end
 * at any report, but start only at one that came with an empty CQ: completions that lie in the CQ
 * unseen would otherwise be counted into a span that began after them, and a process that was held
 * up would show a rate no link ever had. The marks of possible starts form a queue that slides
 * along; each report is compared with the latest start at least WINDOW messages ago. O(1)
 * amortised, no division, memory fixed at start. A run shorter than the window has no peak of its
 * own.
 */
#ifndef RDMARK_BASE_PEAK_H
#define RDMARK_BASE_PEAK_H

#include <stdbool.h>
#include <stdint.h>

struct peak_mark {
	uint64_t ticks;
	uint64_t messages;
};

struct peak {
	struct peak_mark *mark; /* ring of mask + 1 entries; owned */
	uint64_t mask;
	uint64_t window; /* messages */
	uint64_t next;   /* ring positions, ever growing: of the mark that START moves to next, */
	uint64_t end;    /* and behind the newest */
	struct peak_mark start; /* of the span that ends now; before a full one: far ahead */
	double best;            /* messages a tick; 0: no full window seen */
};

/* Make P ready for spans of WINDOW (at least 1) messages. Returns 0 or -ENOMEM (then P is empty).
 */
int peak_init(struct peak *p, uint64_t window);

/* Give the memory back; a zeroed object is fine. */
void peak_release(struct peak *p);

/* Forget the past and start a run at TICKS with 0 messages. */
void peak_start(struct peak *p, uint64_t ticks);

/*
 * MESSAGES in all have completed by TICKS, at least one more than at the call before; EMPTY: the CQ
 * held no more than these. A span without a tick (a coarse clock) is passed over. Hot.
 */
static inline __attribute__((always_inline)) void peak_add(struct peak *p, uint64_t ticks,
							   uint64_t messages, bool empty)
{
	const struct peak_mark *mark;
	int64_t span_ticks, span_messages; /* less than 0: it is not full yet */

	while (p->next != p->end) {
		mark = &p->mark[p->next & p->mask];
		if (messages - mark->messages < p->window)
			break;
		p->start = *mark;
		p->next++;
	}
	span_ticks = (int64_t)(ticks - p->start.ticks);
	span_messages = (int64_t)(messages - p->start.messages);
	if (__builtin_expect((double)span_messages > p->best * (double)span_ticks, 0) && span_ticks)
		p->best = (double)span_messages / (double)span_ticks;
	if (empty)
		p->mark[p->end++ & p->mask] = (struct peak_mark){ticks, messages};
}

/* Best messages per tick, 0 if no full window was seen. */
double peak_rate(const struct peak *p);

#endif
