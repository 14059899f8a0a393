// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The part of one thread in a verification: its memory and its requests. */
#include "measure/verify.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plan/test.h"
#include "verbs/transport.h"
#include "verbs/vfault.h"

#define POLL_BATCH  16
#define NUMBER_MASK UINT32_C(0xffff)
#define GRACE_NS    UINT64_C(100000000) /* a later message counts as lost */

int verify_make(struct measure *ms)
{
	struct endpoint *ep = ms->ep;
	bool verify = ep->options->experiment.verify, made;

	made = !verify || (ms->verify = calloc(ep->workers, sizeof(*ms->verify)));
	for (unsigned i = 0; i < ep->workers && verify && made; i++) {
		struct verify *v = &ms->verify[i];

		v->t = &ep->worker[ep->workers + i];
		v->qp = calloc(v->t->qps.count, sizeof(*v->qp));
		v->image = ep->gpu_memory ? calloc(1, v->t->mem.memory.bytes) : NULL;
		made = v->qp && (v->image || !ep->gpu_memory);
	}
	return made ? 0
		    : fault_raise(ms->fault, FAULT_LOCAL, ENOMEM,
				  "allocating details of a verification");
}

void verify_release(struct measure *ms)
{
	for (unsigned i = 0; ms->verify && i < ms->ep->workers; i++) {
		free(ms->verify[i].qp);
		free(ms->verify[i].image);
	}
	free(ms->verify);
}

void verify_begin(struct verify *v, uint64_t bytes, uint64_t before)
{
	struct worker *t = v->t;
	const struct endpoint *ep = t->ep;
	const struct experiment *e = &ep->options->experiment;
	const struct operation *o = &ep->test->operation;
	const struct transport *over = t->qps.transport;
	bool leads = endpoint_leads(ep), pulls = operation_pulls(o);
	bool both =
		e->bidirectional || (ep->test->latency && !operation_fetches(o)); /* ends post */
	/* SENDs tell their number where another one may come next. */
	bool told = ep->immediate || (!o->peer_allows && transport_numbers(over));

	v->before = before;
	v->sends = both || leads != pulls;
	v->arrives = both || leads == pulls;
	v->posts = both || leads;
	v->atomic = operation_is_atomic(o);
	v->adds = e->atomic_type == ATOMIC_FETCH_AND_ADD;
	v->in_place = o->peer_allows;
	v->takes = v->arrives && endpoint_receives(ep);
	v->round = (struct round){
		.qps = &t->qps,
		.size_bytes = bytes,
		.opcode = operation_opcode(o, e, told),
		.post_list = (unsigned)e->post_list,
		.send_inline = bytes <= t->qps.inline_bytes,
		.unreliable = !over->reliable,
		.memory = worker_buffers(t),
		.control = t->control,
		.fault = &t->fault,
	};
	v->source = pulls ? v->round.memory.into.addr : v->round.memory.from.addr;
	v->sink = pulls ? v->round.memory.from.addr : v->round.memory.into.addr;
	v->most_bytes = v->in_place ? bytes : ep->largest_bytes; /* of receives that are left */
	v->room = plan_verify_messages(e, v->most_bytes);
	if (v->takes && t->qps.rx_depth < v->room)
		v->room = t->qps.rx_depth;
	v->found = (struct verified){0};
}

/* Post receives of QP into all places that have none. */
static int post_receives(struct verify *v, unsigned qp)
{
	struct worker *t = v->t;
	unsigned header = t->qps.transport->header_bytes;

	for (struct verify_qp *q = &v->qp[qp]; q->posted - q->taken < v->room; q->posted++) {
		struct ibv_sge sge = {
			.addr = v->sink + qp * t->mine.stride +
				verify_offset(v, q->posted % v->room) - header,
			.length = header + (uint32_t)v->most_bytes,
			.lkey = round_key(&v->round.memory.into, qp),
		};
		struct ibv_recv_wr wr = {.wr_id = qp, .sg_list = &sge, .num_sge = 1};
		int rc = recv_post(&(struct recv_qp){
			.qp = t->qps.qp[qp],
			.srq = t->qps.srqs ? t->qps.srq[qp] : NULL,
			.chain = &wr,
		});

		if (rc)
			return round_verb_failed(&v->round, rc, "ibv_post_recv");
	}
	return 0;
}

int verify_prepare(struct verify *v)
{
	const struct worker *t = v->t;

	v->window++;
	for (unsigned i = 0; i < t->qps.count; i++) {
		struct verify_qp *q = &v->qp[i];

		q->first = q->taken % v->room;
		q->came = q->next = 0;
		memset(q->number, 0xff, sizeof(q->number));
		verify_fill(v, i);
		if (v->takes && post_receives(v, i))
			return -1;
	}
	if (!v->image)
		return 0;
	return gpu_copy_in(t->ep->gpu, t->mem.memory.addr, v->image, t->mem.memory.bytes,
			   v->round.fault);
}

/* In the immediate data of all messages of a window, above their number. */
static uint32_t window_tag(const struct verify *v)
{
	return (v->window << 16) & ~NUMBER_MASK;
}

