// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The ibv_wr_* interface.  wr_start takes the send queue's lock; requests are
 * built in the ring beyond its head; wr_complete commits them all or none.
 */
#include "fault.h"

#include <errno.h>
#include <string.h>

static inline struct sim_qp *sq(struct ibv_qp_ex *qp)
{
	return (struct sim_qp *)qp;
}

static void wr_start(struct ibv_qp_ex *qp)
{
	spin_lock(&sq(qp)->sq_lock);
	sq(qp)->wr_head = sq(qp)->sq_head;
	sq(qp)->wr_err = 0;
	sq(qp)->wr = NULL;
}

/* SRD's rules, which hold for a whole request. */
static int check_srd(struct sim_qp *q)
{
	int err = q->wr_err;

	for (uint32_t i = q->sq_head; !err && i != q->wr_head; i++)
		err = srd_check(q, sq_slot(q, i), sq_slot(q, i)->flags, sq_slot(q, i)->inline_len);
	return err;
}

/*
 * What rdma-core's bnxt_re makes of all but the last request of a batch: headers of zeros, which are
 * SENDs of nothing, without a completion.
 */
static void lose_headers(struct sim_qp *q)
{
	for (uint32_t i = q->sq_head; i + 1 < q->wr_head; i++) {
		struct sq_wqe *w = sq_slot(q, i);

		w->opcode = IBV_WR_SEND;
		w->flags = 0;
		w->num_sge = 0;
		w->inline_len = 0;
	}
}

static int wr_complete(struct ibv_qp_ex *qp)
{
	int err = is_srd(sq(qp)) ? check_srd(sq(qp)) : sq(qp)->wr_err;

	if (!err && sim_ctx(qp->qp_base.context)->desc->features & DESC_LAST_HEADER)
		lose_headers(sq(qp));
	if (!err)
		send_commit(sq(qp), sq(qp)->wr_head);
	spin_unlock(&sq(qp)->sq_lock);
	return err;
}

static void wr_abort(struct ibv_qp_ex *qp)
{
	spin_unlock(&sq(qp)->sq_lock);
}

static struct sq_wqe *begin(struct ibv_qp_ex *qp, enum ibv_wr_opcode op, uint64_t ops_flag)
{
	struct sim_qp *q = sq(qp);
	struct sq_wqe *w;

	q->wr = NULL;
	if (q->wr_err)
		return NULL;
	q->wr_err = q->send_ops & ops_flag ? send_reserve(q, q->wr_head, &w) : EINVAL;
	if (q->wr_err)
		return NULL;
	q->wr_head++;
	w->wr_id = qp->wr_id;
	w->flags = qp->wr_flags & ~IBV_SEND_INLINE;
	w->opcode = op;
	w->num_sge = 0;
	q->wr = w;
	return w;
}

static void rdma(struct ibv_qp_ex *qp, enum ibv_wr_opcode op, uint64_t flag, uint32_t rkey,
		 uint64_t addr)
{
	struct sq_wqe *w = begin(qp, op, flag);

	if (!w)
		return;
	w->rkey = rkey;
	w->remote_addr = addr;
}

static void wr_rdma_read(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr)
{
	rdma(qp, IBV_WR_RDMA_READ, IBV_QP_EX_WITH_RDMA_READ, rkey, addr);
}

static void wr_rdma_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr)
{
	rdma(qp, IBV_WR_RDMA_WRITE, IBV_QP_EX_WITH_RDMA_WRITE, rkey, addr);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr, __be32 imm)
{
	rdma(qp, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM, rkey, addr);
	if (sq(qp)->wr)
		sq(qp)->wr->imm = imm;
}

static void wr_send(struct ibv_qp_ex *qp)
{
	begin(qp, IBV_WR_SEND, IBV_QP_EX_WITH_SEND);
}

static void wr_send_imm(struct ibv_qp_ex *qp, __be32 imm)
{
	struct sq_wqe *w = begin(qp, IBV_WR_SEND_WITH_IMM, IBV_QP_EX_WITH_SEND_WITH_IMM);

	if (w)
		w->imm = imm;
}

