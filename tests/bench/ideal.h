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

/* ideal_lat.c: send N messages, one after the other. */
void latency(struct end *e, enum ibv_wr_opcode op, uint64_t n);

#endif
