// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The part of one worker in a verification: its memory, and what it does in each step. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/tickets.h"
#include "plan/limits.h"
#include "measure/verify.h"

#define SPARE_MAX    8 /* slots for messages that arrive twice */
#define VIEW(v, off) ((v)->image ? (v)->image + (off) : (uint8_t *)(v)->mem.host + (off))

/* True if both ends post messages: with -b, and in a ping-pong. */
static bool both_ends_post(const struct measure *ms)
{
	const struct test *test = ms->test;

	return ms->options->experiment.bidirectional || (test->latency && !test->operation.fetches);
}

bool verify_posts(const struct measure *ms)
{
	return both_ends_post(ms) || endpoint_leads(ms->ep);
}

bool verify_sends(const struct measure *ms)
{
	return both_ends_post(ms) ||
	       endpoint_leads(ms->ep) != operation_pulls(&ms->test->operation);
}

bool verify_receives(const struct measure *ms)
{
	return both_ends_post(ms) ||
	       endpoint_leads(ms->ep) == operation_pulls(&ms->test->operation);
}

static bool is_atomic(const struct measure *ms)
{
	return operation_is_atomic(&ms->test->operation);
}

static bool verify_swaps(const struct measure *ms)
{
	return verify_opcode(ms) == IBV_WR_ATOMIC_CMP_AND_SWP;
}

enum ibv_wr_opcode verify_opcode(const struct measure *ms)
{
	return operation_opcode(&ms->test->operation, &ms->options->experiment, ms->ep->immediate);
}

static uint64_t before_bytes(const struct measure *ms)
{
	return ms->options->experiment.connection == CONNECTION_UD ? QP_GRH_BYTES : 0;
}

static struct slots slots_layout(const struct meter *t, uint64_t bytes, unsigned per_qp)
{
	return (struct slots){
		.message_bytes = bytes,
		.before_bytes = before_bytes(t->ms),
		.qps = t->worker->qps.count,
		.per_qp = per_qp,
	};
}

/* The smaller of both, but at least 1. */
static unsigned smaller_of(unsigned a, unsigned b)
{
	unsigned n = a < b ? a : b;

	return n ? n : 1;
}

/*
 * The number of messages of BYTES per QP in a window. If they consume receives, it is limited by
 * the receive queue, because none are reposted during a window. Some receives are kept for messages
 * that arrive twice, and a batch of those of the timed part may not be reposted yet.
 */
unsigned verify_room(const struct meter *t, uint64_t bytes)
{
	struct slots one = slots_layout(t, bytes, 1);
	uint64_t all = slots_bytes(&one);
	unsigned count = plan_verify_messages(bytes, t->worker->qps.count),
		 depth = t->worker->qps.rx_depth;

	if (count < 2)
		count = 2 * all <= 4 * PLAN_VERIFY_BYTES ? 2 : 1;
	if (verify_opcode(t->ms) == IBV_WR_RDMA_WRITE || !verify_receives(t->ms) ||
	    t->ms->test->operation.fetches)
		return count;
	if (verify_opcode(t->ms) != IBV_WR_SEND)
		return smaller_of(count,
				  smaller_of(depth / 2, depth + 1 - t->worker->receives.batch));
	if (count + SPARE_MAX > depth)
		count = depth > 2 * SPARE_MAX ? depth - SPARE_MAX : (depth + 1) / 2;
	return count;
}

/* The number of receiving slots per QP: one for atomics, the counter; SENDs have spare ones. */
static unsigned slots_to_receive(const struct meter *t, unsigned count)
{
	if (is_atomic(t->ms))
		return 1; /* a counter */
	if (verify_opcode(t->ms) != IBV_WR_SEND || !verify_receives(t->ms))
		return count;
	return smaller_of(count + smaller_of(count / 2, SPARE_MAX), t->worker->qps.rx_depth);
}

