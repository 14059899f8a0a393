// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A ping-pong with a child, for SIMVERBS_STEPS, which is for the parent only:
 *
 *   stepped send|write none|nops|string
 *
 * Before each answer the parent does nothing, or 100 instructions more, or 4
 * more, one of which is repeated 64 times.
 */
#include "loop.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	ROUNDS = 500,
	INTO = 64 /* in the buffer: what comes; at 0 what goes */
};

/* What both tell each other. */
struct table {
	struct {
		uint32_t qpn, rkey;
		uint64_t addr;
		atomic_bool made, connected, done;
	} end[2];
};

static __attribute__((noinline)) void none(void)
{
	__asm__ volatile("");
}

#ifdef __x86_64__
static __attribute__((noinline)) void nops(void)
{
	__asm__ volatile(".rept 100\n\tnop\n\t.endr");
}

static __attribute__((noinline)) void string(void)
{
	static char to[64];

	__asm__ volatile("lea %0, %%rdi\n\tmov $64, %%ecx\n\txor %%eax, %%eax\n\trep stosb"
			 : "=m"(to)
			 :
			 : "rdi", "rcx", "rax");
}
#else
#define nops   none
#define string none
#endif

static void until(atomic_bool *b)
{
	while (!atomic_load(b))
		sched_yield();
}

static void connect_ends(struct loop_end *e, struct table *t, int me, bool write)
{
	end_open(e, &loop_defaults);
	end_init(e);
	t->end[me].qpn = e->qp->qp_num;
	t->end[me].rkey = e->mr->rkey;
	t->end[me].addr = (uintptr_t)e->buf + INTO;
	atomic_store(&t->end[me].made, true);
	until(&t->end[!me].made);
	CHECK(!end_rtr(e, t->end[!me].qpn));
	CHECK(!end_rts(e));
	for (int i = 0; !write && i < 2; i++)
		end_recv(e, 0, INTO, 8);
	atomic_store(&t->end[me].connected, true);
	until(&t->end[!me].connected);
}

/* Message I is there. */
static void await(struct loop_end *e, bool write, uint64_t i)
{
	volatile uint64_t *into = (uint64_t *)(e->buf + INTO);
	struct ibv_wc wc = {.opcode = IBV_WC_SEND};

	if (write) {
		while (*into != i)
			;
		return;
	}
	while (!ibv_poll_cq(e->cq, 1, &wc) || wc.opcode == IBV_WC_SEND)
		;
	CHECK(wc.status == IBV_WC_SUCCESS);
}

/* Post message I, and take the completion if it has one. */
static void post(struct loop_end *e, struct ibv_send_wr *wr, uint64_t i)
{
	struct ibv_send_wr *bad;
	struct ibv_wc wc;

	*(volatile uint64_t *)e->buf = i;
	wr->send_flags = i % 8 ? 0 : IBV_SEND_SIGNALED;
	CHECK(!ibv_post_send(e->qp, wr, &bad));
	if (wr->opcode == IBV_WR_RDMA_WRITE && wr->send_flags)
		while (!ibv_poll_cq(e->cq, 1, &wc))
			;
}

static void run(struct table *t, int me, bool write, void (*work)(void))
{
	struct ibv_send_wr wr = {.opcode = write ? IBV_WR_RDMA_WRITE : IBV_WR_SEND, .num_sge = 1};
	struct ibv_sge sge = {.length = 8};
	struct loop_end e;

	connect_ends(&e, t, me, write);
	wr.wr.rdma.remote_addr = t->end[!me].addr;
	wr.wr.rdma.rkey = t->end[!me].rkey;
	wr.sg_list = &sge;
	sge.addr = (uintptr_t)e.buf;
	sge.lkey = e.mr->lkey;
	for (uint64_t i = 1; i <= ROUNDS; i++) {
		if (me == 0)
			post(&e, &wr, i);
		await(&e, write, i);
		work();
		if (me == 1)
			post(&e, &wr, i);
		if (!write)
			end_recv(&e, 0, INTO, 8);
	}
	atomic_store(&t->end[me].done, true);
	until(&t->end[!me].done);
	end_close(&e);
}

static void (*work_of(const char *name))(void)
{
	return !strcmp(name, "nops") ? nops : !strcmp(name, "string") ? string : none;
}

int main(int argc, char **argv)
{
	struct table *t =
		mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	bool write = argc > 1 && !strcmp(argv[1], "write");
	pid_t child;
	int status;

	CHECK(argc == 3 && t != MAP_FAILED);
	child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		unsetenv("SIMVERBS_STEPS");
		run(t, 1, write, none);
		return 0;
	}
	run(t, 0, write, work_of(argv[2]));
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	return 0;
}
