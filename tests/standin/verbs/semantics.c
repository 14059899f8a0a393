// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What the InfiniBand specification promises, case by case, against the
 * stand-in: semantics [CASE ...], all without arguments.
 */
#include "semantics.h"

#include <errno.h>
#include <string.h>

static void t_states(void)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_RTR, .port_num = 1};
	struct ibv_send_wr *bad, *wr = SEND(.opcode = IBV_WR_SEND);
	struct loop_end e;

	end_open(&e, &loop_defaults);
	CHECK(end_state(&e) == IBV_QPS_RESET);
	CHECK(ibv_modify_qp(e.qp, &a, IBV_QP_STATE) == EINVAL);
	a.qp_state = IBV_QPS_INIT;
	CHECK(ibv_modify_qp(e.qp, &a, IBV_QP_STATE | IBV_QP_PORT) == EINVAL);
	a.port_num = 9;
	CHECK(ibv_modify_qp(e.qp, &a,
			    IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS) ==
	      EINVAL);
	end_init(&e);
	CHECK(end_rts(&e) == EINVAL);
	CHECK(ibv_post_send(e.qp, wr, &bad) == EINVAL && bad == wr);
	CHECK(!end_rtr(&e, 0x10005));
	CHECK(!end_rts(&e));
	CHECK(end_state(&e) == IBV_QPS_RTS);
	end_close(&e);
}

static void t_rc(void)
{
	struct loop_end a, b;
	struct ibv_send_wr wr;
	struct ibv_wc wc;

	loop_open(&a, &b, &loop_defaults);
	strcpy(a.buf, "hello");
	end_recv(&b, 42, 100, 64);
	CHECK(!end_send(&a, SEND(.opcode = IBV_WR_SEND_WITH_IMM, .imm_data = 99), 0, 6));
	wc = end_wait(&b);
	CHECK(wc.wr_id == 42 && wc.byte_len == 6 && wc.imm_data == 99 && wc.opcode == IBV_WC_RECV &&
	      wc.wc_flags == IBV_WC_WITH_IMM && wc.qp_num == b.qp->qp_num);
	CHECK(!strcmp(b.buf + 100, "hello"));
	wc = end_wait(&a);
	CHECK(wc.wr_id == 7 && wc.opcode == IBV_WC_SEND && !wc.status);
	wr = loop_rdma(&b, IBV_WR_RDMA_WRITE_WITH_IMM, 1000);
	end_recv(&b, 43, 0, 0);
	CHECK(!end_send(&a, &wr, 0, 6));
	wc = end_wait(&b);
	CHECK(wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM && wc.wr_id == 43 &&
	      wc.imm_data == 0x11223344 && wc.byte_len == 6);
	CHECK(!strcmp(b.buf + 1000, "hello"));
	end_expect(&a, IBV_WC_SUCCESS);
	wr = loop_rdma(&b, IBV_WR_RDMA_READ, 1000);
	CHECK(!end_send(&a, &wr, 2000, 6));
	wc = end_wait(&a);
	CHECK(wc.opcode == IBV_WC_RDMA_READ && !strcmp(a.buf + 2000, "hello"));
	end_close(&a);
	end_close(&b);
}

static void t_atomics(void)
{
	uint64_t *mine, *theirs;
	struct ibv_send_wr wr = {.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
				 .send_flags = IBV_SEND_SIGNALED};
	struct loop_end a, b;

	loop_open(&a, &b, &loop_defaults);
	mine = (uint64_t *)a.buf;
	theirs = (uint64_t *)b.buf;
	*theirs = 40;
	wr.wr.atomic.remote_addr = (uintptr_t)theirs;
	wr.wr.atomic.rkey = b.mr->rkey;
	wr.wr.atomic.compare_add = 2;
	CHECK(!end_send(&a, &wr, 0, 8));
	end_expect(&a, IBV_WC_SUCCESS);
	CHECK(*mine == 40 && *theirs == 42);
	wr.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
	wr.wr.atomic.compare_add = 41;
	wr.wr.atomic.swap = 7;
	CHECK(!end_send(&a, &wr, 0, 8));
	end_expect(&a, IBV_WC_SUCCESS);
	CHECK(*mine == 42 && *theirs == 42);
	wr.wr.atomic.compare_add = 42;
	CHECK(!end_send(&a, &wr, 0, 8));
	end_expect(&a, IBV_WC_SUCCESS);
	CHECK(*mine == 42 && *theirs == 7);
	wr.wr.atomic.remote_addr += 4;
	CHECK(!end_send(&a, &wr, 0, 8));
	end_expect(&a, IBV_WC_REM_INV_REQ_ERR);
	end_event(&b, IBV_EVENT_QP_REQ_ERR);
	end_close(&a);
	end_close(&b);
}

