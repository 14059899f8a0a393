/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ideal - what the loops of tests/bench/ideal.c share: an end, and its requests */
#ifndef BENCH_IDEAL_H
#define BENCH_IDEAL_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	BYTES = 8,
	GROUP = 32, /* messages per signalled one, receives per call */
	DEPTH = 4 * GROUP,
	BATCH = 64,    /* completions per poll */
	LINE = 64,     /* from one message of a walk to the next */
	GID_INDEX = 5, /* v2, 127.0.0.1 on the stand-in */
	RIGHTS = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
		 IBV_ACCESS_REMOTE_ATOMIC,
};

#define ALWAYS_INLINE inline __attribute__((always_inline))
#define CHECK(cond)                                                                \
	do {                                                                       \
		if (__builtin_expect(!(cond), 0)) {                                \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond); \
			exit(1);                                                   \
		}                                                                  \
	} while (0)

/* What the peer needs to know. */
struct target {
	uint32_t qpn, rkey;
	uint64_t addr;
};

struct end {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *scq;
	struct ibv_cq_ex *rcq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	struct target to;
	uint64_t seen;          /* ticks of the last arrival */
	volatile uint64_t *buf; /* [0] to send, [1] is written by the peer, [2] to receive */
	struct ibv_send_wr send[GROUP];
	struct ibv_recv_wr recv[GROUP];
	struct ibv_sge from, into;
};

void open_end(struct end *e);

/* Another QP of E, connected to itself, instead of the one that it has. */
void add_qp(struct end *e);

/* Move the QP to RTS, with e->to as the peer. */
void connect_end(struct end *e);

/* Build requests in chains of LIST; the last of every SIGNAL is signalled. */
void prepare(struct end *e, enum ibv_wr_opcode op, bool inlined, unsigned list, unsigned signal);

static ALWAYS_INLINE uint64_t ticks(void)
{
#ifdef __x86_64__
	return __builtin_ia32_rdtsc();
#else
	return 0;
#endif
}

/* Poll up to BATCH completions. Returns their number. */
static ALWAYS_INLINE unsigned poll_some(struct ibv_cq *cq)
{
	struct ibv_wc wc[BATCH];
	int n = ibv_poll_cq(cq, BATCH, wc);
	unsigned bad = 0;

	for (int i = 0; i < n; i++)
		bad |= wc[i].status;
	CHECK(n >= 0 && !bad);
	return (unsigned)n;
}

static ALWAYS_INLINE void wr_one(struct ibv_qp_ex *qp, const enum ibv_wr_opcode op,
				 const struct ibv_send_wr *wr)
{
	if (op == IBV_WR_SEND)
		ibv_wr_send(qp);
	else if (op == IBV_WR_RDMA_WRITE)
		ibv_wr_rdma_write(qp, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr);
	else if (op == IBV_WR_RDMA_READ)
		ibv_wr_rdma_read(qp, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr);
	else
		ibv_wr_atomic_fetch_add(qp, wr->wr.atomic.rkey, wr->wr.atomic.remote_addr,
					wr->wr.atomic.compare_add);
}

/* The request WR; OP and INLINED are constants. */
static ALWAYS_INLINE void wr_build(struct ibv_qp_ex *qp, const enum ibv_wr_opcode op,
				   const bool inlined, const struct ibv_send_wr *wr)
{
	qp->wr_flags = wr->send_flags;
	wr_one(qp, op, wr);
	if (inlined)
		ibv_wr_set_inline_data(qp, (void *)(uintptr_t)wr->sg_list->addr, BYTES);
	else
		ibv_wr_set_sge(qp, wr->sg_list->lkey, wr->sg_list->addr, BYTES);
}

/* The requests of the ring, LIST a doorbell. */
static ALWAYS_INLINE void wr_group(struct ibv_qp_ex *qp, const struct ibv_send_wr *wr,
				   const enum ibv_wr_opcode op, const bool inlined,
				   const unsigned list)
{
	const struct ibv_send_wr *end = wr + GROUP;

	do {
		const struct ibv_send_wr *next = wr + list;

		ibv_wr_start(qp);
		do {
			wr_build(qp, op, inlined, wr++);
		} while (list != 1 && wr != next);
		CHECK(!ibv_wr_complete(qp));
	} while (wr != end);
}

/* ideal_qps.c: N messages on QPS QPs, LIST a call or, WR, a doorbell. OP: a SEND or a WRITE. */
void on_qps(struct end *e, unsigned qps, enum ibv_wr_opcode op, bool wr, unsigned list, uint64_t n);

/* ideal_lat.c: send N messages, one after the other. ALONE: on the null stand-in nobody needs to
 * answer. */
void latency(struct end *e, enum ibv_wr_opcode op, bool alone, uint64_t n);

#endif
