// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Does each fault come as requested?  faults CASE, with the environment
 * that faults.bats sets for it.
 */
#include "semantics.h"

#include <errno.h>
#include <string.h>

/* Two sends of "one" and "two" into two receives. */
static void two_sends(struct loop_end *a, struct loop_end *b)
{
	loop_open(a, b, &loop_defaults);
	strcpy(a->buf, "one");
	strcpy(a->buf + 8, "two");
	end_recv(b, 1, 0, 8);
	end_recv(b, 2, 8, 8);
	end_recv(b, 3, 16, 8);
	CHECK(!end_send(a, SEND(.opcode = IBV_WR_SEND), 0, 4));
	CHECK(!end_send(a, SEND(.opcode = IBV_WR_SEND), 8, 4));
}

static void close_both(struct loop_end *a, struct loop_end *b)
{
	end_close(a);
	end_close(b);
}

static void t_lose(void) /* lose:1 */
{
	struct loop_end a, b;

	two_sends(&a, &b);
	end_expect(&a, IBV_WC_SUCCESS);
	end_expect(&a, IBV_WC_SUCCESS);
	CHECK(end_wait(&b).wr_id == 1 && !strcmp(b.buf, "two"));
	CHECK(end_quiet(&b, 5));
	close_both(&a, &b);
}

static void t_dup(void) /* dup:1 */
{
	struct loop_end a, b;

	two_sends(&a, &b);
	end_expect(&b, IBV_WC_SUCCESS);
	end_expect(&b, IBV_WC_SUCCESS);
	end_expect(&b, IBV_WC_SUCCESS);
	CHECK(!strcmp(b.buf + 8, "one") && !strcmp(b.buf + 16, "two"));
	close_both(&a, &b);
}

static void t_corrupt(void) /* corrupt:2 */
{
	struct loop_end a, b;

	two_sends(&a, &b);
	end_expect(&b, IBV_WC_SUCCESS);
	end_expect(&b, IBV_WC_SUCCESS);
	CHECK(!strcmp(b.buf, "one") && strcmp(b.buf + 8, "two"));
	CHECK(!strcmp(a.buf + 8, "two"));
	close_both(&a, &b);
}

static void t_misplace(void) /* misplace:1:2 */
{
	struct loop_end a, b;

	two_sends(&a, &b);
	end_expect(&b, IBV_WC_SUCCESS);
	end_expect(&b, IBV_WC_SUCCESS);
	CHECK(!b.buf[0] && !b.buf[1] && !strcmp(b.buf + 2, "one") && !strcmp(b.buf + 8, "two"));
	close_both(&a, &b);
}

static void t_stale(void) /* stale:2:1 */
{
	struct loop_end a, b;

	two_sends(&a, &b);
	end_expect(&b, IBV_WC_SUCCESS);
	end_expect(&b, IBV_WC_SUCCESS);
	CHECK(!strcmp(b.buf, "one") && !strcmp(b.buf + 8, "one"));
	close_both(&a, &b);
}

static void t_swap(void) /* swap:1 */
{
	struct loop_end a, b;

	two_sends(&a, &b);
	end_expect(&a, IBV_WC_SUCCESS);
	end_expect(&a, IBV_WC_SUCCESS);
	CHECK(end_wait(&b).wr_id == 1 && end_wait(&b).wr_id == 2 && end_quiet(&b, 5));
	CHECK(!strcmp(b.buf, "two") && !strcmp(b.buf + 8, "one"));
	close_both(&a, &b);
}

/* Three fetch-and-adds of 1 to a word that is 0: what each returned, and the word in the end. */
static void three_adds(uint64_t returned[3], uint64_t *word)
{
	struct loop_end a, b;

	loop_open(&a, &b, &loop_defaults);
	memset(a.buf, 0xee, 24);
	for (int i = 0; i < 3; i++) {
		struct ibv_send_wr wr = {.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
					 .send_flags = IBV_SEND_SIGNALED};

		wr.wr.atomic.remote_addr = (uintptr_t)b.buf;
		wr.wr.atomic.rkey = b.mr->rkey;
		wr.wr.atomic.compare_add = 1;
		CHECK(!end_send(&a, &wr, 8 * i, 8));
		end_expect(&a, IBV_WC_SUCCESS);
	}
	memcpy(returned, a.buf, 24);
	memcpy(word, b.buf, 8);
	close_both(&a, &b);
}

