// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "session/crew.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct crew_hand {
	struct crew *crew;
	unsigned index;
	pthread_t thread;
	bool here;
};

static void done(struct crew *c, int rc)
{
	pthread_mutex_lock(&c->lock);
	if (rc)
		c->rc = -1;
	if (--c->busy == 0)
		pthread_cond_signal(&c->end);
	pthread_mutex_unlock(&c->lock);
}

/* Wait for the next job after SEEN; false: there will be none. */
static bool next_job(struct crew *c, unsigned seen)
{
	bool go;

	pthread_mutex_lock(&c->lock);
	while (c->jobs == seen && !c->leave)
		pthread_cond_wait(&c->begin, &c->lock);
	go = !c->leave;
	pthread_mutex_unlock(&c->lock);
	return go;
}

static void *work(void *arg)
{
	struct crew_hand *h = arg;

	for (unsigned seen = 0; next_job(h->crew, seen); seen++)
		done(h->crew, h->crew->job(h->crew->arg, h->index));
	return NULL;
}

int crew_init(struct crew *c, unsigned size, struct fault *f)
{
	memset(c, 0, sizeof(*c));
	c->hand = calloc(size, sizeof(*c->hand));
	if (!c->hand)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "%u threads", size);
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->begin, NULL);
	pthread_cond_init(&c->end, NULL);
	pthread_barrier_init(&c->start, NULL, size);
	c->size = size;
	for (unsigned i = 1; i < size; i++) {
		int rc;

		c->hand[i] = (struct crew_hand){.crew = c, .index = i};
		rc = pthread_create(&c->hand[i].thread, NULL, work, &c->hand[i]);
		if (rc) {
			fault_raise(f, FAULT_LOCAL, rc, "pthread_create(%u of %u)", i + 1, size);
			return fault_fix(f, "use fewer --threads, or raise ulimit -u");
		}
		c->hand[i].here = true;
	}
	return 0;
}

int crew_run(struct crew *c, crew_job *job, void *arg)
{
	int rc;

	pthread_mutex_lock(&c->lock);
	c->job = job;
	c->arg = arg;
	c->rc = 0;
	c->busy = c->size - 1;
	c->jobs++;
	pthread_cond_broadcast(&c->begin);
	pthread_mutex_unlock(&c->lock);
	rc = job(arg, 0);
	pthread_mutex_lock(&c->lock);
	while (c->busy)
		pthread_cond_wait(&c->end, &c->lock);
	rc |= c->rc;
	pthread_mutex_unlock(&c->lock);
	return rc ? -1 : 0;
}

void crew_meet(struct crew *c)
{
	if (c->size > 1)
		pthread_barrier_wait(&c->start);
}

void crew_release(struct crew *c)
{
	if (!c->size)
		return;
	pthread_mutex_lock(&c->lock);
	c->leave = true;
	pthread_cond_broadcast(&c->begin);
	pthread_mutex_unlock(&c->lock);
	for (unsigned i = 1; i < c->size; i++)
		if (c->hand[i].here)
			pthread_join(c->hand[i].thread, NULL);
	pthread_barrier_destroy(&c->start);
	pthread_cond_destroy(&c->end);
	pthread_cond_destroy(&c->begin);
	pthread_mutex_destroy(&c->lock);
	free(c->hand);
	memset(c, 0, sizeof(*c));
}