static void t_rnr(void)
{
	struct loop_conf c = loop_defaults;
	struct loop_end a, b;
	uint64_t t;

	c.rnr_timer = 16; /* 2.56 ms */
	loop_open(&a, &b, &c);
	CHECK(!end_send(&a, SEND(.opcode = IBV_WR_SEND), 0, 6));
	CHECK(end_quiet(&a, 20));
	end_recv(&b, 1, 0, 64);
	end_expect(&a, IBV_WC_SUCCESS);
	end_expect(&b, IBV_WC_SUCCESS);
	end_close(&a);
	end_close(&b);
	c.rnr_retry = 2;
	c.rnr_timer = 20; /* 10.24 ms */
	loop_open(&a, &b, &c);
	t = now_ms();
	CHECK(!end_send(&a, SEND(.opcode = IBV_WR_SEND), 0, 6));
	CHECK(!end_send(&a, SEND(.opcode = IBV_WR_SEND), 0, 6));
	end_expect(&a, IBV_WC_RNR_RETRY_EXC_ERR);
	t = now_ms() - t;
	CHECK(t >= 20);
	end_expect(&a, IBV_WC_WR_FLUSH_ERR);
	CHECK(end_state(&a) == IBV_QPS_ERR);
	end_close(&a);
	end_close(&b);
}

static void t_rights(void)
{
	struct loop_end a, b;
	struct ibv_send_wr wr;

	loop_open(&a, &b, &loop_defaults);
	end_recv(&b, 1, 0, 64);
	wr = loop_rdma(&b, IBV_WR_RDMA_WRITE, 0);
	wr.wr.rdma.rkey = b.mr->lkey;
	CHECK(!end_send(&a, &wr, 0, 6));
	end_expect(&a, IBV_WC_REM_ACCESS_ERR);
	end_expect(&b, IBV_WC_WR_FLUSH_ERR);
	CHECK(end_state(&a) == IBV_QPS_ERR && end_state(&b) == IBV_QPS_ERR);
	end_event(&b, IBV_EVENT_QP_ACCESS_ERR);
	CHECK(!end_send(&a, &wr, 0, 6));
	end_expect(&a, IBV_WC_WR_FLUSH_ERR);
	end_recv(&b, 2, 0, 64);
	end_expect(&b, IBV_WC_WR_FLUSH_ERR);
	end_close(&a);
	end_close(&b);
	/* one byte past the end */
	loop_open(&a, &b, &loop_defaults);
	wr = loop_rdma(&b, IBV_WR_RDMA_READ, LOOP_BUF - 5);
	CHECK(!end_send(&a, &wr, 0, 6));
	end_expect(&a, IBV_WC_REM_ACCESS_ERR);
	end_event(&b, IBV_EVENT_QP_ACCESS_ERR);
	end_close(&a);
	end_close(&b);
	/* our own memory */
	loop_open(&a, &b, &loop_defaults);
	end_recv(&b, 1, 0, 64);
	CHECK(!end_send(&a, SEND(.opcode = IBV_WR_SEND), LOOP_BUF - 5, 6));
	end_expect(&a, IBV_WC_LOC_PROT_ERR);
	CHECK(end_state(&a) == IBV_QPS_ERR && end_state(&b) == IBV_QPS_RTS);
	end_close(&a);
	end_close(&b);
}

static void t_length(void)
{
	struct loop_end a, b;

	loop_open(&a, &b, &loop_defaults);
	end_recv(&b, 1, 0, 5);
	CHECK(!end_send(&a, SEND(.opcode = IBV_WR_SEND), 0, 6));
	end_expect(&a, IBV_WC_REM_INV_REQ_ERR);
	end_expect(&b, IBV_WC_LOC_LEN_ERR);
	CHECK(end_state(&a) == IBV_QPS_ERR && end_state(&b) == IBV_QPS_ERR);
	end_close(&a);
	end_close(&b);
}

