// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * An Elastic Fabric Adapter: libefa's calls, and SRD. A request names its target as a datagram
 * does, arrives once, in any order (`shuffle`), and fails alone: the queue pair goes on.
 */
#include "fault.h"
#include "wire.h"

#include <errno.h>
#include <infiniband/efadv.h>
#include <string.h>

/* EFADV_DEVICE_ATTR_CAPS_RDMA_WRITE is newer than the header. */
#define CAPS_RDMA_WRITE (1 << 3)

/* The device's own statuses, in vendor_err. */
enum {
	EFA_TOO_LONG = 6,
	EFA_BAD_ADDRESS = 7,
	EFA_NO_QP = 9,
	EFA_NO_RECEIVE = 10,
	EFA_SHORT_RECEIVE = 11,
	EFA_NOT_KNOWN_THERE = 14,
};

/* What newer headers have behind driver_qp_type, in its place. */
struct newer_init_attr {
	uint64_t comp_mask;
	uint32_t driver_qp_type;
	uint16_t flags;
	uint8_t sl, reserved;
};

int efadv_query_device(struct ibv_context *c, struct efadv_device_attr *attr, uint32_t size)
{
	const struct desc_dev *d = sim_ctx(c)->desc;
	struct efadv_device_attr a = {
		.max_sq_wr = (uint32_t)d->max_depth,
		.max_rq_wr = (uint32_t)d->max_depth,
		.max_sq_sge = (uint16_t)d->max_sge,
		.max_rq_sge = (uint16_t)d->max_sge,
		.inline_buf_size = (uint16_t)d->max_inline,
		.device_caps = (uint32_t)d->efa_caps,
		.max_rdma_size = (uint32_t)d->max_rdma,
	};

	if (!(d->features & DESC_EFA))
		return EOPNOTSUPP;
	if (size < sizeof(a.comp_mask))
		return EINVAL;
	memset(attr, 0, size);
	memcpy(attr, &a, size < sizeof(a) ? size : sizeof(a));
	return 0;
}

static uint32_t pow2_above(uint32_t n)
{
	uint32_t p = 1;

	while (p < n)
		p <<= 1;
	return p;
}

/* The real library takes a longer structure, if what it does not know is zero. */
static int check_init(const struct desc_dev *d, const struct ibv_qp_init_attr_ex *a,
		      const struct efadv_qp_init_attr *efa, uint32_t size)
{
	struct newer_init_attr newer = {0};

	memcpy(&newer, efa, size < sizeof(newer) ? size : sizeof(newer));
	for (uint32_t i = sizeof(newer); i < size; i++)
		if (((const char *)efa)[i])
			return EINVAL;
	if (!(d->features & DESC_EFA))
		return EOPNOTSUPP;
	if (size < 16 || newer.comp_mask || newer.flags || newer.sl || newer.reserved)
		return EINVAL;
	if (a->qp_type != IBV_QPT_DRIVER || newer.driver_qp_type != EFADV_QP_DRIVER_TYPE_SRD ||
	    a->srq || a->comp_mask != (IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS))
		return EOPNOTSUPP;
	return 0;
}

struct ibv_qp *efadv_create_qp_ex(struct ibv_context *c, struct ibv_qp_init_attr_ex *attr,
				  struct efadv_qp_init_attr *efa, uint32_t size)
{
	struct ibv_qp_init_attr_ex rounded = *attr;

	if (fault_call(FAULT_ibv_create_qp_ex))
		return NULL;
	errno = check_init(sim_ctx(c)->desc, attr, efa, size);
	if (errno)
		return NULL;
	rounded.cap.max_send_wr = pow2_above(attr->cap.max_send_wr);
	rounded.cap.max_recv_wr = pow2_above(attr->cap.max_recv_wr);
	attr->cap = rounded.cap;
	return qp_make(&rounded);
}

