// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The part of one worker in a verification: its memory, and what it does in each step. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/tickets.h"
#include "endpoint/worker.h"
#include "measure/meter.h"
#include "plan/limits.h"
#include "measure/verify.h"
#include "verbs/transport.h"

#define VIEW(v, off) ((v)->image ? (v)->image + (off) : (uint8_t *)(v)->mem.memory.host + (off))

static bool is_atomic(const struct meter *t)
{
	return operation_is_atomic(&t->ep->test->operation);
}

static bool has_swaps(const struct meter *t)
{
	return t->verify->opcode == IBV_WR_ATOMIC_CMP_AND_SWP;
}

/* Set what V posts, and in which directions its messages go. */
static void set_directions(struct verify *v, const struct endpoint *ep)
{
	const struct operation *o = &ep->test->operation;
	const struct experiment *e = &ep->options->experiment;
	bool leads = endpoint_leads(ep), pulls = operation_pulls(o);
	bool both = e->bidirectional || (ep->test->latency && !o->fetches); /* ends post */

	v->opcode = e->send_with_imm ? o->opcode : operation_opcode(o, e, ep->immediate);
	v->sends = both || leads != pulls;
	v->receives = both || leads == pulls;
	v->posts = !both && !leads ? NULL : pulls ? &v->in : &v->out;
}

static struct slots slots_layout(const struct meter *t, uint64_t bytes, unsigned count)
{
	return (struct slots){
		.message_bytes = bytes,
		.before_bytes = t->worker->qps.transport->header_bytes,
		.qps = t->worker->qps.count,
		.count = count,
	};
}

/* The smaller of both, but at least 1: a window has a message, even if half the depth is 0. */
static unsigned smaller_or_1(unsigned a, unsigned b)
{
	unsigned n = a < b ? a : b;

	return n ? n : 1;
}

/*
 * If they consume receives, the number of messages is limited by the receive queue, because none
 * are reposted during a window; of those of the timed part a batch may not be reposted yet.
 */
