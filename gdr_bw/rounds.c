// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The rounds of gdr_bw. Direct: WRITEs from one end's memory into the other's, as in write_bw, with
 * host or GPU memory at each end. Staged: the same data by way of host memory (loop/staged.h).
 */
#include "gdr.h"
#include "loop/stream.h"

/* The client requested a cell with memory that one end does not have. */
static int no_such_memory(const struct round *r)
{
	return fault_raise(r->fault, FAULT_PEER, 0,
			   "the client requested a cell that does not exist");
}

/* Describe a staged round of cell C for this end, whose data are in memory MINE. */
static struct staged staged_of(struct round *r, const struct gdr_cell *c, enum gdr_memory mine)
{
	struct gdr *g = r->own;
	const struct experiment *e = &g->ms->options->experiment;
	bool copied = mine == GDR_COPIED;

	return (struct staged){
		.round = r,
		.data = g->here[mine].addr,
		.stream = copied ? g->stream : NULL,
		.bounce = g->bounce.host,
		.local_key = copied ? g->bounce.lkey : g->here[mine].lkey,
		.chunk_bytes = e->staged_chunk_bytes,
		.slots = (unsigned)e->staged_slots,
		.sync = c->method == GDR_STAGED_SYNC,
		.credits = g->credit.host,
		.credit_out = (uint64_t *)g->credit.host + 1,
		.credit_key = g->credit.lkey,
	};
}

static int send_staged(struct round *r, const struct gdr_cell *c)
{
	struct gdr *g = r->own;
	struct staged s = staged_of(r, c, c->from);
	bool copied = c->into == GDR_COPIED;
	const struct gdr_place *to = &g->there[copied ? (unsigned)GDR_TARGET : c->into];

	if (!g->here[c->from].addr || !to->rkey)
		return no_such_memory(r);
	/* Without a copy at the sink, a chunk is written to its offset in the message. */
	s.remote = (struct round_slice){to->addr, copied ? to->stride : 0, to->rkey};
	return staged_send(&s);
}

static int receive_staged(struct round *r, const struct gdr_cell *c)
{
	struct gdr *g = r->own;
	struct staged s = staged_of(r, c, c->into);

	if (!g->here[c->into].addr || !g->there[GDR_CREDIT].rkey)
		return no_such_memory(r);
	s.remote = (struct round_slice){g->there[GDR_CREDIT].addr, 0, g->there[GDR_CREDIT].rkey};
	return staged_receive(&s);
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
		return send_staged(r, &c);
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
	return receive_staged(r, &c);
}

bool gdr_follows(unsigned kind)
{
	struct gdr_cell c;

	if (!kind)
		return false;
	gdr_cell_of_kind(&c, kind);
	return c.method != GDR_DIRECT;
}
