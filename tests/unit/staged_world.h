/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * staged_world: two ends of a staged transfer in one process, with simulated GPUs, NIC and clock,
 * for test_staged.c. staged_fakes.h has the functions that the loops call.
 *
 * The two loops run in two threads that take turns: a turn ends when its loop polls its CQ.
 * Time stops while either end has something to do, and then jumps to the next event, so a run takes
 * exactly as long as its slowest chain. No data move before their time, and memory that will be
 * overwritten is spoilt at once, so that an access that is too early is detected. With `free_run`
 * both threads run freely, for ThreadSanitizer.
 */
#ifndef STAGED_WORLD_H
#define STAGED_WORLD_H

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pattern.h"
#include "loop/staged.h"

#define QUEUE      256
#define GPU_ADDR   UINT64_C(0x700000000000) /* not accessible to a CPU */
#define GUARD      64
#define NEVER      UINT64_MAX
#define START_TIME 1000
#define IDLE_TURNS 8        /* an end may act in the next turn on what it saw in this one */
#define IDLE_LONG  20000000 /* with free_run the other thread may wait for a CPU */
#define LOCAL_KEY  0x41
#define CREDIT_KEY 0x42
#define DATA_RKEY  0x51
#define WORD_RKEY  0x52

enum side {
	SOURCE,
	SINK
};
enum qp_name {
	COPY_OUT,
	WIRE,
	WIRE_ACK,
	COPY_IN,
	CREDIT,
	CREDIT_ACK,
	TELL, /* the source's count, after the chunk */
	LANES
};

struct task {
	uint64_t number, finish;
	uint64_t from, to, bytes;
	uint64_t word;
};

/* A resource that does one task after the other. */
struct qp {
	struct task task[QUEUE];
	uint64_t begun, done, free_at;
};

struct cq {
	struct ibv_wc wc[QUEUE];
	unsigned put, taken;
};

struct gpu_stream {
	struct world *w;
	struct qp *qp;
	uint64_t mark[STAGED_SLOTS];
	unsigned copies; /* calls so far */
};

struct end {
	struct ibv_context ctx; /* first, so that an object's context is the end */
	struct world *w;
	enum side side;
	struct ibv_qp qp, *qps_qp[1];
	struct ibv_cq send_cq;
	struct cq sent;
	unsigned queued; /* requests in the send queue */
	bool broken, gone;
	struct qp_set qps;
	struct gpu_stream stream;
	struct round_control control;
	struct fault fault;
	struct round round;
	struct staged staged;
	struct mem slots, words;
	int rc;
};

struct world {
	/* the experiment */
	uint64_t size, messages;
	unsigned tx_depth;
	bool source_host, sink_host, free_run;
	uint64_t ticks[LANES], jitter;
	/* injected failures; numbers count from 0, NEVER: none */
	uint64_t stop_at, quit_at;
	uint64_t fail[LANES]; /* the failing task of each */
	uint64_t refuse_copy[2], refuse_post[2], refuse_poll[2];
	uint64_t wrong_count, wrong_credit;
	/* state */
	struct end end[2];
	struct qp qp[LANES];
	uint64_t now, random;
	unsigned idle;
	bool acted, stuck;
	enum side turn;
	pthread_mutex_t lock;
	pthread_cond_t turned;
	struct clock clock;
	uint8_t *content; /* of message content_of */
	uint64_t content_of;
	char complaint[128];
};

static struct world *the_world; /* clock_raw_ns() has no argument */

static void complain(struct world *w, const char *text, uint64_t number)
{
	if (!w->complaint[0])
		snprintf(w->complaint, sizeof(w->complaint), "%s (%llu)", text,
			 (unsigned long long)number);
}

static void enter(struct world *w)
{
	if (w->free_run)
		pthread_mutex_lock(&w->lock);
}

static void leave(struct world *w)
{
	if (w->free_run)
		pthread_mutex_unlock(&w->lock);
}

uint64_t clock_raw_ns(void)
{
	uint64_t now;

	enter(the_world);
	now = the_world->now;
	leave(the_world);
	return now;
}

static uint64_t draw(struct world *w, uint64_t range)
{
	w->random = w->random * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (w->random >> 33) % range;
}

/* The other end's count at END. */
static uint64_t *count_at(const struct end *e)
{
	return e->words.memory.host;
}

/* The content of chunk NUMBER: each from a GPU differs, those from a host are equal. */
static const uint8_t *content(struct world *w, uint64_t number)
{
	if (w->source_host)
		number = 0;
	if (w->content_of != number)
		pattern_fill(w->content, w->size, pattern_seed(1, number), 0);
	w->content_of = number;
	return w->content;
}

static void expect_content(struct world *w, const struct task *t, const char *where)
{
	if (t->bytes != w->size)
		complain(w, "a chunk of the wrong length", t->number);
	else if (memcmp((void *)(uintptr_t)t->from, content(w, t->number), w->size))
		complain(w, where, t->number);
}

static void push(struct world *w, enum qp_name name, struct task t)
{
	struct qp *l = &w->qp[name];
	bool delay = name == WIRE_ACK || name == CREDIT_ACK; /* many may be in progress at once */
	uint64_t start = delay || l->free_at < w->now ? w->now : l->free_at;

	if (name == TELL && start < w->qp[WIRE].free_at)
		start = w->qp[WIRE].free_at;
	if (l->begun - l->done == QUEUE)
		complain(w, "too many tasks in lane", name);
	t.finish = start + w->ticks[name] + draw(w, w->jitter + 1);
	if (t.finish < l->free_at)
		t.finish = l->free_at;
	l->free_at = t.finish;
	if (!delay)
		t.number = l->begun;
	l->task[l->begun++ % QUEUE] = t;
	w->acted = true;
}

