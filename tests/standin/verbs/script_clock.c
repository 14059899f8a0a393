// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The clock of SIMVERBS_SCRIPT, and how the program comes to read it: the CPU
 * is told to trap rdtsc and rdtscp (PR_SET_TSC), whose values a SIGSEGV handler
 * puts in place; CLOCK_MONOTONIC_RAW is had from clock_gettime, which is ours.
 * The CPU time of a thread is what SIMVERBS_CPU says, also without a script.
 * All other clocks are real.  The vDSO reads the TSC, too: it gets the real one.
 */
#include "script.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	PS_PER_TICK = 250,
	PS_PER_NS = 1000,
	COMPARED_PS = 1000 * PS_PER_NS, /* of RAW, by who reads the TSC, too */
};

#define RAW_START_NS UINT64_C(1000000000000000)
#define TSC_START    UINT64_C(1000000000000)
#define NS_PER_S     UINT64_C(1000000000)
#define THREAD       static __thread __attribute__((tls_model("initial-exec")))

static int (*real_gettime)(clockid_t id, struct timespec *ts);
static struct script script;
static bool scripted;
static double cpu_percent;
static _Atomic uint64_t now;
static _Atomic bool tsc_was_read;
THREAD bool mine;
THREAD uint64_t last; /* look of this thread */

struct script *script_get(void)
{
	return scripted ? &script : NULL;
}

uint64_t script_now(void)
{
	return atomic_load_explicit(&now, memory_order_relaxed);
}

void script_mine(void)
{
	mine = true;
}

void script_spend(uint64_t ps)
{
	atomic_fetch_add_explicit(&now, ps, memory_order_relaxed);
}

void script_hold(enum script_place place)
{
	for (struct script_hold *h = script.hold; h < script.hold + script.holds; h++) {
		if (h->place != place || script_now() < h->next)
			continue;
		script_spend(h->ps);
		while (h->next <= script_now())
			h->next += h->every;
	}
}

/*
 * What a clock that takes so long to read shows: the middle of that time. A thread that only looks
 * on moves it just when nobody else does, or it would wait for ever.
 */
static uint64_t look(uint64_t cost)
{
	uint64_t at;

	if (mine)
		script_hold(SCRIPT_CLOCK);
	at = script_now();
	if (!mine && at != last) {
		last = at;
		return at;
	}
	script_spend(cost);
	last = at + cost;
	return at + cost / 2;
}

/* Who compares both clocks until 1 ms of RAW has gone by shall not need long. */
static void read_raw(struct timespec *ts)
{
	uint64_t ns = RAW_START_NS;

	ns += look(atomic_exchange(&tsc_was_read, false) ? COMPARED_PS : script.clock) / PS_PER_NS;
	ts->tv_sec = (time_t)(ns / NS_PER_S);
	ts->tv_nsec = (long)(ns % NS_PER_S);
}

/*
 * What a thread has had of its CPU by SIMVERBS_CPU, whatever it had: this part of all time. One
 * that lacks none has an hour more each time it looks, for it can be preempted between its two
 * clocks.
 */
static int read_thread(struct timespec *ts)
{
	static atomic_uint hours;
	int failed = (int)syscall(SYS_clock_gettime, CLOCK_MONOTONIC, ts);
	double s = ((double)ts->tv_sec + (double)ts->tv_nsec / 1e9) * cpu_percent / 100;

	if (cpu_percent > 100)
		s += 3600.0 * (atomic_fetch_add(&hours, 1) + 1);
	ts->tv_sec = (time_t)s;
	ts->tv_nsec = (long)((s - (double)ts->tv_sec) * 1e9);
	return failed;
}

/* Also called before our constructor ran, and in place of the C library's whatever the mode. */
__attribute__((visibility("default"))) int clock_gettime(clockid_t id, struct timespec *ts)
{
	if (cpu_percent > 0 && id == CLOCK_THREAD_CPUTIME_ID)
		return read_thread(ts);
	if (scripted && id == CLOCK_MONOTONIC_RAW) {
		read_raw(ts);
		return 0;
	}
	if (real_gettime && !scripted)
		return real_gettime(id, ts);
	return (int)syscall(SYS_clock_gettime, id, ts);
}

