// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "loop/volley.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

#define MINE       (UINT64_C(1) << 63) /* in wr_id: no completion that a ping-pong has left */
#define POLL_BATCH 16

int volley_init(struct volley *v)
{
	unsigned qps = v->round->qps->count;

	v->lane = calloc(qps, sizeof(*v->lane));
	v->wr = calloc(v->round->post_list, sizeof(*v->wr));
	v->sge = calloc(v->round->post_list, sizeof(*v->sge));
	if (!v->lane || !v->wr || !v->sge)
		return fault_raise(v->round->fault, FAULT_LOCAL, ENOMEM, "requests for %u QPs",
				   qps);
	for (unsigned i = 0; i < qps; i++)
		v->lane[i].room = 1;
	return 0;
}

void volley_release(struct volley *v)
{
	free(v->lane);
	free(v->wr);
	free(v->sge);
	memset(v, 0, sizeof(*v));
}

static void moved(struct volley *v)
{
	v->moved_ns = clock_now_ns();
}

/* Nothing came: give up? */
static int stalled(struct volley *v)
{
	char t[32];

	if (round_quit(v->round))
		return -1; /* why is somebody else's to say */
	if (clock_now_ns() - v->moved_ns < v->patience_ns)
		return 0;
	fault_raise(v->round->fault, FAULT_DEADLINE, ETIMEDOUT, "no message completed for %s",
		    units_format_ns(v->patience_ns, t, sizeof(t)));
	return fault_cause(
		v->round->fault,
		"The peer answers over TCP, but RDMA packets do not get through, or too many of them came");
}

/* The Nth slot from LANE's head on. */
static uint64_t receive_offset(const struct slots *in, unsigned lane, unsigned n)
{
	return slots_offset(in, lane, (in->head[lane] + n) % in->per_lane);
}

static int post_receive(struct volley *v, unsigned lane, unsigned n)
{
	struct ibv_sge sge = {
		.addr = v->into.addr + receive_offset(v->in, lane, n),
		.length = (uint32_t)(v->in->before_bytes + v->in->message_bytes),
		.lkey = v->into.key,
	};
	struct ibv_recv_wr wr = {.wr_id = lane, .sg_list = &sge, .num_sge = 1}, *bad;
	int rc = ibv_post_recv(v->round->qps->qp[lane], &wr, &bad);

	return rc ? round_verb_failed(v->round, rc, "ibv_post_recv") : 0;
}

int volley_post_receives(struct volley *v, bool all)
{
	struct slots *in = v->in;

	for (unsigned lane = 0; lane < in->lanes; lane++) {
		unsigned count = all ? in->per_lane : in->arrived[lane];

		for (unsigned n = 0; n < count; n++)
			if (post_receive(v, lane, n))
				return -1;
		in->head[lane] = (in->head[lane] + count) % in->per_lane;
		in->arrived[lane] = 0;
	}
	return 0;
}

unsigned volley_waiting(const struct volley *v, unsigned lane)
{
	if (v->receives == VOLLEY_TIMED)
		return recv_queue_posted(v->round->receives, lane);
	return v->receives == VOLLEY_SLOTS ? v->in->per_lane - v->in->arrived[lane] : 0;
}

static int take_arrival(struct volley *v, unsigned lane)
{
	struct recv_queue *q = v->round->receives;
	int rc;

	if (v->receives == VOLLEY_TIMED) {
		q->left[lane]--;
	} else if (v->receives == VOLLEY_SLOTS) {
		v->in->arrived[lane]++;
	} else {
		v->arrived++;
		rc = recv_consumed(q, lane);
		if (rc)
			return round_verb_failed(v->round, rc, "ibv_post_recv");
	}
	return 0;
}

/* One after the other, from the first on. */
static struct ibv_cq *next_cq(struct cq_link **at, const struct cq_ring *ring)
{
	struct cq_link *link = *at ? *at : ring->link;

	*at = link->next;
	return link->cq;
}

/* Returns how many, or -1. */
static int poll_arrivals(struct volley *v)
{
	struct ibv_wc wc[POLL_BATCH];
	int n = 0;

	if (v->receives != VOLLEY_NOTHING)
		n = ibv_poll_cq(next_cq(&v->recv_at, &v->round->qps->recv), POLL_BATCH, wc);
	if (n < 0)
		return round_verb_failed(v->round, n, "ibv_poll_cq");
	for (int k = 0; k < n; k++) {
		if (wc[k].status != IBV_WC_SUCCESS)
			return round_completion_failed(v->round, &wc[k], "receive");
		if (take_arrival(v, (unsigned)wc[k].wr_id))
			return -1;
	}
	if (n)
		moved(v);
	return n;
}

