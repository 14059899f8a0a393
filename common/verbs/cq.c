// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "verbs/cq.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verbs/vfault.h"

#define CQE_BYTES 64 /* roughly what an entry pins, for the memlock hint */

/* Create an extended CQ whose completions have the fields that struct ibv_wc has for a receive.
 * Returns NULL with errno on failure. */
static struct ibv_cq_ex *create_extended_cq(const struct hca *h, const struct cq_attr *a)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = a->cqe,
		.channel = a->channel,
		.comp_vector = a->vector,
		.wc_flags = IBV_WC_EX_WITH_QP_NUM,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		.flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED,
	};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(h->ctx, &attr);

	if (cq)
		return cq;
	attr.comp_mask = attr.flags = 0; /* some devices refuse any flag */
	return ibv_create_cq_ex(h->ctx, &attr);
}

/* Create the CQ of L: an extended one if wanted and possible, else a plain one. */
static bool create_cq(struct cq_link *l, const struct hca *h, const struct cq_attr *a)
{
	/*
	 * Soft-RoCE's library has no usable extended CQs: when ibv_next_poll() finds nothing it
	 * advances the consumer index twice and unlocks twice (rdma-core's pull requests 1512 and
	 * 1617).
	 */
	bool extended = a->extended && !hca_is_soft_roce(&h->info);

	l->cq_ex = extended ? create_extended_cq(h, a) : NULL;
	l->cq = l->cq_ex ? ibv_cq_ex_to_cq(l->cq_ex)
			 : ibv_create_cq(h->ctx, (int)a->cqe, NULL, a->channel, (int)a->vector);
	return l->cq != NULL;
}

int cq_ring_init(struct cq_ring *r, const struct hca *h, const struct cq_attr *a, struct fault *f)
{
	memset(r, 0, sizeof(*r));
	if (a->vector && (int)a->vector >= h->ctx->num_comp_vectors) {
		fault_raise(f, FAULT_USAGE, 0, "-X/--vector %u: %s has %d completion vectors",
			    a->vector, h->info.device, h->ctx->num_comp_vectors);
		return fault_fix(f, "use 0 to %d, or omit -X", h->ctx->num_comp_vectors - 1);
	}
	r->link = calloc(a->count, sizeof(*r->link));
	if (!r->link)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "allocating %u CQs", a->count);
	r->extended = a->extended;
	for (unsigned i = 0; i < a->count; i++) {
		struct cq_link *l = &r->link[i];

		if (!create_cq(l, h, a))
			return vfault_raise(f, errno, (size_t)a->cqe * CQE_BYTES,
					    "ibv_create_cq(%u)", a->cqe);
		l->next = &r->link[(i + 1) % a->count];
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
