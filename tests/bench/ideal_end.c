// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "ideal.h"

static void make_qp(struct end *e)
{
	struct ibv_qp_init_attr_ex qp = {
		.qp_type = IBV_QPT_RC,
		.send_cq = e->scq,
		.recv_cq = ibv_cq_ex_to_cq(e->rcq),
		.pd = e->pd,
		.cap = {DEPTH, DEPTH, 1, 1, BYTES},
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE |
				  IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD,
	};

	CHECK((e->qp = ibv_create_qp_ex(e->ctx, &qp)));
	e->to.qpn = e->qp->qp_num;
}

void open_end(struct end *e)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_cq_init_attr_ex cq = {.cqe = DEPTH};

	CHECK(list && list[0]);
	CHECK((e->ctx = ibv_open_device(list[0])));
	CHECK((e->pd = ibv_alloc_pd(e->ctx)));
	CHECK((e->scq = ibv_create_cq(e->ctx, DEPTH, NULL, NULL, 0)));
	CHECK((e->rcq = ibv_create_cq_ex(e->ctx, &cq)));
	CHECK((e->buf = calloc(3, BYTES)));
	CHECK((e->mr = ibv_reg_mr(e->pd, (void *)e->buf, 3 * BYTES, RIGHTS)));
	e->to = (struct target){.rkey = e->mr->rkey, .addr = (uintptr_t)&e->buf[1]};
	make_qp(e);
}

void add_qp(struct end *e)
{
	make_qp(e);
	connect_end(e);
}

void connect_end(struct end *e)
{
	struct ibv_qp_attr a = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = RIGHTS,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = e->to.qpn,
		.max_dest_rd_atomic = 1,
		.max_rd_atomic = 1,
		.min_rnr_timer = 12,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.ah_attr = {.is_global = 1,
			    .port_num = 1,
			    .grh = {.sgid_index = GID_INDEX, .hop_limit = 1}},
	};

	CHECK(!ibv_query_gid(e->ctx, 1, GID_INDEX, &a.ah_attr.grh.dgid));
	CHECK(!ibv_modify_qp(e->qp, &a,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
	a.qp_state = IBV_QPS_RTR;
	CHECK(!ibv_modify_qp(e->qp, &a,
			     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				     IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				     IBV_QP_MIN_RNR_TIMER));
	a.qp_state = IBV_QPS_RTS;
	CHECK(!ibv_modify_qp(e->qp, &a,
			     IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
				     IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC));
}

void prepare(struct end *e, enum ibv_wr_opcode op, bool inlined, unsigned list, unsigned signal)
{
	e->from = (struct ibv_sge){(uintptr_t)&e->buf[0], BYTES, e->mr->lkey};
	e->into = (struct ibv_sge){(uintptr_t)&e->buf[2], BYTES, e->mr->lkey};
	for (unsigned i = 0; i < GROUP; i++) {
		e->send[i] = (struct ibv_send_wr){
			.next = (i + 1) % list ? &e->send[i + 1] : NULL,
			.sg_list = &e->from,
			.num_sge = 1,
			.opcode = op,
			.send_flags = (inlined ? IBV_SEND_INLINE : 0) |
				      ((i + 1) % signal ? 0 : IBV_SEND_SIGNALED),
			.wr.rdma = {e->to.addr, e->to.rkey},
		};
		if (op == IBV_WR_ATOMIC_FETCH_AND_ADD) {
			e->send[i].wr.atomic.compare_add = 1;
			e->send[i].wr.atomic.rkey = e->to.rkey;
		}
		e->recv[i] = (struct ibv_recv_wr){.next = i + 1 < GROUP ? &e->recv[i + 1] : NULL,
						  .sg_list = &e->into,
						  .num_sge = 1};
	}
}