static void t_atomic_lose(void) /* lose:2 */
{
	uint64_t r[3], word;

	three_adds(r, &word);
	CHECK(r[0] == 0 && r[1] == UINT64_C(0xeeeeeeeeeeeeeeee) && r[2] == 1 && word == 2);
}

static void t_atomic_dup(void) /* dup:2 */
{
	uint64_t r[3], word;

	three_adds(r, &word);
	CHECK(r[0] == 0 && r[1] == 2 && r[2] == 3 && word == 4);
}

static void t_atomic_corrupt(void) /* corrupt:2 */
{
	uint64_t r[3], word;

	three_adds(r, &word);
	CHECK(r[0] == 0 && r[1] != 1 && r[2] == 2 && word == 3);
}

static void t_atomic_stale(void) /* stale:3:2 */
{
	uint64_t r[3], word;

	three_adds(r, &word);
	CHECK(r[0] == 0 && r[1] == 1 && r[2] == 1 && word == 3);
}

static void t_atomic_misplace(void) /* misplace:2:8 */
{
	uint64_t r[3], word;

	three_adds(r, &word);
	CHECK(r[0] == 0 && r[1] == 0 && r[2] == 1 && word == 2);
}

/* READs of "one" and "two" into memory that says "old": what came. */
static void two_reads(const char *one, const char *two)
{
	struct ibv_send_wr wr;
	struct loop_end a, b;

	loop_open(&a, &b, &loop_defaults);
	strcpy(b.buf, "one");
	strcpy(b.buf + 8, "two");
	strcpy(a.buf, "old");
	strcpy(a.buf + 8, "old");
	for (int i = 0; i < 2; i++) {
		wr = loop_rdma(&b, IBV_WR_RDMA_READ, 8 * i);
		CHECK(!end_send(&a, &wr, 8 * i, 4));
		end_expect(&a, IBV_WC_SUCCESS);
	}
	CHECK(!strcmp(a.buf, one) && !strcmp(a.buf + 8, two));
	CHECK(!strcmp(b.buf, "one") && !strcmp(b.buf + 8, "two"));
	close_both(&a, &b);
}

static void t_read_lose(void) /* lose:2 */
{
	two_reads("one", "old");
}

static void t_read_corrupt(void) /* corrupt:2 */
{
	two_reads("one", "tw\x90");
}

static void t_read_stale(void) /* stale:2:1 */
{
	two_reads("one", "one");
}

static void t_read_swap(void) /* swap:1, which is for what is sent */
{
	two_reads("one", "two");
}

/* The device takes 4, and has 2 under way itself. */
static void t_limits(void)
{
	struct loop_conf c = loop_defaults;
	struct ibv_device_attr attr;
	struct loop_end e;

	for (int i = 0; i < 4; i++) {
		c.rd = 2 + (i & 1);
		c.dest_rd = 4 + (i >> 1);
		end_open(&e, &c);
		CHECK(!ibv_query_device(e.ctx, &attr));
		CHECK(attr.max_qp_rd_atom == 4 && attr.max_qp_init_rd_atom == 2);
		CHECK(attr.atomic_cap == IBV_ATOMIC_NONE);
		end_init(&e);
		CHECK(end_rtr(&e, 0x10005) == (c.dest_rd > 4 ? EINVAL : 0));
		if (c.dest_rd <= 4)
			CHECK(end_rts(&e) == (c.rd > 2 ? EINVAL : 0));
		end_close(&e);
	}
}

static void t_no_atomics(void) /* noatomics */
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD};
	struct loop_end a, b;

	loop_open(&a, &b, &loop_defaults);
	CHECK(end_send(&a, &wr, 0, 8) == EINVAL);
	close_both(&a, &b);
}

static void t_delay(void) /* delay:2:4000 */
{
	uint64_t t = now_ms();
	struct loop_end a, b;

	two_sends(&a, &b);
	end_expect(&a, IBV_WC_SUCCESS);
	CHECK(now_ms() - t < 3000); /* however busy the machine */
	end_expect(&a, IBV_WC_SUCCESS);
	CHECK(now_ms() - t >= 4000);
	close_both(&a, &b);
}