static void put_wc(struct world *w, struct cq *cq, struct ibv_wc wc)
{
	if (cq->put - cq->taken == QUEUE)
		complain(w, "CQ overrun", wc.wr_id);
	cq->wc[cq->put++ % QUEUE] = wc;
}

/* True if the request T of END fails. Then all later ones fail, too. */
static bool write_failed(struct world *w, enum side side, enum qp_name name, const struct task *t)
{
	struct end *e = &w->end[side];
	bool first = w->fail[name] == t->number;

	if (!first && !e->broken)
		return false;
	e->broken = true;
	put_wc(w, &e->sent,
	       (struct ibv_wc){.status = first ? IBV_WC_RETRY_EXC_ERR : IBV_WC_WR_FLUSH_ERR});
	return true;
}

static void finish_wire(struct world *w, const struct task *t)
{
	if (write_failed(w, SOURCE, WIRE, t))
		return;
	expect_content(w, t, "the source's slot changed under the write");
	memcpy((void *)(uintptr_t)t->to, (void *)(uintptr_t)t->from, t->bytes);
	push(w, WIRE_ACK, *t);
}

/* The count of SIDE arrives at the other end; WRONG is the task whose count is not the right one.
 */
static void finish_count(struct world *w, enum side side, enum qp_name name, const struct task *t)
{
	struct end *to = &w->end[side == SOURCE ? SINK : SOURCE];
	uint64_t wrong = side == SOURCE ? w->wrong_count : w->wrong_credit;

	if (write_failed(w, side, name, t))
		return;
	if (*(uint64_t *)(uintptr_t)t->from != t->word)
		complain(w, "the word of a count changed under the write", t->number);
	if (t->to != (uintptr_t)count_at(to) || t->bytes != sizeof(t->word))
		complain(w, "a count outside its word", t->number);
	__atomic_store_n(count_at(to), t->word + (wrong == t->number ? 1000 : 0), __ATOMIC_RELEASE);
	push(w, side == SOURCE ? WIRE_ACK : CREDIT_ACK, *t);
}

static void finish(struct world *w, enum qp_name name, const struct task *t)
{
	switch (name) {
	case COPY_OUT:
		memcpy((void *)(uintptr_t)t->to, content(w, t->number), t->bytes);
		if (t->bytes != w->size)
			complain(w, "copy out of the wrong length", t->number);
		break;
	case COPY_IN:
		expect_content(w, t, "wrong data for the sink's GPU");
		break;
	case WIRE:
		finish_wire(w, t);
		break;
	case TELL:
	case CREDIT:
		finish_count(w, name == TELL ? SOURCE : SINK, name, t);
		break;
	default:
		put_wc(w, &w->end[name == WIRE_ACK ? SOURCE : SINK].sent, (struct ibv_wc){0});
	}
}

static void tell(struct world *w, enum side side, bool abort)
{
	if (abort)
		atomic_store(&w->end[side].control.abort, true);
	atomic_store(&w->end[side].control.target, 0);
	atomic_store(&w->end[side].control.expected, 0);
	w->acted = true;
}

/* Finish everything that is due, in order. */
static void happen(struct world *w)
{
	for (;;) {
		struct qp *next = NULL;

		for (enum qp_name i = 0; i < LANES; i++) {
			struct qp *l = &w->qp[i];

			if (l->done != l->begun && l->task[l->done % QUEUE].finish <= w->now &&
			    (!next || l->task[l->done % QUEUE].finish <
					      next->task[next->done % QUEUE].finish))
				next = l;
		}
		if (!next)
			break;
		w->acted = true;
		finish(w, (enum qp_name)(next - w->qp), &next->task[next->done % QUEUE]);
		next->done++;
	}
	if (w->now >= w->stop_at) {
		w->stop_at = NEVER;
		tell(w, SOURCE, false);
	}
	if (w->now >= w->quit_at) {
		w->quit_at = NEVER;
		tell(w, SOURCE, true);
		tell(w, SINK, true);
	}
}

static void give_up(struct world *w)
{
	w->stuck = true;
	tell(w, SOURCE, true);
	tell(w, SINK, true);
}

/* Neither end has anything to do: jump to the next event. Without one they would wait forever. */
static void leap(struct world *w)
{
	uint64_t next = w->stop_at < w->quit_at ? w->stop_at : w->quit_at;

	for (enum qp_name i = 0; i < LANES; i++) {
		const struct qp *l = &w->qp[i];

		if (l->done != l->begun && l->task[l->done % QUEUE].finish < next)
			next = l->task[l->done % QUEUE].finish;
	}
	if (next == NEVER) {
		give_up(w);
		return;
	}
	w->now = next;
	happen(w);
}

static void pass_turn(struct world *w, enum side side)
{
	enum side other = side == SOURCE ? SINK : SOURCE;

	w->idle = w->acted ? 0 : w->idle + 1;
	w->acted = false;
	if (w->free_run) {
		w->now++;
		happen(w);
		if (w->idle > IDLE_LONG)
			give_up(w);
		return;
	}
	if (w->idle >= IDLE_TURNS) {
		w->idle = 0;
		leap(w);
	}
	if (w->end[other].gone)
		return;
	w->turn = other;
	pthread_cond_broadcast(&w->turned);
	while (w->turn != side)
		pthread_cond_wait(&w->turned, &w->lock);
}

#endif
