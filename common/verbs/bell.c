// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "verbs/bell.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "verbs/vfault.h"

int bell_init(struct bell *b, struct ibv_context *ctx, struct fault *f)
{
	int flags;

	memset(b, 0, sizeof(*b));
	b->wake_fd = -1;
	b->channel = ibv_create_comp_channel(ctx);
	if (!b->channel)
		return vfault_raise(f, errno, 0, "ibv_create_comp_channel");
	flags = fcntl(b->channel->fd, F_GETFL);
	if (flags < 0 || fcntl(b->channel->fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return fault_raise(f, FAULT_LOCAL, errno, "fcntl of the completion channel");
	b->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (b->wake_fd < 0)
		return fault_raise(f, FAULT_LOCAL, errno, "eventfd");
	return 0;
}

void bell_release(struct bell *b)
{
	if (b->channel && b->wake_fd >= 0)
		close(b->wake_fd);
	if (b->channel)
		ibv_destroy_comp_channel(b->channel);
	memset(b, 0, sizeof(*b));
	b->wake_fd = -1;
}

void bell_start(struct bell *b, const struct cq_ring *send, const struct cq_ring *recv)
{
	b->send = send;
	b->recv = recv;
	b->each = send ? send->count : 1;
	if (recv && recv->count > b->each)
		b->each = recv->count;
	b->empty = 0;
	b->armed = false;
}

void bell_wake(int fd)
{
	if (fd >= 0)
		eventfd_write(fd, 1);
}

static int arm(const struct cq_ring *ring)
{
	for (unsigned i = 0; ring && i < ring->count; i++) {
		int rc = ibv_req_notify_cq(ring->link[i].cq, 0);

		if (rc)
			return -vfault_errno(rc);
	}
	return 0;
}

/* One is enough: another that waits rings once more. */
static int take_event(struct bell *b)
{
	struct ibv_cq *cq;
	void *context;

	b->rung = false;
	if (ibv_get_cq_event(b->channel, &cq, &context))
		return errno == EAGAIN ? 0 : -errno;
	ibv_ack_cq_events(cq, 1);
	return 0;
}

static int wait_for_it(struct bell *b)
{
	struct pollfd p[] = {
		{.fd = b->channel->fd, .events = POLLIN},
		{.fd = b->wake_fd, .events = POLLIN},
	};
	eventfd_t ignored;

	if (poll(p, 2, -1) < 0)
		return errno == EINTR ? 0 : -errno;
	/* What rang is looked at first; the event is taken when there is time again. */
	b->rung = p[0].revents != 0;
	if (p[1].revents)
		eventfd_read(b->wake_fd, &ignored);
	b->armed = false;
	return 0;
}

int bell_idle(struct bell *b)
{
	int rc = 0;

	if (++b->empty < b->each)
		return 0;
	b->empty = 0;
	if (b->armed)
		return wait_for_it(b);
	if (b->rung)
		rc = take_event(b);
	if (rc == 0)
		rc = arm(b->send);
	if (rc == 0)
		rc = arm(b->recv);
	b->armed = true;
	return rc;
}
