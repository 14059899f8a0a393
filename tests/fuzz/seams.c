// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <infiniband/verbs.h>
#include <linux/futex.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/phase.h"
#include "peer_state.h"

#include "admit/listener.h"
#include "base/clock.h"
#include "measure/watch.h"
#include "memory/memory.h"
#include "proto/message.h"

#define MEMORY_MAX ((size_t)16 << 20)
#define STEP_NS    2000000 /* of time, between two readings */
#define WAITS_MAX  10      /* for a thread to wait again, 10 ms each */

/* Each stands in for the function of its name, by the linker's --wrap. */

int __wrap_oob_connect(struct oob *o, struct stop *stop, const struct oob_connect_attr *whom,
		       uint64_t deadline_ns, struct fault *f);
int __wrap_listener_open(struct listener *d, const char *address, uint16_t port, struct stop *stop,
			 struct fault *f);
int __wrap_stop_init(struct stop *s, struct fault *f);
void __wrap_stop_die(int signal) __attribute__((noreturn));
int __wrap_oob_send(struct oob *o, json_t *m, uint64_t deadline_ns, struct fault *f);
int __real_oob_send(struct oob *o, json_t *m, uint64_t deadline_ns, struct fault *f);
int __wrap_ppoll(struct pollfd *p, nfds_t n, const struct timespec *ts, const sigset_t *mask);
int __real_ppoll(struct pollfd *p, nfds_t n, const struct timespec *ts, const sigset_t *mask);
int __wrap_getsockname(int fd, struct sockaddr *sa, socklen_t *len);
int __real_getsockname(int fd, struct sockaddr *sa, socklen_t *len);
int __wrap_getpeername(int fd, struct sockaddr *sa, socklen_t *len);
void __wrap_watch_join(struct watch *w);
void __real_watch_join(struct watch *w);
uint64_t __wrap_clock_now_ns(void);
uint64_t __real_clock_now_ns(void);
void __wrap_clock_calibrate(struct clock *c);
int __wrap_clock_check(struct clock *c, struct fault *f);
int __wrap_null_poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc);
int __real_null_poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc);
int __wrap_memory_alloc(struct memory *m, const struct memory_attr *attr, struct fault *f);
int __real_memory_alloc(struct memory *m, const struct memory_attr *attr, struct fault *f);

int __wrap_oob_connect(struct oob *o, struct stop *stop, const struct oob_connect_attr *whom,
		       uint64_t deadline_ns, struct fault *f)
{
	int pair[2];

	(void)deadline_ns;
	*o = OOB_EMPTY;
	peer_close(&peer.fd);
	if (peer.over || socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair))
		return fault_raise(f, FAULT_DEADLINE, ECONNREFUSED, "Couldn't connect to %s:%u",
				   whom->host, whom->port);
	peer.fd = pair[1];
	oob_adopt(o, stop, pair[0]);
	return 0;
}

int __wrap_listener_open(struct listener *d, const char *address, uint16_t port, struct stop *stop,
			 struct fault *f)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};

	(void)address;
	fault_phase(f, PHASE_LISTEN);
	*d = LISTENER_CLOSED;
	d->stop = stop;
	pending_init(&d->pending);
	d->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	peer.listener_len = sizeof(peer.listener);
	/* An address without a name: the kernel finds one that is free. */
	if (d->fd < 0 || bind(d->fd, (struct sockaddr *)&name, sizeof(sa_family_t)) ||
	    listen(d->fd, STRANGERS_MAX + 8))
		abort();
	if (__real_getsockname(d->fd, (struct sockaddr *)&peer.listener, &peer.listener_len))
		abort();
	peer.listener_fd = d->fd;
	peer.server = true;
	d->port = port;
	snprintf(d->address, sizeof(d->address), "[::]:%u", port);
	return 0;
}

/* Signals come through a pipe. */
int __wrap_stop_init(struct stop *s, struct fault *f)
{
	int end[2];

	(void)f;
	if (pipe2(end, O_NONBLOCK | O_CLOEXEC))
		abort();
	*s = (struct stop){.fd = end[0]};
	peer.signal_fd = end[1];
	return 0;
}

void __wrap_stop_die(int signal)
{
	peer_die(signal);
}

int __wrap_oob_send(struct oob *o, json_t *m, uint64_t deadline_ns, struct fault *f)
{
	bool waits =
		m && !message_is(m, "busy") && !message_is(m, "error") && !message_is(m, "alive");
	int rc = __real_oob_send(o, m, deadline_ns, f);

	if (waits)
		peer_feed();
	return rc;
}

/* Is this the thread that answers strangers? It takes nothing that the peer says. */
static bool listens(const struct pollfd *p, nfds_t n)
{
	static _Thread_local bool it_does;

	if (!pthread_equal(pthread_self(), peer.main))
		for (nfds_t i = 0; i < n; i++)
			it_does |= p[i].fd >= 0 && p[i].fd == peer.listener_fd;
	return it_does;
}

