// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "verbs/qp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "verbs/vfault.h"

#define RNR_RETRY     7  /* without end: a receiver that is late is no error */
#define MIN_RNR_TIMER 12 /* 0.64 ms */
#define PSN_MASK      0xffffffu
#define WQE_BYTES     256 /* what a deep queue pins, roughly, for the memlock hint */

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

/* A limit of the device that the wish passes, put into words; the verbs only say EINVAL. */
static int check_limits(const struct hca *h, const struct qp_wish *w, struct fault *f)
{
	const struct ibv_device_attr *d = &h->info.attr;

	if (w->count > (unsigned)d->max_qp) {
		fault_raise(f, FAULT_USAGE, 0, "%u QPs are more than %s has (%d)", w->count,
			    h->info.device, d->max_qp);
		return fault_fix(f, "use fewer with -q");
	}
	if (w->count > (unsigned)d->max_cqe) {
		fault_raise(f, FAULT_USAGE, 0, "%u QPs are more than a CQ of %s holds (%d)",
			    w->count, h->info.device, d->max_cqe);
		return fault_fix(f, "use fewer with -q");
	}
	if (w->tx_depth > (unsigned)d->max_qp_wr || w->rx_depth > (unsigned)d->max_qp_wr) {
		fault_raise(f, FAULT_USAGE, 0, "a queue of %u is deeper than %s allows (%d)",
			    w->tx_depth > w->rx_depth ? w->tx_depth : w->rx_depth, h->info.device,
			    d->max_qp_wr);
		return fault_fix(f, "use a smaller -t or -r");
	}
	if ((uint64_t)w->rx_depth * w->count > (unsigned)d->max_cqe) {
		fault_raise(f, FAULT_USAGE, 0,
			    "%u receives on each of %u QPs are more than a CQ of %s holds (%d)",
			    w->rx_depth, w->count, h->info.device, d->max_cqe);
		return fault_fix(f, "use a smaller -r, at most %u",
				 (unsigned)d->max_cqe / w->count);
	}
	return 0;
}

static int make_cqs(struct qp_set *s, const struct hca *h, const struct qp_wish *w, struct fault *f)
{
	uint64_t send = (uint64_t)w->tx_depth * w->count, recv = (uint64_t)w->rx_depth * w->count;
	unsigned max = (unsigned)h->info.attr.max_cqe;

	/* Where the device has none so large, more sends share a completion: see plan_cq_mod(). */
	send = send < max ? send : max;
	recv = recv ? recv : 1;
	s->send_cq = ibv_create_cq(h->ctx, (int)send, NULL, NULL, 0);
	if (!s->send_cq)
		return vfault_raise(f, errno, send * 64, "ibv_create_cq(%u)", (unsigned)send);
	s->recv_cq = ibv_create_cq(h->ctx, (int)recv, NULL, NULL, 0);
	if (!s->recv_cq)
		return vfault_raise(f, errno, recv * 64, "ibv_create_cq(%u)", (unsigned)recv);
	return 0;
}

static struct ibv_qp *make_qp(struct qp_set *s, unsigned inline_bytes)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = s->send_cq,
		.recv_cq = s->recv_cq,
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = s->tx_depth,
			.max_recv_wr = s->rx_depth ? s->rx_depth : 1,
			.max_send_sge = 1,
			.max_recv_sge = 1,
			.max_inline_data = inline_bytes},
	};
	struct ibv_qp *qp = ibv_create_qp(s->pd, &attr);

	/* Devices round up; what was not asked for is not used. */
	if (qp)
		s->inline_bytes = attr.cap.max_inline_data < inline_bytes ? attr.cap.max_inline_data
									  : inline_bytes;
	return qp;
}

/* The first QP finds out how much inline data the device takes. */
static struct ibv_qp *make_first_qp(struct qp_set *s, const struct qp_wish *w)
{
	unsigned bytes = w->inline_bytes;
	struct ibv_qp *qp;

	if (bytes != QP_INLINE_BEST_EFFORT)
		return make_qp(s, bytes);
	for (bytes = w->inline_wish;; bytes /= 2) {
		qp = make_qp(s, bytes);
		if (qp || !bytes || (errno != EINVAL && errno != ENOMEM))
			return qp;
	}
}

/* Modifying QP in a way that depends on nobody else has failed. */
static int modify_failed(int err, const struct ibv_qp *qp, const char *to, struct fault *f)
{
	vfault_raise(f, err, 0, "ibv_modify_qp(QP 0x%06x to %s)", qp->qp_num, to);
	return fault_fix(f, "look at dmesg: the driver says there what it refuses");
}

