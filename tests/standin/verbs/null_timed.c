// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Null mode with a clock: an adapter that takes SIMVERBS_GAP_NS for a request,
 * one after the other whatever the queue pair, and reports it
 * SIMVERBS_LATENCY_NS after that, with max_rd_atomic READs or atomics under way.  The best rate
 * that a program can reach with D requests under way is then min(1 / gap, D / (latency + gap)).
 * Receives complete as they do without a clock.  For one thread that posts.
 */
#include "null.h"

#include <stdlib.h>
#include <time.h>

#ifdef __x86_64__
#include <x86intrin.h>
#endif

enum {
	FRACTION = 8, /* bits of a tick: some gaps are but 30 ticks */
	CALIBRATION_NS = 2000000
};

/* In fractions of a tick. */
static struct {
	uint64_t gap, latency;
	uint64_t free; /* when the adapter has done what was posted */
} nic;

#ifdef __x86_64__
static uint64_t now(void)
{
	return __rdtsc() << FRACTION;
}
#else
static uint64_t now(void)
{
	return sim_now_ns() << FRACTION;
}
#endif

struct pair {
	uint64_t ticks, ns;
};

/* Both clocks at one moment: of some readings the one that was least interrupted. */
static struct pair both_clocks(void)
{
	struct pair best = {0}, p;
	uint64_t shortest = UINT64_MAX, start, took;

	for (int i = 0; i < 16; i++) {
		start = now();
		p.ns = sim_now_ns();
		took = now() - start;
		p.ticks = start + took / 2;
		if (took < shortest) {
			shortest = took;
			best = p;
		}
	}
	return best;
}

void null_timed_init(void)
{
	struct pair from, to;
	double ticks_per_ns;

	if (nic.gap || nic.latency)
		return;
	from = both_clocks();
	do {
		to = both_clocks();
	} while (to.ns - from.ns < CALIBRATION_NS);
	ticks_per_ns = (double)(to.ticks - from.ticks) / (to.ns - from.ns);
	nic.gap = sim_conf()->gap_ns * ticks_per_ns + 0.5;
	nic.latency = sim_conf()->latency_ns * ticks_per_ns + 0.5;
}

static inline uint64_t *due(const struct sim_cq *cq, uint32_t i)
{
	return &cq->null_due[i & cq->null_mask];
}

/* The adapter takes one more request. */
static inline void take(struct sim_qp *qp, uint64_t wr_id, uint32_t opcode, bool signalled)
{
	uint64_t done;

	nic.free += nic.gap;
	done = nic.free + nic.latency;
	if (null_fetches(opcode))
		done = fetch_due(qp, done, nic.gap + nic.latency);
	if (!signalled)
		return;
	*due(qp->scq, qp->scq->null_tail) = done;
	null_push(qp->scq, wr_id, qp->ex.qp_base.qp_num, opcode);
}

/* Something is posted: an adapter that was idle begins now. */
static inline void begin(void)
{
	uint64_t at = now();

	if (nic.free < at)
		nic.free = at;
}

int null_timed_post_send(struct ibv_qp *ibv, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct sim_qp *qp = (struct sim_qp *)ibv;

	(void)bad;
	begin();
	for (; wr; wr = wr->next)
		take(qp, wr->wr_id, null_opcode(wr->opcode),
		     (wr->send_flags & IBV_SEND_SIGNALED) || qp->sig_all);
	return 0;
}

int null_timed_post_recv(struct ibv_qp *ibv, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct sim_cq *cq = ((struct sim_qp *)ibv)->rcq;

	(void)bad;
	for (; wr; wr = wr->next) {
		*due(cq, cq->null_tail) = 0;
		null_push(cq, wr->wr_id, ibv->qp_num, IBV_WC_RECV);
	}
	return 0;
}

int null_timed_poll_cq(struct ibv_cq *ibv, int n, struct ibv_wc *wc)
{
	struct sim_cq *cq = (struct sim_cq *)ibv;
	uint64_t at;
	int i;

	if (cq->null_head == cq->null_tail)
		return 0;
	at = now();
	for (i = 0; i < n && cq->null_head != cq->null_tail && *due(cq, cq->null_head) <= at; i++)
		null_report(&cq->null_ring[cq->null_head++ & cq->null_mask], &wc[i]);
	return i;
}

static int timed_next(struct ibv_cq_ex *ex)
{
	struct sim_cq *cq = (struct sim_cq *)ex;

	if (cq->null_head == cq->null_tail || *due(cq, cq->null_head) > now())
		return ENOENT;
	return null_next_entry(cq);
}

static int timed_start(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr)
{
	(void)attr;
	return timed_next(cq);
}

void null_timed_cq_hooks(struct sim_cq *cq)
{
	cq->ex.start_poll = timed_start;
	cq->ex.next_poll = timed_next;
}

static inline void request(struct ibv_qp_ex *qp, uint32_t opcode)
{
	struct sim_qp *q = (struct sim_qp *)qp;

	take(q, qp->wr_id, opcode, null_signalled(q));
}

#include "null_requests.h"

static void wr_start(struct ibv_qp_ex *qp)
{
	(void)qp;
	begin();
}

void null_timed_qp_hooks(struct sim_qp *q)
{
	struct ibv_qp_ex *qp = &q->ex;

	qp->wr_start = wr_start;
	set_requests(qp);
}
