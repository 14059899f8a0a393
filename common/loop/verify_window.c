// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "loop/verify_window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/tickets.h"
#include "base/units.h"

#define VERIFY_WR_ID (UINT64_C(1) << 63) /* in wr_id: not a completion left by a ping-pong */
#define POLL_BATCH   16

int verify_window_init(struct verify_window *v)
{
	unsigned qps = v->round->qps->count;

	v->qp = calloc(qps, sizeof(*v->qp));
	v->wr = calloc(v->round->post_list, sizeof(*v->wr));
	v->sge = calloc(v->round->post_list, sizeof(*v->sge));
	if (!v->qp || !v->wr || !v->sge)
		return fault_raise(v->round->fault, FAULT_LOCAL, ENOMEM,
				   "allocating requests for %u QPs", qps);
	for (unsigned i = 0; i < qps; i++) {
		v->qp[i].room = 1;
		if (v->in && v->opcode == IBV_WR_SEND)
			v->qp[i].posted = recv_queue_posted(v->round->receives, i);
	}
	return 0;
}

void verify_window_release(struct verify_window *v)
{
	free(v->qp);
	free(v->wr);
	free(v->sge);
	memset(v, 0, sizeof(*v));
}

static void note_progress(struct verify_window *v)
{
	v->moved_ns = clock_now_ns();
}

/* No completion was found: -1 if the round is aborted or the deadline has passed, else 0. */
static int window_stalled(struct verify_window *v)
{
	if (round_aborted(v->round))
		return -1; /* the one who aborted raises the fault */
	if (clock_now_ns() - v->moved_ns < v->patience_ns)
		return 0;
	fault_raise(v->round->fault, FAULT_DEADLINE, ETIMEDOUT, "no completion for %s",
		    units_ns(v->patience_ns).text);
	return fault_cause(v->round->fault,
			   "The peer answers over TCP, but its RDMA packets do not arrive, or too "
			   "many arrive");
}

/* Post a receive to QP, into the Nth slot after its head. */
static int post_receive(struct verify_window *v, unsigned qp, unsigned n)
{
	unsigned slot = (v->in->head[qp] + n) % v->in->per_qp;
	struct ibv_sge sge = {
		.addr = v->into.addr + slots_offset(v->in, qp, slot),
		.length = (uint32_t)(v->in->before_bytes + v->in->message_bytes),
		.lkey = v->into.key,
	};
	struct ibv_recv_wr wr = {.wr_id = qp, .sg_list = &sge, .num_sge = 1}, *bad;
	int rc = ibv_post_recv(v->round->qps->qp[qp], &wr, &bad);

	return rc ? round_verb_failed(v->round, rc, "ibv_post_recv") : 0;
}

unsigned verify_window_waiting(const struct verify_window *v, unsigned qp)
{
	return v->qp[qp].posted ? v->qp[qp].posted - v->in->arrived[qp] : 0;
}

int verify_window_post_receives(struct verify_window *v)
{
	struct slots *in = v->in;

	for (unsigned qp = 0; qp < in->qps; qp++) {
		unsigned count = in->per_qp - verify_window_waiting(v, qp);

		for (unsigned n = 0; n < count; n++)
			if (post_receive(v, qp, n))
				return -1;
		in->head[qp] = (in->head[qp] + count) % in->per_qp;
		v->qp[qp].posted = in->per_qp;
	}
	return 0;
}

/* True if the messages that arrive here consume receives. */
static bool consumes_receives(const struct verify_window *v)
{
	return v->in && (v->opcode == IBV_WR_SEND || v->opcode == IBV_WR_RDMA_WRITE_WITH_IMM);
}

/* The CQs of RING in turn: returns the one at *AT (NULL: the first) and advances *AT. */
static struct ibv_cq *next_cq(struct cq_link **at, const struct cq_ring *ring)
{
	struct cq_link *link = *at ? *at : ring->link;

	*at = link->next;
	return link->cq;
}

/* Poll one receive CQ and count what has arrived. Returns how many, or -1. */
static int poll_arrivals(struct verify_window *v)
{
	struct ibv_wc wc[POLL_BATCH];
	int n = 0;

	if (consumes_receives(v))
		n = round_poll_checked(v->round, next_cq(&v->recv_at, &v->round->qps->recv),
				       POLL_BATCH, wc, "receive");
	for (int k = 0; k < n; k++) {
		v->in->arrived[wc[k].wr_id]++;
		/* WRITEs consume the receives of the timed part, which are posted again. */
		if (v->opcode != IBV_WR_SEND && recv_consumed(v->round, wc[k].wr_id))
			return -1;
	}
	if (n > 0)
		note_progress(v);
	return n;
}

