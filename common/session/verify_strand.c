// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One strand's part of a verification: its memory, and each step. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "session/limits.h"
#include "session/plan.h"
#include "session/verify.h"

#define ROOM_BYTES   (UINT64_C(64) << 20) /* of messages, one way, as far as it is a choice */
#define COUNT_MAX    1024
#define SPARE_MAX    8  /* slots for what comes too often */
#define GRH_BYTES    40 /* before a datagram's payload */
#define VIEW(v, off) ((v)->image ? (v)->image + (off) : (uint8_t *)(v)->mem.host + (off))

bool verify_sends(const struct session *s)
{
	return s->test->latency || s->options.experiment.bidirectional || endpoint_leads(s);
}

bool verify_receives(const struct session *s)
{
	return s->test->latency || s->options.experiment.bidirectional || !endpoint_leads(s);
}

bool verify_lossy(const struct session *s)
{
	return s->options.experiment.connection != CONNECTION_RC;
}

enum ibv_wr_opcode verify_opcode(const struct session *s)
{
	if (!s->test->written)
		return IBV_WR_SEND;
	return s->immediate ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE;
}

static uint64_t before_bytes(const struct session *s)
{
	return s->options.experiment.connection == CONNECTION_UD ? GRH_BYTES : 0;
}

/* Slots beside COUNT, where RECEIVES may be posted. */
static unsigned spare(unsigned count, unsigned receives)
{
	unsigned wish = count / 2 < 1 ? 1 : count / 2 < SPARE_MAX ? count / 2 : SPARE_MAX;

	return count + wish <= receives ? wish : receives - count;
}

static struct slots layout(const struct strand *t, uint64_t bytes, unsigned per_lane)
{
	return (struct slots){
		.message_bytes = bytes,
		.before_bytes = before_bytes(t->session),
		.lanes = t->qps.count,
		.per_lane = per_lane,
	};
}

/* But not nothing. */
static unsigned least(unsigned a, unsigned b)
{
	unsigned n = a < b ? a : b;

	return n ? n : 1;
}

/*
 * What consumes receives has no more room than their queue, whose end does not give any back while
 * it waits for the other one's word; some must be left for what comes too often, and of the timed
 * ones a batch may be used up and not given back yet.
 */
unsigned verify_room(const struct strand *t, uint64_t bytes)
{
	struct slots one = layout(t, bytes, 1);
	uint64_t all = slots_bytes(&one), room = ROOM_BYTES / (bytes * t->qps.count);
	unsigned count = room < COUNT_MAX ? (unsigned)room : COUNT_MAX, depth = t->qps.rx_depth;

	if (count < 2)
		count = 2 * all <= 4 * ROOM_BYTES ? 2 : 1;
	if (verify_opcode(t->session) == IBV_WR_RDMA_WRITE || !verify_receives(t->session))
		return count;
	if (verify_opcode(t->session) != IBV_WR_SEND)
		return least(count, least(depth / 2, depth + 1 - t->receives.batch));
	if (count + SPARE_MAX > depth)
		count = depth > 2 * SPARE_MAX ? depth - SPARE_MAX : (depth + 1) / 2;
	return count;
}

static unsigned slots_to_receive(const struct strand *t, unsigned count)
{
	if (verify_opcode(t->session) != IBV_WR_SEND || !verify_receives(t->session))
		return count;
	return count + spare(count, t->qps.rx_depth);
}

/* What the largest of all sizes needs. */
static void reckon(struct strand *t, struct verify *v)
{
	const struct session *s = t->session;

	for (uint64_t size = plan_first_size(&s->options.experiment); size <= s->largest_bytes;
	     size *= 2) {
		unsigned count = verify_room(t, size);
		struct slots out = layout(t, size, count);
		struct slots in = layout(t, size, slots_to_receive(t, count));

		if (verify_sends(s) && slots_bytes(&out) > v->out_bytes)
			v->out_bytes = slots_bytes(&out);
		if (verify_receives(s) && slots_bytes(&in) > v->in_bytes)
			v->in_bytes = slots_bytes(&in);
	}
}

int verify_make(struct strand *t)
{
	const struct session *s = t->session;
	const struct experiment *e = &s->options.experiment;
	unsigned access = s->test->written ? IBV_ACCESS_REMOTE_WRITE : 0;
	struct verify *v;
	uint64_t bytes;

	if (!e->verify || s->matrix)
		return 0;
	v = t->verify = calloc(1, sizeof(*v));
	if (v)
		v->waiting = calloc(t->qps.count, sizeof(*v->waiting));
	if (!v || !v->waiting)
		return fault_raise(&t->fault, FAULT_LOCAL, ENOMEM, "details of a verification");
	reckon(t, v);
	bytes = v->out_bytes + v->in_bytes;
	if (s->report.about.server &&
	    limits_memory(&s->options.local,
			  (bytes + t->mem.bytes) * s->strands + e->load_bytes * s->loads,
			  &t->fault))
		return -1;
	if (!e->strict_order)
		access |= IBV_ACCESS_RELAXED_ORDERING;
	if (!s->gpu_memory)
		return mem_init(&v->mem, t->qps.pd, &t->pin, bytes, access, &t->fault);
	v->image = malloc(bytes);
	if (!v->image)
		return fault_raise(&t->fault, FAULT_LOCAL, ENOMEM, "an image of GPU memory");
	return endpoint_gpu_memory(t, bytes, access, &v->mem, &v->gpu_buffer);
}