/* Build the request for the next message of QP, the Kth of its chain. */
static void build_request(struct verify *v, unsigned qp, unsigned k)
{
	struct ibv_send_wr *wr = &v->wr[k];
	unsigned number = v->qp[qp].next++;

	round_build(&v->round, qp, verify_offset(v, number), wr, &v->sge[k]);
	wr->wr_id = qp;
	wr->imm_data = htonl(window_tag(v) | number);
	if (k)
		wr[-1].next = wr;
	if (!v->atomic)
		return;
	round_set_remote(&v->round.memory.remote, v->adds ? 0 : qp, 0, wr);
	if (v->adds)
		return;
	wr->wr.atomic.compare_add = verify_word(v) + number;
	wr->wr.atomic.swap = verify_word(v) + number + 1;
}

/* Post as many messages of QP as fit its send queue, where none is outstanding. */
static int post_more(struct verify *v, unsigned qp)
{
	const struct qp_set *qps = v->round.qps;
	struct verify_qp *q = &v->qp[qp];
	unsigned n = q->todo < qps->tx_depth ? q->todo : qps->tx_depth;
	bool all = qps->transport->all_signalled;

	q->todo -= n;
	q->under_way = all ? n : n != 0;
	while (n) {
		unsigned chain = n < v->round.post_list ? n : v->round.post_list;

		n -= chain;
		for (unsigned k = 0; k < chain; k++) {
			build_request(v, qp, k);
			if (all || (!n && k + 1 == chain))
				v->wr[k].send_flags |= IBV_SEND_SIGNALED;
		}
		if (round_post_row(&v->round, qp, v->wr, chain))
			return -1;
	}
	return 0;
}

/* Poll the next CQ. Returns the number of completions, or -1. */
static int poll_next(struct verify *v, struct ibv_wc *wc, const char *what)
{
	int n = round_poll_checked(&v->round, v->at->cq, POLL_BATCH, wc, what);

	v->at = v->at->next;
	if (n > 0)
		v->moved_ns = clock_now_ns();
	return round_aborted(&v->round) ? -1 : n; /* the one who aborted raises the fault */
}

int verify_send(struct verify *v)
{
	uint64_t patience_ns = v->t->ep->options->local.timeout_ns;
	unsigned open = v->posts ? v->t->qps.count : 0; /* QPs that have not sent all */
	struct ibv_wc wc[POLL_BATCH];

	v->at = v->t->qps.send.link;
	v->moved_ns = clock_now_ns();
	for (unsigned i = 0; i < open; i++) {
		v->qp[i].todo = v->count;
		if (post_more(v, i))
			return -1;
	}
	while (open) {
		int n = poll_next(v, wc, "request");

		if (n < 0)
			return -1;
		v->before += (unsigned)n;
		for (int k = 0; k < n; k++) {
			unsigned qp = (unsigned)wc[k].wr_id;

			if (--v->qp[qp].under_way)
				continue;
			open -= !v->qp[qp].todo;
			if (post_more(v, qp))
				return -1;
		}
		if (n || clock_now_ns() - v->moved_ns < patience_ns)
			continue;
		return vfault_stuck(v->round.fault, v->t->qps.link, patience_ns, v->before);
	}
	return 0;
}

/*
 * A message came: one of the window, or a late one of another, which only took a receive. Where
 * order is promised, its number is its turn, whatever it tells.
 */
static void note_arrival(struct verify *v, const struct ibv_wc *wc)
{
	struct verify_qp *q = &v->qp[wc->wr_id];
	unsigned place = q->taken++ % v->room, number = q->came;
	uint32_t told =
		wc->wc_flags & IBV_WC_WITH_IMM ? ntohl(wc->imm_data) : window_tag(v) | number;

	if ((told & ~NUMBER_MASK) != window_tag(v))
		return;
	q->came++;
	q->number[place] = transport_numbers(v->t->qps.transport) ? told & NUMBER_MASK : number;
}

static bool all_came(const struct verify *v)
{
	for (unsigned i = 0; v->takes && i < v->t->qps.count; i++)
		if (v->qp[i].came < v->count)
			return false;
	return true;
}

/* The time for what the sender's completion does not promise; TCP may still hold it (iWARP). */
static uint64_t grace_ns(const struct verify *v)
{
	return v->t->qps.local ? v->t->ep->options->local.timeout_ns : GRACE_NS;
}

/* The other end has sent everything: wait until it has come, or is lost. */
static int await_messages(struct verify *v)
{
	struct ibv_wc wc[POLL_BATCH];
	int n = 0;

	v->at = v->t->qps.recv.link;
	v->moved_ns = clock_now_ns();
	while (n || (!all_came(v) && clock_now_ns() - v->moved_ns < grace_ns(v))) {
		n = poll_next(v, wc, "receive");
		if (n < 0)
			return -1;
		for (int k = 0; k < n; k++)
			note_arrival(v, &wc[k]);
	}
	return 0;
}

/* A WRITE's data may arrive shortly after the sender's completion, so wait a while for them. */
int verify_collect(struct verify *v)
{
	uint64_t deadline_ns;

	if (!v->arrives)
		return 0;
	if (await_messages(v))
		return -1;
	deadline_ns = clock_now_ns() + grace_ns(v);
	do {
		if (verify_check(v))
			return -1;
	} while (v->in_place && (v->now.errors || v->now.lost) && !round_aborted(&v->round) &&
		 clock_now_ns() < deadline_ns);
	verified_add(&v->found, &v->now);
	return 0;
}
