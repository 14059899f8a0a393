// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The rings of a stream. */
#include "loop/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WALK_BYTES 4096 /* small messages use this much memory in turn, as perftest's do */
#define LINE_BYTES 64

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

/* Build COUNT requests for QP I at WR, linked in chains of CHAIN; every GROUPth is signalled. */
static void build_send(const struct stream *s, struct ibv_send_wr *wr, unsigned i, unsigned count,
		       unsigned chain, unsigned group)
{
	const struct round *r = s->round;
	struct ibv_sge *sge = s->sge + (wr - s->ring);

	for (unsigned k = 0; k < count; k++) {
		round_build(r, i, footprint_offset(r, k), &wr[k], &sge[k]);
		wr[k].wr_id = (uint64_t)group << STREAM_QP_BITS | i;
		wr[k].next = (k + 1) % chain && k + 1 < count ? &wr[k + 1] : NULL;
		wr[k].send_flags |= (k + 1) % group ? 0 : IBV_SEND_SIGNALED;
	}
}

int stream_init(struct stream *s, struct round *r)
{
	bool each = r->qps->transport->all_signalled;
	unsigned qps = r->qps->to_group ? 1 : r->qps->count, ring;
	uint64_t target = round_target(r);

	memset(s, 0, sizeof(*s));
	s->round = r;
	s->count = qps;
	/* One divides the other: a ring is a whole number of posts and of signalled groups. */
	s->chain = r->post_list;
	ring = r->cq_mod > s->chain ? r->cq_mod : s->chain;
	s->group = each ? 1 : r->cq_mod;
	s->ring_count = ring;
	s->odd_count = target == ROUND_ENDLESS ? 0 : (unsigned)(target % ring);
	s->odd_group = each ? 1 : s->odd_count;
	s->qp = calloc(qps, sizeof(*s->qp));
	s->ring = calloc((size_t)qps * (ring + s->odd_count), sizeof(*s->ring));
	s->sge = calloc((size_t)qps * (ring + s->odd_count), sizeof(*s->sge));
	if (!s->qp || !s->ring || !s->sge)
		return fault_raise(r->fault, FAULT_LOCAL, ENOMEM, "allocating requests for %u QPs",
				   qps);
	s->post = post_find(&(struct post_kind){
		.opcode = r->opcode,
		.aim = round_aim(r),
		.inlined = r->send_inline,
		.extended = r->extended,
		.single = s->chain == ring,
	});
	s->odd = s->ring + (size_t)qps * ring;
	s->step = r->memory.walk_bytes ? footprint_step(r, r->memory.walk_bytes) : 0;
	s->last = s->step ? (r->memory.walk_bytes / s->step - 1) * s->step : 0;
	for (unsigned i = 0; i < qps; i++) {
		struct ibv_send_wr *wr = s->ring + (size_t)i * ring;
		struct ibv_send_wr *odd = s->odd + (size_t)i * s->odd_count;

		build_send(s, wr, i, ring, s->chain, s->group);
		if (s->odd_count)
			build_send(s, odd, i, s->odd_count, s->odd_count, s->odd_group);
		s->qp[i] = (struct stream_qp){
			.to = round_to(r, i, r->extended),
			.ring = wr,
			.room = r->qps->tx_depth,
			.here = r->memory.from.addr + i * r->memory.from.stride,
			.there = r->opcode == IBV_WR_SEND || r->opcode == IBV_WR_SEND_WITH_IMM
					 ? 0
					 : r->memory.remote.addr + i * r->memory.remote.stride,
		};
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
