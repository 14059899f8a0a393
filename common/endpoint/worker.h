/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * worker: a thread and its resources. Worker I is connected to the peer's worker I. Workers use the
 * rails in turn. A worker's functions raise faults in its `fault`.
 */
#pragma once

#include "endpoint/endpoint.h"
#include "host/pin.h"
#include "loop/recv.h"
#include "verbs/cm.h"
#include "verbs/mem.h"

struct worker {
	struct endpoint *ep;
	struct rail *rail;
	unsigned index;
	struct pin pin;
	struct qp_set qps;
	struct cm cm; /* with -R: connects the QPs */
	struct mem mem;
	uint64_t out;        /* address of QP 0's outgoing messages; the peer writes to mine.addr */
	struct recv_queue receives;
	struct qp_address mine, theirs;
	struct round_control *control;
	struct fault fault;
};

/* worker.c: create QPs, memory, receives, and the addresses for the peer. */
int worker_pin(struct worker *t);
int worker_make(struct worker *t);

/* What its QPs are made with. */
struct qp_attr worker_qp_attr(const struct worker *t);

/* worker_memory.c: allocate a worker's buffer. */
int worker_memory(struct worker *t);
/* The access rights of the peer to the worker's memory. */
unsigned worker_access(const struct worker *t);
/* The memory of its messages at both ends, as far as it is known. */
struct round_memory worker_buffers(const struct worker *t);
/* True for a rail's first worker: struct end of the rail describes its thread and memory. */
static inline bool worker_is_first(const struct worker *t)
{
	return t->index < t->ep->rails;
}

/*
 * True if it is for --verify: it shares the thread of another one, has room for more messages, and
 * posts no receives by itself.
 */
static inline bool worker_verifies(const struct worker *t)
{
	return t->index >= t->ep->workers;
}

int worker_connect(struct worker *t);
void worker_quiesce(struct worker *t);
void worker_release(struct worker *t);

/* gpu.c: allocate BYTES of the GPU's memory for T, and register them in M. */
int endpoint_gpu_memory(struct worker *t, size_t bytes, unsigned access, struct mem *m);

/* group.c, with -g: its groups: before its address is told, and when it has the peer's. */
int worker_group_make(struct worker *t);
int worker_group_connect(struct worker *t);

/*
 * True if T's stream posts or polls with the extended calls. A receiver that sleeps on events has a
 * separate loop and no choice.
 */
bool worker_is_extended(const struct worker *t);

/*
 * With -R: initialize worker T's cm. FAMILY is that of the server's address; AF_UNSPEC at the
 * server.
 */
int worker_cm_open(struct worker *t, int family);
/* Store what rdma_cm chose in both ends' descriptions. */
void worker_cm_describe(struct worker *t);
