// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What a program sees of SIMVERBS_SCRIPT, in nanoseconds since it first looked at the clock:
 *
 *   scripted tsc|raw clock N         N looks at the clock
 *   scripted tsc|raw send N          N requests, one post: when each completion was seen
 *   scripted tsc|raw read N          N READs, two at a time
 *   scripted tsc|raw recv N          N receives
 *   scripted tsc|raw pingpong N      N times a request, then a receive
 *   scripted tsc|raw threads N       of N looks by another thread, how many were late or went back
 *   scripted tsc|raw others N        are the other clocks real? "yes"; not, or SIGSEGV
 *   scripted traps                   without SIMVERBS_SCRIPT: status 0 if the kernel traps rdtsc
 */
#include "loop.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#ifdef __x86_64__
#include <x86intrin.h>

static uint64_t tsc(void)
{
	unsigned aux;

	return __rdtscp(&aux);
}
#else
static uint64_t tsc(void)
{
	return 0;
}
#endif

enum {
	TICKS_PER_NS = 4 /* as README.md says */
};

static bool by_tsc;
static atomic_bool over;

static uint64_t of(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static double look(void)
{
	return by_tsc ? (double)tsc() / TICKS_PER_NS : (double)of(CLOCK_MONOTONIC_RAW);
}

static int take(struct loop_end *e)
{
	struct ibv_wc wc;
	int n = ibv_poll_cq(e->cq, 1, &wc);

	CHECK(n == 0 || (n == 1 && wc.status == IBV_WC_SUCCESS));
	return n;
}

static void clocks(unsigned n)
{
	double from = look();

	while (n--)
		printf("%g\n", look() - from);
}

/* Print when each of N completions was seen. */
static void see(struct loop_end *e, unsigned n, double from)
{
	double at;

	while (n) {
		int got = take(e);

		at = look() - from;
		if (got)
			printf("%g\n", at);
		n -= (unsigned)got;
	}
}

static void post(struct loop_end *e, enum ibv_wr_opcode op, unsigned n, int flags)
{
	struct ibv_send_wr wr[LOOP_DEPTH] = {0}, *bad;

	CHECK(n <= LOOP_DEPTH);
	for (unsigned i = 0; i < n; i++) {
		wr[i].next = i + 1 < n ? &wr[i + 1] : NULL;
		wr[i].opcode = op;
		wr[i].send_flags = flags;
	}
	CHECK(!ibv_post_send(e->qp, wr, &bad));
}

static void sends(struct loop_end *e, enum ibv_wr_opcode op, unsigned n)
{
	double from = look();

	post(e, op, n, IBV_SEND_SIGNALED);
	see(e, n, from);
}

static void receives(struct loop_end *e, unsigned n)
{
	double from = look();

	for (unsigned i = 0; i < n; i++)
		end_recv(e, i, 0, 8);
	see(e, n, from);
}

/* Two receives are always there, so that one is when the answer comes. */
static void pingpong(struct loop_end *e, unsigned n)
{
	double from;

	end_recv(e, 0, 0, 8);
	end_recv(e, 0, 0, 8);
	while (n--) {
		from = look();
		post(e, IBV_WR_SEND, 1, 0);
		while (!take(e))
			;
		printf("%g\n", look() - from);
		end_recv(e, 0, 0, 8);
	}
}

static void *look_on(void *n)
{
	double was = look(), is;
	uintptr_t back = 0;

	for (uintptr_t i = 0; i < (uintptr_t)n; i++, was = is)
		back += (is = look()) < was;
	atomic_store(&over, true);
	return (void *)back;
}

static void threads(struct loop_end *e, uintptr_t n)
{
	pthread_t other;
	void *back;

	CHECK(!pthread_create(&other, NULL, look_on, (void *)n));
	while (!atomic_load(&over))
		take(e);
	CHECK(!pthread_join(other, &back));
	printf("%lu\n", (unsigned long)(uintptr_t)back);
}

/* timespec_get() asks the vDSO, which reads the TSC. */
static void others(void)
{
	uint64_t mono = of(CLOCK_MONOTONIC), real = of(CLOCK_REALTIME), wait = 20000000;
	struct timespec ts, nap = {0, (long)wait};

	nanosleep(&nap, NULL);
	CHECK(timespec_get(&ts, TIME_UTC) == TIME_UTC);
	mono = of(CLOCK_MONOTONIC) - mono;
	real = (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec - real;
	printf("%s\n", mono >= wait && real > wait / 2 && real < 1000 * wait ? "yes" : "no");
}

static void trapped(int sig)
{
	(void)sig;
	_exit(0);
}

/* Some hypervisors let prctl() succeed, and trap nothing. */
static int traps(void)
{
	signal(SIGSEGV, trapped);
	if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV) == 0)
		tsc();
	return 1;
}

int main(int argc, char **argv)
{
	struct loop_conf conf = loop_defaults;
	struct loop_end e;
	const char *what = argc == 4 ? argv[2] : "";
	unsigned n;

	if (argc == 2 && !strcmp(argv[1], "traps"))
		return traps();
	CHECK(argc == 4);
	by_tsc = !strcmp(argv[1], "tsc");
	n = (unsigned)strtoul(argv[3], NULL, 10);
	if (!strcmp(what, "clock")) {
		clocks(n);
		return 0;
	}
	conf.rd = 2;
	end_open(&e, &conf);
	end_init(&e);
	CHECK(!end_rtr(&e, e.qp->qp_num) && !end_rts(&e));
	if (!strcmp(what, "send"))
		sends(&e, IBV_WR_SEND, n);
	else if (!strcmp(what, "read"))
		sends(&e, IBV_WR_RDMA_READ, n);
	else if (!strcmp(what, "recv"))
		receives(&e, n);
	else if (!strcmp(what, "pingpong"))
		pingpong(&e, n);
	else if (!strcmp(what, "threads"))
		threads(&e, n);
	else
		others();
	end_close(&e);
	return 0;
}
