// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "loop.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>

const struct loop_conf loop_defaults = {
	.type = IBV_QPT_RC,
	.access = -1,
	.mr_access = -1,
	.rd = 1,
	.dest_rd = 1,
	.timeout = 8,
	.retry = 3,
	.rnr_retry = 7,
	.rnr_timer = 12,
	.cqe = 64,
	.depth = LOOP_DEPTH,
};

enum {
	GID_INDEX = 5, /* v2, 127.0.0.1 on the default device */
	WAIT_MS = 30000
};

uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static int rights(const struct loop_conf *c)
{
	return c->access != -1 ? c->access
			       : IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
					 IBV_ACCESS_REMOTE_ATOMIC;
}

static int memory_rights(const struct loop_conf *c)
{
	return IBV_ACCESS_LOCAL_WRITE | (c->mr_access != -1 ? c->mr_access : rights(c));
}

static void make_qp(struct loop_end *e)
{
	struct ibv_qp_init_attr_ex a = {
		.send_cq = e->cq,
		.recv_cq = e->cq,
		.srq = e->srq,
		.qp_type = e->conf->type,
		.pd = e->pd,
		.cap = {e->conf->depth, e->conf->depth, 4, 4, 64},
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     (e->conf->extended ? IBV_QP_INIT_ATTR_SEND_OPS_FLAGS : 0),
		.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
				  IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | e->conf->send_ops,
	};

	e->qp = ibv_create_qp_ex(e->ctx, &a);
	CHECK(e->qp);
}

void end_open(struct loop_end *e, const struct loop_conf *c)
{
	struct ibv_srq_init_attr sa = {.attr = {.max_wr = LOOP_DEPTH, .max_sge = 2}};
	struct ibv_device **list = ibv_get_device_list(NULL);

	CHECK(list && list[0]);
	memset(e, 0, sizeof(*e));
	e->conf = c;
	e->ctx = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	CHECK(e->ctx);
	e->pd = ibv_alloc_pd(e->ctx);
	if (c->channel)
		e->ch = ibv_create_comp_channel(e->ctx);
	e->cq = ibv_create_cq(e->ctx, c->cqe, NULL, e->ch, 0);
	CHECK(e->pd && e->cq);
	if (c->srq)
		e->srq = ibv_create_srq(e->pd, &sa);
	e->buf = calloc(1, LOOP_BUF);
	e->mr = ibv_reg_mr(e->pd, e->buf, LOOP_BUF, memory_rights(c));
	CHECK(e->mr);
	make_qp(e);
}

void end_init(struct loop_end *e)
{
	bool ud = e->conf->type == IBV_QPT_UD;
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT,
				.port_num = 1,
				.qkey = 0x1234,
				.qp_access_flags = rights(e->conf)};

	CHECK(!ibv_modify_qp(e->qp, &a,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				     (ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS)));
}

static void own_address(struct loop_end *e, struct ibv_ah_attr *ah)
{
	ah->is_global = 1;
	ah->port_num = 1;
	ah->grh.sgid_index = GID_INDEX;
	ah->grh.hop_limit = 1;
	CHECK(!ibv_query_gid(e->ctx, 1, GID_INDEX, &ah->grh.dgid));
}

int end_rtr(struct loop_end *e, uint32_t dest_qpn)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_RTR,
				.path_mtu = IBV_MTU_1024,
				.dest_qp_num = dest_qpn,
				.rq_psn = 100 + e->conf->psn_skew,
				.max_dest_rd_atomic = e->conf->dest_rd,
				.min_rnr_timer = e->conf->rnr_timer};
	int mask = IBV_QP_STATE;

	own_address(e, &a.ah_attr);
	if (e->conf->type != IBV_QPT_UD)
		mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	if (e->conf->type == IBV_QPT_RC)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	return ibv_modify_qp(e->qp, &a, mask);
}

int end_rts(struct loop_end *e)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_RTS,
				.sq_psn = 100,
				.timeout = e->conf->timeout,
				.retry_cnt = e->conf->retry,
				.rnr_retry = e->conf->rnr_retry,
				.max_rd_atomic = e->conf->rd};
	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;

	if (e->conf->type == IBV_QPT_RC)
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC;
	return ibv_modify_qp(e->qp, &a, mask);
}

