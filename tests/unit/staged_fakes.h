/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* staged_fakes: the verbs and gpu_stream functions of staged_world, and running it. */
#ifndef STAGED_FAKES_H
#define STAGED_FAKES_H

#include "staged_world.h"
#include "verbs/transports.h"

#define SPOILT     0xee
#define GPU_BROKEN 700

int gpu_stream_failed(const struct gpu_stream *s, int rc, struct fault *f)
{
	(void)s;
	return fault_raise(f, FAULT_LOCAL, 0, "copy: %d", -rc);
}

/*
 * Copy between GPU address ADDR and host address HOST, of SLOT; checks that it is the next chunk,
 * in its slot.
 */
static int copy(struct gpu_stream *s, unsigned slot, uint64_t addr, void *host, size_t bytes)
{
	struct world *w = s->w;
	enum side side = s == &w->end[SINK].stream ? SINK : SOURCE;
	struct task t = {.from = addr, .to = (uintptr_t)host, .bytes = bytes};
	int rc = 0;

	enter(w);
	if (addr != GPU_ADDR || bytes != w->size || slot != s->qp->begun % STAGED_SLOTS ||
	    (uint8_t *)host != (uint8_t *)w->end[side].slots.memory.host + slot * w->size)
		complain(w, "a copy of the wrong chunk", s->qp->begun);
	if (s->mark[slot] > s->qp->done)
		complain(w, "a slot used that is under way", slot);
	if (side == SINK)
		t = (struct task){.from = (uintptr_t)host, .to = addr, .bytes = bytes};
	else
		memset(host, SPOILT, bytes);
	if (w->refuse_copy[side] == s->copies++)
		rc = -GPU_BROKEN;
	else
		push(w, side == SINK ? COPY_IN : COPY_OUT, t);
	s->mark[slot] = s->qp->begun;
	leave(w);
	return rc;
}

int gpu_stream_copy_in(struct gpu_stream *s, unsigned slot, uint64_t to, const void *from,
		       size_t bytes)
{
	return copy(s, slot, to, (void *)(uintptr_t)from, bytes);
}

int gpu_stream_copy_out(struct gpu_stream *s, unsigned slot, void *to, uint64_t from, size_t bytes)
{
	return copy(s, slot, from, to, bytes);
}

int gpu_stream_done(struct gpu_stream *s, unsigned slot)
{
	struct world *w = s->w;
	enum qp_name name = (enum qp_name)(s->qp - w->qp);
	int rc;

	enter(w);
	if (slot >= STAGED_SLOTS || !s->mark[slot])
		complain(w, "an event asked for that was never marked", slot);
	rc = s->qp->done > w->fail[name] ? -GPU_BROKEN : s->mark[slot] <= s->qp->done;
	leave(w);
	return rc;
}

/* Check that a chunk goes to its slot of the sink, and overwrite that with SPOILT now. */
static void spoil(struct world *w, const struct task *t)
{
	uint8_t *slot =
		(uint8_t *)w->end[SINK].slots.memory.host + t->number % STAGED_SLOTS * w->size;

	if (t->to != (uintptr_t)slot || t->bytes != w->size)
		complain(w, "a write outside the sink's slot", t->number);
	else
		memset(slot, SPOILT, t->bytes);
}

static void check_request(struct end *e, const struct ibv_send_wr *wr, bool chunk)
{
	if (e->queued == e->qps.tx_depth)
		complain(e->w, "send queue overrun", e->queued);
	if (!(wr->send_flags & IBV_SEND_SIGNALED) || wr->num_sge != 1 || wr->next ||
	    wr->opcode != IBV_WR_RDMA_WRITE)
		complain(e->w, "a strange request", wr->opcode);
	if (wr->sg_list->lkey != (chunk ? LOCAL_KEY : CREDIT_KEY) ||
	    (chunk ? e->side != SOURCE : wr->wr.rdma.rkey != WORD_RKEY))
		complain(e->w, "a wrong key", wr->wr.rdma.rkey);
}

static int fake_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct end *e = (struct end *)(void *)qp->context;
	struct world *w = e->w;
	bool chunk = wr->wr.rdma.rkey == DATA_RKEY;
	enum qp_name name = chunk ? WIRE : e->side == SOURCE ? TELL : CREDIT;
	struct task t = {
		.number = w->qp[name].begun,
		.from = wr->sg_list->addr,
		.to = wr->wr.rdma.remote_addr,
		.bytes = wr->sg_list->length,
	};

	*bad = wr;
	if (w->refuse_post[e->side] == w->qp[name].begun)
		return ENODEV;
	enter(w);
	check_request(e, wr, chunk);
	e->queued++;
	if (chunk)
		spoil(w, &t);
	else
		t.word = *(uint64_t *)(uintptr_t)t.from;
	push(w, name, t);
	leave(w);
	return 0;
}

static int fake_poll_cq(struct ibv_cq *ibcq, int count, struct ibv_wc *wc)
{
	struct end *e = (struct end *)(void *)ibcq->context;
	int n = 0;

	enter(e->w);
	pass_turn(e->w, e->side);
	for (; n < count && e->sent.taken != e->sent.put; n++)
		wc[n] = e->sent.wc[e->sent.taken++ % QUEUE];
	if (n)
		e->w->acted = true;
	e->queued -= (unsigned)n;
	if (n && e->w->refuse_poll[e->side] <= e->sent.taken)
		n = -EIO;
	leave(e->w);
	if (!n && e->w->free_run)
		sched_yield(); /* a mutex is not fair */
	return n;
}

