/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * post: the only place that posts requests, by ibv_post_send or by the ibv_wr_* calls. All requests
 * are a struct ibv_send_wr, built before (loop/round.h); the ibv_wr_* calls are made from it, too.
 * Functions return the errno of the verb: the caller says whose fault it is.
 */
#pragma once

#include <infiniband/verbs.h>
#include <stdbool.h>

struct qp_aim; /* verbs/qp.h */

#define ALWAYS_INLINE inline __attribute__((always_inline))
#define LIKELY(x)     __builtin_expect(!!(x), 1)
#define UNLIKELY(x)   __builtin_expect(!!(x), 0)

/* Post the chain WR to QP: one, or some that are linked. Hot. */
static ALWAYS_INLINE int post_chain(struct ibv_qp *qp, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	return ibv_post_send(qp, wr, &bad);
}

struct post_qp;

/*
 * A function that posts the requests from WR to END, which are in a row, with one call or one
 * doorbell for each CHAIN of them. Hot.
 */
typedef int post_call(struct post_qp *to, struct ibv_send_wr *wr, const struct ibv_send_wr *end,
		      unsigned chain);

/* What a request names. */
enum post_aim {
	POST_TO_PEER,    /* nothing: the QP has one peer */
	POST_TO_ADDRESS, /* where to */
	POST_TO_SRQ,     /* the peer's SRQ */
	POST_AIMS
};

/* With a footprint: the walk of a QP's messages through its memory, by their local addresses. */
struct post_walk {
	uint64_t at, step, first, last; /* of the next message, and the distance of two */
	uint64_t away;                  /* from a local to the remote address */
	bool remote;                    /* there is one: the peer posts no receives */
};

/* A QP, for the calls that a loop chose. */
struct post_qp {
	union {
		struct ibv_qp *qp;
		struct ibv_qp_ex *extended;
	};
	union {
		struct ibv_send_wr *bad;  /* of ibv_post_send; not used */
		const struct qp_aim *aim; /* extended: where to, if each request says it */
	};
	struct post_walk walk;
	post_call *then; /* with a footprint: what posts the requests that have their addresses */
};

/* True if a request of OPCODE names no address at the peer. */
static inline bool post_is_send(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM;
}

/* What a loop posts. */
struct post_kind {
	enum ibv_wr_opcode opcode;
	enum post_aim aim;
	bool inlined;
	bool extended; /* by the ibv_wr_* calls */
	bool single;   /* no call is for more than one chain */
};

/* The function for KIND; NULL: no loop has such requests. */
post_call *post_find(const struct post_kind *kind);

/* With a footprint, what gives each request its next address, before or in place of that. */
post_call *post_find_walking(const struct post_kind *kind, unsigned chain);
