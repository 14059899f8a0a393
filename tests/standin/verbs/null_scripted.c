// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Null mode by a script: the adapter takes the next gap for a request, one
 * after the other whatever the queue pair, and it can be polled the latency
 * after that.  The program's own calls take the time that the script gives
 * them, and so do its hold-ups.
 */
#include "null.h"
#include "script.h"

#include <stdlib.h>

/* When the adapter has done what was posted: the requests, and the receives. */
static uint64_t sent_until, received_until;

static uint64_t *due(const struct sim_cq *cq, uint32_t i)
{
	return &cq->null_due[i & cq->null_mask];
}

static void push(struct sim_cq *cq, const struct null_cqe *e, uint64_t at)
{
	*due(cq, cq->null_tail) = at;
	null_push(cq, e->wr_id, e->qp_num, e->opcode);
}

/* One of LIST after the other, from now at the earliest. */
static uint64_t take(uint64_t *until, struct script_list *list)
{
	if (*until < script_now())
		*until = script_now();
	return *until += script_draw(list);
}

/* A request goes out: the oldest receive that awaits an answer gets its time. */
static void answer(struct sim_cq *cq)
{
	uint64_t at = script_now() + script_draw(&script_get()->rtt);

	if (cq->null_waits != cq->null_tail)
		*due(cq, cq->null_waits++) = at;
	else
		cq->null_early = at;
}

static void post(struct sim_qp *qp, const struct null_cqe *e, bool signalled)
{
	struct script *s = script_get();
	uint64_t due, begun;

	script_spend(s->post);
	begun = sent_until > script_now() ? sent_until : script_now();
	due = take(&sent_until, &s->gap) + s->latency;
	if (null_fetches(e->opcode))
		due = fetch_due(qp, due, due - begun);
	if (signalled)
		push(qp->scq, e, due);
	if (s->rtt.items)
		answer(qp->rcq);
}

static int post_send(struct ibv_qp *ibv, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct sim_qp *qp = (struct sim_qp *)ibv;

	(void)bad;
	script_mine();
	for (; wr; wr = wr->next) {
		struct null_cqe e = {wr->wr_id, ibv->qp_num, null_opcode(wr->opcode)};

		post(qp, &e, (wr->send_flags & IBV_SEND_SIGNALED) || qp->sig_all);
	}
	return 0;
}

/* When a receive that is posted now completes. */
static uint64_t arrival(struct sim_cq *cq)
{
	struct script *s = script_get();
	uint64_t at = 0;

	if (!s->rtt.items)
		return s->recv.items ? take(&received_until, &s->recv) : 0;
	if (!cq->null_early)
		return UINT64_MAX;
	at = cq->null_early;
	cq->null_early = 0;
	cq->null_waits++;
	return at;
}

static int post_recv(struct ibv_qp *ibv, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct sim_cq *cq = ((struct sim_qp *)ibv)->rcq;

	(void)bad;
	script_mine();
	for (; wr; wr = wr->next) {
		struct null_cqe e = {wr->wr_id, ibv->qp_num, IBV_WC_RECV};

		push(cq, &e, arrival(cq));
	}
	return 0;
}

/* Is there one that has come by now? */
static bool there(const struct sim_cq *cq)
{
	return cq->null_head != cq->null_tail && *due(cq, cq->null_head) <= script_now();
}

static void begin_look(void)
{
	script_mine();
	script_hold(SCRIPT_BEFORE);
	script_spend(script_get()->poll);
}

static int poll_cq(struct ibv_cq *ibv, int n, struct ibv_wc *wc)
{
	struct sim_cq *cq = (struct sim_cq *)ibv;
	int i;

	begin_look();
	for (i = 0; i < n && there(cq); i++) {
		null_report(&cq->null_ring[cq->null_head++ & cq->null_mask], &wc[i]);
		script_spend(script_get()->completion);
	}
	script_hold(SCRIPT_AFTER);
	return i;
}

static int next_poll(struct ibv_cq_ex *ex)
{
	struct sim_cq *cq = (struct sim_cq *)ex;

	if (!there(cq))
		return ENOENT;
	script_spend(script_get()->completion);
	return null_next_entry(cq);
}

static void end_poll(struct ibv_cq_ex *ex)
{
	(void)ex;
	script_hold(SCRIPT_AFTER);
}

static int start_poll(struct ibv_cq_ex *ex, struct ibv_poll_cq_attr *attr)
{
	(void)attr;
	begin_look();
	if (!next_poll(ex))
		return 0;
	script_hold(SCRIPT_AFTER);
	return ENOENT;
}

void null_scripted_ops(struct ibv_context_ops *ops)
{
	ops->poll_cq = poll_cq;
	ops->post_send = post_send;
	ops->post_recv = post_recv;
}

void null_scripted_cq_hooks(struct sim_cq *cq)
{
	cq->ex.start_poll = start_poll;
	cq->ex.next_poll = next_poll;
	cq->ex.end_poll = end_poll;
}

static void request(struct ibv_qp_ex *qp, uint32_t opcode)
{
	struct null_cqe e = {qp->wr_id, qp->qp_base.qp_num, opcode};
	struct sim_qp *q = (struct sim_qp *)qp;

	script_mine();
	post(q, &e, null_signalled(q));
}

#include "null_requests.h"

void null_scripted_qp_hooks(struct sim_qp *q)
{
	set_requests(&q->ex);
}
