// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/turns.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"

#define LEAST_NS UINT64_C(100000)
#define MOST_NS  UINT64_C(10000000)
#define WAITS_NS UINT64_C(1000000) /* without progress */
#define SLEEP_NS 50000

#ifndef sigev_notify_thread_id /* glibc before 2.38 */
#define sigev_notify_thread_id _sigev_un._tid
#endif

static void set_timer(const struct turns *t)
{
	const struct itimerspec in = {.it_value.tv_nsec = (long)t->period_ns};

	timer_settime(t->timer, 0, &in, NULL);
}

/* Returns whether another thread took the turn, and spun for as long as this one may. */
static bool yield(void)
{
	uint64_t since_ns = clock_now_ns();

	sched_yield();
	return clock_now_ns() - since_ns >= LEAST_NS;
}

static void give_turn(int signal, siginfo_t *info, void *context)
{
	const struct timespec nap = {.tv_nsec = SLEEP_NS};
	struct turns *t = info->si_value.sival_ptr;
	uint64_t seen, now_ns = clock_now_ns();
	bool waits;
	int kept = errno;

	(void)signal, (void)context;
	if (info->si_code != SI_TIMER) /* from another process */
		return;
	seen = atomic_load_explicit(t->progress, memory_order_relaxed);
	if (seen != t->seen)
		t->moved_ns = now_ns;
	waits = now_ns - t->moved_ns >= t->patience_ns;
	if ((waits || t->outranks) && nanosleep(&nap, NULL) == 0)
		t->slept_ns += SLEEP_NS;
	if (waits || (!t->outranks && yield()))
		t->period_ns = LEAST_NS;
	else
		t->period_ns = t->period_ns < MOST_NS / 2 ? t->period_ns * 2 : MOST_NS;
	t->seen = seen;
	set_timer(t);
	errno = kept;
}

int turns_begin(struct turns *t, const _Atomic uint64_t *progress, uint64_t pause_ns,
		struct fault *f)
{
	int policy = sched_getscheduler(0), class = policy & ~SCHED_RESET_ON_FORK;
	struct sigaction act = {.sa_sigaction = give_turn, .sa_flags = SA_SIGINFO | SA_RESTART};
	struct sigevent event = {
		.sigev_notify = SIGEV_THREAD_ID,
		.sigev_signo = SIGRTMIN,
		.sigev_value.sival_ptr = t,
		.sigev_notify_thread_id = gettid(),
	};

	*t = (struct turns){.progress = progress,
			    .moved_ns = clock_now_ns(),
			    .patience_ns = WAITS_NS + pause_ns,
			    .outranks = class != policy};
	if (class != SCHED_FIFO && class != SCHED_RR)
		return 0;
	sigaddset(&act.sa_mask, SIGRTMIN);
	sigaction(SIGRTMIN, &act, NULL);
	pthread_sigmask(SIG_UNBLOCK, &act.sa_mask, NULL); /* who started us may have blocked it */
	if (timer_create(CLOCK_MONOTONIC, &event, &t->timer)) {
		fault_raise(f, FAULT_LOCAL, errno, "timer_create");
		fault_cause(f, "A thread that spins in a real-time class needs a timer to let "
			       "others have its CPU");
		return fault_fix(f, "raise the limit on pending signals (ulimit -i), or start "
				    "without chrt");
	}
	t->period_ns = MOST_NS;
	set_timer(t);
	return 0;
}

void turns_end(struct turns *t)
{
	if (t->period_ns)
		timer_delete(t->timer);
	t->period_ns = 0;
}
