// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Does each misfortune come as asked for?  faults CASE, with the environment
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

static void t_delay(void) /* delay:2:400 */
{
	uint64_t t = now_ms();
	struct loop_end a, b;

	two_sends(&a, &b);
	end_expect(&a, IBV_WC_SUCCESS);
	CHECK(now_ms() - t < 300);
	end_expect(&a, IBV_WC_SUCCESS);
	CHECK(now_ms() - t >= 400);
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
		{"lose", t_lose},           {"dup", t_dup},
		{"corrupt", t_corrupt},     {"misplace", t_misplace},
		{"stale", t_stale},         {"swap", t_swap},
		{"delay", t_delay},         {"wc", t_wc},
		{"port_down", t_port_down}, {"device_fatal", t_device_fatal},
		{"reg_max", t_reg_max},     {"calls", t_calls},
	};
	size_t i;

	for (i = 0; argc == 2 && i < sizeof(cases) / sizeof(*cases); i++)
		if (!strcmp(argv[1], cases[i].name)) {
			cases[i].run();
			return 0;
		}
	return 2;
}
