// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Requests that must wait: for a receiver to become ready, for an answer that
 * may never come, for a delay to pass.  A thread, started when the first such
 * request appears, carries them on, so that a program asleep on a completion
 * channel gets its completion; polling a CQ carries them on too.
 *
 * The list holds the queue pairs with something to do.  Lock order: sq_lock,
 * then engine.mutex; so the thread only tries the sq_lock.
 */
#include "sim.h"

#include <signal.h>
#include <string.h>
#include <time.h>

enum {
	IDLE_NS = 1000000
};

_Atomic int engine_waiting;

static struct {
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	struct sim_qp *head;
	pthread_t thread;
	bool started, stop;
} engine = {
	.mutex = PTHREAD_MUTEX_INITIALIZER,
	.cond = PTHREAD_COND_INITIALIZER,
};

static void engine_forked(void)
{
	memset(&engine, 0, sizeof(engine));
	pthread_mutex_init(&engine.mutex, NULL);
	pthread_cond_init(&engine.cond, NULL);
	atomic_store(&engine_waiting, 0);
}

static __attribute__((constructor)) void engine_setup(void)
{
	pthread_atfork(NULL, NULL, engine_forked);
}

/* One round over the list, engine.mutex held; the time of the next need. */
static uint64_t run_all(void)
{
	uint64_t next = sim_now_ns() + IDLE_NS, at;
	struct sim_qp **link = &engine.head, *qp;
	uint32_t head;

	while ((qp = *link)) {
		if (!spin_trylock(&qp->sq_lock)) {
			link = &qp->busy_next;
			continue;
		}
		send_run(qp); /* busy is set: it does not add itself */
		head = qp->sq_head;
		at = qp->wait_until_ns;
		if (qp->sq_next == head) {
			*link = qp->busy_next;
			qp->busy = false;
			atomic_fetch_sub(&engine_waiting, 1);
		} else {
			if (at && at < next)
				next = at;
			link = &qp->busy_next;
		}
		spin_unlock(&qp->sq_lock);
	}
	return next;
}

static void *engine_main(void *arg)
{
	struct timespec ts;
	uint64_t next;

	pthread_mutex_lock(&engine.mutex);
	while (!engine.stop) {
		if (!engine.head) {
			pthread_cond_wait(&engine.cond, &engine.mutex);
			continue;
		}
		next = run_all();
		if (!engine.head)
			continue;
		/* not the condition: nobody else can make it shorter */
		pthread_mutex_unlock(&engine.mutex);
		ts.tv_sec = next / 1000000000;
		ts.tv_nsec = next % 1000000000;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
		pthread_mutex_lock(&engine.mutex);
	}
	pthread_mutex_unlock(&engine.mutex);
	return arg;
}

static __attribute__((destructor)) void engine_stop(void)
{
	struct timespec soon;

	if (!engine.started || pthread_equal(engine.thread, pthread_self()))
		return;
	/* exit() may have been called by a handler that interrupted us */
	clock_gettime(CLOCK_REALTIME, &soon);
	soon.tv_sec++;
	if (pthread_mutex_timedlock(&engine.mutex, &soon))
		return;
	engine.stop = true;
	pthread_cond_signal(&engine.cond);
	pthread_mutex_unlock(&engine.mutex);
	pthread_join(engine.thread, NULL);
}

static void engine_start(void)
{
	sigset_t all, old;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	engine.started = !pthread_create(&engine.thread, NULL, engine_main, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void engine_add(struct sim_qp *qp)
{
	if (qp->busy)
		return;
	pthread_mutex_lock(&engine.mutex);
	qp->busy = true;
	qp->busy_next = engine.head;
	engine.head = qp;
	atomic_fetch_add(&engine_waiting, 1);
	if (!engine.started)
		engine_start();
	pthread_cond_signal(&engine.cond);
	pthread_mutex_unlock(&engine.mutex);
}

void engine_remove(struct sim_qp *qp)
{
	struct sim_qp **link;

	pthread_mutex_lock(&engine.mutex);
	for (link = &engine.head; *link; link = &(*link)->busy_next)
		if (*link == qp) {
			*link = qp->busy_next;
			qp->busy = false;
			atomic_fetch_sub(&engine_waiting, 1);
			break;
		}
	pthread_mutex_unlock(&engine.mutex);
}

void engine_poll(void)
{
	if (pthread_mutex_trylock(&engine.mutex))
		return;
	run_all();
	pthread_mutex_unlock(&engine.mutex);
}
