// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The send queue.  A request is carried out in the call that posts it, unless
 * an earlier one waits, SIMVERBS_DEFER asks for later, or it gets no answer;
 * then the engine carries it on.
 */
#include "fault.h"
#include "steps.h"

#include <errno.h>
#include <string.h>

/* The time a "receiver not ready" answer asks for, in units of 10 us. */
static uint64_t rnr_wait_ns(uint32_t code)
{
	static const uint16_t tens_us[32] = {
		65535, 1,    2,    3,    4,    6,     8,     12,    16,    24,    32,
		48,    64,   96,   128,  192,  256,   384,   512,   768,   1024,  1536,
		2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
	};

	return tens_us[code & 31] * UINT64_C(10000);
}

static enum ibv_wc_opcode wc_opcode(int op)
{
	static const uint8_t map[] = {
		[IBV_WR_RDMA_WRITE] = IBV_WC_RDMA_WRITE,
		[IBV_WR_RDMA_WRITE_WITH_IMM] = IBV_WC_RDMA_WRITE,
		[IBV_WR_SEND] = IBV_WC_SEND,
		[IBV_WR_SEND_WITH_IMM] = IBV_WC_SEND,
		[IBV_WR_RDMA_READ] = IBV_WC_RDMA_READ,
		[IBV_WR_ATOMIC_CMP_AND_SWP] = IBV_WC_COMP_SWAP,
		[IBV_WR_ATOMIC_FETCH_AND_ADD] = IBV_WC_FETCH_ADD,
	};

	return map[op];
}

/* Report a finished request and take the QP down if it failed. */
static void complete(struct sim_qp *qp, struct sq_wqe *w)
{
	struct peer *self = peer_self();
	struct shm_cqe e;
	bool lost = false;

	if (w->status || qp->sig_all || (w->flags & IBV_SEND_SIGNALED)) {
		e = (struct shm_cqe){
			.wc =
				{
					.wr_id = w->wr_id,
					.status = w->status,
					.opcode = is_srd(qp) && w->opcode == IBV_WR_RDMA_READ
							  ? IBV_WC_SEND
							  : wc_opcode(w->opcode),
					.vendor_err = w->status ? w->vendor_err : 0,
					.byte_len = w->byte_len,
					.qp_num = qp->ex.qp_base.qp_num,
				},
			.sq_end = qp->sq_next + 1,
			.is_send = 1,
		};
		lost = !cq_push(self, qp->shm->send_cq, &e, false);
	}
	if (unlikely(lost)) {
		shm_lock(&qp->shm->lock);
		qp_fatal(self, qp->shm);
		shm_unlock(&qp->shm->lock);
	}
	if (likely(!w->status) || w->status == IBV_WC_WR_FLUSH_ERR)
		return;
	shm_lock(&qp->shm->lock);
	if (is_srd(qp))
		; /* ends only the request */
	else if (is_reliable(qp->shm->type))
		qp_error(self, qp->shm);
	else if (atomic_load(&qp->shm->state) == IBV_QPS_RTS)
		atomic_store(&qp->shm->state, IBV_QPS_SQE);
	shm_unlock(&qp->shm->lock);
}

/* Nobody answers SRD: it gives up by itself, without a number of tries that anybody could set. */
enum {
	SRD_LOOK_NS = 10000000,
	SRD_SILENCE_NS = 300000000,
	SRD_VENDOR_UNRESPONSIVE = 15,
	SRD_VENDOR_RNR = 10
};

static void fail(struct sq_wqe *w, enum ibv_wc_status st, uint32_t vendor)
{
	w->status = st;
	w->vendor_err = vendor;
	w->done = 1;
}

/* No acknowledgement: try again each timeout, retry_cnt times. */
static void no_answer(struct sim_qp *qp, struct sq_wqe *w)
{
	uint64_t now = sim_now_ns();
	uint64_t period = UINT64_C(4096) << qp->attr.timeout;

	if (is_srd(qp)) {
		if (!qp->give_up_ns)
			qp->give_up_ns = now + SRD_SILENCE_NS;
		qp->wait_until_ns = now + SRD_LOOK_NS;
		if (now >= qp->give_up_ns)
			fail(w, IBV_WC_RESP_TIMEOUT_ERR, SRD_VENDOR_UNRESPONSIVE);
		return;
	}

	if (!qp->give_up_ns)
		qp->give_up_ns =
			qp->attr.timeout ? now + period * (qp->attr.retry_cnt + 1) : UINT64_MAX;
	if (now >= qp->give_up_ns)
		fail(w, IBV_WC_RETRY_EXC_ERR, SIM_VENDOR_RETRY);
	else
		qp->wait_until_ns = now + (qp->attr.timeout ? period : UINT64_C(100000000));
}

static void not_ready(struct sim_qp *qp, struct sq_wqe *w)
{
	bool for_ever =
		qp->attr.rnr_retry == 7 || (is_srd(qp) && !qp->attr.rnr_retry); /* not set */

	if (!for_ever && qp->tries++ >= qp->attr.rnr_retry)
		fail(w, IBV_WC_RNR_RETRY_EXC_ERR, is_srd(qp) ? SRD_VENDOR_RNR : SIM_VENDOR_RNR);
	else
		qp->wait_until_ns = sim_now_ns() + rnr_wait_ns(qp->rnr_timer);
}

