// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * ideal: the floor. Loops as lean as the verbs allow, which do nothing but move messages of 8 B;
 * `make bench` compares ours with them. It prints the nanoseconds a message.
 *
 *   ideal send [-o OP] [-i] [-l LIST] [-n N]  N SENDs (-i: inline; OP: write, read, or atomic, a
 *                                             fetch-and-add) by ibv_post_send(), LIST (1) a call;
 *                                             the last of 32 is signalled
 *   ideal send -1 [-o OP] [-n N]              the same, and all are signalled
 *   ideal send -f BYTES [-o OP] [-n N]        their addresses walk through BYTES at both ends
 *   ideal send -p [-o OP] [-l LIST] [-n N]    each call when it is due, which was some time ago
 *   ideal wr [-o OP] [-i] [-l LIST] [-n N]    as the first, by ibv_wr_*
 *   ideal send|wr -q QPS [-o OP] [-l LIST] [-n N]   SENDs or WRITEs on so many QPs with one CQ
 *   ideal recv [-l LIST] [-n N]               receives, by ibv_poll_cq(); LIST (32) a call
 *   ideal recv_ex [-n N]                      receives, by ibv_start_poll() and its like
 *   ideal send_lat|write_lat [-n N]           a ping-pong with a child; its time is not printed
 *   ideal send_lat -a [-n N]                  the same without a child, and each is recorded
 *   ideal read_lat|atomic_lat [-n N]          one after the other, each signalled; the same
 *
 * 32 is a multiple of LIST, N one of 32. All but the ..._lat, and -a, need the null stand-in
 * (SIMVERBS_NULL=1): the QP is connected to itself, and receives complete though nobody sends.
 */
#include "ideal.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

/* One of SIGNAL is signalled. */
static void send_all(struct end *e, unsigned list, unsigned signal, uint64_t n)
{
	struct ibv_send_wr *bad;

	for (uint64_t posted = 0, done = 0; done < n; done += signal * poll_some(e->scq))
		for (; posted < n && posted - done <= DEPTH - GROUP; posted += GROUP)
			for (struct ibv_send_wr *wr = e->send; wr < e->send + GROUP; wr += list)
				CHECK(!ibv_post_send(e->qp, wr, &bad));
}

/* Each message is where the last one ends, in BYTES of memory at both ends. */
static void send_walking(struct end *e, uint64_t bytes, uint64_t n)
{
	const uint64_t first = e->from.addr, end = first + bytes, away = e->to.addr - first;
	struct ibv_send_wr *bad;
	uint64_t at = first;

	for (uint64_t posted = 0, done = 0; done < n; done += GROUP * poll_some(e->scq))
		for (; posted < n && posted - done <= DEPTH - GROUP; posted += GROUP)
			for (struct ibv_send_wr *wr = e->send; wr < e->send + GROUP; wr++) {
				e->from.addr = at;
				wr->wr.rdma.remote_addr = at + away;
				CHECK(!ibv_post_send(e->qp, wr, &bad));
				if ((at += LINE) == end)
					at = first;
			}
}

/* By a schedule of a call a tick. */
static void send_due(struct end *e, unsigned list, uint64_t n)
{
	struct ibv_send_wr *bad;
	uint64_t due = ticks();

	for (uint64_t posted = 0, done = 0; done < n; done += GROUP * poll_some(e->scq))
		for (; posted < n && posted - done <= DEPTH - GROUP; posted += GROUP)
			for (struct ibv_send_wr *wr = e->send; wr < e->send + GROUP; wr += list) {
				while (ticks() < due)
					;
				due++;
				CHECK(!ibv_post_send(e->qp, wr, &bad));
			}
}

/* ONE: a doorbell for each, which is a constant. */
static ALWAYS_INLINE void wr_groups(struct end *e, const enum ibv_wr_opcode op, const bool inlined,
				    const bool one, unsigned list, uint64_t n)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(e->qp);

	for (uint64_t posted = 0, done = 0; done < n; done += GROUP * poll_some(e->scq))
		for (; posted < n && posted - done < DEPTH; posted += GROUP)
			wr_group(qp, e->send, op, inlined, one ? 1 : list);
}

static ALWAYS_INLINE void wr_some(struct end *e, const enum ibv_wr_opcode op, const bool inlined,
				  unsigned list, uint64_t n)
{
	if (list == 1)
		wr_groups(e, op, inlined, true, 1, n);
	else
		wr_groups(e, op, inlined, false, list, n);
}

