// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * reg_lat: how long this host takes to register memory, and to deregister it.
 *
 * Posted and polled: nothing, and there is no peer. Timed: ibv_reg_mr() and ibv_dereg_mr() of one
 * region, again and again. The memory is there before, so no page is touched for the first time; of
 * a GPU its export belongs to the registration.
 */
#include "base/phase.h"
#include "base/units.h"
#include "endpoint/rail.h"
#include "endpoint/worker.h"
#include "session/calls.h"
#include "report/report.h"
#include "session/session.h"
#include "verbs/vfault.h"

static const enum record_step steps[] = {RECORD_REG, RECORD_DEREG};

struct region {
	struct calls calls;
	uint64_t bytes;
	unsigned access;
};

static int register_host(struct region *r, struct worker *t, uint64_t ticks[2])
{
	const struct clock *clock = t->ep->clock;
	struct ibv_mr *mr;
	int rc;

	ticks[0] = clock_ticks(clock);
	mr = ibv_reg_mr(t->qps.pd, t->mem.memory.host, r->bytes, (int)r->access);
	ticks[1] = clock_ticks(clock);
	if (!mr)
		return vfault_raise(&t->fault, errno,
				    r->access & IBV_ACCESS_ON_DEMAND ? 0 : r->bytes,
				    "ibv_reg_mr(%s)", units_size(r->bytes).text);
	rc = ibv_dereg_mr(mr);
	return rc ? vfault_raise(&t->fault, rc, 0, "ibv_dereg_mr") : 0;
}

static int register_gpu(struct region *r, struct worker *t, uint64_t ticks[2])
{
	const struct clock *clock = t->ep->clock;
	const struct gpu_mr_attr attr = {.pd = t->qps.pd,
					 .gpu = t->ep->gpu,
					 .route = t->rail->mine.gpu_path,
					 .addr = t->mem.memory.addr,
					 .bytes = r->bytes,
					 .access = r->access};
	struct gpu_mr mr;
	int rc;

	ticks[0] = clock_ticks(clock);
	rc = gpu_mr_init(&mr, &attr, &t->fault);
	ticks[1] = clock_ticks(clock);
	gpu_mr_release(&mr);
	return rc;
}

static int register_once(struct calls *c, unsigned i)
{
	struct region *r = (struct region *)c;
	struct worker *t = &c->ms->ep->worker[i];
	uint64_t ticks[2];

	if (t->ep->gpu_memory ? register_gpu(r, t, ticks) : register_host(r, t, ticks))
		return -1;
	calls_add(c, i, 0, ticks[0], ticks[1]);
	calls_add(c, i, 1, ticks[1], clock_ticks(t->ep->clock));
	return 0;
}

/* Allocate worker I's memory. What registers it for messages is undone. */
static int make_memory(void *arg, unsigned i)
{
	struct endpoint *ep = arg;
	struct worker *t = &ep->worker[i];

	fault_phase(&t->fault, PHASE_REGISTER);
	t->qps.pd = ibv_alloc_pd(t->rail->hca.ctx);
	if (!t->qps.pd)
		return vfault_raise(&t->fault, errno, 0, "ibv_alloc_pd");
	if (worker_memory(t))
		return -1;
	mem_deregister(&t->mem);
	return 0;
}

static void show_host(struct measure *ms)
{
	const struct endpoint *ep = ms->ep;
	struct report_effective effective = {0};
	struct report_ends ends = {.rails = ep->rails, .effective = &effective};

	for (unsigned i = 0; i < ep->rails; i++)
		ends.mine[i] = &ep->rail[i].mine;
	report_connected(ms->report, &ends);
}

static int schedule(struct measure *ms)
{
	struct endpoint *ep = ms->ep;
	const struct experiment *e = &ep->options->experiment;
	struct region r = {.calls = {.ms = ms, .job = register_once, .step = steps, .steps = 2}};
	int rc = 0;

	if (ep->gpu_memory && ep->workers > 1)
		return fault_usage(
			ep->fault, "omit --threads and name one device with -d, or omit --gpu",
			"several threads cannot register GPU memory: one thread uses its driver");
	ep->largest_bytes = plan_last_size(e, UINT64_MAX);
	if (endpoint_check_memory(ep) || endpoint_each(ep, make_memory, ep))
		return -1;
	show_host(ms);
	r.access = worker_access(&ep->worker[0]) | IBV_ACCESS_LOCAL_WRITE |
		   (ep->options->local.odp ? IBV_ACCESS_ON_DEMAND : 0);
	for (r.bytes = plan_first_size(e);
	     rc == 0 && r.bytes <= ep->largest_bytes && !ms->link->interrupted; r.bytes *= 2)
		rc = calls_run(&r.calls, r.bytes);
	return rc;
}

const struct test reg_lat = {
	.name = "reg_lat",
	.summary = "latency of registering memory",
	.title = "Registration Latency Test",
	.defaults = {EXPERIMENT_DEFAULTS, .size_bytes = 65536, .iters = 1000, .tx_depth = 1,
		     .plain = 1},
	.operation = {.name = "registration", .peer_allows = IBV_ACCESS_REMOTE_WRITE},
	.latency = true,
	.calls = TRAIT_REGISTERS,
	.schedule = schedule,
};

SESSION_MAIN(reg_lat)
