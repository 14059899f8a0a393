// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "verbs/qp.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/phase.h"
#include "verbs/hca.h"
#include "verbs/transport.h"
#include "verbs/vfault.h"

#define WQE_BYTES 256 /* roughly what an entry of a deep queue pins, for the memlock hint */

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
	free(a->sender);
	free(a->srqn);
	memset(a, 0, sizeof(*a));
}

/* The largest number of sends that complete in one CQ, and of receives. */
static uint64_t count_sends_per_cq(const struct qp_attr *a)
{
	return (uint64_t)a->tx_depth * (a->own_cqs ? 1 : a->count);
}

static uint64_t count_receives_per_cq(const struct qp_attr *a)
{
	return (uint64_t)a->rx_depth * (a->use_srq || a->own_cqs ? 1 : a->count);
}

static unsigned count_srqs(const struct qp_attr *a)
{
	if (a->transport->receiver) /* a request names one, even if it consumes no receive */
		return a->use_srq || !a->rx_depth ? 1 : a->count;
	return a->use_srq && a->rx_depth;
}

/* Check that a CQ holds all receives, or SENDS, which cannot share a completion. */
static int check_cq(const struct hca *h, const struct qp_attr *a, bool sends, struct fault *f)
{
	uint64_t all = sends ? count_sends_per_cq(a) : count_receives_per_cq(a);
	unsigned depth = sends ? a->tx_depth : a->rx_depth;
	int max = h->info.attr.max_cqe;

	if (all <= (unsigned)max)
		return 0;
	fault_raise(f, FAULT_USAGE, 0, "%u %s on each of %u QPs are more than a CQ of %s holds (%d)",
		    depth, sends ? "sends" : "receives", a->count, h->info.device, max);
	return fault_fix(f, "use a smaller -%c, at most %u", sends ? 't' : 'r',
			 (unsigned)((unsigned)max / (all / depth)));
}

/* Raise which limit of the device the attributes exceed; the verbs would only return EINVAL. */
static int check_limits(const struct hca *h, const struct qp_attr *a, struct fault *f)
{
	const struct ibv_device_attr *d = &h->info.attr;
	unsigned srqs = count_srqs(a);
	const struct {
		unsigned asked;
		int max;
		const char *lead, *more_than, *has, *fix;
	} limits[] = {
		{a->transport->receiver ? 2 * a->count : a->count, d->max_qp, "",
		 "QPs are more than", "has", "use fewer with -q"},
		{a->own_cqs ? 0 : a->count, d->max_cqe, "", "QPs are more than a CQ of", "holds",
		 "use fewer with -q, or --own-cqs"},
		{a->own_cqs ? 2 * a->count : 2, d->max_cq, "", "CQs are more than", "has",
		 "use fewer QPs with -q, or omit --own-cqs"},
		{a->tx_depth, d->max_qp_wr, "a queue of ", "is deeper than", "allows",
		 "use a smaller -t or -r"},
		{a->rx_depth, srqs ? d->max_srq_wr : d->max_qp_wr, "a queue of ", "is deeper than",
		 "allows", "use a smaller -t or -r"},
		{srqs, d->max_srq, "", "SRQs are more than", "has",
		 "use fewer QPs with -q, or --use-srq if it is a test of SENDs"},
	};

	if (a->use_srq && d->max_srq < 1) {
		fault_raise(f, FAULT_UNAVAILABLE, 0, "%s does not support shared receive queues",
			    h->info.device);
		return fault_fix(f, "omit --use-srq");
	}
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		if (limits[i].asked > (unsigned)limits[i].max)
			return fault_usage(f, limits[i].fix, "%s%u %s %s %s (%d)", limits[i].lead,
					   limits[i].asked, limits[i].more_than, h->info.device,
					   limits[i].has, limits[i].max);
	return check_cq(h, a, false, f) || (a->transport->all_signalled && check_cq(h, a, true, f))
		       ? -1
		       : 0;
}