static enum wire_answer carry_out(struct sim_qp *qp, struct sq_wqe *w)
{
	if (is_srd(qp))
		return srd_request(qp, w);
	if (qp->shm->type != IBV_QPT_UD)
		return wire_request(qp, w);
	ud_send(qp, w);
	return WIRE_DONE;
}

/* This message comes before the one that was held, and where that was to go. */
static enum wire_answer before_held(struct sim_qp *qp, struct sq_wqe *w)
{
	struct kept *held = w->use;
	uint64_t addr = w->remote_addr;
	enum wire_answer a;

	w->remote_addr = held->remote_addr;
	w->use = NULL;
	a = carry_out(qp, w);
	w->remote_addr = addr;
	w->use = held;
	return a;
}

/* One attempt at the request; w->done when it is over. */
static void attempt(struct sim_qp *qp, struct sq_wqe *w)
{
	enum fault_fate fate = FATE_NONE;
	enum wire_answer a = WIRE_DONE;

	if (unlikely(fault_on) && !qp->tries && !qp->give_up_ns)
		fate = fault_message(qp, w);
	w->corrupt = fate == FATE_CORRUPT;
	if (unlikely(w->keep != NULL) && !fetches(w->opcode))
		kept_take(qp, w);
	if (unlikely(fate == FATE_HELD))
		a = before_held(qp, w);
	if (likely(fate != FATE_LOSE && fate != FATE_HOLD))
		a = carry_out(qp, w);
	if (unlikely(fate == FATE_DUP) && a == WIRE_DONE && !w->status)
		carry_out(qp, w);
	if (unlikely(w->keep || w->use) && fetches(w->opcode) && a == WIRE_DONE && !w->status)
		kept_bring(qp, w);
	switch (a) {
	case WIRE_DONE:
		w->done = 1;
		qp->tries = 0;
		qp->give_up_ns = qp->wait_until_ns = 0;
		break;
	case WIRE_SILENT:
		no_answer(qp, w);
		break;
	case WIRE_RNR:
		not_ready(qp, w);
		break;
	}
}

/* False when the request has to wait. */
static bool run_one(struct sim_qp *qp, struct sq_wqe *w)
{
	uint32_t state = atomic_load_explicit(&qp->shm->state, memory_order_relaxed);

	if (!w->done && (state == IBV_QPS_ERR || state == IBV_QPS_SQE))
		fail(w, IBV_WC_WR_FLUSH_ERR, SIM_VENDOR_FLUSH);
	if (!w->done && state != IBV_QPS_RTS)
		return false;
	if (unlikely(w->due_ns) && !w->done && sim_now_ns() < w->due_ns) {
		qp->wait_until_ns = w->due_ns;
		return false;
	}
	if (!w->done && (!qp->wait_until_ns || sim_now_ns() >= qp->wait_until_ns))
		attempt(qp, w);
	if (!w->done)
		return false;
	return !w->not_before_ns || sim_now_ns() >= w->not_before_ns;
}

/*
 * SRD has no order: what is there of the next few requests is carried out backwards. False if one
 * has to wait; what went ahead of it is remembered.
 */
static bool run_shuffled(struct sim_qp *qp)
{
	uint32_t n = qp->sq_head - qp->sq_next;

	if (n > qp->shuffle)
		n = qp->shuffle;
	for (uint32_t i = n; i-- > 0;) {
		struct sq_wqe *w = sq_slot(qp, qp->sq_next + i);

		if (w->reported)
			continue;
		if (!run_one(qp, w))
			return false;
		complete(qp, w);
		w->reported = 1;
		qp->tries = 0;
		qp->give_up_ns = qp->wait_until_ns = 0;
	}
	qp->sq_next += n;
	return true;
}

void send_run(struct sim_qp *qp)
{
	struct sq_wqe *w;

	while (qp->shuffle && qp->sq_next != qp->sq_head)
		if (!run_shuffled(qp)) {
			engine_add(qp);
			return;
		}

	while (qp->sq_next != qp->sq_head) {
		w = sq_slot(qp, qp->sq_next);
		if (!run_one(qp, w)) {
			engine_add(qp);
			return;
		}
		complete(qp, w);
		qp->sq_next++;
	}
}

int send_reserve(struct sim_qp *qp, uint32_t head, struct sq_wqe **out)
{
	struct sq_wqe *w = sq_slot(qp, head);
	uint32_t state = atomic_load_explicit(&qp->shm->state, memory_order_relaxed);

	if (state < IBV_QPS_RTS)
		return EINVAL;
	if (head - atomic_load_explicit(&qp->sq_tail, memory_order_acquire) >= qp->sq_size)
		return ENOMEM;
	w->done = w->reported = 0;
	w->inline_len = w->byte_len = 0;
	w->not_before_ns = w->due_ns = 0;
	w->shift = 0;
	w->keep = w->use = NULL;
	w->status = IBV_WC_SUCCESS;
	*out = w;
	return 0;
}

void send_commit(struct sim_qp *qp, uint32_t head)
{
	uint32_t i;

	if (unlikely(pace_wanted(qp)))
		for (i = qp->sq_head; i != head; i++)
			pace_request(qp, sq_slot(qp, i));
	qp->sq_head = head;
	steps_deliver(qp->peer);
	if (unlikely(sim_conf()->defer || head - qp->sq_next < qp->shuffle))
		engine_add(qp);
	else
		send_run(qp);
}
