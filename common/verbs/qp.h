/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp: the PD, the CQs and the QPs of one end, and connecting them to the peer.
 *
 * qp_set_init() creates QPs and moves them to INIT. The two ends exchange struct qp_address (the
 * numbers of all QPs in one message). qp_set_connect() moves the QPs to RTS. QP i is connected to
 * the peer's QP i; a datagram goes there because qp_set_aim() says so in each request. If another
 * QP receives (XRC), it is the one that the peer's QP i is connected to, and the reverse.
 * Reference: InfiniBand Architecture Specification 1, 11.2.4 and 10.3; ibv_modify_qp(3).
 */
#pragma once

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "verbs/cq.h"
#include "verbs/multicast.h"

struct hca;
struct transport;

#define QP_FLOW_LABELS_MAX    64 /* the QPs have them in turn */
#define QP_PSN_MASK           0xffffffu
#define QP_INLINE_BEST_EFFORT UINT32_MAX
#define QP_RNR_RETRY          7  /* retry forever: a late receiver is no error */
#define QP_RNR_TIMER          12
#define QP_RNR_TIMER_NS       0.64e6 /* the same time */

struct qp_attr {
	const struct transport *transport;
	unsigned count;
	unsigned tx_depth, rx_depth; /* per QP; rx_depth 0: it receives nothing */
	bool use_srq;                /* one SRQ of rx_depth for all QPs */
	bool own_cqs;                /* one send and one receive CQ per QP */
	bool own_doorbell;           /* other threads use the device, too: a thread domain for these
					QPs, if the device has them */
	bool events;                 /* the loops sleep on cq_wait */
	bool extended;               /* with ibv_wr_* and ibv_start_poll, if the device supports
					them */
	unsigned vector;             /* completion vector of the CQs */
	unsigned inline_bytes;       /* required, otherwise a fault; */
	unsigned inline_wanted;      /* with QP_INLINE_BEST_EFFORT: at most this many */
	unsigned access;             /* rights of the peer: enum ibv_access_flags */
	uint64_t send_ops;           /* extended: ibv_qp_create_send_ops_flags of the posted
					operations */
	unsigned pkey_index;
	unsigned first; /* the number of QP 0 among all QPs of the end, for qp_route's labels */
	bool multicast; /* the peer's address is a group's: QP 0 sends to all of its QPs */
};

/* Where a request goes, if it has to say so. */
struct qp_aim {
	struct ibv_ah *ah;
	uint32_t qpn, qkey;
};

struct qp_set {
	struct ibv_pd *pd;
	struct ibv_pd *domain; /* of the QPs: a parent domain of `pd` with `td`, or `pd` itself */
	struct ibv_td *td;     /* NULL: none is wanted, or */
	int no_td;             /* the errno why there is none */
	struct cq_wait cq_wait;
	struct cq_ring send, recv;
	struct ibv_cq *send_cq, *recv_cq; /* those of QP 0 */
	struct ibv_srq **srq;             /* for all QPs, or for each */
	unsigned srqs;                    /* 0: each QP has a receive queue */
	struct ibv_qp **qp;
	uint32_t *psn;      /* first packet sequence number of each QP */
	/* If each request says where to: of each QP; and the peer's port, for the QPs in turn. */
	struct qp_aim *aim;
	uint32_t qkey; /* of both ends */
	struct ibv_ah **ah;
	unsigned ahs;
	/* If other QPs receive: their domain, which then exists; they; the peer's SRQs. */
	struct ibv_xrcd *xrcd;
	struct ibv_qp **receiver;
	uint32_t *peer_srqn;
	const struct transport *transport;
	unsigned count;
	bool to_group;              /* what is sent goes to a group: QP 0 sends it */
	struct multicast multicast; /* of this end, which receives from it */
	unsigned first; /* as in struct qp_attr */
	unsigned tx_depth, rx_depth;
	unsigned inline_bytes; /* as the device granted it */
	unsigned link;         /* enum link_kind (verbs/vfault.h) */
	bool local;            /* iWARP: a completion does not mean that the peer has the message */
	bool extended;         /* every QP has ibv_qp_to_qp_ex() and the ibv_wr_* calls */
	int to_rts;            /* enum ibv_qp_attr_mask: the transport's on this device */
	uint8_t port;
	/* The state of QP 0's send queue, from one round to the next. */
	uint64_t sent;       /* messages sent, to know which are signalled */
	bool signal_pending; /* the completion of a signalled send was not yet polled */
	uint64_t numbered;   /* ping-pong messages of all rounds so far: loop/pingpong.h */
};

