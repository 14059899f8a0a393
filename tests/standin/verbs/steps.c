// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * SIMVERBS_STEPS=FILE: how many instructions a program needs from the arrival
 * of a message to the post of the one that answers it.
 *
 * The thread that posts first is stepped through its own code: with the trap
 * flag set, each instruction ends in a SIGTRAP, whose handler counts what was
 * not ours.  A count begins when a poll returns with a receive, or a READ or
 * atomic that is done; or, where the program looks at its memory itself, at the first step after a
 * WRITE's data are there.  It ends where ibv_post_send or ibv_wr_complete is entered.  In between,
 * what a call of ours does is left out (also what it has the C library do), and the rest of the
 * program's work runs at full speed.
 */
#include "steps.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __x86_64__
#include <link.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include <x86intrin.h>

enum {
	TRAP_FLAG = 0x100,
	SKIP = 50, /* posts: caches, page faults, the program's own first times */
	SAMPLES = 300,
	FAR = 10000,         /* who does so much does not answer */
	HOLD_NS = 100000000, /* at most: who is awaited may have gone on to something else */
	PATIENCE = 1 << 20,  /* steps without an arrival: that was the last one */
};

static struct {
	struct ibv_context_ops ops;
	int (*wr_complete)(struct ibv_qp_ex *qp);
	int (*start_poll)(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr);
} real;

static struct {
	const char *file; /* NULL: nothing is counted */
	uintptr_t text, text_end;
	pthread_t thread;
	pid_t pid; /* 0: nobody has posted */
	uint32_t posts, samples;
	uint64_t written; /* of our segment, at the last post */
	bool looks;       /* the program looks at its memory, */
	bool spins;       /* and has come back to where it was, since the post */
	bool counting, inside;
	uintptr_t at, back, entered; /* the instruction that runs; see spins; our caller's stack */
	uint32_t count, idle;
	uint32_t sample[SAMPLES];
} steps;

static bool ours(uintptr_t at)
{
	return at >= steps.text && at < steps.text_end;
}

static bool arrived(void)
{
	return atomic_load_explicit(&shm_self()->written, memory_order_acquire) != steps.written;
}

/* It spins: what comes now is awaited. */
static void await(void)
{
	steps.spins = true;
	atomic_store_explicit(&shm_self()->unready, 0, memory_order_release);
}

/* An instruction is done, and the next one is AT; SP is the stack. False: enough. */
static bool step(uintptr_t at, uintptr_t sp)
{
	if (at == steps.at) /* one of a REP's */
		return true;
	if (steps.counting && !steps.inside)
		steps.count++;
	if (at < steps.at && !steps.inside) {
		if (at == steps.back)
			await();
		steps.back = at;
	}
	steps.at = at;
	if (!steps.inside && ours(at)) {
		steps.inside = true;
		steps.entered = sp;
	} else if (steps.inside && !ours(at) && sp > steps.entered) {
		steps.inside = false;
	}
	if (steps.counting)
		return steps.count < FAR;
	if (!arrived())
		return ++steps.idle < PATIENCE;
	steps.counting = steps.spins; /* else it came before it was awaited */
	steps.count = 0;
	return steps.spins;
}

/* With SIGTRAP blocked the next step would be the program's end. */
static bool blocks_signals(uintptr_t at, uintptr_t call)
{
	static const unsigned char syscall_code[] = {0x0f, 0x05};

	return call == SYS_rt_sigprocmask &&
	       !memcmp((const void *)at, syscall_code, sizeof(syscall_code));
}

static void on_trap(int sig, siginfo_t *info, void *context)
{
	greg_t *reg = ((ucontext_t *)context)->uc_mcontext.gregs;

	(void)sig, (void)info;
	if (step(reg[REG_RIP], reg[REG_RSP]) && !blocks_signals(reg[REG_RIP], reg[REG_RAX]))
		return;
	steps.counting = false;
	reg[REG_EFL] &= ~TRAP_FLAG;
	await();
}

/* Each of our calls goes at full speed. */
static void pause_steps(void)
{
	__writeeflags(__readeflags() & ~TRAP_FLAG);
}

static bool mine(void)
{
	return steps.pid && pthread_equal(steps.thread, pthread_self());
}

static bool wanted(void)
{
	return steps.samples < SAMPLES && steps.posts >= SKIP;
}

/* To be called last: what is left of our call is stepped, and left out. */
static void resume_steps(void)
{
	sigset_t trap;

	if (!mine() || !wanted() || !(steps.counting || steps.looks))
		return;
	sigemptyset(&trap);
	sigaddset(&trap, SIGTRAP);
	pthread_sigmask(SIG_UNBLOCK, &trap, NULL);
	steps.inside = true;
	steps.entered = steps.at = 0;
	__writeeflags(__readeflags() | TRAP_FLAG);
}