static int create_cqs(struct qp_set *s, const struct hca *h, const struct qp_attr *a,
		      struct fault *f)
{
	uint64_t send = count_sends_per_cq(a), recv = count_receives_per_cq(a);
	uint64_t max = (unsigned)h->info.attr.max_cqe;
	struct cq_attr cq = {
		.count = a->own_cqs ? a->count : 1,
		.vector = a->vector,
	};

	if (a->events && cq_wait_init(&s->cq_wait, h->ctx, f))
		return -1;
	cq.channel = s->cq_wait.channel;
	/* If the device has no CQ so large, more sends share a completion: see plan_cq_mod(). */
	cq.cqe = (unsigned)(send < max ? send : max);
	if (cq_ring_init(&s->send, h, &cq, f))
		return -1;
	cq.cqe = recv ? (unsigned)recv : 1;
	cq.extended = a->extended && recv;
	if (cq_ring_init(&s->recv, h, &cq, f))
		return -1;
	s->send_cq = cq_ring_of(&s->send, 0);
	s->recv_cq = cq_ring_of(&s->recv, 0);
	return 0;
}

/* Create the domain of QPs that receive for others, and the SRQs. */
static int create_srqs(struct qp_set *s, const struct hca *h, const struct qp_attr *a,
		       struct fault *f)
{
	struct ibv_xrcd_init_attr alone = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1, /* no file: other processes have no part in it */
		.oflags = O_CREAT,
	};
	unsigned wanted = count_srqs(a), depth = a->rx_depth ? a->rx_depth : 1;

	if (s->transport->receiver && !(s->xrcd = ibv_open_xrcd(h->ctx, &alone))) {
		fault_raise(f, FAULT_UNAVAILABLE, errno, "ibv_open_xrcd");
		fault_cause(f, "%s reports that it has XRC, but its driver opens no domain for it",
			    h->info.device);
		return fault_fix(f, "use -c RC, or name another device with -d");
	}
	s->srq = calloc(wanted, sizeof(struct ibv_srq *));
	for (; s->srq && s->srqs < wanted; s->srqs++) {
		struct ibv_srq_init_attr_ex attr = {
			.attr = {.max_wr = depth, .max_sge = 1},
			.comp_mask = IBV_SRQ_INIT_ATTR_PD,
			.pd = s->pd,
			.srq_type = IBV_SRQT_XRC,
			.xrcd = s->xrcd,
			.cq = cq_ring_of(&s->recv, s->srqs),
		};

		if (s->xrcd)
			attr.comp_mask |= IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD |
					  IBV_SRQ_INIT_ATTR_CQ;
		s->srq[s->srqs] = ibv_create_srq_ex(h->ctx, &attr);
		if (!s->srq[s->srqs])
			return vfault_raise(f, errno, (size_t)WQE_BYTES * depth,
					    "ibv_create_srq(%u)", depth);
	}
	return wanted && !s->srq ? fault_raise(f, FAULT_LOCAL, ENOMEM, "allocating %u SRQs", wanted)
				 : 0;
}

/* Create QP I. Returns NULL with errno on failure. */
static struct ibv_qp *create_qp(struct qp_set *s, const struct qp_attr *a, unsigned i,
				unsigned inline_bytes)
{
	/* Without send_ops_flags ibv_create_qp_ex() does the same as ibv_create_qp(). */
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = cq_ring_of(&s->send, i),
		.recv_cq = cq_ring_of(&s->recv, i),
		.srq = s->srqs ? s->srq[i % s->srqs] : NULL,
		.qp_type = s->transport->type,
		.cap = {.max_send_wr = s->tx_depth,
			.max_recv_wr = s->srqs       ? 0
				       : s->rx_depth ? s->rx_depth
						     : 1,
			.max_send_sge = 1,
			.max_recv_sge = 1,
			.max_inline_data = inline_bytes},
		.comp_mask =
			IBV_QP_INIT_ATTR_PD | (s->extended ? IBV_QP_INIT_ATTR_SEND_OPS_FLAGS : 0),
		.pd = s->domain,
		.send_ops_flags = a->send_ops,
	};
	struct ibv_qp *qp = s->transport->create(s->pd->context, &attr);

	/* Devices round up; do not use more than requested. */
	if (qp)
		s->inline_bytes = attr.cap.max_inline_data < inline_bytes ? attr.cap.max_inline_data
									  : inline_bytes;
	return qp;
}

