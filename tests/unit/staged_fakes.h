/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* staged_fakes: the verbs and gpu_stream functions of staged_world, and running it. */
#ifndef STAGED_FAKES_H
#define STAGED_FAKES_H

#include "staged_world.h"
#include "verbs/transports.h"

#define SPOILT     0xee
#define GPU_BROKEN 700

int gpu_stream_failed(const struct gpu_stream *s, enum gpu_stream_call call, int rc,
		      struct fault *f)
{
	static const char *const names[] = {"copy in", "copy out", "mark", "done"};

	(void)s;
	return fault_raise(f, FAULT_LOCAL, 0, "%s: %d", names[call], -rc);
}

/*
 * Copy between GPU address ADDR and bounce address HOST; checks that it is the next chunk, in a
 * slot.
 */
static int copy(struct gpu_stream *s, enum side side, uint64_t addr, void *host, size_t bytes)
{
	struct world *w = s->w;
	struct end *e = &w->end[side];
	struct task t = {.from = addr, .to = (uintptr_t)host, .bytes = bytes};
	uint64_t right, offset;
	int rc = 0;

	enter(w);
	offset = (uint64_t)(content(w, s->qp->begun, &right) - w->content);
	if (s != &e->stream || addr != GPU_ADDR + offset || bytes != right)
		complain(w, "a copy of the wrong chunk", s->qp->begun);
	if ((uint8_t *)host < e->bounce ||
	    (uint8_t *)host + bytes > e->bounce + w->slots * w->chunk)
		complain(w, "a copy outside the slots", s->qp->begun);
	if (side == SINK)
		t = (struct task){.from = (uintptr_t)host, .to = addr, .bytes = bytes};
	else
		memset(host, SPOILT, bytes);
	if (w->refuse_copy[side] == s->copies++)
		rc = -GPU_BROKEN;
	else
		push(w, side == SINK ? COPY_IN : COPY_OUT, t);
	leave(w);
	return rc;
}

int gpu_stream_copy_in(struct gpu_stream *s, uint64_t to, const void *from, size_t bytes)
{
	return copy(s, SINK, to, (void *)(uintptr_t)from, bytes);
}

int gpu_stream_copy_out(struct gpu_stream *s, void *to, uint64_t from, size_t bytes)
{
	return copy(s, SOURCE, from, to, bytes);
}

int gpu_stream_mark(struct gpu_stream *s, unsigned slot)
{
	struct world *w = s->w;
	enum side side = s == &w->end[SINK].stream ? SINK : SOURCE;
	int rc = w->refuse_mark[side] == s->marks++ ? -GPU_BROKEN : 0;

	enter(w);
	if (slot >= w->slots || s->mark[slot] > s->qp->done)
		complain(w, "an event marked that is under way", slot);
	else
		s->mark[slot] = s->qp->begun;
	leave(w);
	return rc;
}

int gpu_stream_done(struct gpu_stream *s, unsigned slot)
{
	struct world *w = s->w;
	enum qp_name name = (enum qp_name)(s->qp - w->qp);
	int rc;

	enter(w);
	if (slot >= w->slots || !s->mark[slot])
		complain(w, "an event asked for that was never marked", slot);
	rc = s->qp->done > w->fail[name] ? -GPU_BROKEN : s->mark[slot] <= s->qp->done;
	leave(w);
	return rc;
}

/* Check that a WRITE is within the sink's memory, and overwrite its target with SPOILT now. */
static void spoil(struct world *w, const struct task *t)
{
	const struct end *sink = &w->end[SINK];
	uint64_t base = (uintptr_t)(w->sink_host ? sink->data : sink->bounce);
	uint64_t room = w->sink_host ? w->size : w->slots * w->chunk;

	if (t->to < base || t->to + t->bytes > base + room)
		complain(w, "a write outside the sink's memory", t->number);
	else
		memset((void *)(uintptr_t)t->to, SPOILT, t->bytes);
}

static void check_request(struct end *e, const struct ibv_send_wr *wr)
{
	bool source = e->side == SOURCE;

	if (e->queued == e->qps.tx_depth)
		complain(e->w, "send queue overrun", wr->wr_id);
	if (!(wr->send_flags & IBV_SEND_SIGNALED) || wr->num_sge != 1 || wr->next ||
	    wr->opcode != (source ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE))
		complain(e->w, "a strange request", wr->wr_id);
	if (wr->sg_list->lkey != (source ? LOCAL_KEY : CREDIT_KEY) ||
	    wr->wr.rdma.rkey != (source ? DATA_RKEY : WORD_RKEY))
		complain(e->w, "a wrong key", wr->wr_id);
	if ((wr->send_flags & IBV_SEND_INLINE) && wr->sg_list->length > e->qps.inline_bytes)
		complain(e->w, "too much to send inline", wr->sg_list->length);
}

static int fake_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct end *e = (struct end *)(void *)qp->context;
	struct world *w = e->w;
	enum qp_name name = e->side == SOURCE ? WIRE : CREDIT;
	struct task t = {
		.number = w->qp[name].begun,
		.from = wr->sg_list->addr,
		.to = wr->wr.rdma.remote_addr,
		.bytes = wr->sg_list->length,
		.wr_id = wr->wr_id,
		.imm = wr->imm_data,
		.sent_inline = (wr->send_flags & IBV_SEND_INLINE) != 0,
	};

	*bad = wr;
	if (w->refuse_post[e->side] == w->qp[name].begun)
		return ENODEV;
	enter(w);
	check_request(e, wr);
	e->queued++;
	if (e->side == SOURCE)
		spoil(w, &t);
	else
		t.word = *(uint64_t *)(uintptr_t)t.from;
	push(w, name, t);
	leave(w);
	return 0;
}

