// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * One request of a connected QP, carried out by the requester on the target's
 * shared state and, through peer_copy, on its memory.
 */
#include "fault.h"
#include "wire.h"

#include <errno.h>
#include <string.h>

void wire_release(struct wire_req *r)
{
	while (r->nheld)
		mr_put(r->held[--r->nheld]);
}

bool wire_gather(struct wire_req *r, uint32_t access)
{
	const struct ibv_sge *sge = (const struct ibv_sge *)r->wqe->payload;
	struct mr_ask ask = {
		.access = access,
		.pd = r->qp->shm->pd,
	};
	struct shm_mr *mr;
	int i;

	r->nlocal = 0;
	r->bytes = 0;
	if (r->wqe->flags & IBV_SEND_INLINE) {
		r->local[0].iov_base = r->wqe->payload;
		r->local[0].iov_len = r->bytes = r->wqe->inline_len;
		r->nlocal = r->bytes ? 1 : 0;
		return true;
	}
	for (i = 0; i < r->wqe->num_sge; i++, sge++) {
		if (!sge->length)
			continue;
		ask.key = sge->lkey;
		ask.addr = sge->addr;
		ask.len = sge->length;
		r->local[r->nlocal].iov_base = mr_get(shm_self(), &ask, &mr);
		if (!r->local[r->nlocal].iov_base) {
			r->wqe->status = IBV_WC_LOC_PROT_ERR;
			r->wqe->vendor_err = SIM_VENDOR_PROT;
			return false;
		}
		r->held[r->nheld++] = mr;
		r->local[r->nlocal++].iov_len = sge->length;
		r->bytes += sge->length;
	}
	r->wqe->byte_len = r->bytes;
	return true;
}

enum ibv_wc_status wire_target(struct wire_req *r, uint32_t access)
{
	struct mr_ask ask = {
		.key = r->wqe->rkey,
		.pd = wire_srq(r) == SHM_NONE ? r->q->pd : r->p->seg->srq[wire_srq(r)].pd,
		.access = access,
		.remote = true,
		.addr = r->wqe->remote_addr,
		.len = r->bytes,
	};
	struct shm_mr *mr;

	r->nremote = 0;
	if (!(r->q->access & access))
		return IBV_WC_REM_INV_REQ_ERR;
	if (!r->bytes)
		return IBV_WC_SUCCESS;
	r->remote[0].iov_base = mr_get(r->p->seg, &ask, &mr);
	if (!r->remote[0].iov_base)
		return IBV_WC_REM_ACCESS_ERR;
	r->held[r->nheld++] = mr;
	r->remote[0].iov_len = r->bytes;
	r->nremote = 1;
	return IBV_WC_SUCCESS;
}

/* A fault: the middle byte of the first piece arrives with all bits wrong. */
static void corrupt(struct wire_req *r, struct iovec to)
{
	struct iovec from = {NULL, 1};
	char wrong;
	struct peer_copy c = {.local = &from, .remote = &to, .nlocal = 1, .nremote = 1, .bytes = 1};

	/* of a datagram the payload, not the 40 bytes before it */
	if (r->q->type == IBV_QPT_UD && to.iov_len < 82)
		to.iov_base = (char *)to.iov_base + to.iov_len - 1;
	else
		to.iov_base = (char *)to.iov_base + to.iov_len / 2;
	to.iov_len = 1;
	from.iov_base = &wrong;
	if (peer_copy(r->p, &c))
		return;
	wrong = ~wrong;
	from = (struct iovec){&wrong, 1};
	to.iov_len = 1;
	c = (struct peer_copy){.local = &from,
			       .remote = &to,
			       .nlocal = 1,
			       .nremote = 1,
			       .bytes = 1,
			       .write = true};
	peer_copy(r->p, &c);
}

