/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp: the PD, the CQs and the QPs of one end, and bringing them up to their peers.
 *
 * The life: qp_set_init() makes QPs in INIT; the two ends exchange struct qp_address (numbers of
 * all QPs in one message); qp_set_connect() takes them to RTS. QP i talks to the peer's QP i; one
 * of UD does so because every request says it: qp_set_aim(). Reference: InfiniBand Architecture
 * Specification 1, 11.2.4 and 10.3; ibv_modify_qp(3).
 */
#ifndef RDMARK_VERBS_QP_H
#define RDMARK_VERBS_QP_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "verbs/bell.h"
#include "verbs/cq.h"
#include "verbs/hca.h"

#define QP_GRH_BYTES          40 /* a datagram is received behind so many bytes */
#define QP_INLINE_BEST_EFFORT UINT32_MAX

struct qp_wish {
	enum ibv_qp_type type; /* RC, UC or UD */
	unsigned count;
	unsigned tx_depth, rx_depth; /* of each QP; rx_depth 0: receives nothing */
	bool share_receives;         /* one SRQ, of rx_depth, for all */
	bool own_cqs;                /* each QP has CQs of its own */
	bool events;                 /* the loops sleep on s->bell */
	bool extended;               /* with ibv_wr_* and ibv_start_poll, if the device has them */
	unsigned vector;             /* completion vector of the CQs */
	unsigned inline_bytes;       /* this much, or the fault; */
	unsigned inline_wish;        /* with QP_INLINE_BEST_EFFORT: up to this much */
	unsigned access;             /* what the peer may do: enum ibv_access_flags */
	unsigned pkey_index;
};

struct qp_set {
	struct ibv_pd *pd;
	struct bell bell;
	struct cq_ring send, recv;
	struct ibv_cq *send_cq, *recv_cq; /* QP 0's of those */
	struct ibv_srq *srq;              /* NULL: each has a receive queue */
	struct ibv_qp **qp;
	uint32_t *psn;      /* first packet sequence number of each */
	uint32_t *peer_qpn; /* of UD */
	struct ibv_ah *ah;  /* to the peer's port, of UD; NULL */
	enum ibv_qp_type type;
	unsigned count;
	unsigned tx_depth, rx_depth;
	unsigned inline_bytes; /* what the device gave */
	bool extended;         /* ibv_qp_to_qp_ex() of each has the ibv_wr_* calls */
	uint8_t port;
	/* What the loops leave in QP 0's send queue from one round to the next. */
	uint64_t sent;       /* messages, to know which are signalled */
	bool signal_pending; /* a signalled one is not yet seen complete */
	uint64_t numbered;   /* messages that carried a number: loop/lossy.h */
};

/* How this end reaches the peer; the same for all QPs. */
struct qp_route {
	int gid_index; /* of this end */
	bool global;   /* with a GRH: RoCE, or IB across subnets */
	unsigned mtu_bytes;
	unsigned sl, tos, hop_limit;
	uint32_t flow_label;  /* of 20 bits */
	unsigned qp_timeout;  /* 4.096 us << n, and how often then: */
	unsigned retry_count; /* 0 … 7 */
	unsigned pkey_index;  /* what struct qp_wish had */
};

/* What the other end must know to connect and to write. Owns its arrays. */
struct qp_address {
	uint16_t lid;
	union ibv_gid gid;
	uint32_t *qpn, *psn;
	unsigned count;
	uint64_t addr;   /* of QP 0's receive slice */
	uint64_t stride; /* from one QP's slice to the next */
	uint32_t rkey;
	uint32_t *rkeys; /* with an MR for each QP: theirs; NULL: the same for all */
};

/*
 * Make PD, CQs, SRQ and the QPs on H, in INIT. A best-effort inline size steps down until the
 * device takes it. Raises what the device refuses, with the limit that was passed.
 */
int qp_set_init(struct qp_set *s, const struct hca *h, const struct qp_wish *w, struct fault *f);

/* Take every QP to RTS, each to its peer in TO. */
int qp_set_connect(struct qp_set *s, const struct qp_route *r, const struct qp_address *to,
		   struct fault *f);

/* Say in request WR of QP I where it goes, if that is the transport's way. */
void qp_set_aim(const struct qp_set *s, unsigned i, struct ibv_send_wr *wr);

/* What stands before the payload of a message that QPs of S receive, in bytes. */
unsigned qp_set_header(const struct qp_set *s);

/* Take all QPs to the error state, so that the device touches no memory for them any more. */
void qp_set_quiesce(struct qp_set *s);

/* Destroy all; safe on a zeroed or half-built object. MRs on the PD must be gone. */
void qp_set_release(struct qp_set *s);

/* Room for COUNT QPs' numbers. Returns 0 or -ENOMEM. */
int qp_address_init(struct qp_address *a, unsigned count);
void qp_address_release(struct qp_address *a);

#endif
