/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * endpoint: this end of a run: its devices, the threads that measure, and their resources (QPs,
 * memory, a GPU). It knows no messages of the protocol and no report: the session sets what both
 * ends have agreed on, and measure/ runs its loops on these resources.
 *
 * Unless stated otherwise, functions return 0, or -1 with the fault raised in ep->fault or in the
 * worker's fault.
 */
#pragma once

#include <sys/socket.h>

#include "base/clock.h"
#include "base/pool.h"
#include "base/fault.h"
#include "base/stop.h"
#include "memory/gpu.h"
#include "host/pin.h"
#include "host/port_events.h"
#include "loop/recv.h"
#include "loop/round.h"
#include "plan/operation.h"
#include "plan/test.h"
#include "verbs/cm.h"
#include "verbs/hca.h"
#include "verbs/mem.h"
#include "verbs/qp.h"
#include "proto/end.h"
#include "cli/options.h"

/*
 * A device port of this end, and the path to the peer's. Rail I is connected to the peer's rail I.
 */
struct rail {
	struct hca hca;
	struct qp_route route;
	union ibv_gid gid; /* of this end, at route.gid_index */
	struct end mine, theirs;
	struct port_events events;
};

static inline bool rail_is_iwarp(const struct rail *r)
{
	return r->hca.info.fabric == FABRIC_IWARP;
}

/*
 * A thread and its resources. Worker I is connected to the peer's worker I. Workers use the rails
 * in turn. A worker's functions raise faults in `fault`.
 */
