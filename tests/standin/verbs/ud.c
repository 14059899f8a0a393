// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Datagrams: found by QP number and address, lost without a word. */
#include "fault.h"
#include "wire.h"

#include <endian.h>
#include <string.h>

enum {
	GRH_BYTES = 40,
	GROUP_QPN = 0xffffff
};

static bool is_v4(const uint8_t *gid)
{
	static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};

	return !memcmp(gid, prefix, sizeof(prefix));
}

/* What the adapter puts before the payload. */
static void make_grh(uint8_t *b, const struct ibv_ah_attr *av, const struct shm_gid *sgid,
		     uint64_t bytes)
{
	struct ibv_grh g = {
		.version_tclass_flow = htobe32(6u << 28 | av->grh.traffic_class << 20 |
					       (av->grh.flow_label & 0xfffff)),
		.paylen = htobe16(bytes + 24), /* with BTH, DETH and ICRC */
		.next_hdr = sgid->type == 2 ? 17 : 0x1b,
		.hop_limit = av->grh.hop_limit,
		.dgid = av->grh.dgid,
	};
	uint16_t total = htobe16(bytes + 52);

	memcpy(g.sgid.raw, sgid->raw, 16);
	memcpy(b, &g, sizeof(g));
	if (sgid->type != 2 || !is_v4(sgid->raw))
		return;
	memset(b, 0, GRH_BYTES);
	b[20] = 0x45;
	b[21] = av->grh.traffic_class;
	memcpy(b + 22, &total, 2);
	b[28] = av->grh.hop_limit;
	b[29] = 17;
	memcpy(b + 32, sgid->raw + 12, 4);
	memcpy(b + 36, av->grh.dgid.raw + 12, 4);
}

/* Whether the QP takes datagrams of that Q_Key; where to they go, the callers look. */
static bool accepts(const struct wire_req *r, const struct shm_port *from)
{
	const struct shm_qp *q = r->q;
	uint32_t state = atomic_load(&q->state), qkey = r->wqe->remote_qkey;
	const struct shm_port *to;

	if (q->type != IBV_QPT_UD || state < IBV_QPS_RTR ||
	    state == IBV_QPS_ERR)
		return false;
	if (qkey >> 31)
		qkey = r->qp->attr.qkey;
	to = &r->p->seg->port[q->dev][q->port - 1];
	return qkey == q->qkey && atomic_load(&from->up) && atomic_load(&to->up) &&
	       from->link == to->link;
}

static void deliver(struct wire_req *r, const struct shm_port *from)
{
	struct shm_cqe e = {.wc = {.opcode = IBV_WC_RECV}};
	uint8_t grh[GRH_BYTES];
	uint64_t payload = r->bytes;

	if (!recv_take(r))
		return;
	memset(grh, 0xa5, sizeof(grh)); /* undefined without GRH */
	if (r->wqe->av.is_global)
		make_grh(grh, &r->wqe->av, &from->gid[r->wqe->av.grh.sgid_index], payload);
	memmove(r->local + 1, r->local, r->nlocal * sizeof(*r->local));
	r->local[0] = (struct iovec){grh, GRH_BYTES};
	r->nlocal++;
	r->bytes += GRH_BYTES;
	e.wc.status = recv_scatter(r, r->bytes);
	if (!e.wc.status && wire_copy(r, true, false))
		return;
	e.wc.byte_len = r->bytes;
	e.wc.slid = from->lid + r->wqe->av.src_path_bits;
	e.wc.wc_flags = r->wqe->av.is_global ? IBV_WC_GRH : 0;
	if (r->wqe->opcode == IBV_WR_SEND_WITH_IMM) {
		e.wc.wc_flags |= IBV_WC_WITH_IMM;
		e.wc.imm_data = r->wqe->imm;
	}
	recv_complete(r, &e);
	if (e.wc.status)
		qp_error(r->p, r->q);
}

/* To those QPs of process r->p that are attached to the group. */
static void to_members(struct wire_req *r, const struct shm_port *from)
{
	for (int i = 0; i < SHM_MCASTS; i++) {
		uint32_t index = atomic_load(&r->p->seg->mcast[i]);

		wire_release(r);
		if (!index || !wire_gather(r, 0))
			continue;
		r->q = &r->p->seg->qp[index - 1];
		shm_lock(&r->q->lock);
		if (!memcmp(r->q->mgid, r->wqe->av.grh.dgid.raw, 16) && accepts(r, from))
			deliver(r, from);
		shm_unlock(&r->q->lock);
	}
}

static void to_qp(struct wire_req *r, const struct shm_port *from)
{
	r->p = peer_get(qpn_slot(r->wqe->remote_qpn));
	if (!r->p)
		return;
	r->q = &r->p->seg->qp[qpn_index(r->wqe->remote_qpn)];
	shm_lock(&r->q->lock);
	if (r->q->qpn == r->wqe->remote_qpn && accepts(r, from) &&
	    ah_reaches(&r->wqe->av, from, &r->p->seg->port[r->q->dev][r->q->port - 1]))
		deliver(r, from);
	shm_unlock(&r->q->lock);
	wire_release(r);
	peer_put(r->p);
}

void ud_send(struct sim_qp *qp, struct sq_wqe *wqe)
{
	const struct shm_port *from = &shm_self()->port[qp->shm->dev][qp->shm->port - 1];
	struct wire_req r;

	r.qp = qp;
	r.wqe = wqe;
	r.nheld = 0;
	if (!wire_gather(&r, 0))
		goto out;
	wqe->status = IBV_WC_SUCCESS;
	if (r.bytes > from->mtu) {
		wqe->status = IBV_WC_LOC_LEN_ERR;
		wqe->vendor_err = SIM_VENDOR_LENGTH;
		goto out;
	}
	if (wqe->remote_qpn != GROUP_QPN)
		to_qp(&r, from);
	for (unsigned int i = 0; wqe->remote_qpn == GROUP_QPN && i < SHM_SLOTS; i++)
		if ((r.p = peer_get(i))) {
			to_members(&r, from);
			wire_release(&r);
			peer_put(r.p);
		}
out:
	wire_release(&r);
}