static int to_init(struct qp_set *s, struct ibv_qp *qp, const struct qp_wish *w, struct fault *f)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.pkey_index = (uint16_t)w->pkey_index,
		.port_num = s->port,
		.qp_access_flags = w->access,
	};
	int rc = ibv_modify_qp(
		qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);

	return rc ? modify_failed(vfault_errno(rc), qp, "INIT", f) : 0;
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
	s->tx_depth = w->tx_depth;
	s->rx_depth = w->rx_depth;
	s->qp = calloc(w->count, sizeof(struct ibv_qp *));
	s->psn = calloc(w->count, sizeof(*s->psn));
	if (!s->qp || !s->psn || getrandom(s->psn, w->count * sizeof(*s->psn), 0) < 0)
		return fault_raise(f, FAULT_LOCAL, errno,
				   "random packet sequence numbers for %u QPs", w->count);
	s->pd = ibv_alloc_pd(h->ctx);
	if (!s->pd)
		return vfault_raise(f, errno, 0, "ibv_alloc_pd");
	if (make_cqs(s, h, w, f))
		return -1;
	for (unsigned i = 0; i < w->count; i++) {
		s->psn[i] &= PSN_MASK;
		s->qp[i] = i ? make_qp(s, s->inline_bytes) : make_first_qp(s, w);
		if (!s->qp[i])
			return no_qp(i, w, f);
		s->count = i + 1;
		if (to_init(s, s->qp[i], w, f))
			return -1;
	}
	return 0;
}

static int rtr_failed(int err, const struct ibv_qp *qp, const struct qp_route *r,
		      const struct qp_address *to, struct fault *f)
{
	char gid[64];

	vfault_raise(f, err, 0, "ibv_modify_qp(QP 0x%06x to RTR)", qp->qp_num);
	if (!r->global) {
		fault_cause(f, "The peer's LID is 0x%x", to->lid);
		return fault_fix(f, "check with ibping that the subnet manager has a path to it");
	}
	fault_cause(
		f,
		"The peer's GID %s cannot be reached from GID index %d: no route, no neighbour, or another kind of GID",
		gid_format(&to->gid, gid, sizeof(gid)), r->gid_index);
	return fault_fix(
		f,
		"check with ping between the two GIDs' addresses, or choose the GID with -x on both ends");
}

static int to_rtr(struct qp_set *s, unsigned i, const struct qp_route *r,
		  const struct qp_address *to, struct fault *f)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = hca_mtu_enum(r->mtu_bytes),
		.dest_qp_num = to->qpn[i],
		.rq_psn = to->psn[i] & PSN_MASK,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = MIN_RNR_TIMER,
		.ah_attr = {.dlid = to->lid,
			    .sl = (uint8_t)r->sl,
			    .port_num = s->port,
			    .is_global = r->global,
			    .grh = {.dgid = to->gid,
				    .sgid_index = (uint8_t)r->gid_index,
				    .flow_label = r->flow_label,
				    .hop_limit = (uint8_t)r->hop_limit,
				    .traffic_class = (uint8_t)r->tos}},
	};
	int rc = ibv_modify_qp(s->qp[i], &attr,
			       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				       IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				       IBV_QP_MIN_RNR_TIMER);

	return rc ? rtr_failed(vfault_errno(rc), s->qp[i], r, to, f) : 0;
}

static int to_rts(struct qp_set *s, unsigned i, const struct qp_route *r, struct fault *f)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.timeout = (uint8_t)r->qp_timeout,
		.retry_cnt = (uint8_t)r->retry_count,
		.rnr_retry = RNR_RETRY,
		.sq_psn = s->psn[i],
		.max_rd_atomic = 1,
	};
	int rc = ibv_modify_qp(s->qp[i], &attr,
			       IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				       IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);

	return rc ? modify_failed(vfault_errno(rc), s->qp[i], "RTS", f) : 0;
}

int qp_set_connect(struct qp_set *s, const struct qp_route *r, const struct qp_address *to,
		   struct fault *f)
{
	fault_phase(f, "connecting the QPs");
	if (to->count != s->count)
		return fault_raise(f, FAULT_PEER, 0, "the peer has %u QPs, this end %u", to->count,
				   s->count);
	for (unsigned i = 0; i < s->count; i++)
		if (to_rtr(s, i, r, to, f) || to_rts(s, i, r, f))
			return -1;
	return 0;
}

void qp_set_quiesce(struct qp_set *s)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	for (unsigned i = 0; i < s->count; i++)
		ibv_modify_qp(s->qp[i], &attr, IBV_QP_STATE);
}

void qp_set_release(struct qp_set *s)
{
	for (unsigned i = 0; i < s->count; i++)
		ibv_destroy_qp(s->qp[i]);
	if (s->recv_cq)
		ibv_destroy_cq(s->recv_cq);
	if (s->send_cq)
		ibv_destroy_cq(s->send_cq);
	if (s->pd)
		ibv_dealloc_pd(s->pd);
	free(s->psn);
	free(s->qp);
	memset(s, 0, sizeof(*s));
}
