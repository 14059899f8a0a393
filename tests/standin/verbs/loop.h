/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* loop - two connected ends in one process, for tests of the stand-in */
#ifndef SIMVERBS_LOOP_H
#define SIMVERBS_LOOP_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	LOOP_BUF = 65536,
	LOOP_DEPTH = 16
};

struct loop_conf {
	enum ibv_qp_type type;
	int access;      /* access of the QP in addition to local write; -1: all */
	int mr_access;   /* of the memory; -1: the same */
	int rd, dest_rd; /* outstanding READs and atomics: its own, and the peer's that it
			    accepts */
	int timeout, retry, rnr_retry, rnr_timer;
	int cqe, depth;
	uint32_t psn_skew;                 /* difference between the sent and the expected PSN */
	uint64_t send_ops;                 /* for ibv_wr_*, in addition to the defaults */
	bool srq, channel, extended, mute; /* mute: leave it at INIT */
};

struct loop_end {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_comp_channel *ch;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	char *buf;
	const struct loop_conf *conf;
};

extern const struct loop_conf loop_defaults;

#define CHECK(cond)                                                                \
	do {                                                                       \
		if (!(cond)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond); \
			exit(1);                                                   \
		}                                                                  \
	} while (0)

void end_open(struct loop_end *e, const struct loop_conf *c);
void end_init(struct loop_end *e); /* move it to INIT */
int end_rtr(struct loop_end *e, uint32_t dest_qpn);
int end_rts(struct loop_end *e);
void end_close(struct loop_end *e);

void loop_open(struct loop_end *a, struct loop_end *b, const struct loop_conf *c);

void end_recv(struct loop_end *e, uint64_t id, size_t off, uint32_t len);
int end_send(struct loop_end *e, struct ibv_send_wr *wr, size_t off, uint32_t len);

/* Poll until a completion comes; fails the test after half a minute. */
struct ibv_wc end_wait(struct loop_end *e);
/* The same; fails the test if the status is another one. */
void end_expect(struct loop_end *e, enum ibv_wc_status st);
/* The next asynchronous event, which must be of this type. */
void end_event(struct loop_end *e, enum ibv_event_type type);
/* A signalled RDMA request to an offset of the other end's buffer. */
struct ibv_send_wr loop_rdma(struct loop_end *to, enum ibv_wr_opcode op, size_t off);
/* True when none comes within some milliseconds. */
bool end_quiet(struct loop_end *e, int ms);
enum ibv_qp_state end_state(struct loop_end *e);
uint64_t now_ms(void);

#endif
