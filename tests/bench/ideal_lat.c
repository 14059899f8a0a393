// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One message after the other: a ping-pong with a child, or what comes back from the memory. */
#include "ideal.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/hist.h"

/* The peer's message NUMBER, which for a WRITE is what it says. */
static ALWAYS_INLINE void await(struct end *e, const bool write, uint64_t number)
{
	struct ibv_wc wc;
	int n;

	if (write) {
		while (e->buf[1] != number)
			;
		return;
	}
	while (!(n = ibv_poll_cq(ibv_cq_ex_to_cq(e->rcq), 1, &wc)))
		;
	CHECK(n == 1 && wc.status == IBV_WC_SUCCESS);
}

/* Message NUMBER, which is *WR. What need not be done before the answer is done after it. */
static ALWAYS_INLINE void answer(struct end *e, const bool write, uint64_t number,
				 struct ibv_send_wr **wr)
{
	struct ibv_recv_wr *bad_recv;
	struct ibv_send_wr *bad;

	CHECK(!ibv_post_send(e->qp, *wr, &bad));
	e->buf[0] = number + 1;
	if (++*wr < e->send + GROUP)
		return;
	*wr = e->send;
	while (!poll_some(e->scq))
		;
	if (!write)
		CHECK(!ibv_post_recv(e->qp, e->recv, &bad_recv));
}

static ALWAYS_INLINE void ping_pong(struct end *e, const bool write, const bool first, uint64_t n)
{
	struct ibv_send_wr *wr = e->send;

	if (first)
		answer(e, write, 1, &wr);
	for (uint64_t number = 1 + first; number <= n; number++) {
		await(e, write, number - first);
		if (first) /* what a latency test must do between the two */
			e->seen = ticks();
		answer(e, write, number, &wr);
	}
	if (first)
		await(e, write, n);
}

/* Both sides say what the other needs to know, or just that they are there. */
static void swap(int fd, struct target *t)
{
	CHECK(write(fd, t, sizeof(*t)) == sizeof(*t));
	CHECK(read(fd, t, sizeof(*t)) == sizeof(*t));
}

static void ping_pong_end(struct end *e, int fd, bool first, bool write, uint64_t n)
{
	struct ibv_recv_wr *bad;
	struct target there;

	open_end(e);
	swap(fd, &e->to);
	connect_end(e);
	prepare(e, write ? IBV_WR_RDMA_WRITE : IBV_WR_SEND, true, 1, GROUP);
	e->buf[0] = 1;
	for (int i = 0; i < 2; i++)
		CHECK(!ibv_post_recv(e->qp, e->recv, &bad));
	there = e->to;
	swap(fd, &there);
	if (first)
		write ? ping_pong(e, true, true, n) : ping_pong(e, false, true, n);
	else
		write ? ping_pong(e, true, false, n) : ping_pong(e, false, false, n);
	swap(fd, &there); /* the last message has come, so the QP may go */
}

static void with_child(struct end *e, bool write, uint64_t n)
{
	int fd[2], status;
	pid_t child;

	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, fd));
	child = fork();
	CHECK(child >= 0);
	close(fd[!child]);
	if (!child)
		unsetenv("SIMVERBS_STEPS"); /* the parent's are counted */
	ping_pong_end(e, fd[!!child], child, write, n);
	if (!child)
		exit(0);
	CHECK(waitpid(child, &status, 0) == child && status == 0);
}

/* With nobody: what a completion says has come. From one to the next is a sample. */
static void ping(struct end *e, uint64_t n)
{
	static struct hist hist = {.min = UINT64_MAX};
	struct ibv_send_wr *wr = e->send;
	uint64_t last = ticks();

	answer(e, false, 1, &wr);
	for (uint64_t number = 2; number <= n; number++, last = e->seen) {
		await(e, false, number);
		e->seen = ticks();
		answer(e, false, number, &wr);
		hist_add(&hist, e->seen - last);
	}
}

static void ping_alone(struct end *e, uint64_t n)
{
	struct ibv_recv_wr *bad;

	open_end(e);
	connect_end(e);
	prepare(e, IBV_WR_SEND, true, 1, GROUP);
	for (int i = 0; i < 2; i++)
		CHECK(!ibv_post_recv(e->qp, e->recv, &bad));
	ping(e, n);
}

/* Of the QP's own memory: the time from one completion to the next is a sample. */
static void fetch(struct end *e, uint64_t n)
{
	static struct hist hist = {.min = UINT64_MAX};
	uint64_t last = ticks(), now;
	struct ibv_send_wr *bad;
	struct ibv_wc wc;
	int got;

	CHECK(!ibv_post_send(e->qp, e->send, &bad));
	for (; n; n--, last = now) {
		while (!(got = ibv_poll_cq(e->scq, 1, &wc)))
			;
		CHECK(got == 1 && wc.status == IBV_WC_SUCCESS);
		now = ticks();
		CHECK(!ibv_post_send(e->qp, e->send, &bad));
		hist_add(&hist, now - last);
	}
}

void latency(struct end *e, enum ibv_wr_opcode op, bool alone, uint64_t n)
{
	if (alone) {
		ping_alone(e, n);
		return;
	}
	if (op == IBV_WR_SEND || op == IBV_WR_RDMA_WRITE) {
		with_child(e, op == IBV_WR_RDMA_WRITE, n);
		return;
	}
	open_end(e);
	connect_end(e);
	prepare(e, op, false, 1, 1);
	fetch(e, n);
}
