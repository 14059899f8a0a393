/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * peak: the highest rate over any span of one full send queue, found during the run. It is never
 * higher than what the adapter did.
 *
 * The kernel can interrupt a thread at any point, so the time when the thread saw a completion is
 * not the time when it happened. Two facts are certain:
 *
 *	a span may end when the clock was read after completions were polled: at least these
 *	messages were done by then;
 *	a span may start when the clock was read before a poll that found every CQ empty: by then no
 *	more was done than the messages polled before, the messages that complete without a
 *	completion of their own (unsignalled ones), and nearly all of the message in progress: at
 *	most `unseen`.
 *
 * An interruption between reading the clock and polling makes such a span longer, never shorter. If
 * the CQs are never empty because the program is slower than the adapter, there is no span, and the
 * run has only its average.
 *
 * The starts form a ring. Each end is compared with the latest start that is at least WINDOW
 * messages before it. The cost is O(1) amortised without a division, in at most 64 KiB that are
 * touched before the run: with a window of more than 2047 messages, a start is kept if it is
 * `grain` messages, 1/2047 of the window, after the one before. A burst that is seen is then at
 * most that much longer than the window. A run shorter than the window has no peak.
 */
#pragma once

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
	uint64_t grain;  /* messages, at least, from one mark to the next */
	uint64_t unseen; /* messages */
	unsigned cqs;
	uint64_t next; /* ring positions, which only grow: the mark that START becomes next, */
	uint64_t end;  /* and one past the newest mark, */
	uint64_t sparse; /* which is followed by one of so many messages at least */
	struct peak_mark start; /* of the span that ends now; in the future before there is a
				   full one */
	uint64_t messages;      /* completed so far */
	unsigned looks;         /* empty polls since then; each polls the next CQ */
	uint64_t since_ticks;   /* the clock before the first of the current empty polls */
	bool went_back;         /* the clock went back, by more than from one poll to the next */
	bool idle;              /* every CQ was empty after idle_ticks: */
	uint64_t idle_ticks;    /* a span may start here */
	double best;            /* the result in messages per tick; 0: no full window */
};

/* The parameters of a run. */
struct peak_run {
	uint64_t ticks;  /* at its start */
	uint64_t unseen; /* messages that may be done without a completion so far; at most a
			    window */
	unsigned cqs;    /* polled in turn */
};

/*
 * Initialize P for spans of WINDOW (at least 1) messages. Returns 0 or -ENOMEM (then P is empty).
 */
int peak_init(struct peak *p, uint64_t window);

/* Free the memory; safe on a zeroed object. */
void peak_release(struct peak *p);

/* Start a new run with 0 messages. */
void peak_start(struct peak *p, const struct peak_run *run);

/*
 * A poll of the next CQ found nothing, and the clock read TICKS after it, before the next poll.
 * Call it only when the loop has nothing else to do.
 */
static inline __attribute__((always_inline)) void peak_empty(struct peak *p, uint64_t ticks)
{
	p->went_back |= ticks < p->since_ticks;
	if (++p->looks == p->cqs) {
		p->idle = true;
		p->idle_ticks = p->since_ticks;
		p->looks = 0;
	}
	if (!p->looks)
		p->since_ticks = ticks;
}

/*
 * MESSAGES have completed since the start, at least one more than at the previous call, and the
 * clock read TICKS after they were polled. A span of zero ticks (a coarse clock) is ignored. Hot.
 */
static inline __attribute__((always_inline)) void peak_add(struct peak *p, uint64_t ticks,
							   uint64_t messages)
{
	const struct peak_mark *mark;
	int64_t span_ticks, span_messages; /* less than 0: not full yet */

	if (__builtin_expect(ticks < p->since_ticks, 0))
		p->went_back = true;
	p->since_ticks = ticks;
	if (p->idle) {
		uint64_t done = p->messages + p->unseen;

		if (done >= p->sparse) {
			p->mark[p->end++ & p->mask] = (struct peak_mark){p->idle_ticks, done};
			p->sparse = done + p->grain;
		}
		p->idle = false;
	}
	while (p->next != p->end) {
		mark = &p->mark[p->next & p->mask];
		if ((int64_t)(messages - mark->messages) < (int64_t)p->window)
			break;
		p->start = *mark;
		p->next++;
	}
	span_ticks = (int64_t)(ticks - p->start.ticks);
	span_messages = (int64_t)(messages - p->start.messages);
	if (__builtin_expect((double)span_messages > p->best * (double)span_ticks, 0) &&
	    span_ticks > 0)
		p->best = (double)span_messages / (double)span_ticks;
	p->messages = messages;
	p->looks = 0;
}