unsigned verify_room(const struct meter *t, uint64_t bytes)
{
	const struct verify *v = t->verify;
	unsigned count = plan_verify_messages(&t->ep->options->experiment, bytes),
		 depth = t->worker->qps.rx_depth;

	if (!v->receives || t->ep->test->operation.fetches)
		return count;
	if (v->opcode == IBV_WR_SEND)
		return smaller_or_1(count, depth);
	if (v->opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
		return smaller_or_1(count,
				    smaller_or_1(depth / 2, depth + 1 - t->worker->receives.batch));
	return count;
}

/* Allocate what T's verification has for the whole run, but for the memory of the messages. */
static int make_details(struct meter *t)
{
	uint64_t chain = t->ep->options->experiment.post_list;
	struct verify *v = t->verify = calloc(1, sizeof(*v));

	if (v) {
		v->qp = calloc(t->worker->qps.count, sizeof(*v->qp));
		v->wr = calloc(chain, sizeof(*v->wr));
		v->sge = calloc(chain, sizeof(*v->sge));
	}
	if (!v || !v->qp || !v->wr || !v->sge)
		return fault_raise(&t->worker->fault, FAULT_LOCAL, ENOMEM,
				   "allocating details of a verification");
	set_directions(v, t->ep);
	return 0;
}

/* Set the buffer sizes to the largest that any message size needs. */
static void set_buffer_sizes(const struct meter *t)
{
	struct verify *v = t->verify;

	for (uint64_t size = plan_first_size(&t->ep->options->experiment);
	     size <= t->ep->largest_bytes; size *= 2) {
		unsigned count = verify_room(t, size);
		struct slots out = slots_layout(t, size, count);
		struct slots in = slots_layout(t, size, is_atomic(t) ? 1 : count);

		if (v->sends && slots_bytes(&out) > v->out_bytes)
			v->out_bytes = slots_bytes(&out);
		if (v->receives && slots_bytes(&in) > v->in_bytes)
			v->in_bytes = slots_bytes(&in);
	}
}

int verify_make(struct meter *t)
{
	const struct endpoint *ep = t->ep;
	const struct experiment *e = &ep->options->experiment;
	unsigned access = worker_access(t->worker);
	struct verify *v;
	uint64_t bytes;

	if (!e->verify || ep->own_schedule)
		return 0;
	if (make_details(t))
		return -1;
	set_buffer_sizes(t);
	v = t->verify;
	bytes = v->out_bytes + v->in_bytes;
	if (ep->server && limits_memory(&ep->options->local,
					(bytes + t->worker->mem.memory.bytes) * ep->workers,
					&t->worker->fault))
		return -1;
	if (!ep->gpu_memory)
		return mem_init(
			&v->mem,
			&(struct mem_attr){.pd = t->worker->qps.pd,
					   .memory = {.bytes = bytes, .pin = &t->worker->pin},
					   .access = access},
			&t->worker->fault);
	v->image = malloc(bytes);
	if (!v->image)
		return fault_raise(&t->worker->fault, FAULT_LOCAL, ENOMEM,
				   "allocating an image of GPU memory");
	return endpoint_gpu_memory(t->worker, bytes, access, &v->mem);
}

void verify_release(struct meter *t)
{
	struct verify *v = t->verify;

	if (!v)
		return;
	slots_release(&v->out);
	slots_release(&v->in);
	mem_release(&v->mem);
	free(v->image);
	free(v->qp);
	free(v->wr);
	free(v->sge);
	free(v);
	t->verify = NULL;
}

/* Set up SLOTS in T's buffer from OFFSET on. FROM_SERVER: their messages come from the server. */
static int make_slots(const struct meter *t, struct slots *slots, uint64_t offset, bool from_server)
{
	slots->data = VIEW(t->verify, offset);
	slots->first_qp = t->worker->index * t->worker->qps.count;
	slots->from_server = from_server;
	slots->in_place = t->verify->opcode != IBV_WR_SEND;
	slots->unreliable = t->round.unreliable;
	slots->numbered = transport_numbers(t->round.qps->transport);
	return slots_init(slots);
}

int verify_begin(struct meter *t, uint64_t bytes, unsigned count)
{
	struct verify *v = t->verify;
	bool server = t->ep->server;
	int rc = 0;

	slots_release(&v->out);
	slots_release(&v->in);
	v->out = slots_layout(t, bytes, count);
	v->in = slots_layout(t, bytes, is_atomic(t) ? 1 : count);
	if (v->sends)
		rc = make_slots(t, &v->out, 0, server);
	if (rc == 0 && v->receives)
		rc = make_slots(t, &v->in, v->out_bytes, !server);
	return rc ? fault_raise(&t->worker->fault, FAULT_LOCAL, ENOMEM,
				"allocating slots of %u messages", count)
		  : 0;
}

int verify_prepare(struct meter *t)
{
	struct verify *v = t->verify;

	v->empty = false;
	v->out.window = v->in.window = ++v->windows;
	for (unsigned i = 0; i < v->out.qps; i++) {
		v->qp[i].todo = v->posts ? v->posts->count : 0;
		v->qp[i].next = 0;
	}
	if (v->receives && v->opcode == IBV_WR_SEND && verify_post_receives(t))
		return -1;
	if (v->receives)
		slots_poison(&v->in);
	if (v->receives && is_atomic(t))
		tickets_begin(&v->in);
	if (v->sends && is_atomic(t))
		slots_poison(&v->out);
	else if (v->sends)
		slots_fill(&v->out);
	if (!v->image)
		return 0;
	return gpu_copy_in(t->ep->gpu, v->mem.memory.addr, v->image, v->out_bytes + v->in_bytes,
			   &t->worker->fault);
}

/* If the buffer is in GPU memory, copy what was received to the CPU's image of it. */
static int fetch_slots(struct meter *t)
{
	struct verify *v = t->verify;
	struct gpu *gpu = t->ep->gpu;

	if (!v->image)
		return 0;
	if (gpu_route_flush(gpu, v->mem.gpu_mr.data_direct, &t->worker->fault))
		return -1;
	return gpu_copy_out(gpu, v->image + v->out_bytes, v->mem.memory.addr + v->out_bytes,
			    v->in_bytes, &t->worker->fault);
}

/* Check what has arrived so far. */
static struct slots_tally check_arrived(const struct meter *t)
{
	const struct verify *v = t->verify;
	struct slots_tally found = {0};

	if (is_atomic(t))
		tickets_check_counters(&v->in, v->out.count, has_swaps(t), &found);
	else
		slots_check(&v->in, &found);
	return found;
}

/* Check the values that this end's atomics returned. */
static int check_returned(struct meter *t)
{
	struct verify *v = t->verify;

	if (!is_atomic(t) || !v->sends || tickets_check(&v->out, has_swaps(t), &v->returned) == 0)
		return 0;
	return fault_raise(&t->worker->fault, FAULT_LOCAL, ENOMEM,
			   "allocating room for %u returned values", v->out.count);
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
	if (!v->receives)
		return 0;
	if (verify_await(t))
		return -1;
	deadline_ns = clock_now_ns() + verify_grace_ns(t);
	do {
		if (fetch_slots(t))
			return -1;
		found = check_arrived(t);
	} while (v->in.in_place && (found.errors || found.lost) && !round_aborted(&t->round) &&
		 clock_now_ns() < deadline_ns);
	slots_add(&v->tally, &found);
	return 0;
}
