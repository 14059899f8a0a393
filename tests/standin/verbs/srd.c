// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What an EFA does, and other devices do not: srd CASE. Two SRD queue pairs of one device in this
 * process, each with an address handle of the other.
 */
#include <errno.h>
#include <infiniband/efadv.h>
#include <string.h>

#include "loop.h"

enum {
	DEPTH = 6, /* 8 when rounded up */
	QKEY = 0x11111111
};

struct end {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_qp_ex *ex;
	struct ibv_mr *mr;
	struct ibv_ah *ah;
	char *buf;
};

static struct ibv_qp *create(struct end *e, uint64_t ops, uint32_t size)
{
	struct ibv_qp_init_attr_ex a = {
		.send_cq = e->cq,
		.recv_cq = e->cq,
		.cap = {DEPTH, DEPTH, 1, 1, 32},
		.qp_type = IBV_QPT_DRIVER,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = e->pd,
		.send_ops_flags = ops,
	};
	/* as newer headers have it, 24 bytes and more */
	struct {
		struct efadv_qp_init_attr known;
		char more[16];
	} efa = {.known = {.driver_qp_type = EFADV_QP_DRIVER_TYPE_SRD}};

	return efadv_create_qp_ex(e->ctx, &a, &efa.known, size ? size : sizeof(efa));
}

static int change(struct end *e, enum ibv_qp_state to, int mask)
{
	struct ibv_qp_attr a = {.qp_state = to, .port_num = 1, .qkey = QKEY, .rnr_retry = 7};

	return ibv_modify_qp(e->qp, &a, IBV_QP_STATE | mask);
}

static struct ibv_ah *handle(struct end *e)
{
	struct ibv_ah_attr a = {.is_global = 1, .port_num = 1};

	CHECK(!ibv_query_gid(e->ctx, 1, 0, &a.grh.dgid));
	return ibv_create_ah(e->pd, &a);
}

static void end_make(struct end *e, bool known)
{
	const uint64_t all = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM |
			     IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_RDMA_WRITE |
			     IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
	struct ibv_device **list = ibv_get_device_list(NULL);

	memset(e, 0, sizeof(*e));
	e->ctx = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	e->pd = ibv_alloc_pd(e->ctx);
	e->cq = ibv_create_cq(e->ctx, 64, NULL, NULL, 0);
	e->buf = aligned_alloc(4096, LOOP_BUF);
	e->mr = ibv_reg_mr(e->pd, e->buf, LOOP_BUF,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_READ);
	CHECK(e->mr);
	e->qp = create(e, all, 0);
	CHECK(e->qp);
	e->ex = ibv_qp_to_qp_ex(e->qp);
	CHECK(!change(e, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY));
	CHECK(!change(e, IBV_QPS_RTR, 0));
	CHECK(!change(e, IBV_QPS_RTS, IBV_QP_SQ_PSN | IBV_QP_RNR_RETRY));
	e->ah = known ? handle(e) : NULL;
}

static void end_drop(struct end *e)
{
	CHECK(!ibv_destroy_qp(e->qp) && (!e->ah || !ibv_destroy_ah(e->ah)) &&
	      !ibv_dereg_mr(e->mr) && !ibv_destroy_cq(e->cq) && !ibv_dealloc_pd(e->pd) &&
	      !ibv_close_device(e->ctx));
	free(e->buf);
}

static void post_recv(struct end *e, uint64_t id, size_t at, uint32_t bytes)
{
	struct ibv_sge sge = {(uintptr_t)e->buf + at, bytes, e->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = id, .sg_list = &sge, .num_sge = 1}, *bad;

	CHECK(!ibv_post_recv(e->qp, &wr, &bad));
}

/* The next completion. Who runs this ends it after a minute. */
static struct ibv_wc next(struct end *e)
{
	struct ibv_wc wc;
	int n;

	do
		n = ibv_poll_cq(e->cq, 1, &wc);
	while (!n);
	CHECK(n == 1);
	return wc;
}

static void begin(struct end *e, uint64_t id, unsigned flags)
{
	e->ex->wr_id = id;
	e->ex->wr_flags = flags;
}