static void wr_all(struct end *e, enum ibv_wr_opcode op, bool inlined, unsigned list, uint64_t n)
{
	if (op == IBV_WR_RDMA_WRITE && inlined)
		wr_some(e, IBV_WR_RDMA_WRITE, true, list, n);
	else if (op == IBV_WR_RDMA_WRITE)
		wr_some(e, IBV_WR_RDMA_WRITE, false, list, n);
	else if (op == IBV_WR_RDMA_READ)
		wr_some(e, IBV_WR_RDMA_READ, false, list, n);
	else if (op == IBV_WR_ATOMIC_FETCH_AND_ADD)
		wr_some(e, IBV_WR_ATOMIC_FETCH_AND_ADD, false, list, n);
	else if (inlined)
		wr_some(e, IBV_WR_SEND, true, list, n);
	else
		wr_some(e, IBV_WR_SEND, false, list, n);
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

static ALWAYS_INLINE void receive(struct end *e, const bool extended, unsigned list, uint64_t n)
{
	struct ibv_recv_wr *bad;

	e->recv[list - 1].next = NULL;
	for (uint64_t posted = 0, done = 0; done < n;) {
		for (; posted < n && posted - done <= DEPTH - list; posted += list)
			CHECK(!ibv_post_recv(e->qp, e->recv, &bad));
		done += extended ? poll_extended(e->rcq) : poll_some(ibv_cq_ex_to_cq(e->rcq));
	}
}

static void receive_all(struct end *e, bool extended, unsigned list, uint64_t n)
{
	if (extended)
		receive(e, true, list, n);
	else
		receive(e, false, list, n);
}

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* "read", "read_lat" */
static enum ibv_wr_opcode operation(const char *name)
{
	static const struct {
		const char *name;
		enum ibv_wr_opcode op;
	} all[] = {
		{"write", IBV_WR_RDMA_WRITE},
		{"read", IBV_WR_RDMA_READ},
		{"atomic", IBV_WR_ATOMIC_FETCH_AND_ADD},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (!strncmp(name, all[i].name, strlen(all[i].name)))
			return all[i].op;
	return IBV_WR_SEND;
}

/* What was asked for. */
struct loop {
	const char *what;
	enum ibv_wr_opcode op;
	bool inlined, paced, alone;
	unsigned list, signal, qps;
	uint64_t walk_bytes, n;
};

static void bandwidth(struct end *e, const struct loop *l)
{
	double start_ns = now_ns();

	if (l->qps)
		on_qps(e, l->qps, l->op, !strcmp(l->what, "wr"), l->list, l->n);
	else if (!strcmp(l->what, "wr"))
		wr_all(e, l->op, l->inlined, l->list, l->n);
	else if (strcmp(l->what, "send"))
		receive_all(e, !strcmp(l->what, "recv_ex"), l->list, l->n);
	else if (l->walk_bytes)
		send_walking(e, l->walk_bytes, l->n);
	else if (l->paced)
		send_due(e, l->list, l->n);
	else
		send_all(e, l->list, l->signal, l->n);
	printf("%.4f\n", (now_ns() - start_ns) / (double)l->n);
}

static void parse(struct loop *l, int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "1af:o:il:n:pq:")) != -1) {
		CHECK(c != '?');
		l->inlined |= c == 'i';
		l->paced |= c == 'p';
		l->alone |= c == 'a';
		if (c == '1')
			l->signal = 1;
		if (c == 'f')
			l->walk_bytes = strtoull(optarg, NULL, 10);
		if (c == 'o')
			l->op = operation(optarg);
		if (c == 'l')
			l->list = (unsigned)strtoul(optarg, NULL, 10);
		if (c == 'q')
			l->qps = (unsigned)strtoul(optarg, NULL, 10);
		if (c == 'n')
			l->n = strtoull(optarg, NULL, 10);
	}
	CHECK(optind + 1 == argc && l->n % GROUP == 0);
	l->what = argv[optind];
	if (!l->list)
		l->list = strncmp(l->what, "recv", 4) ? 1 : GROUP;
	CHECK(GROUP % l->list == 0);
}

int main(int argc, char **argv)
{
	struct loop l = {.op = IBV_WR_SEND, .signal = GROUP, .n = 1000000};
	struct end e = {0};

	parse(&l, argc, argv);
	if (strstr(l.what, "_lat")) {
		latency(&e, operation(l.what), l.alone, l.n);
		return 0;
	}
	open_end(&e);
	connect_end(&e);
	prepare(&e, l.op, l.inlined, l.list, l.signal);
	bandwidth(&e, &l);
	return 0;
}