static int fake_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct end *e = (struct end *)(void *)qp->context;

	enter(e->w);
	for (*bad = NULL; wr; wr = wr->next)
		e->receives++;
	if (e->receives > e->qps.rx_depth)
		complain(e->w, "receive queue overrun", e->receives);
	leave(e->w);
	return 0;
}

static int fake_poll_cq(struct ibv_cq *ibcq, int count, struct ibv_wc *wc)
{
	struct end *e = (struct end *)(void *)ibcq->context;
	struct cq *cq = ibcq == &e->send_cq ? &e->sent : &e->received;
	int n = 0;

	enter(e->w);
	if (cq == (e->side == SOURCE ? &e->sent : &e->received))
		pass_turn(e->w, e->side);
	for (; n < count && cq->taken != cq->put; n++)
		wc[n] = cq->wc[cq->taken++ % QUEUE];
	if (n)
		e->w->acted = true;
	if (cq == &e->sent)
		e->queued -= (unsigned)n;
	if (n && e->w->refuse_poll[e->side] <= cq->taken)
		n = -EIO;
	leave(e->w);
	if (!n && e->w->free_run)
		sched_yield(); /* a mutex is not fair */
	return n;
}

static void set_up_end(struct world *w, enum side side)
{
	struct end *e = &w->end[side];
	struct round_slice nowhere = {0};

	e->w = w;
	e->side = side;
	e->ctx.ops.post_send = fake_post_send;
	e->ctx.ops.post_recv = fake_post_recv;
	e->ctx.ops.poll_cq = fake_poll_cq;
	e->qp.context = e->send_cq.context = e->recv_cq.context = &e->ctx;
	e->qps_qp[0] = &e->qp;
	e->qps = (struct qp_set){
		.transport = transport_rc(),
		.qp = e->qps_qp,
		.count = 1,
		.send_cq = &e->send_cq,
		.recv_cq = &e->recv_cq,
		.tx_depth = w->tx_depth,
		.rx_depth = side == SINK ? w->rx_depth : 0,
		.inline_bytes = w->inline_bytes,
	};
	e->stream = (struct gpu_stream){.w = w, .qp = &w->qp[side == SINK ? COPY_IN : COPY_OUT]};
	e->data = calloc(1, w->size + GUARD);
	e->bounce = calloc(1, w->slots * w->chunk + GUARD);
	if (side == SINK)
		recv_queue_init(&e->queue, &e->qps, w->rx_depth, w->batch, &nowhere, 0, &e->fault);
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
		recv_queue_release(&w->end[i].queue);
		free(w->end[i].data);
		free(w->end[i].bounce);
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

static void prepare_end(struct world *w, enum side side)
{
	struct end *e = &w->end[side];
	bool host = side == SOURCE ? w->source_host : w->sink_host;

	atomic_store(&e->control.target, w->messages);
	atomic_store(&e->control.expected, w->messages);
	e->gone = false;
	memset(e->stream.mark, 0, sizeof(e->stream.mark));
	if (side == SOURCE && host)
		pattern_fill(e->data, w->size, pattern_seed(1, 0), 0);
	e->round = (struct round){
		.qps = &e->qps,
		.size_bytes = w->size,
		.no_peak = true,
		.receives = side == SINK ? &e->queue : NULL,
		.clock = &w->clock,
		.control = &e->control,
		.fault = &e->fault,
	};
	e->staged = (struct staged){
		.round = &e->round,
		.data = host ? (uintptr_t)e->data : GPU_ADDR,
		.stream = host ? NULL : &e->stream,
		.bounce = host ? NULL : e->bounce,
		.local_key = side == SOURCE ? LOCAL_KEY : 0,
		.chunk_bytes = w->chunk,
		.slots = w->slots,
		.credits = &w->credits,
		.credit_out = w->words,
		.credit_key = CREDIT_KEY,
		.remote = {.addr = (uintptr_t)&w->credits, .key = WORD_RKEY},
	};
	if (side == SINK)
		w->end[SOURCE].staged.remote =
			(struct round_slice){host ? (uintptr_t)e->data : (uintptr_t)e->bounce,
					     host ? 0 : w->chunk, DATA_RKEY};
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

/* Create a world in *STATE: four chunks per message, each stage takes 100, nothing fails. */
static int set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	w->size = 4096;
	w->chunk = 1024;
	w->messages = 5;
	w->slots = 4;
	w->tx_depth = 16;
	w->rx_depth = 32;
	w->batch = 4;
	w->random = 1;
	w->stop_at = w->quit_at = w->fail_receive = w->wrong_imm = w->wrong_credit = NEVER;
	for (int i = 0; i < LANES; i++)
		w->fail[i] = NEVER;
	for (int i = 0; i < 2; i++)
		w->refuse_copy[i] = w->refuse_mark[i] = w->refuse_post[i] = w->refuse_poll[i] =
			NEVER;
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
