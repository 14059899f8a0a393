// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "verbs/cq.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "verbs/hca.h"
#include "verbs/vfault.h"

#define CQE_BYTES 64 /* roughly what an entry pins, for the memlock hint */

/* Create an extended CQ whose completions have the fields that struct ibv_wc has for a receive.
 * Returns NULL with errno on failure. */
static struct ibv_cq_ex *create_extended_cq(const struct hca *h, const struct cq_attr *a)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = a->cqe,
		.channel = a->channel,
		.comp_vector = a->vector,
		.wc_flags = IBV_WC_EX_WITH_QP_NUM,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		.flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED,
	};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(h->ctx, &attr);

	if (cq)
		return cq;
	attr.comp_mask = attr.flags = 0; /* some devices refuse any flag */
	return ibv_create_cq_ex(h->ctx, &attr);
}

/* Create the CQ of L: an extended one if wanted and possible, else a plain one. */
static bool create_cq(struct cq_link *l, const struct hca *h, const struct cq_attr *a)
{
	/*
	 * Soft-RoCE's library has no usable extended CQs: when ibv_next_poll() finds nothing it
	 * advances the consumer index twice and unlocks twice (rdma-core's pull requests 1512 and
	 * 1617).
	 */
	bool extended = a->extended && !hca_is_soft_roce(&h->info);

	l->cq_ex = extended ? create_extended_cq(h, a) : NULL;
	l->cq = l->cq_ex ? ibv_cq_ex_to_cq(l->cq_ex)
			 : ibv_create_cq(h->ctx, (int)a->cqe, NULL, a->channel, (int)a->vector);
	return l->cq != NULL;
}

int cq_ring_init(struct cq_ring *r, const struct hca *h, const struct cq_attr *a, struct fault *f)
{
	memset(r, 0, sizeof(*r));
	if (a->vector && (int)a->vector >= h->ctx->num_comp_vectors) {
		fault_raise(f, FAULT_USAGE, 0, "-X/--vector %u: %s has %d completion vectors",
			    a->vector, h->info.device, h->ctx->num_comp_vectors);
		return fault_fix(f, "use 0 to %d, or omit -X", h->ctx->num_comp_vectors - 1);
	}
	r->link = calloc(a->count, sizeof(*r->link));
	if (!r->link)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "allocating %u CQs", a->count);
	r->extended = a->extended;
	for (unsigned i = 0; i < a->count; i++) {
		struct cq_link *l = &r->link[i];

		if (!create_cq(l, h, a))
			return vfault_raise(f, errno, (size_t)a->cqe * CQE_BYTES,
					    "ibv_create_cq(%u)", a->cqe);
		l->next = &r->link[(i + 1) % a->count];
		r->count = i + 1;
		r->cqe += (unsigned)l->cq->cqe;
		r->extended &= l->cq_ex != NULL;
	}
	return 0;
}

void cq_ring_release(struct cq_ring *r)
{
	for (unsigned i = 0; i < r->count; i++)
		ibv_destroy_cq(r->link[i].cq);
	free(r->link);
	memset(r, 0, sizeof(*r));
}

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
