// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Thread domains, and who shares a doorbell.  As with mlx5, a QP of a parent
 * domain with a thread domain posts by that one's doorbell, all others by their
 * context's, each under its lock.
 *
 * With SIMVERBS_DOORBELLS=FILE these locks are taken, and at its end the process
 * writes lines "doorbells N", those that something was posted by, "shared N",
 * those of them that more than one thread posted by, and "waited N", how often a
 * thread found one locked.  A post then yields its CPU once while it has the
 * lock, so that threads that share one do meet, on any machine.
 */
#include "td.h"
#include "fault.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct sim_td {
	struct ibv_td ibv;
	struct sim_doorbell bell;
	_Atomic int users;
};

static struct {
	int (*post_send)(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
	int (*wr_complete)(struct ibv_qp_ex *qp);
} real;

static struct {
	const char *file;
	pid_t pid;
	_Atomic uint64_t doorbells, shared, waited;
} bells;

static struct ibv_td *alloc_td(struct ibv_context *c, struct ibv_td_init_attr *attr)
{
	struct sim_td *td;

	if (fault_call(FAULT_ibv_alloc_td))
		return NULL;
	if (attr->comp_mask) {
		errno = EINVAL;
		return NULL;
	}
	td = calloc(1, sizeof(*td));
	if (!td)
		return NULL;
	td->ibv.context = c;
	atomic_fetch_add(&sim_ctx(c)->objects, 1);
	return &td->ibv;
}

static int dealloc_td(struct ibv_td *ibv)
{
	struct sim_td *td = (struct sim_td *)ibv;

	if (atomic_load(&td->users))
		return EBUSY;
	atomic_fetch_sub(&sim_ctx(ibv->context)->objects, 1);
	free(td);
	return 0;
}

static struct ibv_pd *alloc_parent_domain(struct ibv_context *c,
					  struct ibv_parent_domain_init_attr *attr)
{
	struct sim_pd *base = (struct sim_pd *)attr->pd, *pd;

	if (fault_call(FAULT_ibv_alloc_parent_domain))
		return NULL;
	if (!base || base->base || attr->comp_mask) {
		errno = EINVAL;
		return NULL;
	}
	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;
	*pd = (struct sim_pd){
		.ibv = base->ibv, .id = base->id, .base = base, .td = (struct sim_td *)attr->td};
	atomic_fetch_add(&base->users, 1);
	if (pd->td)
		atomic_fetch_add(&pd->td->users, 1);
	atomic_fetch_add(&sim_ctx(c)->objects, 1);
	return &pd->ibv;
}

void td_leave(struct sim_pd *pd)
{
	if (pd->base)
		atomic_fetch_sub(&pd->base->users, 1);
	if (pd->td)
		atomic_fetch_sub(&pd->td->users, 1);
}

/* Lock the doorbell of QP. */
static struct sim_doorbell *lock_doorbell(struct ibv_qp *qp)
{
	struct sim_pd *pd = (struct sim_pd *)qp->pd;
	struct sim_doorbell *bell = pd->td ? &pd->td->bell : &sim_ctx(qp->context)->bell;

	if (!spin_trylock(&bell->lock)) {
		atomic_fetch_add(&bells.waited, 1);
		spin_lock(&bell->lock);
	}
	if (!bell->used)
		atomic_fetch_add(&bells.doorbells, 1);
	else if (!bell->shared && !pthread_equal(bell->first, pthread_self())) {
		bell->shared = true;
		atomic_fetch_add(&bells.shared, 1);
	}
	if (!bell->used)
		bell->first = pthread_self();
	bell->used = true;
	sched_yield();
	return bell;
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct sim_doorbell *bell = lock_doorbell(qp);
	int rc = real.post_send(qp, wr, bad);

	spin_unlock(&bell->lock);
	return rc;
}

static int wr_complete(struct ibv_qp_ex *qp)
{
	struct sim_doorbell *bell = lock_doorbell(&qp->qp_base);
	int rc = real.wr_complete(qp);

	spin_unlock(&bell->lock);
	return rc;
}

static __attribute__((destructor)) void leave(void)
{
	FILE *f = bells.file && bells.pid == getpid() ? fopen(bells.file, "w") : NULL;

	if (!f)
		return;
	fprintf(f, "doorbells %" PRIu64 "\nshared %" PRIu64 "\nwaited %" PRIu64 "\n",
		bells.doorbells, bells.shared, bells.waited);
	fclose(f);
}

void td_ops(struct sim_context *ctx)
{
	struct ibv_context_ops *ops = &ctx->v.context.ops;

	if (ctx->desc->features & DESC_TD) {
		ctx->v.alloc_td = alloc_td;
		ctx->v.dealloc_td = dealloc_td;
		ctx->v.alloc_parent_domain = alloc_parent_domain;
	}
	bells.file = getenv("SIMVERBS_DOORBELLS");
	bells.pid = getpid();
	if (!bells.file)
		return;
	real.post_send = ops->post_send;
	ops->post_send = post_send;
}

void td_wrap_qp(struct sim_qp *qp)
{
	if (!bells.file)
		return;
	real.wr_complete = qp->ex.wr_complete;
	qp->ex.wr_complete = wr_complete;
}
