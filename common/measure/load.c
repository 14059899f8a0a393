// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "endpoint/worker.h"
#include "loop/loops.h"
#include "measure/meter.h"
#include "measure/results.h"

static struct plan_round load_plan(const struct endpoint *ep)
{
	return plan_load(&ep->options->experiment, ep->loads);
}

/* Fill the round of T, a worker that sends the background load: a stream of RDMA writes. */
void load_prepare(struct meter *t)
{
	const struct plan_round plan = load_plan(t->ep);
	struct round *r = &t->round;

	*r = (struct round){
		.qps = &t->worker->qps,
		.size_bytes = t->ep->options->experiment.load_bytes,
		.opcode = IBV_WR_RDMA_WRITE,
		.post_list = 1,
		.cq_mod = plan.cq_mod,
		.no_peak = true,
		.memory = worker_buffers(t->worker),
		.clock = t->ep->clock,
		.control = t->worker->control,
		.fault = &t->worker->fault,
	};
	if (plan.messages_per_s > 0) {
		paced_init(&t->paced, plan.messages_per_s, plan.burst, 1, r->clock);
		t->paced.no_wait = true;
		r->paced = &t->paced;
	}
}

int load_run(struct meter *t)
{
	if (t->ep->server)
		return 0;
	return stream_run(&t->round);
}

/* The client's ping-pong starts after the first completion of the load on its rail. */
void load_await(const struct meter *t)
{
	const struct endpoint *ep = t->ep;
	const struct round_control *load = &ep->control[ep->workers + t->worker->index % ep->rails];

	if (!ep->loads || ep->server)
		return;
	while (!atomic_load_explicit(&load->progress, memory_order_relaxed) &&
	       !round_aborted(&t->round))
		;
}

void load_end(struct endpoint *ep)
{
	for (unsigned i = 0; i < ep->loads; i++)
		atomic_store(&ep->control[ep->workers + i].target, 0);
}

/*
 * The time of T's messages. With a schedule it is at least messages / rate, because the last
 * message counts with its whole interval, too.
 */
static double load_duration_ns(const struct meter *t)
{
	const struct round *r = &t->round;
	double ticks = (double)(r->result.end_ticks - r->result.start_ticks);
	double ns = clock_ticks_to_ns(t->ep->clock, ticks), scheduled_ns = 0;

	if (r->paced)
		scheduled_ns = (double)r->result.messages / load_plan(t->ep).messages_per_s * 1e9;
	return ns > scheduled_ns ? ns : scheduled_ns;
}

double load_gbps(const struct meter *all)
{
	double sum = 0;

	for (unsigned i = 0; i < all->ep->loads; i++) {
		const struct meter *t = &all[all->ep->workers + i];
		const struct round *r = &t->round;
		double ns = r->result.messages ? load_duration_ns(t) : 0;

		if (ns > 0)
			sum += (double)r->result.messages * (double)r->size_bytes * 8 / ns;
	}
	return sum;
}
