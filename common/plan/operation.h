/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * operation: the operation of a test, as data. Everything that differs between SEND, RDMA WRITE,
 * RDMA READ and atomics follows from it here: the peer's access rights, the direction of the data,
 * which part of a round trip is the latency, the available options, transports and devices, and the
 * number of outstanding requests. Pure functions.
 */
#pragma once

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "cli/experiment.h"

struct hca_port;

struct operation {
	const char *name;           /* "RDMA READ", for messages */
	enum ibv_wr_opcode opcode;  /* of a message */
	enum ibv_wr_opcode another; /* with an immediate, or chosen by --atomic_type */
	unsigned peer_allows;       /* the peer's rights it needs: enum ibv_access_flags; 0: it
				       consumes a receive */
	bool halved;                /* latency: the result is half a round trip */
	unsigned fixed_bytes;       /* size of each message, and its alignment; 0: any */
};

struct test;

/* The bits of enum option_trait of T, which decide its options. */
unsigned operation_traits(const struct test *t);

/* The opcode to post. IMMEDIATE: messages consume receives. */
enum ibv_wr_opcode operation_opcode(const struct operation *o, const struct experiment *e,
				    bool immediate);

/* The ibv_wr_* calls that post it, as enum ibv_qp_create_send_ops_flags. */
uint64_t operation_send_ops(const struct operation *o);

/*
 * True if WRITEs change this end's memory; below: if the data come to the requester; if it is
 * atomic.
 */
static inline bool operation_writes(const struct operation *o)
{
	return o->peer_allows & IBV_ACCESS_REMOTE_WRITE;
}
/* True if the data come to the requester (READ). */
static inline bool operation_pulls(const struct operation *o)
{
	return o->peer_allows & IBV_ACCESS_REMOTE_READ;
}
static inline bool operation_is_atomic(const struct operation *o)
{
	return o->peer_allows & IBV_ACCESS_REMOTE_ATOMIC;
}
/* True if it completes when the peer's data have arrived here (READ, atomics). */
static inline bool operation_fetches(const struct operation *o)
{
	return operation_pulls(o) || operation_is_atomic(o);
}

/* Convert a round trip in ns to the latency in microseconds. */
double operation_latency_us(const struct operation *o, double trip_ns);

/*
 * Check that the operation of test T can do what E says: transport, receives, sizes. For the
 * client's command line, and for what a server receives from a client. Raises FAULT_USAGE.
 */
int operation_check(const struct test *t, const struct experiment *e, struct fault *f);

/*
 * The same for -e, when it is known whether messages consume receives at both ends (IMMEDIATE).
 * Otherwise a CPU polls memory, and no event can wake it.
 */
int operation_check_events(const struct test *t, const struct experiment *e, bool immediate,
			   struct fault *f);

/*
 * The same for the transport, on P's fabric. FIX is that for another device.
 */
int operation_check_fabric(const struct experiment *e, const struct hca_port *p, const char *fix,
			   struct fault *f);

/*
 * The same on an iWARP DEVICE: only RC, connected by rdma_cm, without immediates and atomics. IPV6:
 * --ipv6 was given. IMMEDIATE: a ping-pong of WRITEs needs immediates, as it is of GPU memory.
 */
int operation_check_iwarp(const struct operation *o, const struct experiment *e, const char *device,
			  bool ipv6, bool immediate, struct fault *f);

/* Check that P's device supports the operation at an end that SENDS requests, ANSWERS them, or both. */
int operation_check_device(const struct operation *o, const struct hca_port *p, bool sends,
			   bool answers, struct fault *f);

/* The largest message by P: an EFA's SEND is a packet. */
uint64_t operation_message_max(const struct operation *o, const struct hca_port *p);

/*
 * The maximum number of outstanding READs and atomics of a QP: `sent` by an end, and `answered` by
 * it. It is the device's limit, or --outs if that is less; at most 1 if the operation does not use
 * them.
 */
struct operation_depth {
	unsigned sent, answered;
};
struct operation_depth operation_depth(const struct operation *o, const struct experiment *e,
				       const struct ibv_device_attr *attr);

/* The depth that both ends support: the lesser of MINE and THEIRS. */
struct operation_depth operation_agree(const struct operation_depth *mine,
				       const struct operation_depth *theirs);