/* Set the buffer sizes of V to the largest that any message size needs. */
static void set_buffer_sizes(struct meter *t, struct verify *v)
{
	const struct measure *ms = t->ms;

	for (uint64_t size = plan_first_size(&ms->options->experiment);
	     size <= ms->ep->largest_bytes; size *= 2) {
		unsigned count = verify_room(t, size);
		struct slots out = slots_layout(t, size, count);
		struct slots in = slots_layout(t, size, slots_to_receive(t, count));

		if (verify_sends(ms) && slots_bytes(&out) > v->out_bytes)
			v->out_bytes = slots_bytes(&out);
		if (verify_receives(ms) && slots_bytes(&in) > v->in_bytes)
			v->in_bytes = slots_bytes(&in);
	}
}

int verify_make(struct meter *t)
{
	const struct measure *ms = t->ms;
	const struct experiment *e = &ms->options->experiment;
	unsigned access = worker_access(t->worker);
	struct verify *v;
	uint64_t bytes;

	if (!e->verify || ms->ep->own_schedule)
		return 0;
	v = t->verify = calloc(1, sizeof(*v));
	if (!v)
		return fault_raise(&t->worker->fault, FAULT_LOCAL, ENOMEM,
				   "allocating details of a verification");
	set_buffer_sizes(t, v);
	bytes = v->out_bytes + v->in_bytes;
	if (ms->ep->server && limits_memory(&ms->options->local,
					    (bytes + t->worker->mem.bytes) * ms->ep->workers +
						    e->load_bytes * ms->ep->loads,
					    &t->worker->fault))
		return -1;
	if (!ms->ep->gpu_memory)
		return mem_init(&v->mem, t->worker->qps.pd, &t->worker->pin, bytes, access,
				&t->worker->fault);
	v->image = malloc(bytes);
	if (!v->image)
		return fault_raise(&t->worker->fault, FAULT_LOCAL, ENOMEM,
				   "allocating an image of GPU memory");
	return endpoint_gpu_memory(t->worker, bytes, access, &v->mem, &v->gpu_buffer);
}

void verify_release(struct meter *t)
{
	struct verify *v = t->verify;

	if (!v)
		return;
	verify_end(t);
	mem_release(&v->mem);
	if (v->gpu_buffer)
		gpu_free(t->ms->ep->gpu, v->gpu_buffer);
	free(v->image);
	free(v);
	t->verify = NULL;
}

/* Set up SLOTS in T's buffer from OFFSET on. FROM_SERVER: their messages come from the server. */
static int make_slots(const struct meter *t, struct slots *slots, uint64_t offset, bool from_server)
{
	const struct measure *ms = t->ms;

	slots->data = VIEW(t->verify, offset);
	slots->first_qp = t->worker->index * t->worker->qps.count;
	slots->count = t->verify->count;
	slots->from_server = from_server;
	slots->in_place = verify_opcode(ms) != IBV_WR_SEND;
	slots->unreliable = ms->options->experiment.connection != CONNECTION_RC;
	return slots_init(slots);
}

int verify_begin(struct meter *t)
{
	const struct measure *ms = t->ms;
	struct verify *v = t->verify;
	bool server = ms->ep->server, pulls = operation_pulls(&ms->test->operation);
	uint64_t addr = v->mem.addr;
	int rc = 0;

	memset(&v->tally, 0, sizeof(v->tally));
	memset(&v->returned, 0, sizeof(v->returned));
	v->out = slots_layout(t, v->message_bytes, v->count);
	v->in = slots_layout(t, v->message_bytes, slots_to_receive(t, v->count));
	if ((verify_sends(ms) && slots_bytes(&v->out) > v->out_bytes) ||
	    (verify_receives(ms) && slots_bytes(&v->in) > v->in_bytes))
		return fault_raise(&t->worker->fault, FAULT_PEER, 0,
				   "the peer requested a verification of messages of another size");
	if (verify_sends(ms))
		rc = make_slots(t, &v->out, 0, server);
	if (rc == 0 && verify_receives(ms))
		rc = make_slots(t, &v->in, v->out_bytes, !server);
	if (rc)
		return fault_raise(&t->worker->fault, FAULT_LOCAL, ENOMEM,
				   "allocating slots of %u messages", v->count);
	v->verify_window = (struct verify_window){
		.round = &t->round,
		.opcode = verify_opcode(ms),
		.out = !verify_posts(ms) ? NULL
		       : pulls           ? &v->in
					 : &v->out,
		.in = verify_receives(ms) ? &v->in : NULL,
		.from = {addr + (pulls ? v->out_bytes : 0), 0, v->mem.lkey},
		.into = {addr + v->out_bytes, 0, v->mem.lkey},
		.remote = {v->peer_addr, 0, v->peer_rkey},
		.patience_ns = ms->options->local.timeout_ns,
	};
	return verify_window_init(&v->verify_window);
}

