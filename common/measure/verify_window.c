// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What a worker posts and polls in a verification: messages from slots to slots (base/slots.h) over
 * the QPs of its round, with that round's opcode, inline and in chains of its post list. As many
 * are posted at once as a send queue holds, and the last of them is signalled. Messages that arrive
 * from the other end meanwhile are counted.
 *
 * SENDs need receives into the slots, but those for timed messages are already posted and are
 * consumed in order. So each end first sends empty messages, as many as the other one has receives.
 * Where SENDs may be lost, or come in any order, their immediate data are their numbers.
 *
 * READs fetch the messages: at the requester out of the responder's slots. Atomics return the old
 * values of counters (base/tickets.h).
 */
#include "measure/verify.h"

#include <arpa/inet.h>
#include <errno.h>

#include "base/tickets.h"
#include "base/units.h"
#include "loop/recv.h"
#include "measure/meter.h"
#include "verbs/transport.h"

#define VERIFY_WR_ID (UINT64_C(1) << 63) /* in wr_id: not a completion left by a ping-pong */
#define POLL_BATCH   16
#define NUMBER_MASK  UINT32_C(0xffff)
#define GRACE_NS     UINT64_C(100000000) /* a later message counts as lost */

static uint64_t patience_ns(const struct meter *t)
{
	return t->ep->options->local.timeout_ns;
}

/* No completion was found: -1 if the round is aborted or the deadline has passed, else 0. */
static int window_stalled(const struct meter *t)
{
	struct fault *f = t->round.fault;

	if (round_aborted(&t->round))
		return -1; /* the one who aborted raises the fault */
	if (clock_now_ns() - t->verify->moved_ns < patience_ns(t))
		return 0;
	fault_raise(f, FAULT_DEADLINE, ETIMEDOUT, "no completion for %s",
		    units_ns(patience_ns(t)).text);
	return fault_cause(f, "The peer answers over TCP, but its RDMA packets do not arrive, or "
			      "too many arrive");
}

/* Post a receive to QP, into slot K. */
static int post_receive(const struct meter *t, unsigned qp, unsigned k)
{
	const struct verify *v = t->verify;
	struct ibv_sge sge = {
		.addr = v->mem.memory.addr + v->out_bytes + slots_offset(&v->in, qp, k),
		.length = (uint32_t)(v->in.before_bytes + v->in.message_bytes),
		.lkey = v->mem.lkey,
	};
	struct ibv_recv_wr wr = {.wr_id = qp, .sg_list = &sge, .num_sge = 1};
	const struct recv_qp *own = &t->round.receives->qp[qp];
	int rc = recv_post(&(struct recv_qp){.qp = own->qp, .srq = own->srq, .chain = &wr});

	return rc ? round_verb_failed(&t->round, rc, "ibv_post_recv") : 0;
}

int verify_post_receives(struct meter *t)
{
	struct verify *v = t->verify;

	for (unsigned qp = 0; qp < v->in.qps; qp++) {
		for (unsigned k = 0; k < v->in.count; k++)
			if (post_receive(t, qp, k))
				return -1;
		v->qp[qp].waiting = v->in.count;
	}
	return 0;
}

int verify_refill(struct meter *t)
{
	const struct verify *v = t->verify;

	if (!v->receives || v->opcode != IBV_WR_SEND)
		return 0;
	return recv_queue_refill(t->round.receives, t->round.fault);
}

/* True if the messages that arrive here consume receives. */
static bool consumes_receives(const struct verify *v)
{
	return v->receives && (v->opcode == IBV_WR_SEND || v->opcode == IBV_WR_RDMA_WRITE_WITH_IMM);
}

/* The CQs of RING in turn: returns the one at *AT (NULL: the first) and advances *AT. */
static struct ibv_cq *next_cq(struct cq_link **at, const struct cq_ring *ring)
{
	struct cq_link *link = *at ? *at : ring->link;

	*at = link->next;
	return link->cq;
}

/* In the immediate data of all messages of a window, above their number; no other message has it.
 */
static uint32_t window_tag(const struct verify *v)
{
	return (v->windows << 16 | UINT32_C(1) << 31) & ~NUMBER_MASK;
}

/* A message came on a QP: one of the window, or one that only consumes a receive. */
static int count_arrival(struct meter *t, const struct ibv_wc *wc)
{
	struct verify *v = t->verify;
	unsigned qp = (unsigned)wc->wr_id;
	/* Those of the timed part and of other windows may also be late. */
	uint32_t imm = wc->wc_flags & IBV_WC_WITH_IMM ? ntohl(wc->imm_data) : 0;
	bool named = !v->in.numbered || (imm & ~NUMBER_MASK) == window_tag(v);

	if (!v->empty)
		slots_arrived(&v->in, qp, named ? imm & NUMBER_MASK : SLOTS_NO_NUMBER);
	if (v->opcode != IBV_WR_SEND) /* WRITEs consume the timed receives */
		return recv_consumed(&t->round, qp);
	v->qp[qp].waiting--;
	return 0;
}

/* Poll one receive CQ and count what has arrived. Returns how many, or -1. */
static int poll_arrivals(struct meter *t)
{
	struct verify *v = t->verify;
	struct ibv_wc wc[POLL_BATCH];
	int n = 0;

	if (consumes_receives(v))
		n = round_poll_checked(&t->round, next_cq(&v->recv_at, &t->round.qps->recv),
				       POLL_BATCH, wc, "receive");
	for (int k = 0; k < n; k++)
		if (count_arrival(t, &wc[k]))
			return -1;
	if (n > 0)
		v->moved_ns = clock_now_ns();
	return n;
}

