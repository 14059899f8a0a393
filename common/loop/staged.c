// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "loop/staged.h"

#include <endian.h>
#include <stdatomic.h>

#define POLL_BATCH 16

/* How far one stage of the pipeline has come. */
struct place {
	uint64_t chunk;    /* the next one's number */
	uint64_t messages; /* whole ones before it */
	uint64_t offset;   /* of it in its message */
	unsigned slot;
};

struct source {
	struct staged *s;
	struct place begun;    /* copies out of the GPU, submitted */
	struct place copied;   /* those that are done */
	struct place posted;   /* writes; behind them, either one first: */
	uint64_t completed;    /* chunks whose slots here are free, and */
	struct place credited; /* chunks in place, whose slots there are free */
	uint64_t window;       /* begun and not completed, at most: slots, send queue */
	struct ibv_send_wr wr;
	struct ibv_sge sge;
};

struct sink {
	struct staged *s;
	struct place arrived;  /* chunks received, their copies submitted */
	struct place in_place; /* those that are done */
	uint64_t credited;     /* chunks: the last number sent */
	unsigned under_way;   /* writes of credits; each has a word of its own until it completes */
	unsigned words, word; /* how many there are, and the next */
	uint64_t first;       /* messages that were in place when the clock started */
	struct ibv_send_wr wr;
	struct ibv_sge sge;
};

static ALWAYS_INLINE void step(const struct staged *s, struct place *p)
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

/* Of the chunk at P: the last of a message may be short. */
static ALWAYS_INLINE uint32_t chunk_length(const struct staged *s, const struct place *p)
{
	uint64_t left = s->round->size_bytes - p->offset;

	return (uint32_t)(left < s->chunk_bytes ? left : s->chunk_bytes);
}

static ALWAYS_INLINE uint8_t *slot_of(const struct staged *s, const struct place *p)
{
	return s->bounce + p->slot * s->chunk_bytes;
}

static ALWAYS_INLINE int post(const struct staged *s, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;
	int rc = ibv_post_send(s->round->qps->qp[0], wr, &bad);

	return LIKELY(rc == 0) ? 0 : round_verb_failed(s->round, rc, "ibv_post_send");
}

/* How many writes, of WHAT, have completed since the last time; -1 with the fault raised. */
static ALWAYS_INLINE int take_completions(const struct staged *s, const char *what)
{
	struct ibv_wc wc[POLL_BATCH];
	int n = ibv_poll_cq(s->round->qps->send_cq, POLL_BATCH, wc);

	if (UNLIKELY(n < 0))
		return round_verb_failed(s->round, n, "ibv_poll_cq");
	for (int k = 0; k < n; k++)
		if (UNLIKELY(wc[k].status != IBV_WC_SUCCESS))
			return round_completion_failed(s->round, &wc[k], what);
	return n;
}

/* Step P over the copies that are done, of those before END. Returns 0 or -1. */
static ALWAYS_INLINE int finish_copies(const struct staged *s, struct place *p,
				       const struct place *end)
{
	int rc;

	if (!s->stream) {
		*p = *end;
		return 0;
	}
	while (p->chunk != end->chunk && (rc = gpu_stream_done(s->stream, p->slot)) != 0) {
		if (UNLIKELY(rc < 0))
			return gpu_stream_failed(rc, "cuEventQuery", s->round->fault);
		step(s, p);
	}
	return 0;
}

static int mark_copy(const struct staged *s, const struct place *p, int rc, const char *call)
{
	if (UNLIKELY(rc))
		return gpu_stream_failed(rc, call, s->round->fault);
	rc = gpu_stream_mark(s->stream, p->slot);
	return LIKELY(rc == 0) ? 0 : gpu_stream_failed(rc, "cuEventRecord", s->round->fault);
}

struct round_slice staged_target(const struct staged *s, uint32_t rkey)
{
	if (!s->stream)
		return (struct round_slice){.addr = s->data, .key = rkey};
	return (struct round_slice){(uint64_t)(uintptr_t)s->bounce, s->chunk_bytes, rkey};
}

static void source_init(struct source *o, struct staged *s)
{
	*o = (struct source){
		.s = s,
		.window = s->sync ? 1 : s->slots,
		.sge = {.lkey = s->local_key},
		.wr = {.num_sge = 1,
		       .opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		       .send_flags = IBV_SEND_SIGNALED,
		       .wr.rdma.rkey = s->remote.key},
	};
	o->wr.sg_list = &o->sge;
	if (o->window > s->round->qps->tx_depth)
		o->window = s->round->qps->tx_depth;
	__atomic_store_n(s->credits, 0, __ATOMIC_RELAXED);
}