static void t_wc(void) /* wc:1:REM_OP_ERR:0x77 */
{
	struct loop_end a, b;
	struct ibv_wc wc;

	two_sends(&a, &b);
	wc = end_wait(&a);
	CHECK(wc.status == IBV_WC_REM_OP_ERR && wc.vendor_err == 0x77);
	CHECK(end_state(&a) == IBV_QPS_ERR);
	close_both(&a, &b);
}

static void t_port_down(void) /* port_down:2 */
{
	struct ibv_port_attr attr;
	struct loop_end a, b;

	two_sends(&a, &b);
	end_event(&a, IBV_EVENT_PORT_ERR);
	CHECK(!ibv_query_port(a.ctx, 1, &attr));
	CHECK(attr.state == IBV_PORT_DOWN);
	end_expect(&a, IBV_WC_SUCCESS);
	end_expect(&a, IBV_WC_RETRY_EXC_ERR);
	close_both(&a, &b);
}

static void t_device_fatal(void) /* device_fatal:2 */
{
	struct ibv_device_attr attr;
	struct loop_end a, b;

	two_sends(&a, &b);
	end_event(&a, IBV_EVENT_DEVICE_FATAL);
	CHECK(ibv_query_device(a.ctx, &attr) == EIO);
	CHECK(!ibv_alloc_pd(a.ctx) && errno == EIO);
	end_expect(&a, IBV_WC_SUCCESS);
	end_expect(&a, IBV_WC_WR_FLUSH_ERR);
	close_both(&a, &b);
}

static void t_reg_max(void) /* reg_max:100000:ENOSPC */
{
	struct loop_end a, b;
	char *big = calloc(1, 100001);

	loop_open(&a, &b, &loop_defaults);
	CHECK(!ibv_reg_mr(a.pd, big, 100001, 0) && errno == ENOSPC);
	close_both(&a, &b);
	free(big);
}

static void t_calls(void) /* ibv_alloc_pd:3:EPERM,ibv_post_send:2+:EFAULT,... */
{
	struct ibv_poll_cq_attr pa = {0};
	struct ibv_cq_init_attr_ex ca = {.cqe = 4};
	struct loop_end a, b;
	struct ibv_cq_ex *cq;
	struct ibv_wc wc;

	loop_open(&a, &b, &loop_defaults);
	CHECK(!ibv_alloc_pd(a.ctx) && errno == EPERM);
	end_recv(&b, 1, 0, 64);
	CHECK(!end_send(&a, SEND(.opcode = IBV_WR_SEND), 0, 4));
	CHECK(end_send(&a, SEND(.opcode = IBV_WR_SEND), 0, 4) == EFAULT);
	CHECK(end_send(&a, SEND(.opcode = IBV_WR_SEND), 0, 4) == EFAULT);
	CHECK(ibv_poll_cq(a.cq, 1, &wc) == -1);
	CHECK(ibv_poll_cq(a.cq, 1, &wc) == 1);
	cq = ibv_create_cq_ex(a.ctx, &ca);
	CHECK(cq && ibv_start_poll(cq, &pa) == EINVAL);
	CHECK(ibv_start_poll(cq, &pa) == ENOENT);
	CHECK(!ibv_destroy_cq(ibv_cq_ex_to_cq(cq)));
	close_both(&a, &b);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = {
		{"lose", t_lose},
		{"dup", t_dup},
		{"corrupt", t_corrupt},
		{"misplace", t_misplace},
		{"stale", t_stale},
		{"swap", t_swap},
		{"delay", t_delay},
		{"wc", t_wc},
		{"port_down", t_port_down},
		{"device_fatal", t_device_fatal},
		{"reg_max", t_reg_max},
		{"calls", t_calls},
		{"read_lose", t_read_lose},
		{"read_corrupt", t_read_corrupt},
		{"read_stale", t_read_stale},
		{"read_swap", t_read_swap},
		{"atomic_lose", t_atomic_lose},
		{"atomic_dup", t_atomic_dup},
		{"atomic_corrupt", t_atomic_corrupt},
		{"atomic_stale", t_atomic_stale},
		{"atomic_misplace", t_atomic_misplace},
		{"limits", t_limits},
		{"no_atomics", t_no_atomics},
	};
	size_t i;

	for (i = 0; argc == 2 && i < sizeof(cases) / sizeof(*cases); i++)
		if (!strcmp(argv[1], cases[i].name)) {
			cases[i].run();
			return 0;
		}
	return 2;
}
