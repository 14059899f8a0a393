// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The thread that watches one round after the other. */
#include "base/cgroup.h"
#include "measure/watch.h"

static void await_sem(sem_t *s)
{
	while (sem_wait(s))
		; /* EINTR, as under a debugger */
}

static void *watcher_thread(void *arg)
{
	struct watcher *by = arg;

	for (;;) {
		await_sem(&by->begin);
		if (!by->job)
			return NULL;
		by->job(by->w);
		sem_post(&by->end);
	}
}

int watcher_start(struct watcher *by, struct fault *f)
{
	sem_init(&by->begin, 0, 0);
	sem_init(&by->end, 0, 0);
	if (cgroup_thread(&by->thread, watcher_thread, by, f))
		return -1;
	by->running = true;
	return 0;
}

void watcher_begin(struct watcher *by, void (*job)(struct watch *w), struct watch *w)
{
	by->job = job;
	by->w = w;
	sem_post(&by->begin);
}

void watcher_await(struct watcher *by)
{
	await_sem(&by->end);
}

void watcher_release(struct watcher *by)
{
	if (!by->running)
		return;
	watcher_begin(by, NULL, NULL);
	pthread_join(by->thread, NULL);
	by->running = false;
}