static void find_real(void)
{
	void *f = dlsym(RTLD_NEXT, "clock_gettime");

	memcpy(&real_gettime, &f, sizeof(f));
}

#ifdef __x86_64__
#include <elf.h>
#include <link.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <ucontext.h>
#include <x86intrin.h>

static struct sigaction before;
static uintptr_t vdso, vdso_end;

static uint64_t read_tsc(void)
{
	uint64_t at = look(script.clock), ticks = TSC_START + at / PS_PER_TICK;

	atomic_store(&tsc_was_read, true);
	for (unsigned i = 0; i < script.steps; i++)
		if (at >= script.step[i].at)
			ticks += (uint64_t)(script.step[i].ps / PS_PER_TICK);
	return ticks;
}

static uint64_t real_tsc(void)
{
	uint64_t ticks;

	prctl(PR_SET_TSC, PR_TSC_ENABLE);
	ticks = __rdtsc();
	prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
	return ticks;
}

/* How long the rdtsc or rdtscp at CODE is; 0: it is neither. */
static unsigned reads_tsc(const unsigned char *code)
{
	if (code[0] != 0x0f)
		return 0;
	if (code[1] == 0x31)
		return 2;
	return code[1] == 0x01 && code[2] == 0xf9 ? 3 : 0;
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
	greg_t *reg = ((ucontext_t *)context)->uc_mcontext.gregs;
	uintptr_t at = (uintptr_t)reg[REG_RIP];
	/* the trap is a general protection fault: without an address */
	unsigned length = info->si_code == SI_KERNEL ? reads_tsc((const unsigned char *)at) : 0;
	int err = errno;
	uint64_t ticks;

	(void)sig;
	if (!length) { /* again, and for its own handler or its end */
		sigaction(SIGSEGV, &before, NULL);
		return;
	}
	ticks = at >= vdso && at < vdso_end ? real_tsc() : read_tsc();
	reg[REG_RIP] += length;
	reg[REG_RAX] = (greg_t)(ticks & UINT32_MAX);
	reg[REG_RDX] = (greg_t)(ticks >> 32);
	if (length == 3)
		reg[REG_RCX] = 0;
	errno = err;
}

static void find_vdso(void)
{
	const ElfW(Ehdr) *head = (const void *)getauxval(AT_SYSINFO_EHDR);
	const ElfW(Phdr) *p;

	if (!head)
		return;
	vdso = (uintptr_t)head;
	p = (const void *)(vdso + head->e_phoff);
	for (int i = 0; i < head->e_phnum; i++)
		if (p[i].p_type == PT_LOAD && vdso + p[i].p_vaddr + p[i].p_memsz > vdso_end)
			vdso_end = vdso + p[i].p_vaddr + p[i].p_memsz;
}

static const char *trap(void)
{
	struct sigaction on = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};

	find_vdso();
	if (sigaction(SIGSEGV, &on, &before))
		return strerror(errno);
	return prctl(PR_SET_TSC, PR_TSC_SIGSEGV) ? "this kernel does not trap rdtsc" : NULL;
}

static int is_verbs(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size, (void)arg;
	return strstr(info->dlpi_name, "/libibverbs.so") != NULL;
}

/* The trap outlives an exec: not for those who are on their way to the program. */
static bool concerned(void)
{
	return dl_iterate_phdr(is_verbs, NULL);
}
#else
static const char *trap(void)
{
	return "only on x86-64";
}

static bool concerned(void)
{
	return true;
}
#endif

static __attribute__((constructor)) void begin(void)
{
	const char *words = getenv("SIMVERBS_SCRIPT"), *percent = getenv("SIMVERBS_CPU"), *why;

	find_real();
	cpu_percent = percent ? strtod(percent, NULL) : 0;
	if (!words || !*words || !concerned())
		return;
	why = script_parse(&script, words);
	if (!why)
		why = trap();
	if (why) {
		fprintf(stderr, "simverbs: SIMVERBS_SCRIPT: %s\n", why);
		_exit(1);
	}
	scripted = true;
}