/* The path to the peer; the same for all QPs, except the flow label. */
struct qp_route {
	int gid_index; /* of this end */
	bool global;   /* with a GRH: RoCE, or IB across subnets */
	unsigned mtu_bytes;
	unsigned sl, tos, hop_limit;
	uint32_t flow_label[QP_FLOW_LABELS_MAX]; /* 20 bits each; the QPs have them in turn */
	unsigned flow_labels;
	unsigned qp_timeout;  /* 4.096 us << n, and then retries: */
	unsigned retry_count; /* 0 … 7 */
	unsigned pkey_index;  /* as in struct qp_attr */
	/* maximum of outstanding READs and atomics per QP: its own, and the peer's */
	unsigned reads_sent, reads_answered;
};

/* What the peer needs to connect and to write. Owns its arrays. */
struct qp_address {
	uint16_t lid;
	union ibv_gid gid;
	uint32_t *qpn, *psn; /* of the QPs that receive; of the packets that come from this end */
	uint32_t *sender, *srqn; /* if other QPs send: theirs, and the SRQs; else NULL */
	unsigned count;
	uint64_t addr;   /* address of QP 0's receive slice */
	uint64_t stride; /* from one QP's slice to the next */
	uint32_t rkey;
	uint32_t *rkeys; /* with an MR for each QP: the rkey of each; NULL: rkey is for all */
};

/*
 * Create PD, CQs, SRQ and QPs on H, and move the QPs to INIT. A best-effort inline size is reduced
 * until the device accepts it. Returns 0, or -1 with the fault and the limit that was exceeded.
 */
int qp_set_init(struct qp_set *s, const struct hca *h, const struct qp_attr *a, struct fault *f);

/* Put the numbers of S into A, of as many QPs. Returns 0, or -1 with the fault raised. */
int qp_set_describe(const struct qp_set *s, struct qp_address *a, struct fault *f);

/* Move every QP to RTS, connected to its peer in TO. Returns 0, or -1 with the fault raised. */
int qp_set_connect(struct qp_set *s, const struct qp_route *r, const struct qp_address *to,
		   struct fault *f);

/* If each request says where to: address every QP, in RTS, to its peer in TO. Returns 0 or -1. */
int qp_set_address(struct qp_set *s, const struct qp_route *r, const struct qp_address *to,
		   struct fault *f);

/*
 * One more QP, in RESET, and the one that receives for it, if that is another: 0, or -1 with the
 * fault raised. And destroy the last one.
 */
int qp_set_add(struct qp_set *s, const struct qp_attr *a, struct fault *f);
void qp_set_remove(struct qp_set *s);

/* The flow label of S's QP I on R. */
uint32_t qp_flow_label(const struct qp_set *s, const struct qp_route *r, unsigned i);

/* Set in request WR of QP I what the transport needs there: where it goes, or into which SRQ. */
void qp_set_aim(const struct qp_set *s, unsigned i, struct ibv_send_wr *wr);

/* Move all QPs to the error state, so that the device no longer accesses memory for them. */
void qp_set_quiesce(struct qp_set *s);

/* Destroy everything; safe on a zeroed or half-built object. Deregister the MRs of the PD first. */
void qp_set_release(struct qp_set *s);

/* Allocate the arrays for COUNT QPs. Returns 0 or -ENOMEM. */
int qp_address_init(struct qp_address *a, unsigned count);
void qp_address_release(struct qp_address *a);

/*
 * qp_state.c, also for cm.c: move a QP to the next state. qp_modify() raises the fault with a fix;
 * it is not for attributes that depend on the path to the peer. qp_state_init() moves QP I from
 * RESET to INIT, with the access rights and the P_Key of A; the next two to RTR, towards its peer
 * in TO, and to RTS.
 */
const char *qp_state_name(enum ibv_qp_state state); /* "INIT", "RTR" or "RTS" */
int qp_modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, struct fault *f);
int qp_state_init(struct qp_set *s, unsigned i, const struct qp_attr *a, struct fault *f);
int qp_state_rtr(struct qp_set *s, unsigned i, const struct qp_route *r,
		 const struct qp_address *to, struct fault *f);
int qp_state_rts(struct qp_set *s, unsigned i, const struct qp_route *r, struct fault *f);
/* Set what ROUTE says of retries and of READs, for any state. */
void qp_fill_attr(const struct qp_route *route, struct ibv_qp_attr *attr);
