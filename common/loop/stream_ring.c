// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The rings of a stream. */
#include "loop/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WALK_BYTES 4096 /* small messages use this much memory in turn, as perftest's do */
#define LINE_BYTES 64
#define RING_LEAST 32  /* requests, so that a post is worth its call, */
#define RING_LONG  192 /* with lists, and where the clock is read for it */

/* Bytes from one message's offset to the next; 0 if WALK_BYTES has no room for a second one. */
static uint64_t footprint_step(const struct round *r, uint64_t walk_bytes)
{
	uint64_t unit = r->memory.unit_bytes ? r->memory.unit_bytes : LINE_BYTES;
	uint64_t step = (r->size_bytes + unit - 1) / unit * unit;

	return step > walk_bytes / 2 ? 0 : step;
}

/* Offset of message K of a ring in its slice; large messages all start at 0. */
static uint64_t footprint_offset(const struct round *r, uint64_t k)
{
	uint64_t step = footprint_step(r, WALK_BYTES);

	return step ? k % (WALK_BYTES / step) * step : 0;
}

/*
 * One of a post and a completion divides the other: a ring is a whole number of both. That of the
 * only QP may be longer, if its posts can end anywhere.
 */
static unsigned ring_count(const struct round *r, unsigned qps)
{
	unsigned chain = r->post_list, group = r->cq_mod, count = group > chain ? group : chain;
	unsigned least = chain > 1 || r->paced ? RING_LONG : RING_LEAST;

	if (qps == 1 && group >= chain)
		while (count < least && count + group <= r->qps->tx_depth)
			count += group;
	return count;
}

/* Build QP I's ring, linked in chains; the last of each group is signalled. */
static void build_ring(const struct stream *s, unsigned i)
{
	const struct round *r = s->round;
	struct ibv_send_wr *wr = s->ring + (size_t)i * s->ring_count;
	struct ibv_sge *sge = s->sge + (size_t)i * s->ring_count;

	for (unsigned k = 0; k < s->ring_count; k++) {
		round_build(r, i, footprint_offset(r, k), &wr[k], &sge[k]);
		wr[k].wr_id = (uint64_t)r->cq_mod << STREAM_QP_BITS | i;
		wr[k].next = (k + 1) % s->chain ? &wr[k + 1] : NULL;
		wr[k].send_flags |= (k + 1) % r->cq_mod ? 0 : IBV_SEND_SIGNALED;
	}
}

/* Where QP I posts, and its walk in STEPs; 0: none. */
static struct post_qp where_to_post(const struct round *r, unsigned i, uint64_t step)
{
	const struct round_memory *m = &r->memory;
	struct post_qp to = round_to(r, i, r->extended);

	if (!step)
		return to;
	to.walk.step = step;
	to.walk.at = to.walk.first = m->from.addr + i * m->from.stride;
	to.walk.last = to.walk.first + (m->walk_bytes / step - 1) * step;
	to.walk.away = m->remote.addr + i * m->remote.stride - to.walk.first;
	to.walk.remote = !post_is_send(r->opcode);
	return to;
}

int stream_init(struct stream *s, struct round *r)
{
	unsigned qps = r->qps->to_group ? 1 : r->qps->count, ring = ring_count(r, qps);
	const struct post_kind kind = {
		.opcode = r->opcode,
		.aim = round_aim(r),
		.inlined = r->send_inline,
		.extended = r->extended,
		.single = ring == r->post_list,
	};
	uint64_t step = r->memory.walk_bytes ? footprint_step(r, r->memory.walk_bytes) : 0;
	post_call *post = post_find(&kind);

	*s = (struct stream){
		.round = r,
		.count = qps,
		.chain = r->post_list,
		.ring_count = ring,
		.post = step && post ? post_find_walking(&kind, r->post_list) : post,
		.qp = aligned_alloc(sizeof(*s->qp), qps * sizeof(*s->qp)),
		.ring = calloc((size_t)qps * ring, sizeof(*s->ring)),
		.sge = calloc((size_t)qps * ring, sizeof(*s->sge)),
	};
	if (!s->qp || !s->ring || !s->sge)
		return fault_raise(r->fault, FAULT_LOCAL, ENOMEM, "allocating requests for %u QPs",
				   qps);
	s->turn = s->qp;
	for (unsigned i = 0; i < qps; i++) {
		build_ring(s, i);
		s->qp[i] = (struct stream_qp){
			.to = where_to_post(r, i, step),
			.ring = s->ring + (size_t)i * ring,
			.end = s->ring + (size_t)(i + 1) * ring,
			.left = ring,
			.room = r->qps->tx_depth - r->qps->tx_depth % s->chain,
		};
		s->qp[i].to.then = post;
	}
	if (s->post)
		return 0;
	return fault_raise(r->fault, FAULT_LOCAL, EOPNOTSUPP, "a stream of operation %d",
			   (int)r->opcode);
}

void stream_release(struct stream *s)
{
	free(s->qp);
	free(s->ring);
	free(s->sge);
	memset(s, 0, sizeof(*s));
}
