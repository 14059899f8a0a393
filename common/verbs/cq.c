// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "verbs/cq.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verbs/vfault.h"

#define CQE_BYTES 64 /* what an entry pins, roughly, for the memlock hint */

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
	for (unsigned i = 0; i < w->count; i++) {
		struct ibv_cq *cq =
			ibv_create_cq(h->ctx, (int)w->cqe, NULL, w->channel, (int)w->vector);

		if (!cq)
			return vfault_raise(f, errno, (size_t)w->cqe * CQE_BYTES,
					    "ibv_create_cq(%u)", w->cqe);
		r->link[i] = (struct cq_link){cq, &r->link[(i + 1) % w->count]};
		r->count = i + 1;
		r->cqe += (unsigned)cq->cqe;
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