/* Is there more to begin? A message that has begun is finished even if the target was lowered. */
static ALWAYS_INLINE bool source_wants(const struct source *o)
{
	return o->begun.offset || o->begun.messages < round_target(o->s->round);
}

static ALWAYS_INLINE bool source_may_copy(const struct source *o)
{
	return o->begun.chunk - o->completed < o->window &&
	       (!o->s->sync || o->begun.chunk == o->credited.chunk);
}

static ALWAYS_INLINE int begin_copies(struct source *o)
{
	const struct staged *s = o->s;

	while (source_may_copy(o) && source_wants(o)) {
		const struct place *p = &o->begun;
		int rc;

		if (s->stream) {
			rc = gpu_stream_copy_out(s->stream, slot_of(s, p), s->data + p->offset,
						 chunk_length(s, p));
			if (mark_copy(s, p, rc, "cuMemcpyDtoHAsync"))
				return -1;
		}
		step(s, &o->begun);
	}
	return 0;
}

/* The send queue has room: begin_copies() lets no more than that come here. */
static ALWAYS_INLINE int post_writes(struct source *o)
{
	const struct staged *s = o->s;

	while (o->posted.chunk != o->copied.chunk &&
	       o->posted.chunk - o->credited.chunk < s->slots) {
		const struct place *p = &o->posted;
		uint64_t there = s->remote.stride ? p->slot * s->remote.stride : p->offset;

		o->sge.addr = s->stream ? (uint64_t)(uintptr_t)slot_of(s, p) : s->data + p->offset;
		o->sge.length = chunk_length(s, p);
		o->wr.wr_id = p->chunk;
		o->wr.imm_data = htobe32((uint32_t)p->chunk);
		o->wr.wr.rdma.remote_addr = s->remote.addr + there;
		if (UNLIKELY(post(s, &o->wr)))
			return -1;
		step(s, &o->posted);
	}
	return 0;
}

static __attribute__((cold)) int bad_credit(const struct source *o, uint64_t credit)
{
	struct fault *f = o->s->round->fault;

	fault_raise(f, FAULT_PEER, 0, "the sink says that %llu chunks are in place, of %llu sent",
		    (unsigned long long)credit, (unsigned long long)o->posted.chunk);
	return fault_cause(f, "%llu were in place before; the two ends are out of step",
			   (unsigned long long)o->credited.chunk);
}

static ALWAYS_INLINE int take_credits(struct source *o)
{
	uint64_t credit = __atomic_load_n(o->s->credits, __ATOMIC_ACQUIRE);
	uint64_t before = o->credited.messages;
	struct round *r = o->s->round;

	if (UNLIKELY(credit - o->credited.chunk > o->posted.chunk - o->credited.chunk))
		return bad_credit(o, credit);
	while (o->credited.chunk != credit)
		step(o->s, &o->credited);
	if (o->credited.messages == before)
		return 0;
	r->end_ticks = clock_ticks(r->clock);
	if (!r->no_peak)
		peak_add(r->peak, r->end_ticks, o->credited.messages, true);
	round_progress(r, o->credited.messages);
	return 0;
}

static ALWAYS_INLINE int source_pass(struct source *o)
{
	int n;

	if (take_credits(o) || (n = take_completions(o->s, "chunk of a message")) < 0)
		return -1;
	o->completed += (unsigned)n;
	if (finish_copies(o->s, &o->copied, &o->begun) || post_writes(o))
		return -1;
	return begin_copies(o);
}

/* Nothing left to do, and nothing left behind in the queues. */
static ALWAYS_INLINE bool source_finished(const struct source *o)
{
	return o->credited.chunk == o->begun.chunk && o->completed == o->begun.chunk &&
	       !source_wants(o);
}

int staged_send(struct staged *s)
{
	struct round *r = s->round;
	struct source o;
	int rc = 0;

	source_init(&o, s);
	r->start_ticks = r->end_ticks = clock_ticks(r->clock);
	if (!r->no_peak)
		peak_start(r->peak, r->start_ticks);
	while (rc == 0 && !source_finished(&o) && !round_quit(r))
		rc = source_pass(&o);
	r->messages = r->timed_messages = o.credited.messages;
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
	if (qps->rx_depth >= need)
		return 0;
	return fault_raise(s->round->fault, FAULT_LOCAL, 0,
			   "%u slots need a receive queue of at least %u, this one has %u",
			   s->slots, need, qps->rx_depth);
}