static void wr_atomic_cmp_swp(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr, uint64_t compare,
			      uint64_t swap)
{
	rdma(qp, IBV_WR_ATOMIC_CMP_AND_SWP, IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP, rkey, addr);
	if (!sq(qp)->wr)
		return;
	sq(qp)->wr->compare_add = compare;
	sq(qp)->wr->swap = swap;
}

static void wr_atomic_fetch_add(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr, uint64_t add)
{
	rdma(qp, IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD, rkey, addr);
	if (sq(qp)->wr)
		sq(qp)->wr->compare_add = add;
}

static void wr_set_ud_addr(struct ibv_qp_ex *qp, struct ibv_ah *ah, uint32_t qpn, uint32_t qkey)
{
	struct sq_wqe *w = sq(qp)->wr;

	if (!w)
		return;
	w->av = ((struct sim_ah *)ah)->attr;
	w->remote_qpn = qpn;
	w->remote_qkey = qkey;
}

static void wr_set_sge_list(struct ibv_qp_ex *qp, size_t n, const struct ibv_sge *list)
{
	struct sq_wqe *w = sq(qp)->wr;

	if (!w)
		return;
	if (n > sq(qp)->cap.max_send_sge) {
		sq(qp)->wr_err = EINVAL;
		return;
	}
	w->num_sge = n;
	memcpy(w->payload, list, n * sizeof(*list));
}

static void wr_set_sge(struct ibv_qp_ex *qp, uint32_t lkey, uint64_t addr, uint32_t length)
{
	struct ibv_sge sge = {.addr = addr, .length = length, .lkey = lkey};

	wr_set_sge_list(qp, 1, &sge);
}

static void wr_set_inline_data_list(struct ibv_qp_ex *qp, size_t n, const struct ibv_data_buf *list)
{
	struct sq_wqe *w = sq(qp)->wr;
	size_t i, at = 0;

	if (!w)
		return;
	if (fetches(w->opcode)) {
		sq(qp)->wr_err = EINVAL;
		return;
	}
	for (i = 0; i < n; i++) {
		if (at + list[i].length > sq(qp)->cap.max_inline_data) {
			sq(qp)->wr_err = EINVAL;
			return;
		}
		memcpy(w->payload + at, list[i].addr, list[i].length);
		at += list[i].length;
	}
	w->flags |= IBV_SEND_INLINE;
	w->inline_len = at;
}

static void wr_set_inline_data(struct ibv_qp_ex *qp, void *addr, size_t length)
{
	struct ibv_data_buf buf = {addr, length};

	wr_set_inline_data_list(qp, 1, &buf);
}

static void wr_set_xrc_srqn(struct ibv_qp_ex *qp, uint32_t srqn)
{
	if (sq(qp)->wr)
		sq(qp)->wr->remote_srqn = srqn;
}

void qp_ex_hooks(struct sim_qp *q)
{
	struct ibv_qp_ex *qp = &q->ex;

	qp->wr_start = wr_start;
	qp->wr_complete = wr_complete;
	qp->wr_abort = wr_abort;
	qp->wr_send = wr_send;
	qp->wr_send_imm = wr_send_imm;
	qp->wr_rdma_write = wr_rdma_write;
	qp->wr_rdma_write_imm = wr_rdma_write_imm;
	qp->wr_rdma_read = wr_rdma_read;
	qp->wr_atomic_cmp_swp = wr_atomic_cmp_swp;
	qp->wr_atomic_fetch_add = wr_atomic_fetch_add;
	qp->wr_set_ud_addr = wr_set_ud_addr;
	qp->wr_set_xrc_srqn = wr_set_xrc_srqn;
	qp->wr_set_sge = wr_set_sge;
	qp->wr_set_sge_list = wr_set_sge_list;
	qp->wr_set_inline_data = wr_set_inline_data;
	qp->wr_set_inline_data_list = wr_set_inline_data_list;
}