static void pass(const struct timespec *ts)
{
	peer.passed_ns += (uint64_t)ts->tv_sec * 1000000000 + (uint64_t)ts->tv_nsec;
}

int __wrap_ppoll(struct pollfd *p, nfds_t n, const struct timespec *ts, const sigset_t *mask)
{
	static const struct timespec none, second = {.tv_sec = 1};
	int rc = __real_ppoll(p, n, &none, mask);

	if (rc || (ts && !ts->tv_sec && !ts->tv_nsec))
		return rc;
	if (listens(p, n))
		return __real_ppoll(p, n, ts, mask);
	if (!pthread_equal(pthread_self(), peer.main)) {
		peer.asleep++;
		peer.waits++;
		syscall(SYS_futex, &peer.waits, FUTEX_WAKE, 1, NULL, NULL, 0);
		rc = __real_ppoll(p, n, ts, mask);
		peer.asleep--;
		if (rc == 0 && ts)
			pass(ts);
		return rc;
	}
	/* A pause waits for no message. */
	while (n > 1 && p[1].fd >= 0 && peer_feed()) {
		rc = __real_ppoll(p, n, &none, mask);
		if (rc)
			return rc;
	}
	if (!ts) {
		peer_signal(SIGTERM);
		return __real_ppoll(p, n, &second, mask);
	}
	pass(ts);
	return 0;
}

static int loopback(struct sockaddr *sa, socklen_t *len, uint16_t port)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(port)};

	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (*len < sizeof(in))
		abort();
	memcpy(sa, &in, sizeof(in));
	*len = sizeof(in);
	return 0;
}

int __wrap_getsockname(int fd, struct sockaddr *sa, socklen_t *len)
{
	(void)fd;
	return loopback(sa, len, 18515);
}

int __wrap_getpeername(int fd, struct sockaddr *sa, socklen_t *len)
{
	(void)fd;
	return loopback(sa, len, 40000);
}

/*
 * Time passes as it does, but in steps of at most STEP_NS, so that no deadline passes while the
 * machine stops for seconds. What a wait was for is added whole.
 */
uint64_t __wrap_clock_now_ns(void)
{
	uint64_t now = __real_clock_now_ns(), before = atomic_exchange(&peer.read_ns, now);

	if (now > before)
		peer.passed_ns += now - before < STEP_NS ? now - before : STEP_NS;
	return peer.passed_ns;
}

/* Takes a millisecond, and is not what we look at. */
void __wrap_clock_calibrate(struct clock *c)
{
	(void)c;
}

/* Nor is this, which needs the other. */
int __wrap_clock_check(struct clock *c, struct fault *f)
{
	(void)c;
	(void)f;
	return 0;
}

/* A machine of little memory. */
int __wrap_memory_alloc(struct memory *m, const struct memory_attr *attr, struct fault *f)
{
	if (attr->bytes <= MEMORY_MAX)
		return __real_memory_alloc(m, attr, f);
	*m = (struct memory){.bytes = 0};
	return fault_raise(f, FAULT_LOCAL, ENOMEM, "mmap(%zu)", attr->bytes);
}

/*
 * In null mode the CQ is never empty; the loops look for the end of the run only when it is. A
 * server's loop that goes on when all has been answered waits for the next word.
 */
int __wrap_null_poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	unsigned call = ++peer.polls;
	int got = call % 3 ? __real_null_poll_cq(cq, n, wc) : 0;

	if (got > 0 && peer.bad_poll && call >= peer.bad_poll) {
		peer.bad_poll = 0;
		wc[0].status = IBV_WC_RETRY_EXC_ERR;
	}
	if (peer.server && call % 1024 == 0) {
		peer.idle = peer_all_answered() ? peer.idle + 1 : 0;
		if (peer.idle > 100) {
			peer.idle = 0;
			peer_feed();
		}
	}
	return got;
}

/*
 * A server without a loop. A thread that has ended waits for nothing: then the next word comes
 * after WAITS_MAX waits all the same. It may have ended because of the last word: so that is asked
 * last.
 */
void __wrap_watch_join(struct watch *w)
{
	static const struct timespec longest = {.tv_nsec = 10000000};
	unsigned in_vain = 0;

	while (w->by && !w->done && !fault_is(&w->fault)) {
		unsigned waits = peer.waits;

		if (!peer_all_answered() && in_vain < WAITS_MAX) {
			bool woken = syscall(SYS_futex, &peer.waits, FUTEX_WAIT, waits, &longest,
					     NULL, 0) == 0 ||
				     errno != ETIMEDOUT;
			in_vain = woken ? 0 : in_vain + 1;
			continue;
		}
		in_vain = 0;
		if (w->done || !peer_feed())
			break;
	}
	__real_watch_join(w);
}
