// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "loop/fetch.h"

#include "loop/pingpong.h"

#define MARK_MASK UINT64_C(31) /* the slices are updated once in 32 requests */

/* Poll the send CQ: returns 1 if the request is complete, 0 if not, or -1. Hot. */
static ALWAYS_INLINE int fetch_completed(struct pingpong *p, uint32_t number)
{
	struct ibv_wc wc;

	(void)number;
	return pingpong_poll(p, p->send_cq, &wc, "request");
}

/* Update the slices now and then, while the next request is under way. Hot. */
static ALWAYS_INLINE int fetch_mark(struct pingpong *p)
{
	if (UNLIKELY(!(p->sent & MARK_MASK)))
		pingpong_mark(p);
	return 0;
}

static const struct pingpong_hooks requests = {
	.number = pingpong_unsequenced,
	.post = pingpong_send,
	.arrived = fetch_completed,
	.tidy = fetch_mark,
};

int fetch_run(struct round *r)
{
	struct pingpong p;

	pingpong_init(&p, r);
	p.plain.send_flags |= IBV_SEND_SIGNALED;
	p.signal_mask = UINT64_MAX; /* all are signalled: choose no others for a signal */
	cq_wait_start(&r->qps->cq_wait, &r->qps->send, NULL);
	return pingpong_lead(&p, &requests, 0);
}
