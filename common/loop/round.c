// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "loop/round.h"

#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "loop/paced.h"
#include "verbs/transport.h"
#include "verbs/vfault.h"

enum post_aim round_aim(const struct round *r)
{
	const struct transport *over = r->qps->transport;

	return over->addressed ? POST_TO_ADDRESS : over->receiver ? POST_TO_SRQ : POST_TO_PEER;
}

int round_completion_failed(const struct round *r, const struct ibv_wc *wc, const char *what)
{
	bool first = !fault_is(r->fault);
	char work[64];

	snprintf(work, sizeof(work), "%s of %s", what, units_size(r->size_bytes).text);
	if (first && !r->qps->local && wc->status == IBV_WC_WR_FLUSH_ERR)
		round_look_for_failure(r); /* of an earlier request, which says more */
	first = !fault_is(r->fault);
	vfault_completion(r->fault, r->qps->link, wc, work);
	if (first)
		vfault_of_gpu(r->fault, wc->status, r->memory.gpu, r->memory.gpu_there);
	return -1;
}

int round_batch_failed(const struct round *r, const struct ibv_wc *wc, const char *what)
{
	while (wc->status == IBV_WC_SUCCESS)
		wc++;
	return round_completion_failed(r, wc, what);
}

int round_verb_failed(const struct round *r, int rc, const char *verb)
{
	return vfault_raise(r->fault, rc, 0, "%s", verb);
}

void round_set_remote(const struct round_slice *remote, unsigned i, uint64_t offset,
		      struct ibv_send_wr *wr)
{
	uint64_t addr = remote->addr + i * remote->stride + offset;
	uint32_t rkey = round_key(remote, i);

	if (post_is_send(wr->opcode))
		return; /* the peer's receive says where the data go */
	if (wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP || wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr->wr.atomic.remote_addr = addr;
		wr->wr.atomic.rkey = rkey;
		wr->wr.atomic.compare_add = wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
	} else {
		wr->wr.rdma.remote_addr = addr;
		wr->wr.rdma.rkey = rkey;
	}
}

void round_build(const struct round *r, unsigned i, uint64_t offset, struct ibv_send_wr *wr,
		 struct ibv_sge *sge)
{
	const struct round_slice *from = &r->memory.from;

	*sge = (struct ibv_sge){
		.addr = from->addr + i * from->stride + offset,
		.length = (uint32_t)r->size_bytes,
		.lkey = round_key(from, i),
	};
	*wr = (struct ibv_send_wr){
		.sg_list = sge,
		.num_sge = 1,
		.opcode = r->opcode,
		.send_flags = r->send_inline ? IBV_SEND_INLINE : 0,
	};
	qp_set_aim(r->qps, i, wr);
	round_set_remote(&r->memory.remote, i, offset, wr);
}

struct post_qp round_to(const struct round *r, unsigned i, bool extended)
{
	struct ibv_qp *qp = r->qps->qp[i];

	return extended ? (struct post_qp){.extended = ibv_qp_to_qp_ex(qp), .aim = &r->qps->aim[i]}
			: (struct post_qp){.qp = qp};
}

int round_post_row(const struct round *r, unsigned i, struct ibv_send_wr *wr, unsigned count)
{
	bool calls = r->qps->transport->rdma_by_calls && !post_is_send(wr->opcode);
	post_call *call = post_find(&(struct post_kind){
		.opcode = wr->opcode, .aim = round_aim(r), .extended = calls});
	struct post_qp to = round_to(r, i, calls);
	int rc = call(&to, wr, wr + count, count);

	return rc ? round_verb_failed(r, rc, calls ? "ibv_wr_complete" : "ibv_post_send") : 0;
}

void round_look_for_failure(const struct round *r)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(r->qps->send_cq, 1, &wc) == 1) {
		if (wc.status == IBV_WC_SUCCESS || wc.status == IBV_WC_WR_FLUSH_ERR)
			continue;
		round_completion_failed(r, &wc, "request");
		return;
	}
}

void round_abort_all(struct round_control *c, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		atomic_store(&c[i].abort, true);
		atomic_store(&c[i].target, 0);
		atomic_store(&c[i].expected, 0);
		cq_wait_wake(c[i].wake_fd);
	}
}

void paced_init(struct paced *p, double messages_per_s, unsigned burst, unsigned chain,
		const struct clock *c)
{
	double ticks = 1e9 / messages_per_s / c->ns_per_tick; /* 65536 steps have to fit */

	memset(p, 0, sizeof(*p));
	p->step = (unsigned __int128)((ticks < 0x1p46 ? ticks : 0x1p46) * 0x1p64);
	p->late_ticks = (uint64_t)(PACED_LATE_NS / c->ns_per_tick);
	p->burst = (burst + chain - 1) / chain * chain;
	p->burst_step = p->step * p->burst;
	p->burst_is_post = p->burst == chain;
}

/* Begin the bursts that are due by NOW, until their messages and N more are MOST; return those. */
static uint64_t begin_bursts(struct paced *p, uint64_t now, uint64_t n, uint64_t most)
{
	for (; n < most && (uint64_t)(p->due >> 64) <= now; p->due += p->burst_step) {
		n += p->left;
		p->left = p->burst;
	}
	return n;
}

uint64_t paced_take_bursts(struct paced *p, uint64_t now, uint64_t most)
{
	uint64_t late = now - (uint64_t)(p->due >> 64), n = 0;

	if (late > p->late_ticks)
		n = begin_bursts(p, now - p->late_ticks - 1, 0, most);
	paced_was_late(p, late, n < most ? n : most);
	n = begin_bursts(p, now, n, most);
	if (n <= most)
		return n;
	p->left = n - most;
	p->due -= p->burst_step;
	return most;
}