int wire_copy(struct wire_req *r, bool write, bool ordered)
{
	struct peer_copy c = {
		.local = r->local,
		.remote = r->remote,
		.nlocal = r->nlocal,
		.nremote = r->nremote,
		.bytes = r->bytes,
		.write = write,
		.ordered = ordered,
	};
	struct iovec first, mine = r->local[0];
	int err;

	if (unlikely(r->wqe->shift) && r->nremote)
		r->remote[0].iov_base = (char *)r->remote[0].iov_base + r->wqe->shift;
	first = r->remote[0];

	if (likely(!r->wqe->corrupt || !r->bytes))
		return peer_copy(r->p, &c);
	err = peer_copy(r->p, &c);
	if (!err && write)
		corrupt(r, first);
	else if (!err)
		((unsigned char *)mine.iov_base)[mine.iov_len / 2] ^= 0xff;
	return err;
}

enum wire_answer wire_done(struct wire_req *r, enum ibv_wc_status st, uint32_t vendor)
{
	r->wqe->status = st;
	r->wqe->vendor_err = vendor;
	return WIRE_DONE;
}

static bool reliable(const struct wire_req *r)
{
	return is_reliable(r->q->type);
}

/* The target refuses: it fails too, and on UC nobody hears of it. */
enum wire_answer wire_nak(struct wire_req *r, enum ibv_wc_status st)
{
	bool access = st == IBV_WC_REM_ACCESS_ERR;

	if (!reliable(r))
		return wire_done(r, IBV_WC_SUCCESS, 0);
	qp_error(r->p, r->q);
	qp_event(r->p, r->q, access ? IBV_EVENT_QP_ACCESS_ERR : IBV_EVENT_QP_REQ_ERR);
	return wire_done(r, st, SIM_VENDOR_ACCESS);
}

enum wire_answer wire_copied(struct wire_req *r, int err)
{
	if (!err)
		return wire_done(r, IBV_WC_SUCCESS, 0);
	if (err == -ESRCH)
		return reliable(r) ? WIRE_SILENT : wire_done(r, IBV_WC_SUCCESS, 0);
	return wire_done(r, IBV_WC_LOC_PROT_ERR, SIM_VENDOR_PROT);
}

static void fill_imm(struct wire_req *r, struct shm_cqe *e)
{
	if (r->wqe->opcode == IBV_WR_SEND_WITH_IMM ||
	    r->wqe->opcode == IBV_WR_RDMA_WRITE_WITH_IMM) {
		e->wc.imm_data = r->wqe->imm;
		e->wc.wc_flags |= IBV_WC_WITH_IMM;
	}
}

/* The receive request did not fit the message. */
static enum wire_answer recv_failed(struct wire_req *r, enum ibv_wc_status st)
{
	struct shm_cqe e = {
		.wc = {.opcode = IBV_WC_RECV, .status = st, .vendor_err = SIM_VENDOR_LENGTH}};

	recv_complete(r, &e);
	qp_error(r->p, r->q);
	if (!reliable(r))
		return wire_done(r, IBV_WC_SUCCESS, 0);
	return wire_done(r, st == IBV_WC_LOC_LEN_ERR ? IBV_WC_REM_INV_REQ_ERR : IBV_WC_REM_OP_ERR,
			 SIM_VENDOR_LENGTH);
}

static enum wire_answer no_recv(struct wire_req *r)
{
	if (!reliable(r))
		return wire_done(r, IBV_WC_SUCCESS, 0);
	r->qp->rnr_timer = r->q->min_rnr_timer;
	return WIRE_RNR;
}

static enum wire_answer do_send(struct wire_req *r)
{
	struct shm_cqe e = {.wc = {.opcode = IBV_WC_RECV}};
	enum ibv_wc_status st;
	int err;

	if (!recv_take(r))
		return no_recv(r);
	st = recv_scatter(r, r->bytes);
	if (st)
		return recv_failed(r, st);
	err = wire_copy(r, true, false);
	if (err)
		return wire_copied(r, err);
	e.wc.byte_len = r->bytes;
	fill_imm(r, &e);
	recv_complete(r, &e);
	return wire_done(r, IBV_WC_SUCCESS, 0);
}

static enum wire_answer do_write(struct wire_req *r)
{
	bool imm = r->wqe->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	struct shm_cqe e = {.wc = {.opcode = IBV_WC_RECV_RDMA_WITH_IMM}};
	enum ibv_wc_status st = wire_target(r, IBV_ACCESS_REMOTE_WRITE);
	int err;