/*
 * Create QP 0 with the inline size that the user requested; by default with inline_wanted, halved
 * until the device accepts it.
 */
static struct ibv_qp *create_qp_with_inline(struct qp_set *s, const struct qp_attr *a)
{
	unsigned bytes = a->inline_bytes;
	struct ibv_qp *qp;

	if (bytes != QP_INLINE_BEST_EFFORT)
		return create_qp(s, a, 0, bytes);
	for (bytes = a->inline_wanted;; bytes /= 2) {
		qp = create_qp(s, a, 0, bytes);
		if (qp || !bytes || (errno != EINVAL && errno != ENOMEM))
			return qp;
	}
}

/* Create QP 0, which finds out whether the device has extended QPs and how much inline data; the
 * other QPs do the same. */
static struct ibv_qp *create_first_qp(struct qp_set *s, const struct qp_attr *a)
{
	struct ibv_qp *qp = create_qp_with_inline(s, a);

	if (qp || !s->extended || s->transport->rdma_by_calls)
		return qp;
	s->extended = false;
	return create_qp_with_inline(s, a);
}

static int raise_no_qp(unsigned made, const struct qp_attr *a, struct fault *f)
{
	int err = errno;

	if (err == EINVAL && a->inline_bytes && a->inline_bytes != QP_INLINE_BEST_EFFORT) {
		fault_raise(f, FAULT_USAGE, err, "ibv_create_qp(%u of %u)", made + 1, a->count);
		fault_cause(f,
			    "The device does not support %u bytes of inline data, or not with "
			    "queues this deep",
			    a->inline_bytes);
		return fault_fix(f, "use a smaller -I, or omit it");
	}
	vfault_raise(f, err, (size_t)WQE_BYTES * (a->tx_depth + a->rx_depth),
		     "ibv_create_qp(%u of %u)", made + 1, a->count);
	fault_cause(f, "The QP was to hold %u sends and %u receives", a->tx_depth, a->rx_depth);
	if (made)
		return fault_fix(f, "check dmesg; use -q %u at most", made);
	return fault_fix(f, "check dmesg: the driver logs what it refuses; does it create a QP with "
			    "-t 1 -r 1?");
}

int qp_set_add(struct qp_set *s, const struct qp_attr *a, struct fault *f)
{
	struct ibv_qp_init_attr_ex attr = {.xrcd = s->xrcd};
	unsigned i = s->count;

	s->psn[i] &= QP_PSN_MASK;
	s->qp[i] = i ? create_qp(s, a, i, s->inline_bytes) : create_first_qp(s, a);
	if (!s->qp[i])
		return raise_no_qp(i, a, f);
	s->count = i + 1;
	if (s->xrcd && !(s->receiver[i] = s->transport->receiver->create(s->pd->context, &attr)))
		return vfault_raise(f, errno, 0, "ibv_create_qp(receiver %u of %u)", i + 1,
				    a->count);
	return 0;
}

void qp_set_remove(struct qp_set *s)
{
	s->count--;
	ibv_destroy_qp(s->qp[s->count]);
	if (s->receiver[s->count])
		ibv_destroy_qp(s->receiver[s->count]);
}

/*
 * With a thread domain, mlx5 and others give the QPs a doorbell register of their own and take no
 * lock when they post. CQs and SRQs need none: they share nothing with those of other threads.
 */
static void create_domain(struct qp_set *s, const struct qp_attr *a)
{
	struct ibv_parent_domain_init_attr both = {.pd = s->pd};

	s->domain = s->pd;
	if (!a->own_doorbell)
		return;
	s->td = both.td = ibv_alloc_td(s->pd->context, &(struct ibv_td_init_attr){0});
	if (s->td)
		s->domain = ibv_alloc_parent_domain(s->pd->context, &both);
	if (s->td && s->domain)
		return;
	s->no_td = errno ? errno : ENOMEM;
	if (s->td)
		ibv_dealloc_td(s->td);
	s->td = NULL;
	s->domain = s->pd;
}