static int ascending(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void report(void)
{
	uint32_t n = steps.samples;
	FILE *f = fopen(steps.file, "w");

	if (!f) {
		fprintf(stderr, "simverbs: %s: %s\n", steps.file, strerror(errno));
		return;
	}
	qsort(steps.sample, n, sizeof(steps.sample[0]), ascending);
	fprintf(f, "samples %u\nmin %u\nmax %u\nmedian %u\n", n, steps.sample[0],
		steps.sample[n - 1], steps.sample[n / 2]);
	fclose(f);
}

/* A thread posts: the first one to do so is it. */
static void choose(void)
{
	struct sigaction on = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_RESTART};

	if (steps.pid)
		return;
	sigaction(SIGTRAP, &on, NULL);
	steps.thread = pthread_self();
	steps.pid = getpid();
}

/* Before anything is sent, since the peer may be fast. */
static void answer(void)
{
	pause_steps();
	choose();
	if (!mine())
		return;
	if (steps.counting) {
		steps.sample[steps.samples++] = steps.count;
		if (steps.samples == SAMPLES)
			report();
	}
	steps.looks = arrived();
	steps.written = atomic_load(&shm_self()->written);
	steps.counting = steps.spins = false;
	steps.back = 0;
	steps.idle = 0;
	steps.posts++;
	atomic_store(&shm_self()->unready, wanted() && steps.looks);
}

/* Something has come: a receive, or the data of a READ or an atomic. */
static void polled(unsigned int opcode)
{
	bool come = opcode & IBV_WC_RECV || opcode == IBV_WC_RDMA_READ ||
		    opcode == IBV_WC_COMP_SWAP || opcode == IBV_WC_FETCH_ADD;

	if (!come || !mine() || !wanted())
		return;
	steps.counting = true;
	steps.count = 0;
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	int err;

	answer();
	err = real.ops.post_send(qp, wr, bad);
	resume_steps();
	return err;
}

static int poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	int got;

	pause_steps();
	got = real.ops.poll_cq(cq, n, wc);
	if (got > 0)
		polled(wc[0].opcode);
	resume_steps();
	return got;
}

static int wr_complete(struct ibv_qp_ex *qp)
{
	int err;

	answer();
	err = real.wr_complete(qp);
	resume_steps();
	return err;
}

static int start_poll(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr)
{
	int err;

	pause_steps();
	err = real.start_poll(cq, attr);
	if (!err)
		polled(((struct sim_cq *)cq)->cur.wc.opcode);
	resume_steps();
	return err;
}

void steps_hold(struct peer *p)
{
	uint64_t end = sim_now_ns() + HOLD_NS;

	while (atomic_load_explicit(&p->seg->unready, memory_order_acquire) && sim_now_ns() < end)
		sched_yield();
}

/* Which part of the process is this library? */
static int find_text(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size, (void)arg;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t from = info->dlpi_addr + p->p_vaddr, me = (uintptr_t)find_text;

		if (p->p_type != PT_LOAD || me < from || me >= from + p->p_memsz)
			continue;
		steps.text = from;
		steps.text_end = from + p->p_memsz;
		return 1;
	}
	return 0;
}

/* Whatever came of it. */
static __attribute__((destructor)) void leave(void)
{
	if (!steps.file || steps.pid != getpid() || steps.samples == SAMPLES)
		return;
	if (steps.samples)
		report();
	else
		fprintf(stderr, "simverbs: SIMVERBS_STEPS: nothing was answered\n");
}

void steps_wrap_ops(struct ibv_context_ops *ops)
{
	steps.file = getenv("SIMVERBS_STEPS");
	if (!steps.file || !*steps.file || sim_conf()->null) {
		steps.file = NULL;
		return;
	}
	dl_iterate_phdr(find_text, NULL);
	real.ops = *ops;
	ops->post_send = post_send;
	ops->poll_cq = poll_cq;
}

void steps_wrap_qp(struct sim_qp *qp)
{
	if (!steps.file)
		return;
	real.wr_complete = qp->ex.wr_complete;
	qp->ex.wr_complete = wr_complete;
}

void steps_wrap_cq(struct sim_cq *cq)
{
	if (!steps.file)
		return;
	real.start_poll = cq->ex.start_poll;
	cq->ex.start_poll = start_poll;
}

#else

void steps_hold(struct peer *p)
{
	(void)p;
}

void steps_wrap_ops(struct ibv_context_ops *ops)
{
	(void)ops;
	if (getenv("SIMVERBS_STEPS"))
		fprintf(stderr, "simverbs: SIMVERBS_STEPS: only on x86-64\n");
}

void steps_wrap_qp(struct sim_qp *qp)
{
	(void)qp;
}

void steps_wrap_cq(struct sim_cq *cq)
{
	(void)cq;
}

#endif
