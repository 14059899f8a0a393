// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "loop/staged.h"

#include <endian.h>
#include <stdatomic.h>

#define POLL_BATCH 16

/* The progress of one stage of the pipeline. */
struct position {
	uint64_t chunk;    /* number of the next chunk */
	uint64_t messages; /* complete messages before that chunk */
	uint64_t offset;   /* of that chunk in its message */
	unsigned slot;
};

struct source {
	struct staged *s;
	struct position begun;  /* copies out of the GPU: submitted */
	struct position copied; /* copies out of the GPU: done */
	struct position posted; /* RDMA WRITEs posted */
	uint64_t completed;     /* chunks whose WRITE is complete: their slots here are free */
	struct position credited; /* chunks in place at the sink: their slots there are free */
	uint64_t window;        /* the most chunks begun and not completed: slots, send queue */
	struct ibv_send_wr wr;
	struct ibv_sge sge;
};

struct sink {
	struct staged *s;
	struct position arrived;  /* chunks received, copies into the GPU submitted */
	struct position in_place; /* chunks whose copies are done */
	uint64_t credited;        /* number of chunks in the last credit sent to the source */
	unsigned under_way;       /* credit WRITEs; each uses its own word until it completes */
	unsigned words, word;     /* number of words, and the index of the next one */
	uint64_t first;           /* messages that were in place when the clock started */
	struct ibv_send_wr wr;
	struct ibv_sge sge;
};

static ALWAYS_INLINE void advance_position(const struct staged *s, struct position *p)
{
	p->chunk++;
	p->offset += s->chunk_bytes;
	if (p->offset >= s->round->size_bytes) {
		p->offset = 0;
		p->messages++;
	}
	if (++p->slot == s->slots)
		p->slot = 0;
}

/* Bytes of the chunk at P: the last chunk of a message may be short. */
static ALWAYS_INLINE uint32_t chunk_length(const struct staged *s, const struct position *p)
{
	uint64_t left = s->round->size_bytes - p->offset;

	return (uint32_t)(left < s->chunk_bytes ? left : s->chunk_bytes);
}

static ALWAYS_INLINE uint8_t *slot_address(const struct staged *s, const struct position *p)
{
	return s->bounce + p->slot * s->chunk_bytes;
}

/* Poll the completed WRITEs of WHAT. Returns how many, or -1 with the fault raised. */
static ALWAYS_INLINE int poll_writes(const struct staged *s, const char *what)
{
	struct ibv_wc wc[POLL_BATCH];

	return round_poll_checked(s->round, s->round->qps->send_cq, POLL_BATCH, wc, what);
}

/* Advance P past the copies that are done, at most to END. Returns 0 or -1. */
static ALWAYS_INLINE int finish_copies(const struct staged *s, struct position *p,
				       const struct position *end)
{
	int rc;

	if (!s->stream) {
		*p = *end;
		return 0;
	}
	while (p->chunk != end->chunk && (rc = gpu_stream_done(s->stream, p->slot)) != 0) {
		if (UNLIKELY(rc < 0))
			return gpu_stream_failed(s->stream, GPU_STREAM_DONE, rc, s->round->fault);
		advance_position(s, p);
	}
	return 0;
}

/* RC is the result of submitting the copy at P by CALL: record an event after it, or raise. */
static int mark_copy(const struct staged *s, const struct position *p, int rc,
		     enum gpu_stream_call call)
{
	if (UNLIKELY(rc))
		return gpu_stream_failed(s->stream, call, rc, s->round->fault);
	rc = gpu_stream_mark(s->stream, p->slot);
	if (LIKELY(rc == 0))
		return 0;
	return gpu_stream_failed(s->stream, GPU_STREAM_MARK, rc, s->round->fault);
}

static void source_init(struct source *o, struct staged *s)
{
	*o = (struct source){
		.s = s,
		.window = s->slots,
		.sge = {.lkey = s->local_key},
		.wr = {.num_sge = 1,
		       .opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		       .send_flags = IBV_SEND_SIGNALED,
		       .wr.rdma.rkey = s->remote.key},
	};
	o->wr.sg_list = &o->sge;
	qp_set_aim(s->round->qps, 0, &o->wr);
	if (o->window > s->round->qps->tx_depth)
		o->window = s->round->qps->tx_depth;
	__atomic_store_n(s->credits, 0, __ATOMIC_RELAXED);
}

/*
 * True if there are chunks to begin. A begun message is finished even if the target has been
 * lowered.
 */
static ALWAYS_INLINE bool source_has_more(const struct source *o)
{
	return o->begun.offset || o->begun.messages < round_target(o->s->round);
}

/* True if a slot is free for another chunk. */
static ALWAYS_INLINE bool source_may_copy(const struct source *o)
{
	return o->begun.chunk - o->completed < o->window;
}