static __attribute__((cold)) int bad_arrival(const struct sink *k, const struct ibv_wc *wc)
{
	struct fault *f = k->s->round->fault;

	fault_raise(f, FAULT_PEER, 0, "chunk 0x%x arrived where 0x%x was due, %llu are in place",
		    be32toh(wc->imm_data), (uint32_t)k->arrived.chunk,
		    (unsigned long long)k->in_place.chunk);
	return fault_cause(f, "The two ends are out of step");
}

/* A chunk is here: its copy begins, its receive goes back. */
static ALWAYS_INLINE int take_chunk(struct sink *k, const struct ibv_wc *wc)
{
	const struct staged *s = k->s;
	const struct place *p = &k->arrived;
	struct recv_queue *q = s->round->receives;
	int rc;

	if (UNLIKELY(wc->status != IBV_WC_SUCCESS))
		return round_completion_failed(s->round, wc, "receive of a chunk of a message");
	if (UNLIKELY(wc->opcode != IBV_WC_RECV_RDMA_WITH_IMM ||
		     be32toh(wc->imm_data) != (uint32_t)p->chunk ||
		     p->chunk - k->in_place.chunk == s->slots))
		return bad_arrival(k, wc);
	if (s->stream) {
		rc = gpu_stream_copy_in(s->stream, s->data + p->offset, slot_of(s, p),
					chunk_length(s, p));
		if (mark_copy(s, p, rc, "cuMemcpyHtoDAsync"))
			return -1;
	}
	step(s, &k->arrived);
	rc = recv_consumed(q, wc->wr_id);
	return LIKELY(rc == 0) ? 0 : round_verb_failed(s->round, rc, "ibv_post_recv");
}

static ALWAYS_INLINE int take_chunks(struct sink *k)
{
	struct ibv_wc wc[POLL_BATCH];
	int n = ibv_poll_cq(k->s->round->qps->recv_cq, POLL_BATCH, wc);

	if (UNLIKELY(n < 0))
		return round_verb_failed(k->s->round, n, "ibv_poll_cq");
	for (int i = 0; i < n; i++)
		if (UNLIKELY(take_chunk(k, &wc[i])))
			return -1;
	return 0;
}

/* What has come into place since BEFORE. */
static ALWAYS_INLINE void count_messages(struct sink *k, uint64_t before)
{
	struct round *r = k->s->round;

	if (k->in_place.messages == before)
		return;
	r->end_ticks = clock_ticks(r->clock);
	if (UNLIKELY(!r->start_ticks)) {
		r->start_ticks = r->end_ticks;
		k->first = k->in_place.messages;
	}
	round_progress(r, k->in_place.messages);
}

/* One write says all there is to say; if none is to be had now, the next says that, too. */
static ALWAYS_INLINE int give_credit(struct sink *k)
{
	uint64_t *word = &k->s->credit_out[k->word];

	if (k->in_place.chunk == k->credited || k->under_way == k->words)
		return 0;
	*word = k->credited = k->in_place.chunk;
	k->sge.addr = (uint64_t)(uintptr_t)word;
	k->word = k->word + 1 == k->words ? 0 : k->word + 1;
	k->under_way++;
	return post(k->s, &k->wr);
}

static ALWAYS_INLINE int sink_pass(struct sink *k)
{
	uint64_t before = k->in_place.messages;
	int n;

	if (take_chunks(k) || finish_copies(k->s, &k->in_place, &k->arrived))
		return -1;
	count_messages(k, before);
	n = take_completions(k->s, "credit for messages");
	if (UNLIKELY(n < 0))
		return -1;
	k->under_way -= (unsigned)n;
	return give_credit(k);
}

/* All is in place, the source knows it, and nothing is left behind in the queues. */
static ALWAYS_INLINE bool sink_finished(const struct sink *k)
{
	return k->in_place.messages >= round_due(k->s->round) && k->credited == k->in_place.chunk &&
	       !k->under_way;
}

int staged_receive(struct staged *s)
{
	struct round *r = s->round;
	struct sink k;
	int rc;

	r->start_ticks = r->end_ticks = 0;
	rc = sink_init(&k, s);
	while (rc == 0 && !sink_finished(&k) && !round_quit(r))
		rc = sink_pass(&k);
	r->messages = k.in_place.messages;
	r->timed_messages = r->messages - k.first;
	return rc;
}