struct worker {
	struct endpoint *ep;
	struct rail *rail;
	unsigned index;
	bool is_load; /* it runs the stream of --load and does not measure */
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

struct endpoint {
	/* lent by the session */
	const struct test *test;
	struct options *options; /* the experiment is the one that both ends agreed on */
	struct fault *fault;     /* receives the faults of these functions */
	const struct clock *clock;
	bool server;                   /* this end's role */
	struct sockaddr_storage local; /* this end of the TCP connection; family 0: none */
	/* owned */
	struct rail *rail;
	unsigned rails;
	struct worker *worker;
	unsigned workers;
	unsigned loads;                /* additional workers that only make load */
	struct round_control *control; /* one per worker, including loads */
	struct pool pool;
	struct gpu *gpu;         /* NULL: no GPU is used */
	struct fault gpu_absent; /* why there is none, if that is not a failure */
	bool own_schedule;       /* gdr_bw without --plain: test->schedule runs */
	bool gpu_memory;         /* this end's messages are in GPU memory */
	bool immediate;          /* the *_immediate loops run: handshake.c says when */
	unsigned default_depth;  /* -t was not given: what it was before it was cut; 0: given */
	char cuts[128];          /* defaults of worker 0 that its device does not have; "": none */
	uint64_t largest_bytes;  /* the largest message of the experiment */
	uint64_t room_bytes;     /* and of those that go on with its QPs and memory, if larger */
	uint64_t message_max;    /* the largest message of all rounds, including staged chunks */
	uint32_t group_number;   /* with -g: the workers' groups are from this one on */
};

/* The number of all workers, and of the pool's threads: those that measure, then the loads. */
static inline unsigned endpoint_all_workers(const struct endpoint *ep)
{
	return ep->workers + ep->loads;
}

/* List the devices, and check that a usable one exists, with what -x and -s need. The caller frees
 * LIST. */
int endpoint_find(struct endpoint *ep, struct hca_list *list);

/* Choose and open the devices and the GPU, create the threads and pin them. */
int endpoint_open(struct endpoint *ep);

/* After that: check that the open devices have the transport, and can send the largest message. */
int endpoint_check_devices(struct endpoint *ep);

/* After the agreement on MTU and outstanding READs: limit size and depth to them. */
void endpoint_agreed(struct endpoint *ep);

/* The message size that the memory has room for. */
static inline uint64_t endpoint_room(const struct endpoint *ep)
{
	return ep->room_bytes > ep->largest_bytes ? ep->room_bytes : ep->largest_bytes;
}

/* Cut the depth of the send queues, if a default, to MOST and to what the devices have. */
int endpoint_fit_depth(struct endpoint *ep, uint64_t most);

/* Create the QPs and memory of every worker. */
int endpoint_make(struct endpoint *ep);

/* Connect every worker to its peer, whose address it has. Nothing to do with rdma_cm. */
int endpoint_connect(struct endpoint *ep);

/*
 * First stop all access to memory; then release everything. Between the two the caller releases
 * other users of registered memory. The endpoint can be opened again after that.
 */
void endpoint_quiesce(struct endpoint *ep);
void endpoint_release(struct endpoint *ep);

/*
 * Run JOB(ARG, i) in every worker's thread, or, if a GPU is used, whose driver requires that, one
 * after the other in the calling thread. The fault of the first failed worker becomes ep->fault.
 */
int endpoint_each(struct endpoint *ep, pool_job *job, void *arg);
/* Copy the fault of the first failed worker to ep->fault, unless it has one. */
void endpoint_fetch_fault(struct endpoint *ep);
/* Abort all loops, so that none waits for messages that will not come. Returns -1. */
int endpoint_abort(struct endpoint *ep);

/* True if this end posts the timed messages in a round of one direction. */
static inline bool endpoint_leads(const struct endpoint *ep)
{
	return ep->server == (ep->options->experiment.reversed != 0);
}

/* True if it posts messages, in one direction or in both. */
static inline bool endpoint_sends(const struct endpoint *ep)
{
	return endpoint_leads(ep) || ep->options->experiment.bidirectional;
}

/*
 * True if T's stream posts or polls with the extended calls. A receiver that sleeps on events has a
 * separate loop and no choice.
 */
bool worker_is_extended(const struct worker *t);

/* The calls with which this end's first worker posts, or polls; NULL: there is no choice. */
const char *endpoint_calls(const struct endpoint *ep);

/*
 * group.c, with -g: choose at random where the workers' groups begin; whether P has what it needs,
 * and the fault if not; a worker's groups: before its address is told, and when it has the peer's.
 */
int endpoint_choose_groups(struct endpoint *ep);
bool endpoint_can_group(const struct endpoint *ep, const struct hca_port *p);
int endpoint_refuse_group(const struct endpoint *ep, const struct hca_port *p);
int worker_group_make(struct worker *t);
int worker_group_connect(struct worker *t);

/* rail.c: what is told of a port; choose and open the device that TEXT names (NULL: any). */
struct hca_attr rail_wanted(const struct endpoint *ep, const char *device);
int rail_open(struct endpoint *ep, struct rail *r, const char *text);
void rail_release(struct rail *r);
/* Raise that P has no GID at the index of -x. Returns -1. */
int rail_refuse_gid(const struct endpoint *ep, const struct hca_port *p);
/* List the kinds of this end's GIDs in order of preference; and use the one that was agreed on. */
size_t rail_gid_kinds(struct endpoint *ep, const struct rail *r, enum gid_kind kinds[GID_KINDS]);
int rail_use_gid(struct endpoint *ep, struct rail *r, enum gid_kind kind);
void rail_describe_gid(struct rail *r, const struct gid *g, const char *chosen);
unsigned rail_mtu(const struct endpoint *ep,
		  const struct rail *r); /* the largest MTU of this end, in bytes */

/*
 * rail_route.c: check that the port fits --force-link and --dlid; read the key of --pkey_index (0:
 * not given); the key at index 0, which an InfiniBand port uses if nobody chooses (0: none, or
 * rdma_cm chooses); find the index of the partition of THEIRS, the key that the peer chose, or else
 * of the one BY_DEFAULT (0: none); set the route from the options.
 */
int rail_check_link(struct endpoint *ep, const struct rail *r);
int rail_pkey(struct endpoint *ep, const struct rail *r, uint16_t *key);
uint16_t rail_default_pkey(const struct endpoint *ep, const struct rail *r);
int rail_agree_on_pkey(struct endpoint *ep, struct rail *r, uint16_t theirs, uint16_t by_default);
void rail_set_route(struct endpoint *ep, struct rail *r);
/* The maximum of outstanding READs and atomics that this end supports; and that of both ends. */
struct operation_depth rail_reads(const struct endpoint *ep, const struct rail *r);
void rail_agree_on_reads(struct endpoint *ep, struct rail *r, const struct operation_depth *theirs);

/* worker.c: create QPs, memory, receives, and the addresses for the peer. */
int worker_pin(struct worker *t);
int worker_make(struct worker *t);
/*
 * worker_memory.c: check that all buffers fit within what the server allows a client, and the
 * cgroup; allocate a worker's buffer; and a load's.
 */
int endpoint_check_memory(struct endpoint *ep);
int worker_memory(struct worker *t);
int worker_load_memory(struct worker *t);
/* The access rights of the peer to the worker's memory. */
unsigned worker_access(const struct worker *t);
/* The memory of its messages at both ends, as far as it is known. */
struct round_memory worker_buffers(const struct worker *t);
/* True for a rail's first worker: struct end of the rail describes its thread and memory. */
static inline bool worker_is_first(const struct worker *t)
{
	return t->index < t->ep->rails;
}

int worker_connect(struct worker *t);
void worker_quiesce(struct worker *t);
void worker_release(struct worker *t);

/*
 * gpu.c: endpoint_gpu_check() checks the GPU options of the command line. endpoint_gpu_find() finds
 * the GPU that they name, if any. endpoint_gpu_open() opens this end's GPU, if it needs one.
 * endpoint_gpu_memory() allocates BYTES of its memory for a worker and registers them in M.
 */
int endpoint_gpu_check(struct options *o, const struct test *test, struct fault *f);
int endpoint_gpu_find(struct endpoint *ep);
void endpoint_gpu_start(struct endpoint *ep); /* start the driver early, because it may take long */
void endpoint_gpu_before_open(struct endpoint *ep); /* before the NIC is opened */
int endpoint_gpu_open(struct endpoint *ep);
int endpoint_gpu_memory(struct worker *t, size_t bytes, unsigned access, struct mem *m);

/*
 * efa.c: the transport of a client that was not told one, and whether the devices have it: of P,
 * which this end may use, before it has a peer; of those that it has opened.
 */
int endpoint_efa_find(struct endpoint *ep, const struct hca_port *p);
int endpoint_efa_check(struct endpoint *ep);

/*
 * iwarp.c: if a device of this end is iWARP: connect the QPs by rdma_cm in any case, and refuse
 * what iWARP does not support. The client's connected QPs send the first message.
 */
int endpoint_iwarp_check(struct endpoint *ep);
int endpoint_iwarp_first(struct endpoint *ep, struct stop *stop);
/* The first iWARP port, or NULL. */
const struct hca_port *endpoint_iwarp(const struct endpoint *ep);
/* The names of options that were given and have no effect on iWARP, or on EFA; NULL: none. */
const char *endpoint_idle(const struct endpoint *ep, char *buf, size_t size);

/*
 * With -R: initialize worker T's cm. FAMILY is that of the server's address; AF_UNSPEC at the
 * server.
 */
int worker_cm_open(struct worker *t, int family);
/* Store what rdma_cm chose in both ends' descriptions. */
void worker_cm_describe(struct worker *t);
