// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "verbs/cq.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verbs/vfault.h"

#define CQE_BYTES 64 /* what an entry pins, roughly, for the memlock hint */

/*
 * Soft-RoCE's library advances the consumer index twice when ibv_next_poll finds nothing, and gives
 * its lock back twice: rdma-core's pull requests 1512 and 1617.
 */
#define SOFT_ROCE_VENDOR 0xffffff

/* An extended one whose readers are those that struct ibv_wc has of a receive. */
static struct ibv_cq_ex *make_extended(const struct hca *h, const struct cq_wish *w)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = w->cqe,
		.channel = w->channel,
		.comp_vector = w->vector,
		.wc_flags = IBV_WC_EX_WITH_QP_NUM,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		.flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED,
	};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(h->ctx, &attr);

	if (cq)
		return cq;
	attr.comp_mask = attr.flags = 0; /* some know no flags */
	return ibv_create_cq_ex(h->ctx, &attr);
}

static bool make(struct cq_link *l, const struct hca *h, const struct cq_wish *w)
{
	bool extended = w->extended && h->info.attr.vendor_id != SOFT_ROCE_VENDOR;

	l->cq_ex = extended ? make_extended(h, w) : NULL;
	l->cq = l->cq_ex ? ibv_cq_ex_to_cq(l->cq_ex)
			 : ibv_create_cq(h->ctx, (int)w->cqe, NULL, w->channel, (int)w->vector);
	return l->cq != NULL;
}

int cq_ring_init(struct cq_ring *r, const struct hca *h, const struct cq_wish *w, struct fault *f)
{
	memset(r, 0, sizeof(*r));
	if (w->vector && (int)w->vector >= h->ctx->num_comp_vectors) {
		fault_raise(f, FAULT_USAGE, 0, "-X/--vector %u: %s has %d completion vectors",
			    w->vector, h->info.device, h->ctx->num_comp_vectors);
		return fault_fix(f, "use 0 to %d, or leave -X out", h->ctx->num_comp_vectors - 1);
	}
	r->link = calloc(w->count, sizeof(*r->link));
	if (!r->link)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "%u CQs", w->count);
	r->extended = w->extended;
	for (unsigned i = 0; i < w->count; i++) {
		struct cq_link *l = &r->link[i];

		if (!make(l, h, w))
			return vfault_raise(f, errno, (size_t)w->cqe * CQE_BYTES,
					    "ibv_create_cq(%u)", w->cqe);
		l->next = &r->link[(i + 1) % w->count];
		r->count = i + 1;
		r->cqe += (unsigned)l->cq->cqe;
		r->extended &= l->cq_ex != NULL;
	}
	return 0;
}

void cq_ring_release(struct cq_ring *r)
{
	for (unsigned i = 0; i < r->count; i++)
		ibv_destroy_cq(r->link[i].cq);
	free(r->link);
	memset(r, 0, sizeof(*r));
}

struct ibv_cq *cq_ring_of(const struct cq_ring *r, unsigned qp)
{
	return r->link[r->count > 1 ? qp : 0].cq;
}