struct ibv_qp *efadv_create_driver_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr,
				      uint32_t type)
{
	struct efadv_qp_init_attr efa = {.driver_qp_type = type};
	struct ibv_qp_init_attr_ex ex = {
		.qp_context = attr->qp_context,
		.send_cq = attr->send_cq,
		.recv_cq = attr->recv_cq,
		.cap = attr->cap,
		.qp_type = attr->qp_type,
		.sq_sig_all = attr->sq_sig_all,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = pd,
		.send_ops_flags = srd_ops(sim_ctx(pd->context)->desc),
	};

	return efadv_create_qp_ex(pd->context, &ex, &efa, sizeof(efa));
}

int efadv_query_ah(struct ibv_ah *ah, struct efadv_ah_attr *attr, uint32_t size)
{
	struct efadv_ah_attr a = {.ahn = ((struct sim_ah *)ah)->number};

	if (!(sim_ctx(ah->context)->desc->features & DESC_EFA))
		return EOPNOTSUPP;
	memset(attr, 0, size);
	memcpy(attr, &a, size < sizeof(a) ? size : sizeof(a));
	return 0;
}

uint64_t srd_ops(const struct desc_dev *d)
{
	return IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM |
	       (d->efa_caps & EFADV_DEVICE_ATTR_CAPS_RDMA_READ ? IBV_QP_EX_WITH_RDMA_READ : 0) |
	       (d->efa_caps & CAPS_RDMA_WRITE
			? IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM
			: 0);
}

void srd_ah_known(struct sim_ah *ah, bool known)
{
	struct shm_seg *seg;

	if (sim_conf()->null || !(sim_ctx(ah->ibv.context)->desc->features & DESC_EFA))
		return;
	seg = shm_self();
	if (!known && ah->number)
		atomic_store(&seg->ah[ah->number - 1].used, 0);
	for (int i = 0; known && i < SHM_AHS && !ah->number; i++) {
		uint32_t none = 0;

		if (!atomic_compare_exchange_strong(&seg->ah[i].used, &none, 1))
			continue;
		memcpy(seg->ah[i].gid, ah->attr.grh.dgid.raw, 16);
		atomic_store(&seg->ah[i].used, 2); /* and readable */
		ah->number = (uint16_t)(i + 1);
	}
}

/* Has the other end an address handle of this one? READs and WRITEs are answered only then. */
static bool known_there(struct shm_seg *seg, const struct shm_port *me)
{
	for (int i = 0; i < SHM_AHS; i++)
		if (atomic_load(&seg->ah[i].used) == 2 &&
		    !memcmp(seg->ah[i].gid, me->gid[0].raw, 16))
			return true;
	return false;
}

int srd_check(const struct sim_qp *qp, const struct sq_wqe *w, uint32_t flags,
	      uint32_t inline_bytes)
{
	bool send = w->opcode == IBV_WR_SEND || w->opcode == IBV_WR_SEND_WITH_IMM;

	if (flags & ~(IBV_SEND_SIGNALED | IBV_SEND_INLINE) ||
	    (!qp->sig_all && !(flags & IBV_SEND_SIGNALED)) || !w->remote_qpn)
		return EINVAL;
	return !send && (inline_bytes || w->num_sge > 1) ? EINVAL : 0;
}

static enum wire_answer send_there(struct wire_req *r)
{
	struct shm_cqe e = {.wc = {.opcode = IBV_WC_RECV}};
	bool retried = sim_ctx(r->qp->ex.qp_base.context)->desc->efa_caps &
		       EFADV_DEVICE_ATTR_CAPS_RNR_RETRY;
	int err;

	if (!recv_take(r)) {
		r->qp->rnr_timer = 1;
		return retried ? WIRE_RNR : wire_done(r, IBV_WC_RNR_RETRY_EXC_ERR, EFA_NO_RECEIVE);
	}
	if (recv_scatter(r, r->bytes)) {
		e.wc.status = IBV_WC_LOC_LEN_ERR;
		recv_complete(r, &e);
		return wire_done(r, IBV_WC_REM_INV_REQ_ERR, EFA_SHORT_RECEIVE);
	}
	err = wire_copy(r, true, false);
	if (err)
		return wire_copied(r, err);
	e.wc.byte_len = (uint32_t)r->bytes;
	e.wc.slid = 0xffff;
	if (r->wqe->opcode == IBV_WR_SEND_WITH_IMM) {
		e.wc.imm_data = r->wqe->imm;
		e.wc.wc_flags = IBV_WC_WITH_IMM;
	}
	recv_complete(r, &e);
	return wire_done(r, IBV_WC_SUCCESS, 0);
}