void verify_release(struct strand *t)
{
	struct verify *v = t->verify;

	if (!v)
		return;
	verify_end(t);
	mem_release(&v->mem);
	if (v->gpu_buffer)
		gpu_free(t->session->gpu, v->gpu_buffer);
	free(v->image);
	free(v->waiting);
	free(v);
	t->verify = NULL;
}

/* One side's slots, which lie at OFFSET of the memory. */
static int make_slots(const struct strand *t, struct slots *slots, uint64_t offset,
		      bool from_server)
{
	const struct session *s = t->session;

	slots->data = VIEW(t->verify, offset);
	slots->first_lane = t->index * t->qps.count;
	slots->all_lanes = s->strands * t->qps.count;
	slots->count = t->verify->count;
	slots->from_server = from_server;
	slots->in_place = verify_opcode(s) != IBV_WR_SEND;
	slots->lossy = verify_lossy(s);
	return slots_init(slots);
}

int verify_begin(struct strand *t, uint64_t message_bytes)
{
	const struct session *s = t->session;
	struct verify *v = t->verify;
	bool server = s->report.about.server;
	uint64_t addr = v->mem.addr;
	int rc = 0;

	memset(&v->tally, 0, sizeof(v->tally));
	v->out = layout(t, message_bytes, v->count);
	v->in = layout(t, message_bytes, slots_to_receive(t, v->count));
	if ((verify_sends(s) && slots_bytes(&v->out) > v->out_bytes) ||
	    (verify_receives(s) && slots_bytes(&v->in) > v->in_bytes))
		return fault_raise(&t->fault, FAULT_PEER, 0,
				   "a verification of messages of another size");
	if (verify_sends(s))
		rc = make_slots(t, &v->out, 0, server);
	if (rc == 0 && verify_receives(s))
		rc = make_slots(t, &v->in, v->out_bytes, !server);
	if (rc)
		return fault_raise(&t->fault, FAULT_LOCAL, ENOMEM, "slots of %u messages",
				   v->count);
	v->volley = (struct volley){
		.round = &t->round,
		.opcode = verify_opcode(s),
		.out = verify_sends(s) ? &v->out : NULL,
		.in = verify_receives(s) ? &v->in : NULL,
		.from = {addr, 0, v->mem.lkey},
		.into = {addr + v->out_bytes, 0, v->mem.lkey},
		.remote = {v->peer_addr, 0, v->peer_rkey},
		.receives = VOLLEY_NOTHING,
		.patience_ns = s->options.local.timeout_ns,
	};
	if (v->volley.opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
		v->volley.receives = VOLLEY_GIVEN;
	return volley_init(&v->volley);
}

void verify_end(struct strand *t)
{
	volley_release(&t->verify->volley);
	slots_release(&t->verify->out);
	slots_release(&t->verify->in);
}

int verify_empty(struct strand *t)
{
	return volley_empty(&t->verify->volley, t->verify->waiting);
}

int verify_await_empty(struct strand *t)
{
	return volley_await(&t->verify->volley, true);
}

int verify_post_all(struct strand *t)
{
	struct volley *v = &t->verify->volley;

	if (!v->in)
		return 0;
	v->receives = VOLLEY_SLOTS;
	return volley_post_receives(v, true);
}

int verify_refill(struct strand *t)
{
	return t->verify->volley.in ? recv_queue_refill(&t->receives, &t->fault) : 0;
}

int verify_prepare(struct strand *t)
{
	struct verify *v = t->verify;
	struct gpu *gpu = t->session->gpu;

	v->out.window = v->in.window = ++v->windows;
	if (v->volley.receives == VOLLEY_SLOTS && volley_post_receives(&v->volley, false))
		return -1;
	if (v->volley.in)
		slots_poison(&v->in);
	if (v->volley.out)
		slots_fill(&v->out);
	if (!v->image)
		return 0;
	return gpu_copy_in(gpu, v->mem.addr, v->image, v->out_bytes + v->in_bytes, &t->fault);
}

int verify_send(struct strand *t)
{
	return volley_send(&t->verify->volley);
}

/* As the CPU may see it. */
static int look(struct strand *t)
{
	struct verify *v = t->verify;
	struct gpu *gpu = t->session->gpu;

	if (!v->image)
		return 0;
	if (gpu_flush(gpu, &t->fault))
		return -1;
	return gpu_copy_out(gpu, v->image + v->out_bytes, v->mem.addr + v->out_bytes, v->in_bytes,
			    &t->fault);
}

/* A WRITE's data may come after the sender has its completion: wait for them a while. */
int verify_collect(struct strand *t)
{
	struct verify *v = t->verify;
	uint64_t deadline_ns;

	if (!v->volley.in)
		return 0;
	if (volley_await(&v->volley, false) || look(t))
		return -1;
	deadline_ns = clock_now_ns() + VOLLEY_GRACE_NS;
	while (v->in.in_place && !slots_are_right(&v->in) && clock_now_ns() < deadline_ns)
		if (look(t))
			return -1;
	slots_check(&v->in, &v->tally);
	return 0;
}
