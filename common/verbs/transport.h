/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * transport: what each promises, allows and needs, as data. All else asks these members and
 * compares no names. Another transport is a file as transport_rc.c and a row of transports.h; what
 * it needs in a request (verbs/qp.h: qp_set_aim()) and of the loops (loop/post.h) has one place
 * each.
 */
#pragma once

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

struct transport {
	const char *name; /* a word of -c */
	enum ibv_qp_type type;
	unsigned device_caps; /* that it needs: enum ibv_device_cap_flags */
	/* promises */
	bool reliable; /* a message arrives once, or its request fails */
	bool ordered;  /* messages arrive, and requests complete, in the order of their posts */
	bool efa;      /* it is that of EFAs, which have no other */
	/* requests */
	bool addressed;        /* each says where to: address handle, QP number, Q_Key */
	bool one_packet;       /* a message is one: at most the MTU */
	bool all_signalled;    /* each must ask for its completion */
	bool rdma_by_calls;    /* READs and WRITEs are posted by ibv_wr_* only, never inline */
	unsigned peer_allows;  /* the rights that a request may need: enum ibv_access_flags */
	unsigned inline_most;  /* bytes that are worth asking for */
	unsigned header_bytes; /* before the payload in a receive buffer: a GRH */
	unsigned wire_bytes;   /* of headers in each packet that only this transport has */
	/* QPs */
	/*
	 * NULL: a QP sends and receives. Else another QP, in a domain, receives for it, into the
	 * SRQ that the request names.
	 */
	const struct transport *receiver;
	bool rdma_cm; /* rdma_cm can connect them; addressed ones: find the peer's and the Q_Key */
	int to_init, to_rtr, to_rts; /* enum ibv_qp_attr_mask, in addition to the usual ones */
	struct ibv_qp *(*create)(struct ibv_context *ctx, struct ibv_qp_init_attr_ex *attr);
};

/* The masks of transports whose QPs have one peer. */
#define TRANSPORT_CONNECTED_RTR (IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN)

/* The transport of CONNECTION, a valid enum connection (transports.h). */
const struct transport *transport_of(uint64_t connection);

/* True if a device of these capabilities has it. */
static inline bool transport_is_on(const struct transport *t, const struct ibv_device_attr *device)
{
	return !(t->device_caps & ~device->device_cap_flags);
}

/* True if what arrives must tell its number: it may be another one than the next. */
static inline bool transport_numbers(const struct transport *t)
{
	return !t->reliable || !t->ordered;
}

/*
 * The time without arrivals after which the messages sent before are lost; 0: never. It allows for
 * a message of BYTES at 0.1 Gb/s, and for a machine that is busy otherwise.
 */
uint64_t transport_quiet_ns(const struct transport *t, uint64_t bytes);

/* How long a QP waits for an ACK before it sends again, by --qp-timeout; 0: for ever, or no ACKs.
 */
double transport_ack_timeout_ns(const struct transport *t, uint64_t qp_timeout);

/* The largest message of a port whose largest is PORT_BYTES, and whose MTU is MTU_BYTES. */
uint64_t transport_max_bytes(const struct transport *t, uint64_t mtu_bytes, uint64_t port_bytes);
