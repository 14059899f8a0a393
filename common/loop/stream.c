// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "loop/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "loop/paced.h"

#define WALK_BYTES 4096 /* small messages walk through this much, as perftest's do */
#define LINE_BYTES 64

/* From one message's offset to the next; 0 if there is no room for a second. */
static uint64_t step_of(const struct round *r, uint64_t walk_bytes)
{
	uint64_t unit = r->unit_bytes ? r->unit_bytes : LINE_BYTES;
	uint64_t step = (r->size_bytes + unit - 1) / unit * unit;

	return step > walk_bytes / 2 ? 0 : step;
}

/* Offset of message K of a ring in its slice: big ones all start at 0. */
static uint64_t walk(const struct round *r, uint64_t k)
{
	uint64_t step = step_of(r, WALK_BYTES);

	return step ? k % (WALK_BYTES / step) * step : 0;
}

/* Build COUNT requests for QP I at WR, in chains of CHAIN, the last of each GROUP signalled. */
static void build(const struct stream *s, struct ibv_send_wr *wr, unsigned i, unsigned count,
		  unsigned chain, unsigned group, enum ibv_wr_opcode opcode)
{
	const struct round *r = s->round;
	struct ibv_sge *sge = s->sge + (wr - s->ring);

	for (unsigned k = 0; k < count; k++) {
		uint64_t offset = walk(r, k);

		sge[k] = (struct ibv_sge){
			.addr = r->from.addr + i * r->from.stride + offset,
			.length = (uint32_t)r->size_bytes,
			.lkey = round_key(&r->from, i),
		};
		wr[k] = (struct ibv_send_wr){
			.wr_id = (uint64_t)group << STREAM_QP_BITS | i,
			.next = (k + 1) % chain && k + 1 < count ? &wr[k + 1] : NULL,
			.sg_list = &sge[k],
			.num_sge = 1,
			.opcode = opcode,
			.send_flags = ((k + 1) % group ? 0 : IBV_SEND_SIGNALED) |
				      (r->send_inline ? IBV_SEND_INLINE : 0),
		};
		qp_set_aim(r->qps, i, &wr[k]);
		if (opcode != IBV_WR_SEND) {
			wr[k].wr.rdma.remote_addr = r->remote.addr + i * r->remote.stride + offset;
			wr[k].wr.rdma.rkey = round_key(&r->remote, i);
		}
	}
}

int stream_init(struct stream *s, struct round *r, enum ibv_wr_opcode opcode)
{
	unsigned qps = r->qps->count, group = r->cq_mod, ring;
	uint64_t target = round_target(r);

	memset(s, 0, sizeof(*s));
	s->round = r;
	s->count = qps;
	/* A ring is a whole number of posts and of completions, whichever is larger. */
	s->chain = r->post_list;
	ring = group > s->chain ? group : s->chain;
	s->ring_count = ring;
	s->odd_count = target == ROUND_ENDLESS ? 0 : (unsigned)(target % ring);
	s->lane = calloc(qps, sizeof(*s->lane));
	s->ring = calloc((size_t)qps * (ring + s->odd_count), sizeof(*s->ring));
	s->sge = calloc((size_t)qps * (ring + s->odd_count), sizeof(*s->sge));
	if (!s->lane || !s->ring || !s->sge)
		return fault_raise(r->fault, FAULT_LOCAL, ENOMEM, "requests for %u QPs", qps);
	s->odd = s->ring + (size_t)qps * ring;
	s->step = r->walk_bytes ? step_of(r, r->walk_bytes) : 0;
	s->last = s->step ? (r->walk_bytes / s->step - 1) * s->step : 0;
	for (unsigned i = 0; i < qps; i++) {
		struct ibv_send_wr *wr = s->ring + (size_t)i * ring;
		struct ibv_send_wr *odd = s->odd + (size_t)i * s->odd_count;

		build(s, wr, i, ring, s->chain, group, opcode);
		if (s->odd_count)
			build(s, odd, i, s->odd_count, s->odd_count, s->odd_count, opcode);
		s->lane[i] = (struct stream_lane){
			.qp = r->qps->qp[i],
			.qp_ex = r->qps->extended ? ibv_qp_to_qp_ex(r->qps->qp[i]) : NULL,
			.ring = wr,
			.room = r->qps->tx_depth,
			.from = r->from.addr + i * r->from.stride,
			.to = opcode == IBV_WR_SEND ? 0 : r->remote.addr + i * r->remote.stride,
		};
	}
	stream_choose_post(s, opcode);
	return 0;
}

void stream_release(struct stream *s)
{
	free(s->lane);
	free(s->ring);
	free(s->sge);
	memset(s, 0, sizeof(*s));
}

/* Post whole rings while there is room and L has not reached TARGET. */
static ALWAYS_INLINE int fill(struct stream *s, struct stream_lane *l, uint64_t target)
{
	const unsigned ring = s->ring_count;

	while (l->room >= ring && l->posted < target) {
		if (s->step)
			stream_walk(s, l, l->ring, ring);
		if (UNLIKELY(s->post(s, l, l->ring, l->ring + ring, s->chain)))
			return -1;
		l->posted += ring;
		l->room -= ring;
		s->posted += ring;
	}
	return 0;
}

