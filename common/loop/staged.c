// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "loop/staged.h"

#define POLL_BATCH 16

/* One end's progress, in chunks. */
struct flow {
	struct staged *s;
	uint64_t begun;          /* copies submitted */
	uint64_t copied;         /* copies done */
	uint64_t sent;           /* by the source */
	uint64_t told;           /* what the other end was told */
	uint64_t heard;          /* what it told: how many came, or are in place */
	uint64_t counted, first; /* in place; those that were so when the clock started */
	unsigned queued;         /* requests in the send queue */
	struct ibv_send_wr wr;
	struct ibv_sge sge;
};

static void flow_init(struct flow *w, struct staged *s, uint64_t start_ticks)
{
	*w = (struct flow){
		.s = s,
		.wr = {.num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED}};
	w->wr.sg_list = &w->sge;
	qp_set_aim(s->round->qps, 0, &w->wr);
	s->round->result.start_ticks = s->round->result.end_ticks = start_ticks;
}

/* The end of a run: what both ends wrote has arrived, so the next one may start. */
static void flow_end(struct flow *w)
{
	struct round_result *to = &w->s->round->result;

	__atomic_store_n((uint64_t *)w->s->words->memory.host, 0, __ATOMIC_RELAXED);
	to->messages = w->counted;
	to->timed_messages = w->counted - w->first;
}

static ALWAYS_INLINE uint8_t *slot_of(const struct staged *s, uint64_t chunk)
{
	return (uint8_t *)s->slots->memory.host + chunk % STAGED_SLOTS * s->round->size_bytes;
}

static __attribute__((cold)) int out_of_step(const struct flow *w, uint64_t count)
{
	struct fault *f = w->s->round->fault;

	fault_raise(f, FAULT_PEER, 0, "the peer counts %llu chunks, and %llu before",
		    (unsigned long long)count, (unsigned long long)w->heard);
	return fault_cause(f, "The two ends are out of sync: it was told of %llu",
			   (unsigned long long)w->told);
}

/* Read the other end's count, which is MOST at most, and take completed requests from the CQ. */
static ALWAYS_INLINE int hear(struct flow *w, uint64_t most, const char *what)
{
	const struct round *r = w->s->round;
	const uint64_t *word = w->s->words->memory.host;
	uint64_t count = __atomic_load_n(word, __ATOMIC_ACQUIRE);
	struct ibv_wc wc[POLL_BATCH];
	int n;

	if (UNLIKELY(count - w->heard > most - w->heard))
		return out_of_step(w, count);
	w->heard = count;
	n = round_poll_checked(r, r->qps->send_cq, POLL_BATCH, wc, what);
	w->queued -= n > 0 ? (unsigned)n : 0;
	return n < 0 ? -1 : 0;
}

/* Submit copies of chunks, OUT of the GPU or into it, until the given number of them has begun. */
static ALWAYS_INLINE int begin_copies(struct flow *w, bool out, uint64_t until)
{
	const struct staged *s = w->s;
	size_t bytes = s->round->size_bytes;

	for (; w->begun < until; w->begun++) {
		unsigned slot = w->begun % STAGED_SLOTS;
		uint8_t *host = slot_of(s, w->begun);
		int rc = !s->stream ? 0
			 : out      ? gpu_stream_copy_out(s->stream, slot, host, s->data, bytes)
				    : gpu_stream_copy_in(s->stream, slot, s->data, host, bytes);

		if (UNLIKELY(rc))
			return gpu_stream_failed(s->stream, rc, s->round->fault);
	}
	return 0;
}

static ALWAYS_INLINE int finish_copies(struct flow *w)
{
	struct gpu_stream *stream = w->s->stream;
	int rc = 1;

	for (; w->copied != w->begun; w->copied++) {
		if (stream)
			rc = gpu_stream_done(stream, w->copied % STAGED_SLOTS);
		if (UNLIKELY(rc < 0))
			return gpu_stream_failed(stream, rc, w->s->round->fault);
		if (!rc)
			break;
	}
	return 0;
}