void verify_end(struct meter *t)
{
	verify_window_release(&t->verify->verify_window);
	slots_release(&t->verify->out);
	slots_release(&t->verify->in);
}

int verify_empty(struct meter *t)
{
	return verify_window_empty(&t->verify->verify_window);
}

int verify_await_empty(struct meter *t)
{
	return verify_window_await(&t->verify->verify_window, true);
}

int verify_refill(struct meter *t)
{
	return t->verify->verify_window.in
		       ? recv_queue_refill(&t->worker->receives, &t->worker->fault)
		       : 0;
}

int verify_prepare(struct meter *t)
{
	struct verify *v = t->verify;
	struct gpu *gpu = t->ms->ep->gpu;

	v->out.window = v->in.window = ++v->windows;
	if (v->verify_window.in && v->verify_window.opcode == IBV_WR_SEND &&
	    verify_window_post_receives(&v->verify_window))
		return -1;
	for (unsigned qp = 0; v->in.arrived && qp < v->in.qps; qp++)
		v->in.arrived[qp] = 0;
	v->verify_window.first = tickets_first(v->windows);
	if (verify_receives(t->ms))
		slots_poison(&v->in);
	if (is_atomic(t->ms) && verify_receives(t->ms))
		tickets_begin(&v->in);
	if (is_atomic(t->ms) && verify_sends(t->ms))
		slots_poison(&v->out);
	else if (verify_sends(t->ms))
		slots_fill(&v->out);
	if (!v->image)
		return 0;
	return gpu_copy_in(gpu, v->mem.addr, v->image, v->out_bytes + v->in_bytes,
			   &t->worker->fault);
}

int verify_send(struct meter *t)
{
	return verify_window_send(&t->verify->verify_window);
}

/* If the buffer is in GPU memory, copy what was received to the CPU's image of it. */
static int fetch_slots(struct meter *t)
{
	struct verify *v = t->verify;
	struct gpu *gpu = t->ms->ep->gpu;

	if (!v->image)
		return 0;
	if (gpu_flush(gpu, &t->worker->fault))
		return -1;
	return gpu_copy_out(gpu, v->image + v->out_bytes, v->mem.addr + v->out_bytes, v->in_bytes,
			    &t->worker->fault);
}

/* Check what has arrived so far. */
static struct slots_tally check_arrived(const struct meter *t)
{
	const struct verify *v = t->verify;
	struct slots_tally found = {0};

	if (is_atomic(t->ms))
		tickets_check_counters(&v->in, v->count, verify_swaps(t->ms), &found);
	else
		slots_check(&v->in, &found);
	return found;
}

/* Check the values that this end's atomics returned. */
static int check_returned(struct meter *t)
{
	struct verify *v = t->verify;

	if (!is_atomic(t->ms) || !verify_sends(t->ms) ||
	    tickets_check(&v->out, verify_swaps(t->ms), &v->returned) == 0)
		return 0;
	return fault_raise(&t->worker->fault, FAULT_LOCAL, ENOMEM,
			   "allocating room for %u returned values", v->count);
}

/*
 * Check what arrived. A WRITE's data may arrive shortly after the sender's completion, so wait a
 * while for them.
 */
int verify_collect(struct meter *t)
{
	struct verify *v = t->verify;
	struct slots_tally found;
	uint64_t deadline_ns;

	if (check_returned(t))
		return -1;
	if (!v->verify_window.in)
		return 0;
	if (verify_window_await(&v->verify_window, false))
		return -1;
	deadline_ns = clock_now_ns() + verify_window_grace_ns(&v->verify_window);
	do {
		if (fetch_slots(t))
			return -1;
		found = check_arrived(t);
	} while (v->in.in_place && (found.errors || found.lost) && clock_now_ns() < deadline_ns);
	slots_add(&v->tally, &found);
	return 0;
}
