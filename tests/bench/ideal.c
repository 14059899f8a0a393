// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * ideal: the floor. Loops as lean as the verbs allow, which do nothing but move messages of 8 B;
 * `make bench` compares ours with them. It prints the nanoseconds a message.
 *
 *   ideal send [-w] [-i] [-l LIST] [-n N]  N SENDs (-w: WRITEs; -i: inline) by ibv_post_send(),
 *                                          LIST (1) a call; the last of 32 is signalled
 *   ideal wr [-w] [-i] [-l LIST] [-n N]    the same by ibv_wr_*
 *   ideal recv [-n N]                      receives, by ibv_poll_cq()
 *   ideal recv_ex [-n N]                   receives, by ibv_start_poll() and its like
 *   ideal send_lat|write_lat [-n N]        a ping-pong with a child; its time is not printed
 *
 * 32 is a multiple of LIST, N one of 32. All but the ping-pong need the null stand-in
 * (SIMVERBS_NULL=1): the QP is connected to itself, and receives complete though nobody sends.
 */
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	BYTES = 8,
	GROUP = 32, /* messages for one signal, receives for one call */
	DEPTH = 4 * GROUP,
	BATCH = 64,    /* completions for one poll */
	GID_INDEX = 5, /* v2, 127.0.0.1 on the stand-in */
	RIGHTS = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE,
};

#define ALWAYS_INLINE inline __attribute__((always_inline))
#define CHECK(cond)                                                                \
	do {                                                                       \
		if (__builtin_expect(!(cond), 0)) {                                \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond); \
			exit(1);                                                   \
		}                                                                  \
	} while (0)

/* What the other side has to know. */
struct target {
	uint32_t qpn, rkey;
	uint64_t addr;
};

struct end {
	struct ibv_context *ctx;
	struct ibv_cq *scq;
	struct ibv_cq_ex *rcq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	struct target to;
	uint64_t seen;          /* when the last arrival was, in ticks */
	volatile uint64_t *buf; /* [0] is sent, [1] is written by the peer, [2] is received into */
	struct ibv_send_wr send[GROUP];
	struct ibv_recv_wr recv[GROUP];
	struct ibv_sge from, into;
};

static void open_end(struct end *e)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_cq_init_attr_ex cq = {.cqe = DEPTH};
	struct ibv_qp_init_attr_ex qp = {
		.qp_type = IBV_QPT_RC,
		.cap = {DEPTH, DEPTH, 1, 1, BYTES},
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE,
	};

	CHECK(list && list[0]);
	CHECK((e->ctx = ibv_open_device(list[0])));
	CHECK((qp.pd = ibv_alloc_pd(e->ctx)));
	CHECK((e->scq = qp.send_cq = ibv_create_cq(e->ctx, DEPTH, NULL, NULL, 0)));
	CHECK((e->rcq = ibv_create_cq_ex(e->ctx, &cq)));
	qp.recv_cq = ibv_cq_ex_to_cq(e->rcq);
	CHECK((e->qp = ibv_create_qp_ex(e->ctx, &qp)));
	CHECK((e->buf = calloc(3, BYTES)));
	CHECK((e->mr = ibv_reg_mr(qp.pd, (void *)e->buf, 3 * BYTES, RIGHTS)));
	e->to = (struct target){e->qp->qp_num, e->mr->rkey, (uintptr_t)&e->buf[1]};
}

/* To RTS, with e->to as the peer. */
static void connect_end(struct end *e)
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

/* Requests in chains of LIST, the last of all signalled. */
static void prepare(struct end *e, bool write, bool inlined, unsigned list)
{
	e->from = (struct ibv_sge){(uintptr_t)&e->buf[0], BYTES, e->mr->lkey};
	e->into = (struct ibv_sge){(uintptr_t)&e->buf[2], BYTES, e->mr->lkey};
	for (unsigned i = 0; i < GROUP; i++) {
		e->send[i] = (struct ibv_send_wr){
			.next = (i + 1) % list ? &e->send[i + 1] : NULL,
			.sg_list = &e->from,
			.num_sge = 1,
			.opcode = write ? IBV_WR_RDMA_WRITE : IBV_WR_SEND,
			.send_flags = (inlined ? IBV_SEND_INLINE : 0) |
				      (i + 1 < GROUP ? 0 : IBV_SEND_SIGNALED),
			.wr.rdma = {e->to.addr, e->to.rkey},
		};
		e->recv[i] = (struct ibv_recv_wr){.next = i + 1 < GROUP ? &e->recv[i + 1] : NULL,
						  .sg_list = &e->into,
						  .num_sge = 1};
	}
}

/* How many completions there were: up to BATCH. */
static ALWAYS_INLINE unsigned poll_some(struct ibv_cq *cq)
{
	struct ibv_wc wc[BATCH];
	int n = ibv_poll_cq(cq, BATCH, wc);
	unsigned bad = 0;

	for (int i = 0; i < n; i++)
		bad |= wc[i].status;
	CHECK(n >= 0 && !bad);
	return (unsigned)n;
}