static void set_up_end(struct world *w, enum side side)
{
	struct end *e = &w->end[side];

	e->w = w;
	e->side = side;
	e->ctx.ops.post_send = fake_post_send;
	e->ctx.ops.poll_cq = fake_poll_cq;
	e->qp.context = e->send_cq.context = &e->ctx;
	e->qps_qp[0] = &e->qp;
	e->qps = (struct qp_set){
		.transport = transport_rc(),
		.qp = e->qps_qp,
		.count = 1,
		.send_cq = &e->send_cq,
		.tx_depth = w->tx_depth,
	};
	e->stream = (struct gpu_stream){.w = w, .qp = &w->qp[side == SINK ? COPY_IN : COPY_OUT]};
	e->slots = (struct mem){.memory.host = calloc(1, STAGED_SLOTS * w->size + GUARD),
				.lkey = LOCAL_KEY};
	e->words = (struct mem){.memory.host = calloc(STAGED_WORDS, sizeof(uint64_t)),
				.lkey = CREDIT_KEY};
}

static void world_open(struct world *w)
{
	the_world = w;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->turned, NULL);
	w->now = START_TIME;
	w->content = malloc(w->size);
	set_up_end(w, SOURCE);
	set_up_end(w, SINK);
}

static void world_close(struct world *w)
{
	for (int i = 0; i < 2; i++) {
		free(w->end[i].slots.memory.host);
		free(w->end[i].words.memory.host);
	}
	free(w->content);
	pthread_cond_destroy(&w->turned);
	pthread_mutex_destroy(&w->lock);
}

/*
 * What the session does around a loop: it tells the other end of a failure, and the sink of the
 * end.
 */
static void *run_end(void *arg)
{
	struct end *e = arg, *other = &e->w->end[e->side == SOURCE ? SINK : SOURCE];
	struct world *w = e->w;

	if (!w->free_run) {
		pthread_mutex_lock(&w->lock);
		while (w->turn != e->side)
			pthread_cond_wait(&w->turned, &w->lock);
	}
	e->rc = e->side == SOURCE ? staged_send(&e->staged) : staged_receive(&e->staged);
	enter(w);
	e->gone = true;
	if (e->rc)
		tell(w, other->side, true);
	else if (e->side == SOURCE)
		atomic_store(&other->control.expected, e->round.result.messages);
	w->acted = true;
	w->turn = other->side;
	pthread_cond_broadcast(&w->turned);
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

static struct round_slice there(const struct mem *m, uint32_t rkey)
{
	return (struct round_slice){.addr = (uintptr_t)m->memory.host, .key = rkey};
}

static void prepare_end(struct world *w, enum side side)
{
	struct end *e = &w->end[side], *other = &w->end[side == SOURCE ? SINK : SOURCE];
	bool host = side == SOURCE ? w->source_host : w->sink_host;

	atomic_store(&e->control.target, w->messages);
	atomic_store(&e->control.expected, w->messages);
	e->gone = false;
	memset(e->stream.mark, 0, sizeof(e->stream.mark));
	for (int i = 0; side == SOURCE && host && i < STAGED_SLOTS; i++)
		pattern_fill((uint8_t *)e->slots.memory.host + (size_t)i * w->size, w->size,
			     pattern_seed(1, 0), 0);
	e->round = (struct round){
		.qps = &e->qps,
		.size_bytes = w->size,
		.no_peak = true,
		.clock = &w->clock,
		.control = &e->control,
		.fault = &e->fault,
	};
	e->staged = (struct staged){
		.round = &e->round,
		.data = GPU_ADDR,
		.stream = host ? NULL : &e->stream,
		.slots = &e->slots,
		.words = &e->words,
		.slots_there = there(&other->slots, DATA_RKEY),
		.words_there = there(&other->words, WORD_RKEY),
	};
}

/* Run both ends. The results are in the ends. */
static void world_run(struct world *w)
{
	pthread_t thread[2];

	memset(w->qp, 0, sizeof(w->qp));
	w->content_of = NEVER;
	w->turn = SOURCE;
	for (enum side side = SOURCE; side <= SINK; side++)
		prepare_end(w, side);
	for (enum side side = SOURCE; side <= SINK; side++)
		pthread_create(&thread[side], NULL, run_end, &w->end[side]);
	for (enum side side = SOURCE; side <= SINK; side++)
		pthread_join(thread[side], NULL);
}

/* Create a world in *STATE: each stage takes 100, nothing fails. */
static int set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	w->size = 1024;
	w->messages = 20;
	w->tx_depth = 16;
	w->random = 1;
	w->stop_at = w->quit_at = w->wrong_count = w->wrong_credit = NEVER;
	for (int i = 0; i < LANES; i++)
		w->fail[i] = NEVER;
	for (int i = 0; i < 2; i++)
		w->refuse_copy[i] = w->refuse_post[i] = w->refuse_poll[i] = NEVER;
	w->ticks[COPY_OUT] = w->ticks[WIRE] = w->ticks[COPY_IN] = 100;
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	free(*state);
	return 0;
}

#endif
