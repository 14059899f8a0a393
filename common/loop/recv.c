// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "loop/recv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/phase.h"
#include "verbs/transport.h"
#include "verbs/vfault.h"

/* Build queue I's chain of a batch of receives, into the COUNT slices of SGE in turn. */
static void build_recv(struct recv_queue *q, unsigned i, struct ibv_sge *sge, unsigned count)
{
	struct ibv_recv_wr *wr = q->wr + (size_t)i * q->batch;

	for (unsigned k = 0; k < q->batch; k++)
		wr[k] = (struct ibv_recv_wr){
			.wr_id = i,
			.next = k + 1 < q->batch ? &wr[k + 1] : NULL,
			.sg_list = &sge[k % count],
			.num_sge = 1,
		};
	q->qp[i].chain = wr;
}

/*
 * Post DEPTH receives to queue I in whole batches. The remainder counts as consumed, so that it is
 * posted with the next batch.
 */
static int fill_recv_queue(struct recv_queue *q, unsigned i, struct fault *f)
{
	q->until_repost[i] = (int)(q->batch - q->depth % q->batch);
	q->posted[i] = (uint64_t)q->until_repost[i];
	for (unsigned n = 0; n + q->batch <= q->depth; n += q->batch) {
		int rc = recv_post(&q->qp[i]);

		if (rc)
			return vfault_raise(f, rc, 0, "ibv_post_recv(%u of %u)", n, q->depth);
	}
	return 0;
}

int recv_queue_init(struct recv_queue *q, struct qp_set *qps, unsigned depth, unsigned batch,
		    const struct round_slice *into, uint64_t bytes, struct fault *f)
{
	unsigned header = qps->transport->header_bytes;

	memset(q, 0, sizeof(*q));
	fault_phase(f, PHASE_POST_RECEIVES);
	q->count = qps->srqs ? qps->srqs : qps->count;
	q->depth = depth;
	q->batch = batch;
	q->qp = calloc(q->count, sizeof(*q->qp));
	q->until_repost = calloc(q->count, sizeof(*q->until_repost));
	q->posted = calloc(q->count, sizeof(*q->posted));
	q->sge = calloc(qps->count, sizeof(*q->sge));
	q->wr = calloc((size_t)q->count * batch, sizeof(*q->wr));
	if (!q->qp || !q->until_repost || !q->posted || !q->sge || !q->wr)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "allocating receive requests for %u QPs",
				   qps->count);
	for (unsigned i = 0; i < qps->count; i++)
		q->sge[i] = (struct ibv_sge){
			.addr = into->addr + i * into->stride - header,
			.length = (uint32_t)bytes + header,
			.lkey = round_key(into, i),
		};
	for (unsigned i = 0; i < q->count; i++) {
		q->qp[i] =
			(struct recv_qp){.qp = qps->qp[i], .srq = qps->srqs ? qps->srq[i] : NULL};
		build_recv(q, i, &q->sge[i], qps->count / q->count);
		if (fill_recv_queue(q, i, f))
			return -1;
	}
	return 0;
}

int recv_top_up(const struct round *r, uint64_t qp)
{
	struct recv_queue *q = r->receives;
	int rc;

	q->until_repost[qp] += (int)q->batch;
	q->posted[qp] += q->batch;
	rc = recv_post(&q->qp[qp]);
	return rc ? round_verb_failed(r, rc, "ibv_post_recv") : 0;
}

int recv_top_up_only(const struct round *r, unsigned n)
{
	struct recv_queue *q = r->receives;
	const struct recv_qp *qp = q->qp;
	int left = q->until_repost[0] - (int)n, batch = (int)q->batch, rc = 0;

	for (; left <= 0 && !rc; left += batch) {
		rc = recv_post(qp);
		q->posted[0] += q->batch;
	}
	q->until_repost[0] = left;
	return LIKELY(!rc) ? 0 : round_verb_failed(r, rc, "ibv_post_recv");
}

uint64_t recv_queue_arrived(struct recv_queue *q, unsigned qp)
{
	uint64_t left = (uint64_t)q->until_repost[qp], came = q->posted[qp] - left;

	q->posted[qp] = left;
	return came;
}

void recv_queue_release(struct recv_queue *q)
{
	free(q->qp);
	free(q->until_repost);
	free(q->posted);
	free(q->sge);
	free(q->wr);
	memset(q, 0, sizeof(*q));
}
