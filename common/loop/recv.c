// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "loop/recv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verbs/vfault.h"

static int post_to_qp(struct recv_lane *lane)
{
	struct ibv_recv_wr *bad;

	return ibv_post_recv(lane->qp, lane->chain, &bad);
}

static int post_to_srq(struct recv_lane *lane)
{
	struct ibv_recv_wr *bad;

	return ibv_post_srq_recv(lane->srq, lane->chain, &bad);
}

/* Lane I's chain of a batch of requests, into the COUNT slices of SGE in turn. */
static void build(struct recv_queue *q, unsigned i, struct ibv_sge *sge, unsigned count)
{
	struct ibv_recv_wr *wr = q->wr + (size_t)i * q->batch;

	for (unsigned k = 0; k < q->batch; k++)
		wr[k] = (struct ibv_recv_wr){
			.wr_id = i,
			.next = k + 1 < q->batch ? &wr[k + 1] : NULL,
			.sg_list = &sge[k % count],
			.num_sge = 1,
		};
	q->lane[i].chain = wr;
}

/* DEPTH receives in whole batches; what is left over counts as consumed, so nothing is lost. */
static int fill(struct recv_queue *q, unsigned i, struct fault *f)
{
	q->left[i] = (int)(q->batch - q->depth % q->batch);
	for (unsigned n = 0; n + q->batch <= q->depth; n += q->batch) {
		int rc = q->lane[i].post(&q->lane[i]);

		if (rc)
			return vfault_raise(f, vfault_errno(rc), 0, "ibv_post_recv(%u of %u)", n,
					    q->depth);
	}
	return 0;
}

int recv_queue_init(struct recv_queue *q, struct qp_set *qps, unsigned depth, unsigned batch,
		    const struct round_slice *into, uint64_t bytes, struct fault *f)
{
	unsigned header = qp_set_header(qps);

	memset(q, 0, sizeof(*q));
	fault_phase(f, "posting receives");
	q->count = qps->srq ? 1 : qps->count;
	q->depth = depth;
	q->batch = batch;
	q->lane = calloc(q->count, sizeof(*q->lane));
	q->left = calloc(q->count, sizeof(*q->left));
	q->sge = calloc(qps->count, sizeof(*q->sge));
	q->wr = calloc((size_t)q->count * batch, sizeof(*q->wr));
	if (!q->lane || !q->left || !q->sge || !q->wr)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "receive requests for %u QPs",
				   qps->count);
	for (unsigned i = 0; i < qps->count; i++)
		q->sge[i] = (struct ibv_sge){
			.addr = into->addr + i * into->stride - header,
			.length = (uint32_t)bytes + header,
			.lkey = round_key(into, i),
		};
	for (unsigned i = 0; i < q->count; i++) {
		q->lane[i] = (struct recv_lane){
			.post = qps->srq ? post_to_srq : post_to_qp,
			.qp = qps->qp[i],
			.srq = qps->srq,
		};
		build(q, i, &q->sge[i], qps->srq ? qps->count : 1);
		if (fill(q, i, f))
			return -1;
	}
	return 0;
}

int recv_top_up(struct recv_queue *q, uint64_t lane)
{
	q->left[lane] += (int)q->batch;
	return q->lane[lane].post(&q->lane[lane]);
}

unsigned recv_queue_posted(const struct recv_queue *q, unsigned lane)
{
	return (unsigned)((int)q->depth - (int)q->batch + q->left[lane]);
}

int recv_queue_refill(struct recv_queue *q, struct fault *f)
{
	for (unsigned i = 0; i < q->count; i++)
		if (fill(q, i, f))
			return -1;
	return 0;
}

int recv_failed(const struct round *r, const struct ibv_wc *wc, int n)
{
	while (n > 1 && wc->status == IBV_WC_SUCCESS) {
		wc++;
		n--;
	}
	return round_completion_failed(r, wc, "receive");
}

void recv_queue_release(struct recv_queue *q)
{
	free(q->lane);
	free(q->left);
	free(q->sge);
	free(q->wr);
	memset(q, 0, sizeof(*q));
}
