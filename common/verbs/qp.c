// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "verbs/qp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "verbs/qp_state.h"
#include "verbs/vfault.h"

#define WQE_BYTES 256 /* what a deep queue pins, roughly, for the memlock hint */

int qp_address_init(struct qp_address *a, unsigned count)
{
	memset(a, 0, sizeof(*a));
	a->qpn = calloc(count, sizeof(*a->qpn));
	a->psn = calloc(count, sizeof(*a->psn));
	a->count = count;
	return a->qpn && a->psn ? 0 : -ENOMEM;
}

void qp_address_release(struct qp_address *a)
{
	free(a->qpn);
	free(a->psn);
	free(a->rkeys);
	memset(a, 0, sizeof(*a));
}

/* Receives that complete in one CQ, at most. */
static uint64_t receives_each(const struct qp_wish *w)
{
	return (uint64_t)w->rx_depth * (w->share_receives || w->own_cqs ? 1 : w->count);
}

static int too_deep(const struct hca *h, unsigned depth, int max, struct fault *f)
{
	fault_raise(f, FAULT_USAGE, 0, "a queue of %u is deeper than %s allows (%d)", depth,
		    h->info.device, max);
	return fault_fix(f, "use a smaller -t or -r");
}

static int too_many(const struct hca *h, const struct qp_wish *w, struct fault *f)
{
	const struct ibv_device_attr *d = &h->info.attr;
	unsigned cqs = w->own_cqs ? 2 * w->count : 2;

	if (w->count > (unsigned)d->max_qp) {
		fault_raise(f, FAULT_USAGE, 0, "%u QPs are more than %s has (%d)", w->count,
			    h->info.device, d->max_qp);
		return fault_fix(f, "use fewer with -q");
	}
	if (w->count > (unsigned)d->max_cqe && !w->own_cqs) {
		fault_raise(f, FAULT_USAGE, 0, "%u QPs are more than a CQ of %s holds (%d)",
			    w->count, h->info.device, d->max_cqe);
		return fault_fix(f, "use fewer with -q, or --own-cqs");
	}
	if (cqs > (unsigned)d->max_cq) {
		fault_raise(f, FAULT_USAGE, 0, "%u CQs are more than %s has (%d)", cqs,
			    h->info.device, d->max_cq);
		return fault_fix(f, "use fewer QPs with -q, or leave --own-cqs out");
	}
	return 0;
}

/* A limit of the device that the wish passes, put into words; the verbs only say EINVAL. */
static int check_limits(const struct hca *h, const struct qp_wish *w, struct fault *f)
{
	const struct ibv_device_attr *d = &h->info.attr;
	int max_rx = w->share_receives ? d->max_srq_wr : d->max_qp_wr;

	if (too_many(h, w, f))
		return -1;
	if (w->share_receives && d->max_srq < 1) {
		fault_raise(f, FAULT_UNAVAILABLE, 0, "%s has no shared receive queues",
			    h->info.device);
		return fault_fix(f, "leave --use-srq out");
	}
	if (w->tx_depth > (unsigned)d->max_qp_wr)
		return too_deep(h, w->tx_depth, d->max_qp_wr, f);
	if (w->rx_depth > (unsigned)max_rx)
		return too_deep(h, w->rx_depth, max_rx, f);
	if (receives_each(w) > (unsigned)d->max_cqe) {
		fault_raise(f, FAULT_USAGE, 0,
			    "%u receives on each of %u QPs are more than a CQ of %s holds (%d)",
			    w->rx_depth, w->count, h->info.device, d->max_cqe);
		return fault_fix(f, "use a smaller -r, at most %u",
				 (unsigned)(d->max_cqe / (receives_each(w) / w->rx_depth)));
	}
	return 0;
}

static int make_cqs(struct qp_set *s, const struct hca *h, const struct qp_wish *w, struct fault *f)
{
	uint64_t send = (uint64_t)w->tx_depth * (w->own_cqs ? 1 : w->count);
	uint64_t recv = receives_each(w), max = (unsigned)h->info.attr.max_cqe;
	struct cq_wish cq = {
		.count = w->own_cqs ? w->count : 1,
		.vector = w->vector,
	};

	if (w->events && bell_init(&s->bell, h->ctx, f))
		return -1;
	cq.channel = s->bell.channel;
	/* Where the device has none so large, more sends share a completion: see plan_cq_mod(). */
	cq.cqe = (unsigned)(send < max ? send : max);
	if (cq_ring_init(&s->send, h, &cq, f))
		return -1;
	cq.cqe = recv ? (unsigned)recv : 1;
	cq.extended = w->extended && recv;
	if (cq_ring_init(&s->recv, h, &cq, f))
		return -1;
	s->send_cq = cq_ring_of(&s->send, 0);
	s->recv_cq = cq_ring_of(&s->recv, 0);
	return 0;
}

static int make_srq(struct qp_set *s, const struct qp_wish *w, struct fault *f)
{
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = w->rx_depth, .max_sge = 1}};

	if (!w->share_receives || !w->rx_depth)
		return 0;
	s->srq = ibv_create_srq(s->pd, &attr);
	return s->srq ? 0
		      : vfault_raise(f, errno, (size_t)WQE_BYTES * w->rx_depth,
				     "ibv_create_srq(%u)", w->rx_depth);
}

/* The requests of bandwidth tests. */
static uint64_t send_ops(enum ibv_qp_type type)
{
	return type == IBV_QPT_UD ? IBV_QP_EX_WITH_SEND
				  : IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE |
					    IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
}

