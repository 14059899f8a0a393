// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Routes between the simulated NIC and GPU 0. */
#include "probe.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../verbs/loop.h"
#include "base/clock.h"
#include "verbs/gpu_route.h"

struct pair {
	struct loop_end a, b;
	struct gpu *g;
	struct memory memory;
};

static int open_pair(struct pair *p, struct fault *f)
{
	const struct gpu_attr wish = {.index = 0};

	p->memory = (struct memory){0};
	if (gpu_open(&p->g, &wish, f))
		return -1;
	loop_open(&p->a, &p->b, &loop_defaults);
	return 0;
}

static int close_pair(struct pair *p, struct fault *f)
{
	end_close(&p->a);
	end_close(&p->b);
	memory_free(&p->memory);
	gpu_close(p->g);
	return fault_is(f) ? -1 : 0;
}

/* A line for each: name, yes or no, errno, why, fix; then what auto takes, as the banner has it. */
int probe_routes(char **arg, struct fault *f)
{
	char text[2048];
	struct pair p;

	(void)arg;
	if (open_pair(&p, f))
		return -1;
	for (int i = 0; i < GPU_ROUTES; i++) {
		struct gpu_choice c = {p.a.pd, p.g, GPU_PATH_DMABUF + i, .route = 0};
		bool has = gpu_route_choose(&c, f) == 0;

		printf("%s|%s|%d|%s|%s\n", gpu_route_name(i), has ? "yes" : "no",
		       c.refused[i].errnum, c.refused[i].cause, c.refused[i].fix);
		fault_clear(f);
	}
	struct gpu_choice c = {p.a.pd, p.g, GPU_PATH_AUTO, .route = 0};

	if (gpu_route_choose(&c, f))
		printf("auto: none; %s\n", f->cause);
	else
		printf("auto: %s\n", gpu_choice_format(&c, text, sizeof(text)));
	fault_clear(f);
	return close_pair(&p, f);
}

/* choose N: an enum gpu_path */
int probe_choose(char **arg, struct fault *f)
{
	struct pair p;

	if (open_pair(&p, f))
		return -1;
	struct gpu_choice c = {p.a.pd, p.g, (enum gpu_path)atoi(arg[0]), .route = 0};

	if (!gpu_route_choose(&c, f))
		printf("%s\n", gpu_route_words(c.route));
	return close_pair(&p, f);
}

/* register N BYTES [OFFSET [ACCESS]]: an enum gpu_route; of memory that is large enough */
int probe_register(char **arg, struct fault *f)
{
	size_t bytes = strtoull(arg[1], NULL, 0);
	uint64_t offset = arg[2] ? strtoull(arg[2], NULL, 0) : 0;
	struct gpu_mr m = {0};
	struct pair p;

	if (open_pair(&p, f))
		return -1;
	struct gpu_mr_attr ask = {
		.pd = p.a.pd,
		.gpu = p.g,
		.route = (enum gpu_route)atoi(arg[0]),
		.addr = probe_memory(p.g, &p.memory, bytes + offset, f) + offset,
		.bytes = bytes,
		.access = arg[2] && arg[3] ? (unsigned)strtoul(arg[3], NULL, 0) : 0,
	};
	if (!fault_is(f) && !gpu_mr_init(&m, &ask, f)) {
		MUST(f, m.addr == ask.addr && m.bytes == bytes);
		printf("registered%s\n", m.relaxed_ordering ? ", relaxed" : "");
	}
	gpu_mr_release(&m);
	gpu_mr_release(&m);
	return close_pair(&p, f);
}

static void post(struct loop_end *from, const struct ibv_sge *sge, const struct gpu_mr *to,
		 uint64_t offset)
{
	struct ibv_send_wr *bad, wr = {
					 .opcode = IBV_WR_RDMA_WRITE,
					 .send_flags = IBV_SEND_SIGNALED,
					 .sg_list = (struct ibv_sge *)sge,
					 .num_sge = 1,
				 };

	wr.wr.rdma.remote_addr = to->addr + offset;
	wr.wr.rdma.rkey = to->mr->rkey;
	CHECK(!ibv_post_send(from->qp, &wr, &bad));
}

/* Host to GPU into the middle, GPU to GPU, and look at it. */
static void move(struct pair *p, struct gpu_mr *m, struct fault *f)
{
	struct ibv_sge host = {(uintptr_t)p->a.buf, 20000, p->a.mr->lkey};
	struct ibv_sge gpu = {m[0].addr + 8192, 20000, m[0].mr->lkey};
	static char back[20002];
	uint64_t started = clock_now_ns();
	struct ibv_wc wc;

	memset(p->a.buf, 0x77, 20000);
	post(&p->a, &host, &m[1], 100);
	wc = end_wait(&p->a);
	printf("host to GPU: status %d vendor 0x%x\n", wc.status, wc.vendor_err);
	if (wc.status)
		return;
	MUST(f, clock_now_ns() - started >= (uint64_t)atoi(getenv("WRITE_NS") ?: "0"));
	gpu_copy_out(p->g, back, m[1].addr + 99, sizeof(back), f);
	MUST(f, !back[0] && !back[20001] && back[1] == 0x77 && back[20000] == 0x77);
	gpu_copy_in(p->g, m[0].addr + 8192, p->a.buf, 20000, f);
	started = clock_now_ns();
	post(&p->a, &gpu, &m[1], 40000);
	wc = end_wait(&p->a);
	printf("GPU to GPU: status %d\n", wc.status);
	MUST(f, clock_now_ns() - started >= (uint64_t)atoi(getenv("READ_NS") ?: "0"));
	gpu_copy_out(p->g, back, m[1].addr + 40000, 20000, f);
	MUST(f, !memcmp(back, p->a.buf, 20000));
}

/* move N: transfers over that route, source and sink parts of one allocation */
int probe_move(char **arg, struct fault *f)
{
	struct gpu_mr m[2] = {{0}};
	struct pair p;

	if (open_pair(&p, f))
		return -1;
	struct gpu_mr_attr ask = {
		.gpu = p.g,
		.route = (enum gpu_route)atoi(arg[0]),
		.addr = probe_memory(p.g, &p.memory, 1 << 20, f),
		.bytes = 128 << 10,
		.access = IBV_ACCESS_REMOTE_WRITE,
	};
	for (int i = 0; ask.addr && i < 2 && !fault_is(f); i++) {
		ask.pd = i ? p.b.pd : p.a.pd;
		gpu_mr_init(&m[i], &ask, f);
		ask.addr += (128 << 10) + 1000; /* the second begins within a page */
	}
	if (!fault_is(f))
		move(&p, m, f);
	gpu_mr_release(&m[0]);
	gpu_mr_release(&m[1]);
	return close_pair(&p, f);
}
