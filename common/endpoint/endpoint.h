/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * endpoint: this end of a run: its devices, the threads that measure, and their resources (QPs,
 * memory, a GPU). It knows no messages of the protocol and no report: the session sets what both
 * ends have agreed on, and measure/ runs its loops on these resources. What a rail and a worker are
 * is in headers of their own, since few files need all that they consist of.
 *
 * Unless stated otherwise, functions return 0, or -1 with the fault raised in ep->fault or in the
 * worker's fault.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/pool.h"
#include "cli/options.h"

struct hca_port;
struct rail; /* endpoint/rail.h */
struct stop;
struct test;
struct worker; /* endpoint/worker.h */

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
	unsigned workers;              /* with a thread each; with --verify behind each of them, */
	unsigned workers_made;         /* that many places on, another one in its thread */
	struct round_control *control; /* one per worker */
	struct pool pool;
	struct gpu *gpu;         /* NULL: no GPU is used */
	struct fault gpu_absent; /* why there is none, if that is not a failure */
	bool own_schedule;       /* gdr_bw without --plain: test->schedule runs */
	bool gpu_memory;         /* this end's messages are in GPU memory */
	bool immediate;          /* the *_immediate loops run: handshake.c says when */
	unsigned default_depth;  /* -t was not given: what it was before it was cut; 0: given */
	char cuts[128];          /* defaults of worker 0 that its device does not have; "": none */
	uint64_t largest_bytes;  /* the largest message of the experiment */
	uint64_t asked_bytes;    /* the size that is asked for, if none is so large; else 0 */
	uint64_t size[SWEEP_VALUES_MAX]; /* a list of sizes on these QPs; of -a, the experiment's */
	unsigned sizes;
	uint32_t group_number; /* with -g: the workers' groups are from this one on */
};

/*
 * Check that there are devices to use, with what the options need, and open the GPU that they name.
 */
int endpoint_find(struct endpoint *ep);

/* Choose and open the devices and the GPU, create the threads and pin them. */
int endpoint_open(struct endpoint *ep);

/*
 * After that: check that the open devices have what the test needs, and send the largest message.
 */
int endpoint_check_devices(struct endpoint *ep);

/* After the agreement on MTU and outstanding READs: limit size and depth to them. */
void endpoint_agreed(struct endpoint *ep);

/* The experiment's size becomes that at I of the list, or the largest possible, if that is less. */
void endpoint_use_size(struct endpoint *ep, unsigned i);

/* rail.c: the rate of this end's links; 0: unknown. */
double endpoint_rate_gbps(const struct endpoint *ep);

/* Each message needs a receive of the end to which it goes. */
bool endpoint_receives(const struct endpoint *ep);

/* Cut the depth of the send queues, if a default, to MOST and to what the devices have. */
int endpoint_fit_depth(struct endpoint *ep, uint64_t most);

/* Create the QPs and memory of every worker. */
int endpoint_make(struct endpoint *ep);

/* Connect every worker, unless rdma_cm has, and address its datagrams, to its peer's address. */
int endpoint_connect(struct endpoint *ep);

/*
 * First stop all access to memory; then release everything. Between the two the caller releases
 * other users of registered memory. EP is then to be set up again.
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
/* The messages that the loops of EP have done; NULL: 0. */
uint64_t endpoint_progress(const struct endpoint *ep);
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

/* The calls with which this end's first worker posts, or polls; NULL: there is no choice. */
const char *endpoint_calls(const struct endpoint *ep);

/* If there is a choice: why these, behind their name, such as ", as all lists are". */
const char *endpoint_calls_why(const struct endpoint *ep);

/* What this end's threads share, a word of --share; NULL: one thread. And, as text in BUF, why. */
const char *endpoint_share(const struct endpoint *ep);
const char *endpoint_share_why(const struct endpoint *ep, char *buf, size_t size);

/*
 * group.c, with -g: choose at random where the workers' groups begin; check that P has what it
 * needs.
 */
int endpoint_choose_groups(struct endpoint *ep);
int endpoint_check_group(const struct endpoint *ep, const struct hca_port *p);

/* Check that all buffers fit within what the server allows a client, and the cgroup. */
int endpoint_check_memory(struct endpoint *ep);

/*
 * What does not fit: FAULT_USAGE if OPTION was given to this end, else it is the machines, which
 * nobody told what to use.
 */
static inline enum fault_code endpoint_misfit(const struct endpoint *ep, const char *option)
{
	return options_given(ep->options, option) ? FAULT_USAGE : FAULT_UNAVAILABLE;
}

/*
 * gpu.c: endpoint_gpu_check() checks the GPU options of the command line. endpoint_gpu_find() opens
 * the GPU that they name, if any. endpoint_gpu_open() opens this end's GPU, if it needs one.
 */
int endpoint_gpu_check(struct options *o, const struct test *test, struct fault *f);
int endpoint_gpu_find(struct endpoint *ep);
void endpoint_gpu_start(struct endpoint *ep); /* start the driver early, because it may take long */
void endpoint_gpu_before_open(struct endpoint *ep); /* before the NIC is opened */
int endpoint_gpu_open(struct endpoint *ep);

/* efa.c: a client that was not told which transport takes the one that P has; whether P has it. */
int endpoint_efa_choose(struct endpoint *ep, const struct hca_port *p);
int endpoint_efa_check(struct endpoint *ep, const struct hca_port *p);

/*
 * iwarp.c: if a device of this end is iWARP: connect the QPs by rdma_cm in any case, and refuse
 * what iWARP does not support. The client's connected QPs send the first message.
 */
int endpoint_iwarp_check(struct endpoint *ep);
/* Both ends READ: no deeper send queue than READs may be outstanding. */
void endpoint_iwarp_fit_reads(struct endpoint *ep);
int endpoint_iwarp_first(struct endpoint *ep, struct stop *stop);
/* The first iWARP port, or NULL. */
const struct hca_port *endpoint_iwarp(const struct endpoint *ep);