static ALWAYS_INLINE int begin_copies(struct source *o)
{
	const struct staged *s = o->s;

	while (source_may_copy(o) && source_has_more(o)) {
		const struct position *p = &o->begun;
		int rc;

		if (s->stream) {
			rc = gpu_stream_copy_out(s->stream, slot_address(s, p), s->data + p->offset,
						 chunk_length(s, p));
			if (mark_copy(s, p, rc, GPU_STREAM_COPY_OUT))
				return -1;
		}
		advance_position(s, &o->begun);
	}
	return 0;
}

/*
 * Post the WRITEs of all copied chunks for which the sink has a free slot. The send queue has room
 * for them: begin_copies() begins no more chunks than fit.
 */
static ALWAYS_INLINE int post_writes(struct source *o)
{
	const struct staged *s = o->s;

	while (o->posted.chunk != o->copied.chunk &&
	       o->posted.chunk - o->credited.chunk < s->slots) {
		const struct position *p = &o->posted;
		uint64_t there = s->remote.stride ? p->slot * s->remote.stride : p->offset;

		o->sge.addr =
			s->stream ? (uint64_t)(uintptr_t)slot_address(s, p) : s->data + p->offset;
		o->sge.length = chunk_length(s, p);
		o->wr.wr_id = p->chunk;
		o->wr.imm_data = htobe32((uint32_t)p->chunk);
		o->wr.wr.rdma.remote_addr = s->remote.addr + there;
		if (UNLIKELY(round_post(s->round, s->round->qps->qp[0], &o->wr)))
			return -1;
		advance_position(s, &o->posted);
	}
	return 0;
}

static __attribute__((cold)) int bad_credit(const struct source *o, uint64_t credit)
{
	struct fault *f = o->s->round->fault;

	fault_raise(f, FAULT_PEER, 0, "the receiver acknowledged %llu chunks, but %llu were sent",
		    (unsigned long long)credit, (unsigned long long)o->posted.chunk);
	return fault_cause(f, "It had acknowledged %llu before; the two ends are out of sync",
			   (unsigned long long)o->credited.chunk);
}

/* Read how many chunks the sink has in place, and count the messages that are complete there. */
static ALWAYS_INLINE int read_credits(struct source *o)
{
	uint64_t credit = __atomic_load_n(o->s->credits, __ATOMIC_ACQUIRE);
	uint64_t before = o->credited.messages;
	struct round *r = o->s->round;

	if (UNLIKELY(credit - o->credited.chunk > o->posted.chunk - o->credited.chunk))
		return bad_credit(o, credit);
	while (o->credited.chunk != credit)
		advance_position(o->s, &o->credited);
	if (o->credited.messages == before)
		return 0;
	r->result.end_ticks = clock_ticks(r->clock);
	round_progress(r, o->credited.messages);
	return 0;
}

/* Advance every stage of the source once. Returns 0 or -1. */
static ALWAYS_INLINE int source_pass(struct source *o)
{
	int n;

	if (read_credits(o) || (n = poll_writes(o->s, "chunk of a message")) < 0)
		return -1;
	o->completed += (unsigned)n;
	if (finish_copies(o->s, &o->copied, &o->begun) || post_writes(o))
		return -1;
	return begin_copies(o);
}

/* True if everything is sent, and every WRITE is complete and credited. */
static ALWAYS_INLINE bool source_finished(const struct source *o)
{
	return o->credited.chunk == o->begun.chunk && o->completed == o->begun.chunk &&
	       !source_has_more(o);
}

int staged_send(struct staged *s)
{
	struct round *r = s->round;
	struct source o;
	int rc = 0;

	source_init(&o, s);
	r->result.start_ticks = r->result.end_ticks = clock_ticks(r->clock);
	while (rc == 0 && !source_finished(&o) && !round_aborted(r))
		rc = source_pass(&o);
	r->result.messages = r->result.timed_messages = o.credited.messages;
	return rc;
}

static int sink_init(struct sink *k, struct staged *s)
{
	const struct qp_set *qps = s->round->qps;
	unsigned need = s->slots + s->round->receives->batch - 1;
	bool can_inline = qps->inline_bytes >= sizeof(uint64_t);

	*k = (struct sink){
		.s = s,
		.words = s->slots < qps->tx_depth ? s->slots : qps->tx_depth,
		.sge = {.length = sizeof(uint64_t), .lkey = s->credit_key},
		.wr = {.num_sge = 1,
		       .opcode = IBV_WR_RDMA_WRITE,
		       .send_flags = IBV_SEND_SIGNALED | (can_inline ? IBV_SEND_INLINE : 0),
		       .wr.rdma = {.remote_addr = s->remote.addr, .rkey = s->remote.key}},
	};
	k->wr.sg_list = &k->sge;
	qp_set_aim(s->round->qps, 0, &k->wr);
	if (qps->rx_depth >= need)
		return 0;
	return fault_raise(s->round->fault, FAULT_LOCAL, 0,
			   "%u slots need a receive queue of at least %u entries; it has %u",
			   s->slots, need, qps->rx_depth);
}