static ALWAYS_INLINE int post_write(struct flow *w, const void *from, uint64_t bytes, uint64_t to)
{
	w->sge.addr = (uintptr_t)from;
	w->sge.length = (uint32_t)bytes;
	w->wr.wr.rdma.remote_addr = to;
	w->queued++;
	return round_post(w->s->round, w->s->round->qps->qp[0], &w->wr);
}

static ALWAYS_INLINE int send_chunk(struct flow *w)
{
	const struct staged *s = w->s;
	uint64_t bytes = s->round->size_bytes, offset = w->sent % STAGED_SLOTS * bytes;

	w->sge.lkey = s->slots->lkey;
	w->wr.wr.rdma.rkey = s->slots_there.key;
	return post_write(w, slot_of(s, w->sent++), bytes, s->slots_there.addr + offset);
}

/* True if the other end does not know COUNT, and there is room for a request to tell it. */
static ALWAYS_INLINE bool may_tell(const struct flow *w, uint64_t count)
{
	return w->told != count && w->queued < w->s->round->qps->tx_depth;
}

/* A word is used again only when the other end has answered a count that came after its own. */
static ALWAYS_INLINE int tell(struct flow *w, uint64_t count)
{
	const struct staged *s = w->s;
	uint64_t *word = (uint64_t *)s->words->memory.host + 1 + count % STAGED_SLOTS;

	*word = w->told = count;
	w->sge.lkey = s->words->lkey;
	w->wr.wr.rdma.rkey = s->words_there.key;
	return post_write(w, word, sizeof(*word), s->words_there.addr);
}

/* WRITE the chunks that are copied, as long as there is room, and tell the sink of each. */
static ALWAYS_INLINE int send_chunks(struct flow *w)
{
	for (;;) {
		int rc = may_tell(w, w->sent)     ? tell(w, w->sent)
			 : may_tell(w, w->copied) ? send_chunk(w)
						  : 1;

		if (rc)
			return rc < 0 ? -1 : 0;
	}
}

/* COUNT chunks are in place: update time and progress. */
static ALWAYS_INLINE void count_chunks(struct flow *w, uint64_t count)
{
	struct round *r = w->s->round;

	if (count == w->counted)
		return;
	w->counted = count;
	r->result.end_ticks = clock_ticks(r->clock);
	if (UNLIKELY(!r->result.start_ticks)) {
		r->result.start_ticks = r->result.end_ticks;
		w->first = count;
	}
	round_progress(r, count);
}

/* How many chunks may have begun: as many as have a slot, and as are wanted. */
static ALWAYS_INLINE uint64_t source_end(const struct flow *w)
{
	uint64_t target = round_target(w->s->round), room = w->heard + STAGED_SLOTS;

	return target < room ? target : room;
}

/* Advance every stage of the source once. Returns 0 or -1. */
static ALWAYS_INLINE int source_pass(struct flow *w)
{
	if (hear(w, w->told, "chunk or count of chunks"))
		return -1;
	count_chunks(w, w->heard);
	if (finish_copies(w) || send_chunks(w))
		return -1;
	return begin_copies(w, true, source_end(w));
}

int staged_send(struct staged *s)
{
	struct round *r = s->round;
	struct flow w;
	int rc = 0;

	flow_init(&w, s, clock_ticks(r->clock));
	while (rc == 0 && !round_aborted(r) &&
	       (w.heard != w.begun || w.queued || w.begun < source_end(&w)))
		rc = source_pass(&w);
	flow_end(&w);
	return rc;
}

/* Advance every stage of the sink once. Returns 0 or -1. */
static ALWAYS_INLINE int sink_pass(struct flow *w)
{
	if (hear(w, w->told + STAGED_SLOTS, "count of chunks") ||
	    begin_copies(w, false, w->heard) || finish_copies(w))
		return -1;
	count_chunks(w, w->copied);
	return may_tell(w, w->copied) ? tell(w, w->copied) : 0;
}

int staged_receive(struct staged *s)
{
	struct round *r = s->round;
	struct flow w;
	int rc = 0;

	flow_init(&w, s, 0);
	while (rc == 0 && !round_aborted(r) &&
	       (w.counted < round_expected(r) || w.told != w.counted || w.queued))
		rc = sink_pass(&w);
	flow_end(&w);
	return rc;
}
