// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/timed_call.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "base/clock.h"

enum {
	RUNNING,
	ENDED,     /* the caller releases it */
	ABANDONED, /* the thread does */
};

/*
 * Calls that nobody waits for any more. A global, because they belong to the process: they outlive
 * every object, and the caller of the next one knows nothing of them.
 */
static atomic_int abandoned;

static void release(struct timed_call *c)
{
	if (c->ended_fd >= 0)
		close(c->ended_fd);
	c->release(c);
}

static void *run_thread(void *arg)
{
	struct timed_call *c = arg;

	c->run(c);
	if (atomic_exchange(&c->state, ENDED) == ABANDONED) {
		release(c);
		atomic_fetch_sub(&abandoned, 1);
	} else { /* the caller joins this thread before it releases C */
		eventfd_write(c->ended_fd, 1);
	}
	return NULL;
}

static int start(struct timed_call *c, struct fault *f)
{
	c->ended_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (c->ended_fd < 0)
		return fault_raise(f, FAULT_LOCAL, errno, "eventfd");
	return cgroup_thread(&c->thread, run_thread, c, f);
}

int timed_call(struct timed_call *c, uint64_t limit_ns, struct stop *stop, struct fault *f)
{
	pthread_t thread;
	int rc;

	if (atomic_load(&abandoned)) {
		c->release(c);
		return 1;
	}
	if (start(c, f)) {
		release(c);
		return -1;
	}
	thread = c->thread;
	rc = stop_wait(stop, c->ended_fd, POLLIN, clock_now_ns() + limit_ns, f);
	if (rc <= 0) {
		atomic_fetch_add(&abandoned, 1);
		if (atomic_exchange(&c->state, ABANDONED) != ENDED) {
			pthread_detach(thread);
			return rc < 0 ? -1 : 1;
		}
		atomic_fetch_sub(&abandoned, 1);
	}
	pthread_join(thread, NULL);
	close(c->ended_fd);
	if (rc >= 0)
		return 0;
	c->release(c); /* interrupted when it ended */
	return -1;
}