static void send_all(struct end *e, unsigned list, uint64_t n)
{
	struct ibv_send_wr *bad;

	for (uint64_t posted = 0, done = 0; done < n; done += GROUP * poll_some(e->scq))
		for (; posted < n && posted - done < DEPTH; posted += GROUP)
			for (struct ibv_send_wr *wr = e->send; wr < e->send + GROUP; wr += list)
				CHECK(!ibv_post_send(e->qp, wr, &bad));
}

/* The requests of the ring, LIST a doorbell; WRITE and INLINED are constants. */
static ALWAYS_INLINE void wr_group(struct end *e, const bool write, const bool inlined,
				   unsigned list)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(e->qp);
	const struct ibv_send_wr *wr = e->send, *next;

	do {
		ibv_wr_start(qp);
		next = wr + list;
		do {
			qp->wr_flags = wr->send_flags;
			if (write)
				ibv_wr_rdma_write(qp, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr);
			else
				ibv_wr_send(qp);
			if (inlined)
				ibv_wr_set_inline_data(qp, (void *)(uintptr_t)wr->sg_list->addr,
						       BYTES);
			else
				ibv_wr_set_sge(qp, wr->sg_list->lkey, wr->sg_list->addr, BYTES);
		} while (++wr != next);
		CHECK(!ibv_wr_complete(qp));
	} while (wr != e->send + GROUP);
}

static ALWAYS_INLINE void wr_some(struct end *e, const bool write, const bool inlined,
				  unsigned list, uint64_t n)
{
	for (uint64_t posted = 0, done = 0; done < n; done += GROUP * poll_some(e->scq))
		for (; posted < n && posted - done < DEPTH; posted += GROUP)
			wr_group(e, write, inlined, list);
}

static void wr_all(struct end *e, bool write, bool inlined, unsigned list, uint64_t n)
{
	if (write && inlined)
		wr_some(e, true, true, list, n);
	else if (write)
		wr_some(e, true, false, list, n);
	else if (inlined)
		wr_some(e, false, true, list, n);
	else
		wr_some(e, false, false, list, n);
}

/* How many completions there were. */
static ALWAYS_INLINE unsigned poll_extended(struct ibv_cq_ex *cq)
{
	struct ibv_poll_cq_attr none = {0};
	unsigned n = 0;

	if (ibv_start_poll(cq, &none))
		return 0;
	do {
		CHECK(cq->status == IBV_WC_SUCCESS);
		n++;
	} while (!ibv_next_poll(cq));
	ibv_end_poll(cq);
	return n;
}

static ALWAYS_INLINE void receive(struct end *e, const bool extended, uint64_t n)
{
	struct ibv_recv_wr *bad;

	for (uint64_t posted = 0, done = 0; done < n;) {
		for (; posted < n && posted - done <= DEPTH - GROUP; posted += GROUP)
			CHECK(!ibv_post_recv(e->qp, e->recv, &bad));
		done += extended ? poll_extended(e->rcq) : poll_some(ibv_cq_ex_to_cq(e->rcq));
	}
}

static void receive_all(struct end *e, bool extended, uint64_t n)
{
	if (extended)
		receive(e, true, n);
	else
		receive(e, false, n);
}

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

static ALWAYS_INLINE uint64_t ticks(void)
{
#ifdef __x86_64__
	return __builtin_ia32_rdtsc();
#else
	return 0;
#endif
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
	prepare(e, write, true, 1);
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

static void latency(struct end *e, bool write, uint64_t n)
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

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	bool write = false, inlined = false;
	uint64_t n = 1000000;
	unsigned list = 1;
	struct end e = {0};
	const char *what;
	double start_ns;
	int c;

	while ((c = getopt(argc, argv, "wil:n:")) != -1) {
		CHECK(c != '?');
		write |= c == 'w';
		inlined |= c == 'i';
		if (c == 'l')
			list = (unsigned)strtoul(optarg, NULL, 10);
		if (c == 'n')
			n = strtoull(optarg, NULL, 10);
	}
	CHECK(optind + 1 == argc && list && GROUP % list == 0 && n % GROUP == 0);
	what = argv[optind];
	if (strstr(what, "_lat")) {
		latency(&e, !strcmp(what, "write_lat"), n);
		return 0;
	}
	open_end(&e);
	connect_end(&e);
	prepare(&e, write, inlined, list);
	start_ns = now_ns();
	if (!strcmp(what, "send"))
		send_all(&e, list, n);
	else if (!strcmp(what, "wr"))
		wr_all(&e, write, inlined, list, n);
	else
		receive_all(&e, !strcmp(what, "recv_ex"), n);
	printf("%.4f\n", (now_ns() - start_ns) / (double)n);
	return 0;
}
