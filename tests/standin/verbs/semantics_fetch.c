// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* READs and atomics: what they do, and the status of each refusal. */
#include "semantics.h"

#include <errno.h>
#include <string.h>

enum {
	ALL = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
	MANY = 10, /* more than may be under way */
};

static struct ibv_send_wr atomic_wr(struct loop_end *to, enum ibv_wr_opcode op, size_t off)
{
	struct ibv_send_wr wr = {.wr_id = 7, .opcode = op, .send_flags = IBV_SEND_SIGNALED};

	wr.wr.atomic.remote_addr = (uintptr_t)to->buf + off;
	wr.wr.atomic.rkey = to->mr->rkey;
	wr.wr.atomic.compare_add = 1;
	return wr;
}

static struct ibv_send_wr request(struct loop_end *to, enum ibv_wr_opcode op, size_t off)
{
	return op == IBV_WR_RDMA_READ || op == IBV_WR_RDMA_WRITE ? loop_rdma(to, op, off)
								 : atomic_wr(to, op, off);
}

/* One of 8 bytes ends so; EVENT at the target, 0: it hears nothing. */
static void ends(const struct loop_conf *c, enum ibv_wr_opcode op, enum ibv_wc_status st,
		 enum ibv_event_type event)
{
	struct loop_end a, b;
	struct ibv_send_wr wr;

	loop_open(&a, &b, c);
	strcpy(b.buf, "theirs!");
	wr = request(&b, op, 0);
	CHECK(!end_send(&a, &wr, 8, 8));
	end_expect(&a, st);
	if (st) {
		end_event(&b, event);
		CHECK(!a.buf[8] && !strcmp(b.buf, "theirs!"));
		CHECK(end_state(&a) == IBV_QPS_ERR && end_state(&b) == IBV_QPS_ERR);
	}
	end_close(&a);
	end_close(&b);
}

void t_fetch_rights(void)
{
	static const struct {
		enum ibv_wr_opcode op;
		int right;
	} of[] = {
		{IBV_WR_RDMA_READ, IBV_ACCESS_REMOTE_READ},
		{IBV_WR_RDMA_WRITE, IBV_ACCESS_REMOTE_WRITE},
		{IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_ACCESS_REMOTE_ATOMIC},
		{IBV_WR_ATOMIC_CMP_AND_SWP, IBV_ACCESS_REMOTE_ATOMIC},
	};
	struct loop_conf only, qp, memory;

	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
		only = qp = memory = loop_defaults;
		only.access = of[i].right;
		qp.access = ALL & ~of[i].right;
		qp.mr_access = ALL;
		memory.mr_access = ALL & ~of[i].right;
		ends(&only, of[i].op, IBV_WC_SUCCESS, 0);
		ends(&qp, of[i].op, IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR);
		ends(&memory, of[i].op, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
	}
}

/* Posted to OP and refused by our own adapter, of which the peer hears nothing. */
static void refused_here(enum ibv_wr_opcode op, size_t off, uint32_t len, enum ibv_wc_status st)
{
	struct loop_end a, b;
	struct ibv_send_wr wr;

	loop_open(&a, &b, &loop_defaults);
	wr = request(&b, op, 0);
	CHECK(!end_send(&a, &wr, off, len));
	end_expect(&a, st);
	CHECK(end_state(&b) == IBV_QPS_RTS);
	end_close(&a);
	end_close(&b);
}

/* What came back goes into two pieces of ours; ours must be memory that may be written. */
static void in_pieces(void)
{
	struct loop_end a, b;
	struct ibv_send_wr wr, *bad;
	struct ibv_sge to[2];
	struct ibv_mr *mr;

	loop_open(&a, &b, &loop_defaults);
	memcpy(b.buf, "\1\2\3\4\5\6\7", 8);
	wr = request(&b, IBV_WR_ATOMIC_FETCH_AND_ADD, 0);
	to[0] = (struct ibv_sge){(uintptr_t)a.buf + 100, 3, a.mr->lkey};
	to[1] = (struct ibv_sge){(uintptr_t)a.buf + 200, 5, a.mr->lkey};
	wr.sg_list = to;
	wr.num_sge = 2;
	CHECK(!ibv_post_send(a.qp, &wr, &bad));
	end_expect(&a, IBV_WC_SUCCESS);
	CHECK(!memcmp(a.buf + 100, "\1\2\3", 4) && !memcmp(a.buf + 200, "\4\5\6\7", 5));
	CHECK(!memcmp(b.buf, "\2\2\3\4\5\6\7", 8));
	mr = ibv_reg_mr(a.pd, a.buf, LOOP_BUF, 0);
	CHECK(mr);
	wr = request(&b, IBV_WR_RDMA_READ, 0);
	to[0] = (struct ibv_sge){(uintptr_t)a.buf, 8, mr->lkey};
	wr.sg_list = to;
	wr.num_sge = 1;
	CHECK(!ibv_post_send(a.qp, &wr, &bad));
	end_expect(&a, IBV_WC_LOC_PROT_ERR);
	CHECK(!ibv_dereg_mr(mr));
	end_close(&a);
	end_close(&b);
}