static __attribute__((cold)) int bad_arrival(const struct sink *k, const struct ibv_wc *wc)
{
	struct fault *f = k->s->round->fault;

	fault_raise(f, FAULT_PEER, 0,
		    "chunk 0x%x arrived, but 0x%x was expected, after %llu chunks",
		    be32toh(wc->imm_data), (uint32_t)k->arrived.chunk,
		    (unsigned long long)k->in_place.chunk);
	return fault_cause(f, "The two ends are out of sync");
}

/* Check that the chunk of WC is the next one, submit its copy to the GPU, repost its receive. */
static ALWAYS_INLINE int accept_chunk(struct sink *k, const struct ibv_wc *wc)
{
	const struct staged *s = k->s;
	const struct position *p = &k->arrived;
	int rc;

	if (UNLIKELY(wc->opcode != IBV_WC_RECV_RDMA_WITH_IMM ||
		     be32toh(wc->imm_data) != (uint32_t)p->chunk ||
		     p->chunk - k->in_place.chunk == s->slots))
		return bad_arrival(k, wc);
	if (s->stream) {
		rc = gpu_stream_copy_in(s->stream, s->data + p->offset, slot_address(s, p),
					chunk_length(s, p));
		if (mark_copy(s, p, rc, GPU_STREAM_COPY_IN))
			return -1;
	}
	advance_position(s, &k->arrived);
	return recv_consumed(s->round, wc->wr_id);
}

static ALWAYS_INLINE int poll_chunks(struct sink *k)
{
	struct ibv_wc wc[POLL_BATCH];
	const struct round *r = k->s->round;
	int n = round_poll_checked(r, r->qps->recv_cq, POLL_BATCH, wc,
				   "receive of a chunk of a message");

	for (int i = 0; i < n; i++)
		if (UNLIKELY(accept_chunk(k, &wc[i])))
			return -1;
	return n < 0 ? -1 : 0;
}

/* Update time and progress if messages have come into place since there were BEFORE. */
static ALWAYS_INLINE void count_messages(struct sink *k, uint64_t before)
{
	struct round *r = k->s->round;

	if (k->in_place.messages == before)
		return;
	r->result.end_ticks = clock_ticks(r->clock);
	if (UNLIKELY(!r->result.start_ticks)) {
		r->result.start_ticks = r->result.end_ticks;
		k->first = k->in_place.messages;
	}
	round_progress(r, k->in_place.messages);
}

/*
 * WRITE the number of chunks in place to the source. If all words are in use nothing is sent now:
 * the number is cumulative, so the next credit includes these chunks.
 */
static ALWAYS_INLINE int send_credit(struct sink *k)
{
	uint64_t *word = &k->s->credit_out[k->word];

	if (k->in_place.chunk == k->credited || k->under_way == k->words)
		return 0;
	*word = k->credited = k->in_place.chunk;
	k->sge.addr = (uint64_t)(uintptr_t)word;
	k->word = k->word + 1 == k->words ? 0 : k->word + 1;
	k->under_way++;
	return round_post(k->s->round, k->s->round->qps->qp[0], &k->wr);
}

/* Advance every stage of the sink once. Returns 0 or -1. */
static ALWAYS_INLINE int sink_pass(struct sink *k)
{
	uint64_t before = k->in_place.messages;
	int n;

	if (poll_chunks(k) || finish_copies(k->s, &k->in_place, &k->arrived))
		return -1;
	count_messages(k, before);
	n = poll_writes(k->s, "credit for messages");
	if (UNLIKELY(n < 0))
		return -1;
	k->under_way -= (unsigned)n;
	return send_credit(k);
}

/*
 * True if every message is in place, the source has the credit, and no credit WRITE is outstanding.
 */
static ALWAYS_INLINE bool sink_finished(const struct sink *k)
{
	return k->in_place.messages >= round_expected(k->s->round) &&
	       k->credited == k->in_place.chunk && !k->under_way;
}

int staged_receive(struct staged *s)
{
	struct round *r = s->round;
	struct sink k;
	int rc;

	r->result.start_ticks = r->result.end_ticks = 0;
	rc = sink_init(&k, s);
	while (rc == 0 && !sink_finished(&k) && !round_aborted(r))
		rc = sink_pass(&k);
	r->result.messages = k.in_place.messages;
	r->result.timed_messages = r->result.messages - k.first;
	return rc;
}