/*
 * Take completions and refill their QPs until nothing is under way. The constants: on events; with
 * the peak; with receives of the other direction.
 */
static ALWAYS_INLINE int drain(struct stream *s, const bool sleeps, const bool peak,
			       const bool both)
{
	struct round *r = s->round;
	struct cq_link *at = r->qps->send.link, *arrivals_at = r->qps->recv.link;
	struct ibv_wc wc[STREAM_BATCH_MAX];
	unsigned batch = STREAM_BATCH;
	uint64_t target, now = r->start_ticks;

	while (s->done < s->posted) {
		int n = ibv_poll_cq(at->cq, (int)batch, wc), came = 0;

		at = at->next;
		if (both && (came = stream_receive_some(r->arrivals, &arrivals_at)) < 0)
			return -1;
		if (UNLIKELY(n <= 0)) {
			if (n < 0)
				return round_verb_failed(r, n, "ibv_poll_cq");
			if (UNLIKELY(round_quit(r))) {
				/* Nothing came for a while: that is not part of what was measured.
				 */
				r->end_ticks = peak ? now : 0;
				return 0;
			}
			if (sleeps && round_rest(r, came > 0))
				return -1;
			continue;
		}
		if (sleeps)
			round_rest(r, true);
		if (peak) /* before the posts below, which take time of their own */
			now = clock_ticks(r->clock);
		target = round_target(r);
		for (int k = 0; k < n; k++) {
			struct stream_lane *l = &s->lane[(uint32_t)wc[k].wr_id];

			if (UNLIKELY(wc[k].status != IBV_WC_SUCCESS))
				return round_completion_failed(r, &wc[k], "request");
			l->room += wc[k].wr_id >> STREAM_QP_BITS;
			s->done += wc[k].wr_id >> STREAM_QP_BITS;
			if (UNLIKELY(fill(s, l, target)))
				return -1;
		}
		if (peak)
			peak_add(r->peak, now, s->done, (unsigned)n < batch);
		batch = stream_batch(batch, (unsigned)n);
		round_progress(r, s->done);
	}
	return 0;
}

/* One instance for each set of constants. */
#define DRAIN(name, sleeps, peak, both)              \
	static int name(struct stream *s)            \
	{                                            \
		return drain(s, sleeps, peak, both); \
	}
DRAIN(drain_plain, false, false, false)
DRAIN(drain_both, false, false, true)
DRAIN(drain_peak, false, true, false)
DRAIN(drain_peak_both, false, true, true)
DRAIN(drain_sleeping, true, false, false)
DRAIN(drain_sleeping_both, true, false, true)
DRAIN(drain_sleeping_peak, true, true, false)
DRAIN(drain_sleeping_peak_both, true, true, true)

typedef int drain_loop(struct stream *s);

static drain_loop *drain_of(const struct round *r, bool both)
{
	static drain_loop *const loops[2][2][2] = {
		{{drain_plain, drain_both}, {drain_peak, drain_peak_both}},
		{{drain_sleeping, drain_sleeping_both},
		 {drain_sleeping_peak, drain_sleeping_peak_both}},
	};

	return loops[round_sleeps(r)][!r->no_peak][both];
}

/*
 * The messages that do not fill a ring go first, as one post with a signal at its end, so that the
 * run ends with full rings and no pause before them.
 */
static int send_odd(struct stream *s, struct stream_lane *l, struct ibv_send_wr *odd)
{
	if (s->step)
		stream_walk(s, l, odd, s->odd_count);
	if (s->post(s, l, odd, odd + s->odd_count, s->odd_count))
		return -1;
	l->posted += s->odd_count;
	l->room -= s->odd_count;
	s->posted += s->odd_count;
	return 0;
}

int stream_send(struct stream *s)
{
	struct round *r = s->round;
	bool both = r->arrivals && r->arrivals->receives;
	int rc = 0;

	bell_start(&r->qps->bell, &r->qps->send, both ? &r->qps->recv : NULL);
	r->start_ticks = clock_ticks(r->clock);
	if (!r->no_peak)
		peak_start(r->peak, r->start_ticks);
	for (unsigned i = 0; rc == 0 && i < s->count; i++) {
		if (s->odd_count)
			rc = send_odd(s, &s->lane[i], s->odd + (size_t)i * s->odd_count);
		if (rc == 0)
			rc = fill(s, &s->lane[i], round_target(r));
	}
	if (rc == 0)
		rc = drain_of(r, both)(s);
	if (!r->end_ticks)
		r->end_ticks = clock_ticks(r->clock);
	r->messages = r->timed_messages = s->done;
	return rc;
}

int stream_run(struct round *r, enum ibv_wr_opcode opcode)
{
	struct stream s;
	int rc = stream_init(&s, r, opcode) ? -1 : r->paced ? paced_send(&s) : stream_send(&s);

	stream_release(&s);
	return rc;
}