	if (st)
		return wire_nak(r, st);
	if (imm && !recv_take(r))
		return no_recv(r);
	err = wire_copy(r, true, true);
	if (err)
		return wire_copied(r, err);
	if (imm) {
		e.wc.byte_len = r->bytes;
		fill_imm(r, &e);
		recv_complete(r, &e);
	} else {
		atomic_fetch_add(&r->p->seg->written, 1);
	}
	return wire_done(r, IBV_WC_SUCCESS, 0);
}

/* Would a packet of ours be taken by this QP at all? */
static bool listening(struct wire_req *r)
{
	const struct shm_qp *q = r->q, *me = r->qp->shm;
	const struct shm_port *from, *to;
	uint32_t state = atomic_load(&q->state);
	uint32_t wanted = me->type == IBV_QPT_XRC_SEND ? IBV_QPT_XRC_RECV : me->type;

	if (q->qpn != r->qp->attr.dest_qp_num || q->type != wanted || q->dest_qpn != me->qpn ||
	    state < IBV_QPS_RTR || state == IBV_QPS_ERR)
		return false;
	from = &shm_self()->port[me->dev][me->port - 1];
	to = &r->p->seg->port[q->dev][q->port - 1];
	if (!atomic_load_explicit(&from->up, memory_order_relaxed) ||
	    !atomic_load_explicit(&to->up, memory_order_relaxed))
		return false;
	if (likely(r->qp->path_ok == q->qpn))
		return true;
	if (!ah_reaches(&r->qp->attr.ah_attr, from, to))
		return false;
	/* another partition, or two limited members of one */
	if ((q->pkey ^ me->pkey) & 0x7fff || !((q->pkey | me->pkey) & 0x8000))
		return false;
	if (is_reliable(me->type) && q->rq_psn != r->qp->attr.sq_psn)
		return false;
	r->qp->path_ok = q->qpn;
	return true;
}

static enum wire_answer deliver(struct wire_req *r)
{
	uint32_t mtu = r->q->path_mtu;

	/* packets of one size, and the target expects another */
	if (mtu != r->qp->shm->path_mtu &&
	    r->bytes > (128u << (mtu < r->qp->shm->path_mtu ? mtu : r->qp->shm->path_mtu)))
		return wire_nak(r, IBV_WC_REM_INV_REQ_ERR);
	if (r->q->type == IBV_QPT_XRC_RECV && wire_srq(r) == SHM_NONE)
		return wire_nak(r, IBV_WC_REM_INV_REQ_ERR);
	switch (r->wqe->opcode) {
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
		return do_send(r);
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return do_write(r);
	case IBV_WR_RDMA_READ:
		return fetch_read(r);
	default:
		return fetch_atomic(r);
	}
}

enum wire_answer wire_request(struct sim_qp *qp, struct sq_wqe *wqe)
{
	const struct desc_dev *d = sim_ctx(qp->ex.qp_base.context)->desc;
	bool rc = is_reliable(qp->shm->type);
	enum wire_answer a;
	struct wire_req r;

	r.qp = qp;
	r.wqe = wqe;
	r.nheld = 0;
	if (!wire_gather(&r, fetches(wqe->opcode) ? IBV_ACCESS_LOCAL_WRITE : 0)) {
		wire_release(&r);
		return WIRE_DONE;
	}
	if (r.bytes > d->max_msg) {
		wire_release(&r);
		return wire_done(&r, IBV_WC_LOC_LEN_ERR, SIM_VENDOR_LENGTH);
	}
	if (unlikely(wqe->use != NULL) && !fetches(wqe->opcode))
		kept_use(&r);
	if (!qp->peer)
		qp->peer = peer_get(qpn_slot(qp->attr.dest_qp_num));
	a = rc ? WIRE_SILENT : WIRE_DONE;
	wqe->status = IBV_WC_SUCCESS;
	if (qp->peer && !atomic_load(&qp->peer->seg->dead)) {
		r.p = qp->peer;
		r.q = &r.p->seg->qp[qpn_index(qp->attr.dest_qp_num)];
		shm_lock(&r.q->lock);
		if (listening(&r))
			a = deliver(&r);
		shm_unlock(&r.q->lock);
	}
	wire_release(&r);
	return a;
}
