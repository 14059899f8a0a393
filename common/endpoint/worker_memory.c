// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The buffer of a worker: where it sends from and receives to, and in which kind of memory. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cgroup.h"
#include "base/phase.h"
#include "base/text.h"
#include "endpoint/rail.h"
#include "endpoint/worker.h"
#include "loop/staged.h"
#include "plan/limits.h"
#include "plan/plan.h"
#include "verbs/transport.h"

#define PAGE_BYTES       4096 /* alignment of a slice, and the headroom before the first */
#define STAMP_ROOM_BYTES 64   /* unused after each slice */

/*
 * The bytes that a client's experiment needs at this end if a worker needs BYTES. gdr_bw without
 * --plain has one in host memory and one in the GPU's, and the slots of copies.
 */
static uint64_t all_buffers(const struct endpoint *ep, uint64_t bytes)
{
	if (ep->own_schedule)
		return bytes * (ep->gpu ? 2 : 1) + STAGED_SLOTS * STAGED_CHUNK_BYTES;
	return bytes * ep->workers;
}

/* Offsets in the buffer. */
struct layout {
	uint64_t first;  /* offset of QP 0's slice */
	uint64_t stride; /* from one QP's to the next */
	uint64_t into;   /* from where it sends to where it receives */
	uint64_t bytes;
};

/*
 * One buffer: headroom, then a slice for each QP. A test that sends and receives does so from the
 * first half of the slice and into the second.
 */
static struct layout lay_out(const struct endpoint *ep, bool verifies)
{
	const struct experiment *e = &ep->options->experiment;
	bool apart = (ep->test->latency && !ep->test->calls) || e->bidirectional;
	uint64_t room = verifies ? plan_verify_room(e, ep->largest_bytes) : ep->largest_bytes;
	uint64_t slice = room > e->footprint_bytes ? room : e->footprint_bytes;
	uint64_t half = (e->align_bytes + slice + STAMP_ROOM_BYTES + PAGE_BYTES - 1) / PAGE_BYTES *
			PAGE_BYTES;
	/* A datagram's GRH is stored before the slice, so that must be in the QP's MR, too. */
	uint64_t before = experiment_transport(e)->header_bytes && !apart ? PAGE_BYTES : 0;
	struct layout l = {
		.first = PAGE_BYTES + before + e->align_bytes,
		.stride = (apart ? 2 * half : half) + before,
		.into = apart ? half : 0,
	};

	l.bytes = PAGE_BYTES + e->qps * l.stride;
	if (l.bytes < l.first + ep->largest_bytes)
		l.bytes = l.first + ep->largest_bytes;
	return l;
}

