// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cgroup.h"

struct pool_thread {
	struct pool *pool;
	unsigned index;
	pthread_t thread;
	int rc;
};

/* True if all threads were created. Waits until pool_init() knows. */
static bool is_complete(struct pool *p)
{
	bool complete;

	pthread_mutex_lock(&p->lock);
	complete = p->complete;
	pthread_mutex_unlock(&p->lock);
	return complete;
}

/* A thread of the pool: run each job between two barriers, until the pool is released. */
static void *pool_thread(void *arg)
{
	struct pool_thread *h = arg;
	struct pool *p = h->pool;

	while (is_complete(p)) {
		pool_meet(p);
		if (p->leave)
			break;
		h->rc = p->job(p->arg, h->index);
		pool_meet(p);
	}
	return NULL;
}

int pool_init(struct pool *p, unsigned size, struct fault *f)
{
	memset(p, 0, sizeof(*p));
	p->thread = calloc(size, sizeof(*p->thread));
	if (!p->thread)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "allocating %u threads", size);
	pthread_mutex_init(&p->lock, NULL);
	pthread_barrier_init(&p->gate, NULL, size);
	pthread_mutex_lock(&p->lock);
	for (p->size = 1; p->size < size; p->size++) {
		struct pool_thread *h = &p->thread[p->size];

		*h = (struct pool_thread){.pool = p, .index = p->size};
		if (cgroup_thread(&h->thread, pool_thread, h, f))
			break;
	}
	p->complete = p->size == size;
	pthread_mutex_unlock(&p->lock);
	return p->complete ? 0 : -1;
}

void pool_begin(struct pool *p, pool_job *job, void *arg)
{
	p->job = job;
	p->arg = arg;
	pool_meet(p);
}

int pool_end(struct pool *p)
{
	int rc = 0;

	pool_meet(p);
	for (unsigned i = 1; i < p->size; i++)
		rc |= p->thread[i].rc;
	return rc ? -1 : 0;
}

int pool_run(struct pool *p, pool_job *job, void *arg)
{
	int rc;

	pool_begin(p, job, arg);
	rc = job(arg, 0);
	return pool_end(p) || rc ? -1 : 0;
}

void pool_meet(struct pool *p)
{
	pthread_barrier_wait(&p->gate);
}

void pool_release(struct pool *p)
{
	if (!p->size)
		return;
	p->leave = true;
	if (p->complete)
		pool_meet(p);
	for (unsigned i = 1; i < p->size; i++)
		pthread_join(p->thread[i].thread, NULL);
	pthread_barrier_destroy(&p->gate);
	pthread_mutex_destroy(&p->lock);
	free(p->thread);
	memset(p, 0, sizeof(*p));
}