/* The request for the next message of LANE, the Kth of its chain. */
static void build(struct volley *v, unsigned lane, unsigned k, bool empty)
{
	struct ibv_send_wr *wr = &v->wr[k];
	uint64_t offset;

	*wr = (struct ibv_send_wr){.opcode = IBV_WR_SEND};
	qp_set_aim(v->round->qps, lane, wr);
	if (k)
		v->wr[k - 1].next = wr;
	if (empty)
		return;
	offset = slots_offset(v->out, lane, v->lane[lane].next++);
	v->sge[k] = (struct ibv_sge){
		.addr = v->from.addr + offset + v->out->before_bytes,
		.length = (uint32_t)v->out->message_bytes,
		.lkey = v->from.key,
	};
	wr->opcode = v->opcode;
	wr->sg_list = &v->sge[k];
	wr->num_sge = 1;
	wr->send_flags = v->round->send_inline ? IBV_SEND_INLINE : 0;
	if (v->opcode != IBV_WR_SEND) {
		wr->wr.rdma.remote_addr = v->remote.addr + offset;
		wr->wr.rdma.rkey = v->remote.key;
	}
}

/* Post what the send queue of QP I takes, if nothing is under way there. */
static int advance(struct volley *v, unsigned i, bool empty)
{
	struct volley_lane *l = &v->lane[i];
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
			build(v, i, k, empty);
		n -= chain;
		if (!n) {
			v->wr[chain - 1].send_flags |= IBV_SEND_SIGNALED;
			v->wr[chain - 1].wr_id = MINE | i;
		}
		rc = ibv_post_send(v->round->qps->qp[i], v->wr, &bad);
		if (rc)
			return round_verb_failed(v->round, rc, "ibv_post_send");
	}
	return 0;
}

/* Returns how many, or -1; *OPEN QPs have not sent all. */
static int poll_sends(struct volley *v, bool empty, unsigned *open)
{
	struct ibv_wc wc[POLL_BATCH];
	int n = ibv_poll_cq(next_cq(&v->send_at, &v->round->qps->send), POLL_BATCH, wc);

	if (n < 0)
		return round_verb_failed(v->round, n, "ibv_poll_cq");
	for (int k = 0; k < n; k++) {
		unsigned i = (unsigned)(wc[k].wr_id & ~MINE);

		if (wc[k].status != IBV_WC_SUCCESS)
			return round_completion_failed(v->round, &wc[k], "request");
		if (!(wc[k].wr_id & MINE))
			continue;
		v->lane[i].under_way = 0;
		v->lane[i].room = v->round->qps->tx_depth;
		*open -= !v->lane[i].todo;
		if (advance(v, i, empty))
			return -1;
	}
	if (n)
		moved(v);
	return n;
}

static int send_todo(struct volley *v, bool empty)
{
	unsigned qps = v->round->qps->count, open = 0;

	moved(v);
	for (unsigned i = 0; i < qps; i++) {
		open += v->lane[i].todo != 0;
		if (advance(v, i, empty))
			return -1;
	}
	while (open) {
		int sent = poll_sends(v, empty, &open);
		int came = sent < 0 ? -1 : poll_arrivals(v);

		if (sent < 0 || came < 0 || (!sent && !came && stalled(v)))
			return -1;
	}
	/* What a ping-pong had left in the queue is complete, too. */
	v->round->qps->signal_pending &= v->lane[0].room == 1;
	return 0;
}

int volley_send(struct volley *v)
{
	v->arrived = 0;
	for (unsigned i = 0; v->out && i < v->round->qps->count; i++) {
		v->lane[i].todo = v->out->count;
		v->lane[i].next = 0;
	}
	return send_todo(v, false);
}

int volley_empty(struct volley *v, const unsigned *counts)
{
	for (unsigned i = 0; i < v->round->qps->count; i++)
		v->lane[i].todo = counts[i];
	return send_todo(v, true);
}

/* Has all come that should? */
static bool complete(const struct volley *v, bool empty)
{
	if (v->receives == VOLLEY_GIVEN)
		return v->arrived >= (uint64_t)v->in->lanes * v->in->count;
	for (unsigned i = 0; v->receives != VOLLEY_NOTHING && i < v->round->qps->count; i++)
		if (empty ? volley_waiting(v, i) : v->in->arrived[i] < v->in->count)
			return false;
	return true;
}

int volley_await(struct volley *v, bool empty)
{
	uint64_t end_ns = clock_now_ns() + v->patience_ns;

	moved(v);
	for (;;) {
		bool all = complete(v, empty);
		int n = poll_arrivals(v); /* also what comes too often */

		if (n < 0 || round_quit(v->round))
			return -1;
		if (all && clock_now_ns() > end_ns)
			return fault_raise(v->round->fault, FAULT_PEER, 0,
					   "messages come without end");
		if (!n && (all || clock_now_ns() - v->moved_ns > VOLLEY_GRACE_NS))
			return 0;
	}
}
