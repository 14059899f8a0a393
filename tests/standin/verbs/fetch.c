// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * READs and atomics: requests whose data come back. An adapter remembers those that are under way:
 * its own, at most max_rd_atomic of a queue pair, after which the next one waits; and as a target
 * the peer's, of which it refuses the one for which it has no room (max_dest_rd_atomic).
 */
#include "wire.h"

#include <stdlib.h>
#include <string.h>

/* Stricter than hardware: one is under way until its completion was polled, be it ever so fast. */
static uint32_t under_way(struct sim_qp *qp)
{
	uint32_t i = atomic_load_explicit(&qp->sq_tail, memory_order_relaxed), n = 0;

	for (; i != qp->sq_next + 1 && n < qp->attr.max_rd_atomic; i++)
		n += fetches(sq_slot(qp, i)->opcode);
	return n;
}

/* What our adapter and the target's say before the memory is looked at. */
static enum ibv_wc_status refusal(struct wire_req *r)
{
	uint32_t room = r->q->max_dest_rd;

	if (!r->qp->attr.max_rd_atomic)
		return IBV_WC_LOC_QP_OP_ERR;
	if (!room || (r->qp->attr.max_rd_atomic > room && under_way(r->qp) > room))
		return IBV_WC_REM_INV_REQ_ERR;
	return IBV_WC_SUCCESS;
}

static enum wire_answer refuse(struct wire_req *r, enum ibv_wc_status st)
{
	return st == IBV_WC_LOC_QP_OP_ERR ? wire_done(r, st, SIM_VENDOR_PROT) : wire_nak(r, st);
}

enum wire_answer fetch_read(struct wire_req *r)
{
	enum ibv_wc_status st = refusal(r);

	if (!st)
		st = wire_target(r, IBV_ACCESS_REMOTE_READ);
	return st ? refuse(r, st) : wire_copied(r, wire_copy(r, false, false));
}

/* The target's eight bytes to VALUE, or from there. */
static int word(struct wire_req *r, uint64_t *value, bool write)
{
	struct iovec mine = {value, 8};
	struct iovec theirs = {(char *)r->remote[0].iov_base + r->wqe->shift, 8};
	struct peer_copy c = {.local = &mine,
			      .remote = &theirs,
			      .nlocal = 1,
			      .nremote = 1,
			      .bytes = 8,
			      .write = write};

	return peer_copy(r->p, &c);
}

static int modify(struct wire_req *r, uint64_t *old)
{
	const struct sq_wqe *w = r->wqe;
	bool add = w->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
	uint64_t v;
	int err;

	shm_lock(&r->p->seg->atomic_lock);
	err = word(r, old, false);
	v = add ? *old + w->compare_add : w->swap;
	if (!err && (add || *old == w->compare_add))
		err = word(r, &v, true);
	shm_unlock(&r->p->seg->atomic_lock);
	return err;
}

enum wire_answer fetch_atomic(struct wire_req *r)
{
	enum ibv_wc_status st = refusal(r);
	uint64_t old = 0;
	char *from = (char *)&old;
	int err, i;

	if (r->bytes != 8)
		return wire_done(r, IBV_WC_LOC_LEN_ERR, SIM_VENDOR_LENGTH);
	if (!st && r->wqe->remote_addr % 8)
		st = IBV_WC_REM_INV_REQ_ERR;
	if (!st)
		st = wire_target(r, IBV_ACCESS_REMOTE_ATOMIC);
	if (st)
		return refuse(r, st);
	err = modify(r, &old);
	if (r->wqe->corrupt)
		old ^= UINT64_C(0xff) << 32;
	for (i = 0; !err && i < r->nlocal; i++) {
		memcpy(r->local[i].iov_base, from, r->local[i].iov_len);
		from += r->local[i].iov_len;
	}
	return wire_copied(r, err);
}

uint64_t fetch_due(struct sim_qp *qp, uint64_t at, uint64_t cost)
{
	uint32_t most = qp->attr.max_rd_atomic;
	uint64_t *last;

	if (!most)
		return at;
	if (!qp->fetch_due)
		qp->fetch_due = calloc(UINT8_MAX, sizeof(*qp->fetch_due));
	if (!qp->fetch_due)
		abort();
	last = &qp->fetch_due[qp->fetches++ % most];
	if (*last && *last + cost > at)
		at = *last + cost;
	*last = at;
	return at;
}
