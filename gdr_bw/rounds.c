// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The rounds of gdr_bw. Direct: WRITEs from one end's memory into the other's, as in write_bw, with
 * host or GPU memory at each end. Staged: the same data by way of host memory (loop/staged.h).
 */
#include "gdr.h"
#include "loop/staged.h"

/* The client requested a cell with memory that one end does not have. */
static int no_such_memory(const struct round *r)
{
	return fault_raise(r->fault, FAULT_PEER, 0,
			   "the client requested a cell that does not exist");
}

/* Run this end of a staged round of cell C: the source (SEND), or the sink. */
static int run_staged(struct round *r, const struct gdr_cell *c, bool send)
{
	struct gdr *g = r->own;
	const struct experiment *e = &g->ms->options->experiment;
	const struct gdr_place *data = &g->here[send ? c->from : c->into];
	bool copied = data == &g->here[GDR_COPIED], to_slots = c->into == GDR_COPIED;
	unsigned into = to_slots ? (unsigned)GDR_TARGET : c->into;
	const struct gdr_place *to = &g->there[send ? into : GDR_CREDIT];
	struct staged s = {
		.round = r,
		.data = data->addr,
		.stream = copied ? g->stream : NULL,
		.bounce = g->bounce.memory.host,
		.local_key = copied ? g->bounce.lkey : data->lkey,
		.chunk_bytes = e->staged_chunk_bytes,
		.slots = (unsigned)e->staged_slots,
		/* Without a copy at the sink, a chunk is written to its offset in the message. */
		.remote = {to->addr, send && to_slots ? to->stride : 0, to->rkey},
		.credits = g->credit.memory.host,
		.credit_out = (uint64_t *)g->credit.memory.host + 1,
		.credit_key = g->credit.lkey,
	};

	if (!data->addr || !to->rkey)
		return no_such_memory(r);
	return send ? staged_send(&s) : staged_receive(&s);
}

int gdr_lead(struct round *r)
{
	struct gdr *g = r->own;
	const struct gdr_place *from, *into;
	struct gdr_cell c;

	if (!r->kind)
		return stream_run(r);
	if (!g)
		return no_such_memory(r);
	gdr_cell_of_kind(&c, r->kind);
	if (c.method != GDR_DIRECT)
		return run_staged(r, &c, true);
	from = &g->here[c.from];
	into = &g->there[c.into];
	if (!from->lkey || !into->rkey)
		return no_such_memory(r);
	r->memory.from = (struct round_slice){from->addr, from->stride, from->lkey};
	r->memory.remote = (struct round_slice){into->addr, into->stride, into->rkey};
	r->send_inline &= c.from == GDR_HOST; /* the CPU cannot copy from a GPU's address */
	return stream_run(r);
}

int gdr_follow(struct round *r)
{
	struct gdr_cell c;

	if (!r->own)
		return no_such_memory(r);
	gdr_cell_of_kind(&c, r->kind);
	return run_staged(r, &c, false);
}

bool gdr_follows(unsigned kind)
{
	struct gdr_cell c;

	if (!kind)
		return false;
	gdr_cell_of_kind(&c, kind);
	return c.method != GDR_DIRECT;
}
