// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The buffer of a strand: where its messages come from and go to, and what it is made of. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "session/limits.h"
#include "session/state.h"

#define PAGE_BYTES       4096 /* alignment of a slice, and the headroom before the first */
#define STAMP_ROOM_BYTES 64   /* unused behind every slice */

/* What a client's experiment needs at this end, if a strand needs BYTES; a matrix of cells has
 * more.
 */
static uint64_t all_buffers(const struct session *s, uint64_t bytes)
{
	const struct experiment *e = &s->options.experiment;

	if (s->matrix && s->gpu)
		return 2 * bytes + e->staged_slots * e->staged_chunk_bytes;
	return bytes * s->strands + e->load_bytes * s->loads;
}

/* Where things lie in the buffer. */
struct layout {
	uint64_t first;  /* offset of QP 0's slice */
	uint64_t stride; /* from one QP's to the next */
	uint64_t into;   /* from where it sends to where it receives */
	uint64_t bytes;
};

/*
 * One buffer: headroom, then a slice for each QP. What goes both ways is sent from the first half
 * of it and received into the second.
 */
static struct layout lay_out(const struct session *s)
{
	const struct experiment *e = &s->options.experiment;
	bool apart = s->test->latency || e->bidirectional;
	uint64_t slice =
		s->largest_bytes > e->footprint_bytes ? s->largest_bytes : e->footprint_bytes;
	uint64_t half = (e->align_bytes + slice + STAMP_ROOM_BYTES + PAGE_BYTES - 1) / PAGE_BYTES *
			PAGE_BYTES;
	/* A datagram's header goes before the slice, and must lie in its QP's MR, too. */
	uint64_t before = e->connection == CONNECTION_UD && !apart ? PAGE_BYTES : 0;
	struct layout l = {
		.first = PAGE_BYTES + before + e->align_bytes,
		.stride = (apart ? 2 * half : half) + before,
		.into = apart ? half : 0,
	};

	l.bytes = PAGE_BYTES + e->qps * l.stride;
	if (l.bytes < l.first + s->message_max)
		l.bytes = l.first + s->message_max;
	return l;
}

/* What the host's memory is made of; each strand has a part of the file for itself. */
static struct backing backing_of(const struct strand *t, uint64_t bytes)
{
	const struct local_options *l = &t->session->options.local;
	uint64_t part = (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;

	if (l->mmap_file)
		return (struct backing){BACKING_FILE, l->mmap_file,
					l->mmap_offset_bytes + t->index * part};
	return (struct backing){.kind = l->hugepages ? BACKING_HUGE : BACKING_PAGES};
}

static int make_host_memory(struct strand *t, const struct layout *l, unsigned access)
{
	const struct options *o = &t->session->options;
	struct end *e = &t->rail->mine;
	struct mem_ask ask = {
		.pd = t->qps.pd,
		.pin = &t->pin,
		.backing = backing_of(t, l->bytes),
		.bytes = l->bytes,
		.access = access | (o->local.odp ? IBV_ACCESS_ON_DEMAND : 0),
		.parts = o->experiment.mr_per_qp ? t->qps.count : 0,
		.lead = PAGE_BYTES,
		.stride = l->stride,
	};

	fault_phase(&t->fault, "registering memory");
	if ((o->local.odp && mem_check_odp(t->rail->hca.ctx, &t->fault)) ||
	    mem_make(&t->mem, &ask, &t->fault))
		return -1;
	if (!strand_is_first(t))
		return 0;
	e->memory_pages = (int64_t)t->mem.pages_checked;
	e->memory_pages_on_node = (int64_t)t->mem.pages_on_node;
	text_copy(e->memory_made_of, sizeof(e->memory_made_of), t->mem.map.what);
	if (o->local.odp)
		text_add(e->memory_made_of, sizeof(e->memory_made_of), "%son-demand paging",
			 e->memory_made_of[0] ? ", " : "");
	return 0;
}

/* What is about host memory has no meaning with a GPU's. */
static int check_gpu_memory(struct strand *t)
{
	const struct options *o = &t->session->options;
	const char *option = o->local.hugepages        ? "--use_hugepages"
			     : o->local.mmap_file      ? "--mmap"
			     : o->local.odp            ? "--odp"
			     : o->experiment.mr_per_qp ? "--mr_per_qp"
						       : NULL;

	if (!option)
		return 0;
	fault_raise(&t->fault, FAULT_USAGE, 0, "%s with GPU memory", option);
	return fault_fix(&t->fault, "leave it out: it is for host memory");
}

/* The peer's keys are one for all QPs, unless each QP has its MR. */
static int tell_keys(struct strand *t)
{
	t->mine.rkey = t->mem.rkey;
	if (!t->mem.parts)
		return 0;
	t->mine.rkeys = calloc(t->mem.parts, sizeof(*t->mine.rkeys));
	if (!t->mine.rkeys)
		return fault_raise(&t->fault, FAULT_LOCAL, ENOMEM, "keys of %u MRs", t->mem.parts);
	memcpy(t->mine.rkeys, t->mem.rkeys, t->mem.parts * sizeof(*t->mine.rkeys));
	return 0;
}

int strand_memory(struct strand *t)
{
	const struct session *s = t->session;
	struct layout l = lay_out(s);
	unsigned access = s->test->written ? IBV_ACCESS_REMOTE_WRITE : 0;
	int rc;

	if (!s->options.experiment.strict_order)
		access |= IBV_ACCESS_RELAXED_ORDERING;
	if (s->report.about.server &&
	    limits_memory(&s->options.local, all_buffers(s, l.bytes), &t->fault))
		return -1;
	if (s->gpu_memory)
		rc = check_gpu_memory(t)
			     ? -1
			     : endpoint_gpu_memory(t, l.bytes, access, &t->mem, &t->gpu_buffer);
	else
		rc = make_host_memory(t, &l, access);
	if (rc)
		return -1;
	t->out = t->mem.addr + l.first;
	t->mine.addr = t->out + l.into;
	t->mine.stride = l.stride;
	return tell_keys(t);
}