/* Build the request for the next message of QP, the Kth of its chain; EMPTY: 0 bytes, no check. */
static void build_verify(struct verify_window *v, unsigned qp, unsigned k, bool empty)
{
	struct ibv_send_wr *wr = &v->wr[k];
	bool swaps = v->opcode == IBV_WR_ATOMIC_CMP_AND_SWP;
	unsigned number;
	uint64_t offset;

	*wr = (struct ibv_send_wr){.opcode = IBV_WR_SEND};
	qp_set_aim(v->round->qps, qp, wr);
	if (k)
		v->wr[k - 1].next = wr;
	if (empty)
		return;
	number = v->qp[qp].next++;
	offset = slots_offset(v->out, qp, number);
	v->sge[k] = (struct ibv_sge){
		.addr = v->from.addr + offset + v->out->before_bytes,
		.length = (uint32_t)v->out->message_bytes,
		.lkey = v->from.key,
	};
	wr->opcode = v->opcode;
	wr->sg_list = &v->sge[k];
	wr->num_sge = 1;
	wr->send_flags = v->round->send_inline ? IBV_SEND_INLINE : 0;
	if (swaps || v->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		offset = tickets_counter(qp, swaps) * slots_stride(v->out);
	round_set_remote(&v->remote, 0, offset, wr);
	if (swaps) { /* each message replaces a number by the next one */
		wr->wr.atomic.compare_add = v->first + number;
		wr->wr.atomic.swap = v->first + number + 1;
	}
}

/* Post the messages that fit the send queue of QP I, if none is outstanding on it. */
static int advance_qp(struct verify_window *v, unsigned i, bool empty)
{
	struct verify_window_qp *l = &v->qp[i];
	unsigned n = l->todo < l->room ? l->todo : l->room;
	struct ibv_send_wr *bad;

	if (l->under_way)
		return 0;
	l->todo -= n;
	l->under_way = n;
	while (n) {
		unsigned chain = n < v->round->post_list ? n : v->round->post_list;
		int rc;

		for (unsigned k = 0; k < chain; k++)
			build_verify(v, i, k, empty);
		n -= chain;
		if (!n) {
			v->wr[chain - 1].send_flags |= IBV_SEND_SIGNALED;
			v->wr[chain - 1].wr_id = VERIFY_WR_ID | i;
		}
		rc = ibv_post_send(v->round->qps->qp[i], v->wr, &bad);
		if (rc)
			return round_verb_failed(v->round, rc, "ibv_post_send");
	}
	return 0;
}

/* Poll one send CQ and post more. Returns the completions, or -1; *OPEN QPs have not sent all. */
static int poll_sends(struct verify_window *v, bool empty, unsigned *open)
{
	struct ibv_wc wc[POLL_BATCH];
	int n = round_poll_checked(v->round, next_cq(&v->send_at, &v->round->qps->send), POLL_BATCH,
				   wc, "request");

	for (int k = 0; k < n; k++) {
		unsigned i = (unsigned)(wc[k].wr_id & ~VERIFY_WR_ID);

		if (!(wc[k].wr_id & VERIFY_WR_ID))
			continue;
		v->qp[i].under_way = 0;
		v->qp[i].room = v->round->qps->tx_depth;
		*open -= !v->qp[i].todo;
		if (advance_qp(v, i, empty))
			return -1;
	}
	if (n > 0)
		note_progress(v);
	return n;
}

/* Send the messages that each QP has to do, counting arrivals meanwhile, until all completed. */
static int send_todo(struct verify_window *v, bool empty)
{
	unsigned qps = v->round->qps->count, open = 0;

	note_progress(v);
	for (unsigned i = 0; i < qps; i++) {
		open += v->qp[i].todo != 0;
		if (advance_qp(v, i, empty))
			return -1;
	}
	while (open) {
		int sent = poll_sends(v, empty, &open);
		int came = sent < 0 ? -1 : poll_arrivals(v);

		if (sent < 0 || came < 0 || (!sent && !came && window_stalled(v)))
			return -1;
	}
	/*
	 * A completion on QP 0 (room is no longer 1: a ping-pong's queue has at least 64) completes
	 * the requests that a ping-pong had left there, too.
	 */
	v->round->qps->signal_pending &= v->qp[0].room == 1;
	return 0;
}

int verify_window_send(struct verify_window *v)
{
	for (unsigned i = 0; v->out && i < v->round->qps->count; i++) {
		v->qp[i].todo = v->out->count;
		v->qp[i].next = 0;
	}
	return send_todo(v, false);
}

int verify_window_empty(struct verify_window *v)
{
	return send_todo(v, true);
}

/*
 * True if all expected messages have arrived; with EMPTY, if the empty ones have consumed every
 * receive.
 */
static bool window_complete(const struct verify_window *v, bool empty)
{
	for (unsigned i = 0; consumes_receives(v) && i < v->round->qps->count; i++)
		if (empty ? verify_window_waiting(v, i) : v->in->arrived[i] < v->in->count)
			return false;
	return true;
}

uint64_t verify_window_grace_ns(const struct verify_window *v)
{
	return v->round->qps->local ? v->patience_ns : VERIFY_WINDOW_GRACE_NS;
}

int verify_window_await(struct verify_window *v, bool empty)
{
	uint64_t end_ns = clock_now_ns() + v->patience_ns;

	note_progress(v);
	for (;;) {
		bool all = window_complete(v, empty);
		int n = poll_arrivals(v); /* even if all have arrived */

		if (n < 0 || round_aborted(v->round))
			return -1;
		if (all && clock_now_ns() > end_ns)
			return fault_raise(v->round->fault, FAULT_PEER, 0,
					   "messages keep arriving");
		if (!n && (all || clock_now_ns() - v->moved_ns > verify_window_grace_ns(v)))
			return 0;
	}
}