static void t_queue_full(void)
{
	struct ibv_send_wr wr;
	struct loop_end a, b;
	int i;

	loop_open(&a, &b, &loop_defaults);
	wr = loop_rdma(&b, IBV_WR_RDMA_WRITE, 0);
	wr.send_flags = 0;
	for (i = 0; i < LOOP_DEPTH - 1; i++)
		CHECK(!end_send(&a, &wr, 0, 6));
	wr.send_flags = IBV_SEND_SIGNALED;
	CHECK(!end_send(&a, &wr, 0, 6));
	CHECK(end_send(&a, &wr, 0, 6) == ENOMEM);
	end_expect(&a, IBV_WC_SUCCESS); /* one, and it frees all */
	CHECK(end_quiet(&a, 5));
	CHECK(!end_send(&a, &wr, 0, 6));
	wr.send_flags |= IBV_SEND_INLINE;
	CHECK(!end_send(&a, &wr, 0, 64));
	CHECK(end_send(&a, &wr, 0, 65) == EINVAL);
	end_close(&a);
	end_close(&b);
}

static void t_flush(void)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	struct loop_end a, b;

	loop_open(&a, &b, &loop_defaults);
	end_recv(&a, 1, 0, 64);
	end_recv(&a, 2, 0, 64);
	CHECK(!end_send(&a, SEND(.opcode = IBV_WR_SEND), 0, 6));
	CHECK(!ibv_modify_qp(a.qp, &attr, IBV_QP_STATE));
	CHECK(end_wait(&a).wr_id == 1);
	CHECK(end_wait(&a).wr_id == 2);
	end_expect(&a, IBV_WC_WR_FLUSH_ERR);
	CHECK(end_quiet(&a, 5));
	end_close(&a);
	end_close(&b);
}

static void t_overrun(void)
{
	struct loop_conf c = loop_defaults;
	struct ibv_async_event ev;
	struct ibv_send_wr wr;
	struct loop_end a, b;
	int i;

	c.cqe = 4;
	loop_open(&a, &b, &c);
	wr = loop_rdma(&b, IBV_WR_RDMA_WRITE, 0);
	for (i = 0; i < 5; i++)
		CHECK(!end_send(&a, &wr, 0, 6));
	CHECK(!ibv_get_async_event(a.ctx, &ev));
	CHECK(ev.event_type == IBV_EVENT_CQ_ERR && ev.element.cq == a.cq);
	ibv_ack_async_event(&ev);
	end_event(&a, IBV_EVENT_QP_FATAL);
	CHECK(end_state(&a) == IBV_QPS_ERR);
	end_close(&a);
	end_close(&b);
}

static void t_uc(void)
{
	struct loop_conf c = loop_defaults;
	struct loop_end a, b;
	struct ibv_send_wr wr;

	c.type = IBV_QPT_UC;
	loop_open(&a, &b, &c);
	/* no receive: lost, and nobody is told */
	CHECK(!end_send(&a, SEND(.opcode = IBV_WR_SEND), 0, 6));
	end_expect(&a, IBV_WC_SUCCESS);
	wr = loop_rdma(&b, IBV_WR_RDMA_WRITE, 0);
	wr.wr.rdma.rkey ^= 0x7f00;
	CHECK(!end_send(&a, &wr, 0, 6));
	end_expect(&a, IBV_WC_SUCCESS);
	CHECK(end_state(&b) == IBV_QPS_RTS);
	strcpy(a.buf, "uc");
	end_recv(&b, 1, 0, 64);
	CHECK(!end_send(&a, SEND(.opcode = IBV_WR_SEND), 0, 3));
	end_expect(&b, IBV_WC_SUCCESS);
	CHECK(!strcmp(b.buf, "uc"));
	CHECK(end_send(&a, SEND(.opcode = IBV_WR_RDMA_READ), 0, 3) == EINVAL);
	end_close(&a);
	end_close(&b);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{"states", t_states},
	{"rc", t_rc},
	{"atomics", t_atomics},
	{"rnr", t_rnr},
	{"rights", t_rights},
	{"length", t_length},
	{"queue_full", t_queue_full},
	{"flush", t_flush},
	{"overrun", t_overrun},
	{"uc", t_uc},
	{"ud", t_ud},
	{"channel", t_channel},
	{"srq", t_srq},
	{"no_answer", t_no_answer},
	{"extended", t_extended},
	{"dmabuf", t_dmabuf},
	{"death", t_death},
	{"passive", t_passive},
	{"mr", t_mr},
	{"fetch_rights", t_fetch_rights},
	{"fetch_shape", t_fetch_shape},
	{"fetch_room", t_fetch_room},
	{"fetch_extended", t_fetch_extended},
};

int main(int argc, char **argv)
{
	size_t i;
	int n = 0, j;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		bool wanted = argc < 2;

		for (j = 1; j < argc; j++)
			wanted |= !strcmp(argv[j], cases[i].name);
		if (!wanted)
			continue;
		cases[i].run();
		printf("ok %s\n", cases[i].name);
		fflush(stdout);
		n++;
	}
	return n ? 0 : 2;
}
