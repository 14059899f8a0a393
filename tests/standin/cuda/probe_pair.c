// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Two processes: host memory of one is written to GPU memory of the other, and read back from it.
 */
#include "probe.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../verbs/loop.h"
#include "base/clock.h"
#include "verbs/gpu_route.h"

enum {
	BYTES = 50000
};

struct card {
	uint32_t qpn, rkey;
	uint64_t addr;
};

static void connect_to(struct loop_end *e, uint32_t qpn)
{
	CHECK(!end_rtr(e, qpn) && !end_rts(e));
}

static void sink(int in, int out, enum gpu_route route, struct fault *f)
{
	const struct gpu_attr wish = {.index = 0};
	static unsigned char data[BYTES];
	struct gpu_mr m = {0};
	struct loop_end e;
	struct card card;
	struct memory memory;
	struct gpu *g;
	size_t wrong = 0;

	CHECK(!gpu_open(&g, &wish, f));
	end_open(&e, &loop_defaults);
	end_init(&e);
	struct gpu_mr_attr ask = {
		.pd = e.pd,
		.gpu = g,
		.route = route,
		.addr = probe_memory(g, &memory, 1 << 20, f) + 333,
		.bytes = BYTES,
		.access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
	};
	CHECK(!gpu_mr_init(&m, &ask, f));
	card = (struct card){e.qp->qp_num, m.mr->rkey, m.addr};
	CHECK(write(out, &card, sizeof(card)) == sizeof(card));
	CHECK(read(in, &card, sizeof(card)) == sizeof(card));
	connect_to(&e, card.qpn);
	CHECK(write(out, &card, 1) == 1); /* go */
	CHECK(read(in, &card, 1) == 1);   /* done */
	gpu_copy_out(g, data, m.addr, BYTES, f);
	for (size_t i = 0; i < BYTES; i++)
		wrong += data[i] != (unsigned char)(i * 7);
	printf("wrong %zu\n", wrong);
	CHECK(write(out, &card, 1) == 1); /* leave */
	gpu_mr_release(&m);
	end_close(&e);
	memory_free(&memory);
	gpu_close(g);
}

/* How long a transfer between our buffer and the card's memory takes, in ns. */
static uint64_t transfer(struct loop_end *e, const struct card *card, enum ibv_wr_opcode op)
{
	struct ibv_send_wr wr = {.opcode = op, .send_flags = IBV_SEND_SIGNALED};
	uint64_t started = clock_now_ns();

	wr.wr.rdma.remote_addr = card->addr;
	wr.wr.rdma.rkey = card->rkey;
	CHECK(!end_send(e, &wr, 0, BYTES));
	end_expect(e, IBV_WC_SUCCESS);
	return clock_now_ns() - started;
}

static void source(int in, int out)
{
	struct card mine, theirs;
	struct loop_end e;
	uint64_t write_ns, read_ns;

	end_open(&e, &loop_defaults);
	end_init(&e);
	mine = (struct card){.qpn = e.qp->qp_num};
	CHECK(read(in, &theirs, sizeof(theirs)) == sizeof(theirs));
	CHECK(write(out, &mine, sizeof(mine)) == sizeof(mine));
	connect_to(&e, theirs.qpn);
	CHECK(read(in, &mine, 1) == 1);
	for (size_t i = 0; i < BYTES; i++)
		e.buf[i] = (char)(i * 7);
	write_ns = transfer(&e, &theirs, IBV_WR_RDMA_WRITE);
	memset(e.buf, 0, BYTES);
	read_ns = transfer(&e, &theirs, IBV_WR_RDMA_READ);
	for (size_t i = 0; i < BYTES; i++)
		CHECK(e.buf[i] == (char)(i * 7));
	printf("write %d us, read %d us\n", (int)(write_ns / 1000), (int)(read_ns / 1000));
	CHECK(write(out, &mine, 1) == 1);
	CHECK(read(in, &mine, 1) == 1);
	end_close(&e);
}

/* pair N: an enum gpu_route */
int probe_pair(char **arg, struct fault *f)
{
	int down[2], up[2], status = 0;
	pid_t child;

	CHECK(!pipe(down) && !pipe(up));
	child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		sink(down[0], up[1], (enum gpu_route)atoi(arg[0]), f);
		exit(0);
	}
	source(up[0], down[1]);
	CHECK(waitpid(child, &status, 0) == child && !status);
	return 0;
}