static struct ibv_qp *make_extended_qp(struct qp_set *s, struct ibv_qp_init_attr *plain)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = plain->send_cq,
		.recv_cq = plain->recv_cq,
		.srq = plain->srq,
		.cap = plain->cap,
		.qp_type = plain->qp_type,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = s->pd,
		.send_ops_flags = send_ops(s->type),
	};
	struct ibv_qp *qp = ibv_create_qp_ex(s->pd->context, &attr);

	plain->cap = attr.cap;
	return qp;
}

static struct ibv_qp *make_qp(struct qp_set *s, unsigned i, unsigned inline_bytes)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq_ring_of(&s->send, i),
		.recv_cq = cq_ring_of(&s->recv, i),
		.srq = s->srq,
		.qp_type = s->type,
		.cap = {.max_send_wr = s->tx_depth,
			.max_recv_wr = s->srq        ? 0
				       : s->rx_depth ? s->rx_depth
						     : 1,
			.max_send_sge = 1,
			.max_recv_sge = 1,
			.max_inline_data = inline_bytes},
	};
	struct ibv_qp *qp = s->extended ? make_extended_qp(s, &attr) : ibv_create_qp(s->pd, &attr);

	/* Devices round up; what was not asked for is not used. */
	if (qp)
		s->inline_bytes = attr.cap.max_inline_data < inline_bytes ? attr.cap.max_inline_data
									  : inline_bytes;
	return qp;
}

/* With as much inline data as the device takes. */
static struct ibv_qp *make_with_inline(struct qp_set *s, const struct qp_wish *w)
{
	unsigned bytes = w->inline_bytes;
	struct ibv_qp *qp;

	if (bytes != QP_INLINE_BEST_EFFORT)
		return make_qp(s, 0, bytes);
	for (bytes = w->inline_wish;; bytes /= 2) {
		qp = make_qp(s, 0, bytes);
		if (qp || !bytes || (errno != EINVAL && errno != ENOMEM))
			return qp;
	}
}

/* The first QP finds out what the device has. */
static struct ibv_qp *make_first_qp(struct qp_set *s, const struct qp_wish *w)
{
	struct ibv_qp *qp = make_with_inline(s, w);

	if (qp || !s->extended)
		return qp;
	s->extended = false;
	return make_with_inline(s, w);
}

static int no_qp(unsigned made, const struct qp_wish *w, struct fault *f)
{
	int err = errno;

	vfault_raise(f, err, (size_t)WQE_BYTES * (w->tx_depth + w->rx_depth),
		     "ibv_create_qp(%u of %u)", made + 1, w->count);
	if (err == EINVAL && w->inline_bytes && w->inline_bytes != QP_INLINE_BEST_EFFORT) {
		fault_cause(
			f,
			"The device does not take %u bytes of inline data, or not with such deep queues",
			w->inline_bytes);
		return fault_fix(f, "use a smaller -I, or leave it out");
	}
	if (err == EINVAL || err == ENOMEM || err == ENOSPC)
		return fault_fix(f, "use smaller depths (-t %u, -r %u) or fewer QPs",
				 w->tx_depth / 2, w->rx_depth / 2);
	return -1;
}

int qp_set_init(struct qp_set *s, const struct hca *h, const struct qp_wish *w, struct fault *f)
{
	memset(s, 0, sizeof(*s));
	fault_phase(f, "making the QPs");
	if (check_limits(h, w, f))
		return -1;
	s->port = h->info.port;
	s->type = w->type;
	s->tx_depth = w->tx_depth;
	s->rx_depth = w->rx_depth;
	s->extended = w->extended;
	s->qp = calloc(w->count, sizeof(struct ibv_qp *));
	s->psn = calloc(w->count, sizeof(*s->psn));
	s->peer_qpn = calloc(w->count, sizeof(*s->peer_qpn));
	if (!s->qp || !s->psn || !s->peer_qpn ||
	    getrandom(s->psn, w->count * sizeof(*s->psn), 0) < 0)
		return fault_raise(f, FAULT_LOCAL, errno,
				   "random packet sequence numbers for %u QPs", w->count);
	s->pd = ibv_alloc_pd(h->ctx);
	if (!s->pd)
		return vfault_raise(f, errno, 0, "ibv_alloc_pd");
	if (make_cqs(s, h, w, f) || make_srq(s, w, f))
		return -1;
	for (unsigned i = 0; i < w->count; i++) {
		s->psn[i] &= QP_PSN_MASK;
		s->qp[i] = i ? make_qp(s, i, s->inline_bytes) : make_first_qp(s, w);
		if (!s->qp[i])
			return no_qp(i, w, f);
		s->count = i + 1;
		if (qp_state_init(s, i, w, f))
			return -1;
	}
	return 0;
}

void qp_set_release(struct qp_set *s)
{
	for (unsigned i = 0; i < s->count; i++)
		ibv_destroy_qp(s->qp[i]);
	if (s->srq)
		ibv_destroy_srq(s->srq);
	if (s->ah)
		ibv_destroy_ah(s->ah);
	cq_ring_release(&s->recv);
	cq_ring_release(&s->send);
	bell_release(&s->bell);
	if (s->pd)
		ibv_dealloc_pd(s->pd);
	free(s->peer_qpn);
	free(s->psn);
	free(s->qp);
	memset(s, 0, sizeof(*s));
}