static int make_host_memory(struct worker *t, const struct layout *l, unsigned access)
{
	const struct options *o = t->ep->options;
	/* Each worker has its own part of a file. */
	uint64_t part = (l->bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	struct end *e = &t->rail->mine;
	struct mem_attr attr = {
		.pd = t->qps.pd,
		.memory = {.bytes = l->bytes,
			   .pin = &t->pin,
			   .huge = o->local.hugepages,
			   .file = o->local.mmap_file,
			   .file_offset_bytes = o->local.mmap_offset_bytes + t->index * part},
		.access = access | (o->local.odp ? IBV_ACCESS_ON_DEMAND : 0),
		.mr_count = o->experiment.mr_per_qp ? t->qps.count : 0,
		.lead = PAGE_BYTES,
		.stride = l->stride,
	};

	fault_phase(&t->fault, PHASE_REGISTER);
	if ((o->local.odp && mem_check_odp(t->rail->hca.ctx, &t->fault)) ||
	    mem_init(&t->mem, &attr, &t->fault))
		return -1;
	if (!worker_is_first(t))
		return 0;
	e->memory_pages = (int64_t)t->mem.pages_checked;
	e->memory_pages_on_node = (int64_t)t->mem.pages_on_node;
	text_copy(e->memory_made_of, sizeof(e->memory_made_of), t->mem.memory.what);
	if (o->local.odp)
		text_add(e->memory_made_of, sizeof(e->memory_made_of), "%son-demand paging",
			 e->memory_made_of[0] ? ", " : "");
	return 0;
}

/* Refuse options about host memory with GPU memory. */
static int check_gpu_memory(struct worker *t)
{
	const struct options *o = t->ep->options;
	const char *option = o->local.hugepages        ? "--use_hugepages"
			     : o->local.mmap_file      ? "--mmap"
			     : o->local.odp            ? "--odp"
			     : o->experiment.mr_per_qp ? "--mr_per_qp"
						       : NULL;

	if (!option)
		return 0;
	return fault_usage(&t->fault, "omit it: it applies to host memory only",
			   "%s cannot be used with GPU memory", option);
}

/* The peer sends one rkey for all QPs, or one per QP if each has an MR. */
static int tell_keys(struct worker *t)
{
	t->mine.rkey = t->mem.rkey;
	if (!t->mem.lkeys)
		return 0;
	t->mine.rkeys = calloc(t->mem.mr_count, sizeof(*t->mine.rkeys));
	if (!t->mine.rkeys)
		return fault_raise(&t->fault, FAULT_LOCAL, ENOMEM, "allocating keys of %u MRs",
				   t->mem.mr_count);
	for (unsigned i = 0; i < t->mem.mr_count; i++)
		t->mine.rkeys[i] = t->mem.mr[i]->rkey;
	return 0;
}

unsigned worker_access(const struct worker *t)
{
	const struct operation *o = &t->ep->test->operation;
	unsigned access = o->peer_allows;

	/* iWARP: the response is a WRITE, as if the peer's */
	if (operation_fetches(o) && rail_is_iwarp(t->rail))
		access |= IBV_ACCESS_REMOTE_WRITE;
	if (!t->ep->options->experiment.strict_order)
		access |= IBV_ACCESS_RELAXED_ORDERING;
	return access;
}

int endpoint_check_memory(struct endpoint *ep)
{
	const struct local_options *o = &ep->options->local;
	uint64_t bytes = all_buffers(ep, lay_out(ep, false).bytes);

	if (ep->options->experiment.verify)
		bytes += ep->workers * lay_out(ep, true).bytes;
	fault_phase(ep->fault, PHASE_ALLOCATE);
	if (ep->server && limits_memory(o, bytes, ep->fault))
		return -1;
	return ep->gpu_memory || o->hugepages || o->mmap_file
		       ? 0
		       : cgroup_check_memory(bytes, ep->fault);
}

int worker_memory(struct worker *t)
{
	const struct endpoint *ep = t->ep;
	struct layout l = lay_out(ep, worker_verifies(t));
	unsigned access = worker_access(t);
	int rc;

	if (ep->gpu_memory)
		rc = check_gpu_memory(t) ? -1 : endpoint_gpu_memory(t, l.bytes, access, &t->mem);
	else
		rc = make_host_memory(t, &l, access);
	if (rc)
		return -1;
	if (ep->gpu_memory)
		t->rail->mine.memory = END_GPU;
	t->out = t->mem.memory.addr + l.first;
	t->mine.addr = t->out + l.into;
	t->mine.stride = l.stride;
	return tell_keys(t);
}

struct round_memory worker_buffers(const struct worker *t)
{
	const struct qp_address *mine = &t->mine, *theirs = &t->theirs;

	return (struct round_memory){
		.from = {t->out, mine->stride, t->mem.lkey, t->mem.lkeys},
		.into = {mine->addr, mine->stride, t->mem.lkey, t->mem.lkeys},
		.remote = {theirs->addr, theirs->stride, theirs->rkey, theirs->rkeys},
		.gpu = t->mem.memory.gpu != NULL,
		.gpu_there = t->rail->theirs.memory == END_GPU,
	};
}
