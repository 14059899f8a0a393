// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/stop.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"

/* nohup(1) ignores SIGHUP for us. A signalfd would deliver it all the same. */
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

static int timeout_ms(uint64_t deadline_ns)
{
	uint64_t now = clock_now_ns(), ms;

	if (!deadline_ns)
		return -1;
	if (now >= deadline_ns)
		return 0;
	ms = (deadline_ns - now + 999999) / 1000000;
	return ms > INT_MAX ? INT_MAX : (int)ms;
}

int stop_wait(struct stop *s, int fd, short events, uint64_t deadline_ns, struct fault *f)
{
	struct pollfd p[2] = {{.fd = s ? s->fd : -1, .events = POLLIN},
			      {.fd = fd, .events = events}};

	for (;;) {
		int ms = timeout_ms(deadline_ns);
		int n = poll(p, 2, ms);

		if (n < 0 && errno != EINTR)
			return fault_raise(f, FAULT_LOCAL, errno, "poll");
		if (n > 0 && p[0].revents) {
			stop_drain(s);
			if (s->signal)
				return stop_raise(s, f);
		}
		if (n > 0 && p[1].revents)
			return 1;
		if (n == 0 && clock_now_ns() >= deadline_ns)
			return 0;
	}
}

void stop_release(struct stop *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}