static void aim(struct end *e, struct ibv_ah *ah, struct end *to, size_t at, uint32_t bytes)
{
	ibv_wr_set_ud_addr(e->ex, ah, to->qp->qp_num, QKEY);
	ibv_wr_set_sge(e->ex, e->mr->lkey, (uintptr_t)e->buf + at, bytes);
}

/* One SEND of BYTES. Returns what ibv_wr_complete() says. */
static int send_one(struct end *e, struct end *to, uint64_t id, unsigned flags, uint32_t bytes)
{
	ibv_wr_start(e->ex);
	begin(e, id, flags);
	ibv_wr_send(e->ex);
	aim(e, e->ah, to, 0, bytes);
	return ibv_wr_complete(e->ex);
}

static int write_one(struct end *e, struct end *to, uint64_t id, uint32_t rkey, bool read)
{
	ibv_wr_start(e->ex);
	begin(e, id, IBV_SEND_SIGNALED);
	if (read)
		ibv_wr_rdma_read(e->ex, rkey, (uintptr_t)to->buf);
	else
		ibv_wr_rdma_write(e->ex, rkey, (uintptr_t)to->buf);
	aim(e, e->ah, to, 4096, 8);
	return ibv_wr_complete(e->ex);
}

static void t_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = ibv_open_device(list[0]);
	struct efadv_device_attr a;
	struct ibv_port_attr port;
	union ibv_gid gid;

	CHECK(list[0]->transport_type == IBV_TRANSPORT_UNSPECIFIED);
	CHECK(!ibv_query_port(ctx, 1, &port) && port.link_layer == IBV_LINK_LAYER_UNSPECIFIED);
	CHECK(port.gid_tbl_len == 1 && port.pkey_tbl_len == 1 && port.max_msg_sz == 8928);
	CHECK(!ibv_query_gid(ctx, 1, 0, &gid) && gid.raw[0] == 0xfe);
	CHECK(!efadv_query_device(ctx, &a, sizeof(a)));
	CHECK(a.device_caps == 0xb && a.inline_buf_size == 32 && a.max_sq_sge == 2);
	ibv_close_device(ctx);
	ibv_free_device_list(list);
}

/* What no queue pair is made for, and which steps it does not take. */
static void t_states(void)
{
	struct ibv_qp_init_attr plain = {.cap = {4, 4, 1, 1, 0}, .qp_type = IBV_QPT_RC};
	struct ibv_qp *first;
	struct end e;

	end_make(&e, true);
	plain.send_cq = plain.recv_cq = e.cq;
	CHECK(!ibv_create_qp(e.pd, &plain) && errno == EOPNOTSUPP);
	plain.qp_type = IBV_QPT_DRIVER;
	CHECK(!ibv_create_qp(e.pd, &plain) && errno == EOPNOTSUPP);
	CHECK(!create(&e, IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD, 0) && errno == EOPNOTSUPP);
	CHECK(!create(&e, IBV_QP_EX_WITH_SEND, 8) && errno == EINVAL);
	first = e.qp;
	e.qp = create(&e, IBV_QP_EX_WITH_SEND, 0);
	CHECK(e.qp);
	CHECK(change(&e, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) ==
	      EOPNOTSUPP);
	CHECK(change(&e, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT) == EINVAL);
	CHECK(!change(&e, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY));
	CHECK(change(&e, IBV_QPS_RTR, IBV_QP_DEST_QPN) == EINVAL);
	CHECK(!ibv_destroy_qp(e.qp));
	e.qp = first;
	end_drop(&e);
}

