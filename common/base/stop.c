// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/stop.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"

#define LOOK_NS UINT64_C(100000000) /* between two looks whether another thread has read a signal \
				     */

/* True if SIGHUP is ignored, as with nohup(1). A signalfd would receive it nevertheless. */
static bool hangup_is_ignored(void)
{
	struct sigaction old;

	return !sigaction(SIGHUP, NULL, &old) && old.sa_handler == SIG_IGN;
}

int stop_init(struct stop *s, struct fault *f)
{
	sigset_t set;
	int rc;

	*s = (struct stop){.fd = -1};
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	if (!hangup_is_ignored())
		sigaddset(&set, SIGHUP);
	rc = pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (rc)
		return fault_raise(f, FAULT_LOCAL, rc, "pthread_sigmask");
	s->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->fd < 0)
		return fault_raise(f, FAULT_LOCAL, errno, "signalfd");
	return 0;
}

void stop_drain(struct stop *s)
{
	struct signalfd_siginfo info;

	while (read(s->fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (!s->signal)
			s->signal = (int)info.ssi_signo;
		if (!s->count || clock_now_ns() - s->last_ns >= STOP_TOGETHER_NS)
			s->count++;
		s->last_ns = clock_now_ns();
	}
}

const char *stop_signal_name(int signal)
{
	return signal == SIGINT ? "SIGINT" : signal == SIGTERM ? "SIGTERM" : "SIGHUP";
}

int stop_raise(const struct stop *s, struct fault *f)
{
	if (!fault_is(f))
		f->signal = s->signal;
	return fault_raise(f, FAULT_INTERRUPTED, 0, "interrupted by %s",
			   stop_signal_name(s->signal));
}

/* True once for a signal that came while something was written. */
static bool take_unheard(struct stop *s)
{
	bool unheard = s->unheard;

	s->unheard = false;
	return unheard;
}

int stop_check(struct stop *s, struct fault *f)
{
	uint64_t last_ns = s->last_ns;
	bool unheard = take_unheard(s);

	stop_drain(s);
	return s->last_ns == last_ns && !unheard ? 0 : stop_raise(s, f);
}

/* Store the time until DEADLINE_NS in TS and return it; NULL if there is no deadline (0). */
static const struct timespec *time_left(uint64_t deadline_ns, struct timespec *ts)
{
	uint64_t now = clock_now_ns(), ns = deadline_ns > now ? deadline_ns - now : 0;

	if (!deadline_ns)
		return NULL;
	*ts = clock_timespec(ns);
	return ts;
}

int stop_wait_any(struct stop *s, struct pollfd *p, nfds_t n, uint64_t deadline_ns, struct fault *f)
{
	if (s && take_unheard(s))
		return stop_raise(s, f);
	p[0] = (struct pollfd){.fd = s ? s->fd : -1, .events = POLLIN};
	for (;;) {
		struct timespec ts;
		int ready = ppoll(p, n, time_left(deadline_ns, &ts), NULL);

		if (ready < 0 && errno != EINTR)
			return fault_raise(f, FAULT_LOCAL, errno, "poll");
		if (ready > 0 && p[0].revents) {
			stop_drain(s);
			if (s->signal)
				return stop_raise(s, f);
		}
		if (ready > (p[0].revents != 0)) /* one of the caller's is, too */
			return 1;
		if (ready == 0 && clock_now_ns() >= deadline_ns)
			return 0;
	}
}

int stop_wait(struct stop *s, int fd, short events, uint64_t deadline_ns, struct fault *f)
{
	struct pollfd p[2] = {[1] = {.fd = fd, .events = events}};

	return stop_wait_any(s, p, 2, deadline_ns, f);
}

/* The first of two deadlines, of which 0 is none. */
static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a && (!b || a < b) ? a : b;
}

int stop_output(struct stop *s, int fd, uint64_t begin_ns, uint64_t deadline_ns)
{
	uint64_t most_ns = s && s->output_ns ? begin_ns + s->output_ns : 0;

	for (;;) {
		struct pollfd p[2] = {{.fd = s ? s->fd : -1, .events = POLLIN},
				      {.fd = fd, .events = POLLOUT}};
		bool told = s && s->signal;
		uint64_t since_ns = told && s->last_ns > begin_ns ? s->last_ns : begin_ns;
		uint64_t until_ns = !told ? most_ns : s->count > 1 ? 1 : since_ns + STOP_OUTPUT_NS;
		uint64_t look_ns = clock_now_ns() + LOOK_NS;
		struct timespec ts;

		look_ns = earlier(look_ns, earlier(until_ns, deadline_ns));
		if (ppoll(p, 2, time_left(look_ns, &ts), NULL) < 0 && errno != EINTR)
			return -1;
		if (p[1].revents)
			return 1;
		if (p[0].revents) {
			stop_drain(s);
			s->unheard = true;
		} else if (until_ns && clock_now_ns() >= until_ns) {
			errno = told ? EINTR : EAGAIN;
			return -1;
		} else if (deadline_ns && clock_now_ns() >= deadline_ns) {
			return 0;
		}
	}
}

void stop_die(int sig)
{
	sigset_t set;

	fflush(NULL);
	signal(sig, SIG_DFL);
	raise(sig);
	sigemptyset(&set);
	sigaddset(&set, sig);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	_exit(128 + sig); /* the first process of a container, which such a signal does not end */
}

void stop_release(struct stop *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}