int qp_set_init(struct qp_set *s, const struct hca *h, const struct qp_attr *a, struct fault *f)
{
	memset(s, 0, sizeof(*s));
	fault_phase(f, PHASE_CREATE_QPS);
	if (check_limits(h, a, f))
		return -1;
	s->port = h->info.port;
	s->first = a->first;
	s->to_group = a->multicast;
	s->transport = a->transport;
	s->tx_depth = a->tx_depth;
	s->rx_depth = a->rx_depth;
	s->extended = a->extended || a->transport->rdma_by_calls;
	s->to_rts = a->transport->to_rts;
	if (hca_lacks_rnr_retry(&h->info))
		s->to_rts &= ~IBV_QP_RNR_RETRY;
	_Static_assert((unsigned)LINK_KIND_SOFT == FABRICS, "of fabrics, then these");
	s->link = hca_link(&h->info);
	s->local = s->link == LINK_KIND_IWARP;
	s->qp = calloc(a->count, sizeof(struct ibv_qp *));
	s->psn = calloc(a->count, sizeof(*s->psn));
	s->aim = calloc(a->count, sizeof(*s->aim));
	s->receiver = calloc(a->count, sizeof(struct ibv_qp *));
	s->peer_srqn = calloc(a->count, sizeof(*s->peer_srqn));
	if (!s->qp || !s->psn || !s->aim || !s->receiver || !s->peer_srqn ||
	    getrandom(s->psn, a->count * sizeof(*s->psn), 0) < 0)
		return fault_raise(f, FAULT_LOCAL, errno,
				   "random packet sequence numbers for %u QPs", a->count);
	s->pd = ibv_alloc_pd(h->ctx);
	if (!s->pd)
		return vfault_raise(f, errno, 0, "ibv_alloc_pd");
	create_domain(s, a);
	if (create_cqs(s, h, a, f) || create_srqs(s, h, a, f))
		return -1;
	for (unsigned i = 0; i < a->count; i++)
		if (qp_set_add(s, a, f) || qp_state_init(s, i, a, f))
			return -1;
	return 0;
}

int qp_set_describe(const struct qp_set *s, struct qp_address *a, struct fault *f)
{
	if (s->xrcd) {
		a->sender = calloc(s->count, sizeof(*a->sender));
		a->srqn = calloc(s->count, sizeof(*a->srqn));
		if (!a->sender || !a->srqn)
			return fault_raise(f, FAULT_LOCAL, ENOMEM, "allocating details of %u QPs",
					   s->count);
	}
	for (unsigned i = 0; i < s->count; i++) {
		int rc = s->xrcd ? ibv_get_srq_num(s->srq[i % s->srqs], &a->srqn[i]) : 0;

		if (rc)
			return vfault_raise(f, rc, 0, "ibv_get_srq_num");
		a->psn[i] = s->psn[i];
		a->qpn[i] = s->xrcd ? s->receiver[i]->qp_num : s->qp[i]->qp_num;
		if (s->xrcd)
			a->sender[i] = s->qp[i]->qp_num;
	}
	return 0;
}

void qp_set_release(struct qp_set *s)
{
	multicast_leave(&s->multicast, s->qp);
	while (s->count)
		qp_set_remove(s);
	while (s->srqs)
		ibv_destroy_srq(s->srq[--s->srqs]);
	free(s->srq);
	while (s->ahs)
		ibv_destroy_ah(s->ah[--s->ahs]);
	free(s->ah);
	cq_ring_release(&s->recv);
	cq_ring_release(&s->send);
	cq_wait_release(&s->cq_wait);
	if (s->xrcd)
		ibv_close_xrcd(s->xrcd);
	if (s->td) {
		ibv_dealloc_pd(s->domain);
		ibv_dealloc_td(s->td);
	}
	if (s->pd)
		ibv_dealloc_pd(s->pd);
	free(s->receiver);
	free(s->peer_srqn);
	free(s->aim);
	free(s->psn);
	free(s->qp);
	memset(s, 0, sizeof(*s));
}