static void t_requests(void)
{
	struct end a, b;
	struct ibv_wc wc;

	end_make(&a, true);
	end_make(&b, true);
	memcpy(a.buf, "unordered", 10);
	CHECK(send_one(&a, &b, 1, 0, 10) == EINVAL); /* every one is signalled */
	CHECK(send_one(&a, &b, 1, IBV_SEND_SIGNALED | IBV_SEND_FENCE, 10) == EINVAL);
	post_recv(&b, 7, 0, 64);
	CHECK(!send_one(&a, &b, 2, IBV_SEND_SIGNALED, 10));
	wc = next(&b);
	CHECK(wc.wr_id == 7 && wc.byte_len == 10 && !strcmp(b.buf, "unordered") &&
	      wc.src_qp == a.qp->qp_num);
	wc = next(&a);
	CHECK(wc.wr_id == 2 && !wc.status && wc.opcode == IBV_WC_SEND);
	/* without GRH before it, and a receive that comes later is waited for */
	CHECK(!send_one(&a, &b, 3, IBV_SEND_SIGNALED, 10));
	post_recv(&b, 8, 0, 64);
	CHECK(next(&b).wr_id == 8 && !next(&a).status);
	CHECK(!write_one(&a, &b, 4, b.mr->rkey, true) && next(&a).opcode == IBV_WC_SEND);
	CHECK(!write_one(&a, &b, 5, b.mr->rkey, false) && next(&a).opcode == IBV_WC_RDMA_WRITE);
	end_drop(&a);
	end_drop(&b);
}

/* A request fails alone; the other end must know this one for READs and WRITEs. */
static void t_failures(void)
{
	struct end a, b;
	struct ibv_wc wc;

	end_make(&a, true);
	end_make(&b, true);
	CHECK(!write_one(&a, &b, 1, b.mr->rkey ^ 0x100, false));
	wc = next(&a);
	CHECK(wc.status == IBV_WC_REM_ACCESS_ERR && wc.vendor_err == 7);
	CHECK(!send_one(&a, &b, 2, IBV_SEND_SIGNALED, 9000));
	wc = next(&a);
	CHECK(wc.status == IBV_WC_LOC_LEN_ERR && wc.vendor_err == 6);
	CHECK(!write_one(&a, &b, 3, b.mr->rkey, false) && !next(&a).status);
	CHECK(!ibv_destroy_ah(b.ah) && !ibv_destroy_ah(a.ah));
	b.ah = NULL;
	a.ah = handle(&a); /* of this process all the same: it knows itself */
	CHECK(!write_one(&a, &b, 4, b.mr->rkey, false) && !next(&a).status);
	CHECK(!ibv_destroy_qp(b.qp));
	CHECK(!write_one(&a, &b, 5, b.mr->rkey, false));
	CHECK(next(&a).vendor_err == 9);
	b.qp = create(&b, IBV_QP_EX_WITH_SEND, 0);
	end_drop(&a);
	end_drop(&b);
}

/* Four that are posted together arrive backwards, and their slots are free one by one. */
static void t_order(void)
{
	uint64_t ids[4];
	struct end a, b;

	end_make(&a, true);
	end_make(&b, true);
	for (unsigned i = 0; i < 8; i++)
		post_recv(&b, i, 64 * i, 64);
	ibv_wr_start(a.ex);
	for (unsigned i = 0; i < 8; i++) {
		begin(&a, i, IBV_SEND_SIGNALED);
		ibv_wr_send(a.ex);
		a.buf[i] = (char)i;
		aim(&a, a.ah, &b, i, 1);
	}
	CHECK(!ibv_wr_complete(a.ex));
	for (unsigned i = 0; i < 4; i++)
		ids[i] = next(&a).wr_id;
	CHECK(ids[0] == 3 && ids[1] == 2 && ids[2] == 1 && ids[3] == 0);
	CHECK(next(&b).wr_id == 0 && b.buf[0] == 3);
	for (unsigned i = 0; i < 4; i++)
		CHECK(!send_one(&a, &b, 8 + i, IBV_SEND_SIGNALED, 1));
	CHECK(send_one(&a, &b, 12, IBV_SEND_SIGNALED, 1) == ENOMEM);
	end_drop(&a);
	end_drop(&b);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = {
		{"device", t_device},     {"states", t_states}, {"requests", t_requests},
		{"failures", t_failures}, {"order", t_order},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (argc == 2 && !strcmp(argv[1], cases[i].name))
			return cases[i].run(), 0;
	return 2;
}