static enum wire_answer rdma_there(struct wire_req *r, const struct shm_port *me)
{
	bool read = r->wqe->opcode == IBV_WR_RDMA_READ;
	struct shm_cqe e = {.wc = {.opcode = IBV_WC_RECV_RDMA_WITH_IMM}};
	int err;

	if (!known_there(r->p->seg, me))
		return wire_done(r, IBV_WC_REM_OP_ERR, EFA_NOT_KNOWN_THERE);
	if (wire_target(r, read ? IBV_ACCESS_REMOTE_READ : IBV_ACCESS_REMOTE_WRITE))
		return wire_done(r, IBV_WC_REM_ACCESS_ERR, EFA_BAD_ADDRESS);
	if (r->wqe->opcode == IBV_WR_RDMA_WRITE_WITH_IMM && !recv_take(r))
		return wire_done(r, IBV_WC_RNR_RETRY_EXC_ERR, EFA_NO_RECEIVE);
	err = wire_copy(r, !read, !read);
	if (err)
		return wire_copied(r, err);
	if (r->wqe->opcode == IBV_WR_RDMA_WRITE_WITH_IMM) {
		e.wc.byte_len = (uint32_t)r->bytes;
		e.wc.imm_data = r->wqe->imm;
		e.wc.wc_flags = IBV_WC_WITH_IMM;
		recv_complete(r, &e);
	} else if (!read) {
		atomic_fetch_add(&r->p->seg->written, 1);
	}
	return wire_done(r, IBV_WC_SUCCESS, 0);
}

static enum wire_answer arrive(struct wire_req *r)
{
	const struct shm_port *me = &shm_self()->port[r->qp->shm->dev][r->qp->shm->port - 1];
	const struct shm_port *to = &r->p->seg->port[r->q->dev][r->q->port ? r->q->port - 1 : 0];
	uint32_t state = atomic_load(&r->q->state);

	if (!atomic_load(&me->up) || !atomic_load(&to->up) || !ah_reaches(&r->wqe->av, me, to))
		return WIRE_SILENT;
	if (r->q->qpn != r->wqe->remote_qpn || r->q->type != IBV_QPT_DRIVER ||
	    state < IBV_QPS_RTR || state == IBV_QPS_ERR || r->wqe->remote_qkey != r->q->qkey)
		return wire_done(r, IBV_WC_REM_INV_RD_REQ_ERR, EFA_NO_QP);
	if (r->wqe->opcode == IBV_WR_SEND || r->wqe->opcode == IBV_WR_SEND_WITH_IMM)
		return send_there(r);
	return rdma_there(r, me);
}

enum wire_answer srd_request(struct sim_qp *qp, struct sq_wqe *w)
{
	const struct desc_dev *d = sim_ctx(qp->ex.qp_base.context)->desc;
	bool send = w->opcode == IBV_WR_SEND || w->opcode == IBV_WR_SEND_WITH_IMM;
	enum wire_answer a = WIRE_SILENT;
	struct wire_req r;

	r.qp = qp;
	r.wqe = w;
	r.nheld = 0;
	w->status = IBV_WC_SUCCESS;
	if (!wire_gather(&r, fetches(w->opcode) ? IBV_ACCESS_LOCAL_WRITE : 0)) {
		wire_release(&r);
		return WIRE_DONE;
	}
	if (r.bytes > (send ? d->max_msg : d->max_rdma)) {
		wire_release(&r);
		return wire_done(&r, IBV_WC_LOC_LEN_ERR, EFA_TOO_LONG);
	}
	r.p = peer_get(qpn_slot(w->remote_qpn));
	if (r.p && !atomic_load(&r.p->seg->dead)) {
		r.q = &r.p->seg->qp[qpn_index(w->remote_qpn)];
		shm_lock(&r.q->lock);
		a = arrive(&r);
		shm_unlock(&r.q->lock);
	}
	wire_release(&r);
	peer_put(r.p);
	return a;
}