void loop_open(struct loop_end *a, struct loop_end *b, const struct loop_conf *c)
{
	end_open(a, c);
	end_open(b, c);
	end_init(a);
	end_init(b);
	CHECK(!end_rtr(a, b->qp->qp_num));
	CHECK(!end_rts(a));
	if (c->mute)
		return;
	CHECK(!end_rtr(b, a->qp->qp_num));
	CHECK(!end_rts(b));
}

void end_close(struct loop_end *e)
{
	CHECK(!ibv_destroy_qp(e->qp));
	CHECK(!ibv_dereg_mr(e->mr));
	if (e->srq)
		CHECK(!ibv_destroy_srq(e->srq));
	CHECK(!ibv_destroy_cq(e->cq));
	if (e->ch)
		CHECK(!ibv_destroy_comp_channel(e->ch));
	CHECK(!ibv_dealloc_pd(e->pd));
	CHECK(!ibv_close_device(e->ctx));
	free(e->buf);
}

void end_recv(struct loop_end *e, uint64_t id, size_t off, uint32_t len)
{
	struct ibv_sge s = {(uintptr_t)e->buf + off, len, e->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = id, .sg_list = &s, .num_sge = 1};
	struct ibv_recv_wr *bad;

	CHECK(!(e->srq ? ibv_post_srq_recv(e->srq, &wr, &bad) : ibv_post_recv(e->qp, &wr, &bad)));
}

int end_send(struct loop_end *e, struct ibv_send_wr *wr, size_t off, uint32_t len)
{
	struct ibv_sge s = {(uintptr_t)e->buf + off, len, e->mr->lkey};
	struct ibv_send_wr *bad;

	wr->sg_list = &s;
	wr->num_sge = 1;
	return ibv_post_send(e->qp, wr, &bad);
}

struct ibv_wc end_wait(struct loop_end *e)
{
	uint64_t end = now_ms() + WAIT_MS;
	struct ibv_wc wc;
	int n;

	do {
		n = ibv_poll_cq(e->cq, 1, &wc);
	} while (!n && now_ms() < end);
	CHECK(n == 1);
	return wc;
}

bool end_quiet(struct loop_end *e, int ms)
{
	uint64_t end = now_ms() + ms;
	struct ibv_wc wc;

	do {
		if (ibv_poll_cq(e->cq, 1, &wc))
			return false;
	} while (now_ms() < end);
	return true;
}

enum ibv_qp_state end_state(struct loop_end *e)
{
	struct ibv_qp_init_attr ia;
	struct ibv_qp_attr a;

	CHECK(!ibv_query_qp(e->qp, &a, IBV_QP_STATE, &ia));
	return a.qp_state;
}

void end_expect(struct loop_end *e, enum ibv_wc_status st)
{
	struct ibv_wc wc = end_wait(e);

	if (wc.status != st)
		fprintf(stderr, "status %s, not %s\n", ibv_wc_status_str(wc.status),
			ibv_wc_status_str(st));
	CHECK(wc.status == st);
}

void end_event(struct loop_end *e, enum ibv_event_type type)
{
	struct pollfd p = {.fd = e->ctx->async_fd, .events = POLLIN};
	struct ibv_async_event ev;

	CHECK(poll(&p, 1, WAIT_MS) == 1);
	CHECK(!ibv_get_async_event(e->ctx, &ev));
	CHECK(ev.event_type == type);
	ibv_ack_async_event(&ev);
}

struct ibv_send_wr loop_rdma(struct loop_end *to, enum ibv_wr_opcode op, size_t off)
{
	struct ibv_send_wr wr = {
		.wr_id = 7, .opcode = op, .send_flags = IBV_SEND_SIGNALED, .imm_data = 0x11223344};

	wr.wr.rdma.remote_addr = (uintptr_t)to->buf + off;
	wr.wr.rdma.rkey = to->mr->rkey;
	return wr;
}