static void other_transports(void)
{
	static const enum ibv_qp_type type[] = {IBV_QPT_UC, IBV_QPT_UD};
	struct loop_conf c = loop_defaults;
	struct loop_end a, b;
	struct ibv_send_wr wr;

	for (int i = 0; i < 2; i++) {
		c.type = type[i];
		loop_open(&a, &b, &c);
		wr = request(&b, IBV_WR_RDMA_READ, 0);
		CHECK(end_send(&a, &wr, 0, 8) == EINVAL);
		wr = request(&b, IBV_WR_ATOMIC_CMP_AND_SWP, 0);
		CHECK(end_send(&a, &wr, 0, 8) == EINVAL);
		end_close(&a);
		end_close(&b);
	}
}

void t_fetch_shape(void)
{
	struct loop_end a, b;
	struct ibv_send_wr wr;

	refused_here(IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 4, IBV_WC_LOC_LEN_ERR);
	refused_here(IBV_WR_ATOMIC_CMP_AND_SWP, 0, 16, IBV_WC_LOC_LEN_ERR);
	refused_here(IBV_WR_RDMA_READ, LOOP_BUF - 4, 8, IBV_WC_LOC_PROT_ERR);
	for (int i = 1; i < 8; i++) {
		loop_open(&a, &b, &loop_defaults);
		wr = request(&b, IBV_WR_ATOMIC_FETCH_AND_ADD, i);
		CHECK(!end_send(&a, &wr, 0, 8));
		end_expect(&a, IBV_WC_REM_INV_REQ_ERR);
		end_event(&b, IBV_EVENT_QP_REQ_ERR);
		end_close(&a);
		end_close(&b);
	}
	loop_open(&a, &b, &loop_defaults);
	wr = request(&b, IBV_WR_RDMA_READ, 0);
	wr.send_flags |= IBV_SEND_INLINE;
	CHECK(end_send(&a, &wr, 0, 8) == EINVAL);
	end_close(&a);
	end_close(&b);
	in_pieces();
	other_transports();
}

/* MANY of them are posted before a completion is polled; only the first GOOD ones are done. */
static void at_once(const struct loop_conf *c, int good)
{
	struct loop_end a, b;
	struct ibv_send_wr wr;

	loop_open(&a, &b, c);
	for (int i = 0; i < MANY; i++) {
		wr = request(&b, i & 1 ? IBV_WR_ATOMIC_FETCH_AND_ADD : IBV_WR_RDMA_READ, 0);
		CHECK(!end_send(&a, &wr, 0, 8));
	}
	for (int i = 0; i < good; i++)
		end_expect(&a, IBV_WC_SUCCESS);
	if (good < MANY)
		end_expect(&a, IBV_WC_REM_INV_REQ_ERR);
	end_close(&a);
	end_close(&b);
}

void t_fetch_room(void)
{
	struct loop_conf c = loop_defaults;
	struct loop_end a, b;
	struct ibv_send_wr wr;

	c.rd = c.dest_rd = 2;
	at_once(&c, MANY);
	c.rd = 4;
	at_once(&c, 2);
	/* one after the other: the target has room for it */
	loop_open(&a, &b, &c);
	for (int i = 0; i < MANY; i++) {
		wr = request(&b, IBV_WR_RDMA_READ, 0);
		CHECK(!end_send(&a, &wr, 0, 8));
		end_expect(&a, IBV_WC_SUCCESS);
	}
	end_close(&a);
	end_close(&b);
	c.dest_rd = 0;
	ends(&c, IBV_WR_RDMA_READ, IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR);
	ends(&c, IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR);
	c.rd = 0;
	c.dest_rd = 1;
	loop_open(&a, &b, &c);
	wr = request(&b, IBV_WR_RDMA_READ, 0);
	CHECK(!end_send(&a, &wr, 0, 8));
	end_expect(&a, IBV_WC_LOC_QP_OP_ERR);
	end_close(&a);
	end_close(&b);
}

void t_fetch_extended(void)
{
	struct loop_conf c = loop_defaults;
	struct loop_end a, b;
	struct ibv_qp_ex *qp;
	uint64_t *mine, *theirs;

	c.extended = true;
	c.send_ops = IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP;
	loop_open(&a, &b, &c);
	mine = (uint64_t *)a.buf;
	theirs = (uint64_t *)b.buf;
	*theirs = 40;
	qp = ibv_qp_to_qp_ex(a.qp);
	ibv_wr_start(qp);
	qp->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_atomic_fetch_add(qp, b.mr->rkey, (uintptr_t)theirs, 2);
	ibv_wr_set_sge(qp, a.mr->lkey, (uintptr_t)mine, 8);
	ibv_wr_atomic_cmp_swp(qp, b.mr->rkey, (uintptr_t)theirs, 42, 7);
	ibv_wr_set_sge(qp, a.mr->lkey, (uintptr_t)(mine + 1), 8);
	ibv_wr_rdma_read(qp, b.mr->rkey, (uintptr_t)theirs);
	ibv_wr_set_sge(qp, a.mr->lkey, (uintptr_t)(mine + 2), 8);
	CHECK(!ibv_wr_complete(qp));
	CHECK(end_wait(&a).opcode == IBV_WC_FETCH_ADD && end_wait(&a).opcode == IBV_WC_COMP_SWAP &&
	      end_wait(&a).opcode == IBV_WC_RDMA_READ);
	CHECK(mine[0] == 40 && mine[1] == 42 && mine[2] == 7 && *theirs == 7);
	/* there is nothing to send */
	ibv_wr_start(qp);
	ibv_wr_rdma_read(qp, b.mr->rkey, (uintptr_t)theirs);
	ibv_wr_set_inline_data(qp, mine, 8);
	CHECK(ibv_wr_complete(qp) == EINVAL);
	end_close(&a);
	end_close(&b);
}
