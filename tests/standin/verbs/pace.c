// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A link of known speed: SIMVERBS_GBPS and SIMVERBS_LATENCY_NS give each
 * request the time at which its last byte would have arrived, and it is
 * carried out then.  One link per process, outbound; a read counts as sent by
 * its requester.  GPU memory of a device with gpu_read_mbps or gpu_write_mbps
 * slows the requests that touch it: at both ends of an RDMA operation, at the
 * sender's of a SEND, since where that goes is known only when it is there.
 */
#include "sim.h"

static _Atomic uint64_t link_free_ns; /* when the last byte has left */

static uint64_t bytes_of(const struct sq_wqe *w)
{
	const struct ibv_sge *sge = (const struct ibv_sge *)w->payload;
	uint64_t n = 0;
	int i;

	if (w->flags & IBV_SEND_INLINE)
		return w->inline_len;
	for (i = 0; i < w->num_sge; i++)
		n += sge[i].length;
	return n;
}

/* The peer of a connected QP, as soon as there is one. */
static struct peer *peer_of(struct sim_qp *qp)
{
	if (!qp->peer && qp->shm->type != IBV_QPT_UD && !is_srd(qp))
		qp->peer = peer_get(qpn_slot(qp->attr.dest_qp_num));
	return qp->peer;
}

bool pace_wanted(struct sim_qp *qp)
{
	if (sim_conf()->paced || atomic_load_explicit(&shm_self()->gpu_paced, memory_order_relaxed))
		return true;
	return peer_of(qp) && atomic_load_explicit(&qp->peer->seg->gpu_paced, memory_order_relaxed);
}

static void lower(double *gbps, struct shm_seg *seg, uint32_t key, bool write, uint64_t bytes)
{
	struct shm_mr *mr = mr_find(seg, key);
	uint32_t limit = mr ? write ? mr->gpu_write_mbps : mr->gpu_read_mbps : 0;

	if (limit && mr->gpu_fall_mbps && atomic_fetch_add(&mr->gpu_bytes, bytes) >= mr->gpu_fall_bytes)
		limit = mr->gpu_fall_mbps;
	if (limit && (!(*gbps > 0) || limit < *gbps * 1e3))
		*gbps = limit / 1e3;
}

/* The slowest of the link and of the memory at both ends; 0 is no limit. */
static double rate_of(struct sim_qp *qp, const struct sq_wqe *w)
{
	const struct ibv_sge *sge = (const struct ibv_sge *)w->payload;
	bool read = w->opcode == IBV_WR_RDMA_READ;
	bool rdma =
		read || w->opcode == IBV_WR_RDMA_WRITE || w->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	double gbps = sim_conf()->gbps;
	int i;

	for (i = 0; !(w->flags & IBV_SEND_INLINE) && i < w->num_sge; i++)
		lower(&gbps, shm_self(), sge[i].lkey, read, sge[i].length);
	if (rdma && peer_of(qp))
		lower(&gbps, qp->peer->seg, w->rkey, !read, bytes_of(w));
	return gbps;
}

void pace_request(struct sim_qp *qp, struct sq_wqe *w)
{
	uint64_t now = sim_now_ns(), free_at = atomic_load(&link_free_ns);
	double gbps = rate_of(qp, w);
	uint64_t cost = gbps > 0 ? bytes_of(w) * 8 / gbps + 0.5 : 0;
	uint64_t left;

	do {
		left = (free_at > now ? free_at : now) + cost;
	} while (!atomic_compare_exchange_weak(&link_free_ns, &free_at, left));
	w->due_ns = left + sim_conf()->latency_ns;
	if (fetches(w->opcode))
		w->due_ns = fetch_due(qp, w->due_ns, cost + sim_conf()->latency_ns);
}