/* Build the request for the next message of QP, the Kth of its chain. */
static void build_request(const struct meter *t, unsigned qp, unsigned k)
{
	struct verify *v = t->verify;
	struct ibv_send_wr *wr = &v->wr[k];
	bool swaps = v->opcode == IBV_WR_ATOMIC_CMP_AND_SWP;
	unsigned number;
	uint64_t offset;

	*wr = (struct ibv_send_wr){.opcode = IBV_WR_SEND};
	qp_set_aim(t->round.qps, qp, wr);
	if (k)
		v->wr[k - 1].next = wr;
	if (v->empty)
		return;
	number = v->qp[qp].next++;
	offset = slots_offset(v->posts, qp, number);
	v->sge[k] = (struct ibv_sge){
		.addr = v->mem.memory.addr + (v->posts == &v->in ? v->out_bytes : 0) + offset +
			v->posts->before_bytes,
		.length = (uint32_t)v->posts->message_bytes,
		.lkey = v->mem.lkey,
	};
	wr->opcode = v->opcode;
	if (v->opcode == IBV_WR_SEND && (transport_numbers(t->round.qps->transport) ||
					 t->ep->options->experiment.send_with_imm))
		wr->opcode = IBV_WR_SEND_WITH_IMM;
	wr->imm_data = htonl(window_tag(v) | number);
	wr->sg_list = &v->sge[k];
	wr->num_sge = 1;
	wr->send_flags = t->round.send_inline ? IBV_SEND_INLINE : 0;
	if (swaps || v->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		offset = tickets_counter(qp, swaps) * slots_stride(v->posts);
	round_set_remote(&v->remote, 0, offset, wr);
	if (swaps) { /* each message replaces a number by the next one */
		wr->wr.atomic.compare_add = tickets_first(v->windows) + number;
		wr->wr.atomic.swap = wr->wr.atomic.compare_add + 1;
	}
}

/* Post the messages that fit the send queue of QP I, if none is outstanding on it. */
static int advance_qp(const struct meter *t, unsigned i)
{
	const struct round *r = &t->round;
	struct verify *v = t->verify;
	struct verify_qp *l = &v->qp[i];
	unsigned n = l->todo < l->room ? l->todo : l->room;
	bool all = r->qps->transport->all_signalled;

	if (l->under_way)
		return 0;
	l->todo -= n;
	l->under_way = all ? n : n != 0;
	while (n) {
		unsigned chain = n < r->post_list ? n : r->post_list;

		n -= chain;
		for (unsigned k = 0; k < chain; k++) {
			build_request(t, i, k);
			if (!all && (n || k + 1 < chain))
				continue;
			v->wr[k].send_flags |= IBV_SEND_SIGNALED;
			v->wr[k].wr_id = VERIFY_WR_ID | i;
		}
		if (round_post_row(r, i, v->wr, chain))
			return -1;
	}
	return 0;
}

/* Poll one send CQ and post more. Returns the completions, or -1; *OPEN QPs have not sent all. */
static int poll_sends(const struct meter *t, unsigned *open)
{
	const struct round *r = &t->round;
	struct verify *v = t->verify;
	struct ibv_wc wc[POLL_BATCH];
	int n = round_poll_checked(r, next_cq(&v->send_at, &r->qps->send), POLL_BATCH, wc,
				   "request");

	for (int k = 0; k < n; k++) {
		unsigned i = (unsigned)(wc[k].wr_id & ~VERIFY_WR_ID);

		if (!(wc[k].wr_id & VERIFY_WR_ID) || --v->qp[i].under_way)
			continue;
		v->qp[i].room = r->qps->tx_depth;
		*open -= !v->qp[i].todo;
		if (advance_qp(t, i))
			return -1;
	}
	if (n > 0)
		v->moved_ns = clock_now_ns();
	return n;
}

int verify_send(struct meter *t)
{
	struct qp_set *qps = t->round.qps;
	struct verify *v = t->verify;
	unsigned open = 0;

	v->moved_ns = clock_now_ns();
	for (unsigned i = 0; i < qps->count; i++) {
		open += v->qp[i].todo != 0;
		if (advance_qp(t, i))
			return -1;
	}
	while (open) { /* counting arrivals meanwhile */
		int sent = poll_sends(t, &open);
		uint64_t moved_ns = v->moved_ns;

		if (sent < 0 || poll_arrivals(t) < 0)
			return -1;
		v->moved_ns = moved_ns; /* what arrives does not bring on what is sent */
		if (!sent && window_stalled(t))
			return -1;
	}
	/*
	 * A completion on QP 0 (room is no longer 1: a ping-pong's queue has at least 64) completes
	 * the requests that a ping-pong had left there, too.
	 */
	qps->signal_pending &= v->qp[0].room == 1;
	return 0;
}

/* True if all expected messages have arrived; of empty ones, if no receive is left. */
static bool window_complete(const struct verify *v, unsigned qps)
{
	for (unsigned i = 0; consumes_receives(v) && i < qps; i++)
		if (v->empty ? v->qp[i].waiting : v->in.arrived[i] < v->in.count)
			return false;
	return true;
}

uint64_t verify_grace_ns(const struct meter *t)
{
	return t->round.qps->local ? patience_ns(t) : GRACE_NS;
}

int verify_await(struct meter *t)
{
	struct verify *v = t->verify;
	uint64_t end_ns = clock_now_ns() + patience_ns(t);

	v->moved_ns = clock_now_ns();
	for (;;) {
		bool all = window_complete(v, t->round.qps->count);
		int n = poll_arrivals(t); /* even if all have arrived */

		if (n < 0 || round_aborted(&t->round))
			return -1;
		if (n && clock_now_ns() > end_ns)
			return fault_raise(t->round.fault, FAULT_PEER, 0, "messages keep arriving");
		if (!n && (all || clock_now_ns() - v->moved_ns > verify_grace_ns(t)))
			return 0;
	}
}
