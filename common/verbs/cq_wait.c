// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "verbs/cq_wait.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "verbs/vfault.h"

int cq_wait_init(struct cq_wait *w, struct ibv_context *ctx, struct fault *f)
{
	int flags;

	memset(w, 0, sizeof(*w));
	w->wake_fd = -1;
	w->channel = ibv_create_comp_channel(ctx);
	if (!w->channel)
		return vfault_raise(f, errno, 0, "ibv_create_comp_channel");
	flags = fcntl(w->channel->fd, F_GETFL);
	if (flags < 0 || fcntl(w->channel->fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return fault_raise(f, FAULT_LOCAL, errno, "fcntl of the completion channel");
	w->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (w->wake_fd < 0)
		return fault_raise(f, FAULT_LOCAL, errno, "eventfd");
	return 0;
}

void cq_wait_release(struct cq_wait *w)
{
	if (w->channel && w->wake_fd >= 0)
		close(w->wake_fd);
	if (w->channel)
		ibv_destroy_comp_channel(w->channel);
	memset(w, 0, sizeof(*w));
	w->wake_fd = -1;
}

void cq_wait_start(struct cq_wait *w, const struct cq_ring *send, const struct cq_ring *recv)
{
	w->send = send;
	w->recv = recv;
	w->each = send ? send->count : 1;
	if (recv && recv->count > w->each)
		w->each = recv->count;
	w->empty = 0;
	w->armed = false;
}

void cq_wait_wake(int fd)
{
	if (fd >= 0)
		eventfd_write(fd, 1);
}

static int arm_cqs(const struct cq_ring *ring)
{
	for (unsigned i = 0; ring && i < ring->count; i++) {
		int rc = ibv_req_notify_cq(ring->link[i].cq, 0);

		if (rc)
			return rc;
	}
	return 0;
}

/* Consume and acknowledge one event. One is enough: if there are more, the next poll(2) returns at
 * once. */
static int consume_event(struct cq_wait *w)
{
	struct ibv_cq *cq;
	void *context;

	w->event = false;
	if (ibv_get_cq_event(w->channel, &cq, &context))
		return errno == EAGAIN ? 0 : -errno;
	ibv_ack_cq_events(cq, 1);
	return 0;
}

/* Sleep until a completion event or cq_wait_wake(). Returns 0 or -errno. */
static int sleep_until_event(struct cq_wait *w)
{
	struct pollfd p[] = {
		{.fd = w->channel->fd, .events = POLLIN},
		{.fd = w->wake_fd, .events = POLLIN},
	};
	eventfd_t ignored;

	if (poll(p, 2, -1) < 0)
		return errno == EINTR ? 0 : -errno;
	/* The loop polls the CQs first; the next wait consumes the event. */
	w->event = p[0].revents != 0;
	if (p[1].revents)
		eventfd_read(w->wake_fd, &ignored);
	w->armed = false;
	return 0;
}

/* The first round of empty polls arms the CQs, a second one sleeps: between them no event is
 * missed. */
int cq_wait_idle(struct cq_wait *w)
{
	int rc = 0;

	if (++w->empty < w->each)
		return 0;
	w->empty = 0;
	if (w->armed)
		return sleep_until_event(w);
	if (w->event)
		rc = consume_event(w);
	if (rc == 0)
		rc = arm_cqs(w->send);
	if (rc == 0)
		rc = arm_cqs(w->recv);
	w->armed = true;
	return rc;
}
