// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "peer.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <linux/futex.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "admit/listener.h"
#include "base/clock.h"
#include "memory/memory.h"
#include "measure/watch.h"
#include "proto/message.h"

#define MEMORY_MAX    ((size_t)16 << 20)
#define STRANGERS_MAX 40

static struct {
	pthread_mutex_t mutex;
	pthread_t main;
	struct fuzz_input script;
	bool silent, over;
	bool server;
	_Atomic unsigned polls, bad_poll; /* of CQs: calls so far, and the one that fails */
	_Atomic unsigned asleep;          /* threads beside main that wait in ppoll() */
	_Atomic unsigned waits;           /* how often one has begun to; a futex */
	unsigned idle;                    /* calls since this end has answered all that was said */
	int fd;                           /* the peer's end of the connection, -1: none */
	int listener_fd; /* this end's listening socket, -1: this end is the client */
	int signal_fd;
	struct sockaddr_un listener;
	socklen_t listener_len;
	int stranger[STRANGERS_MAX];
	unsigned strangers;
	_Atomic uint64_t passed_ns; /* by which time has been moved on */
} peer = {.mutex = PTHREAD_MUTEX_INITIALIZER, .fd = -1, .listener_fd = -1, .signal_fd = -1};

void peer_start(const struct fuzz_input *script, bool silent, unsigned bad_poll)
{
	peer.main = pthread_self();
	peer.script = *script;
	peer.silent = silent;
	peer.over = false;
	peer.polls = 0;
	peer.bad_poll = bad_poll;
	peer.idle = 0;
	peer.server = false;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void peer_end(void)
{
	close_fd(&peer.fd);
	close_fd(&peer.signal_fd);
	peer.listener_fd = -1;
	while (peer.strangers)
		close(peer.stranger[--peer.strangers]);
}

/* A new connection to the server's listener, -1 if nobody listens any more. */
static int knock(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd >= 0 && (peer.listener_fd < 0 ||
			connect(fd, (struct sockaddr *)&peer.listener, peer.listener_len)))
		close_fd(&fd);
	return fd;
}

/* Take what this end has sent, so that it never finds the connection full. */
static void listen_to(int fd)
{
	char buf[4096];

	while (fd >= 0 && recv(fd, buf, sizeof(buf), MSG_DONTWAIT) > 0)
		;
}

static void say(const struct script_step *step)
{
	if (peer.fd < 0 && peer.listener_fd >= 0)
		peer.fd = knock();
	if (peer.fd < 0 || send(peer.fd, step->bytes, step->size, MSG_NOSIGNAL) >= 0 ||
	    peer.listener_fd < 0)
		return;
	/* The server has dropped us: again, as another client. */
	close_fd(&peer.fd);
	peer.fd = knock();
	if (peer.fd >= 0)
		send(peer.fd, step->bytes, step->size, MSG_NOSIGNAL);
}

static void send_signal(int signal)
{
	struct signalfd_siginfo info = {.ssi_signo = (uint32_t)signal};

	if (peer.signal_fd >= 0 && write(peer.signal_fd, &info, sizeof(info)) < 0)
		peer.over = true;
}

static void do_step(const struct script_step *step)
{
	int fd;

	switch (step->kind) {
	case SCRIPT_SEND:
		say(step);
		break;
	case SCRIPT_SIGNAL:
		send_signal(SIGTERM);
		break;
	case SCRIPT_STRANGER:
		fd = peer.strangers < STRANGERS_MAX ? knock() : -1;
		if (fd < 0)
			break;
		peer.stranger[peer.strangers++] = fd;
		send(fd, step->bytes, step->size, MSG_NOSIGNAL);
	}
}

/* The next step, and those at once behind it; false if there is none. */
static bool feed(void)
{
	struct script_step step;
	bool fed = false;

	pthread_mutex_lock(&peer.mutex);
	listen_to(peer.fd);
	if (!peer.over) {
		fed = true;
		do {
			if (!script_next(&peer.script, &step))
				break;
			do_step(&step);
			script_release(&step);
		} while (peer.script.left && *peer.script.at == '>');
		peer.over = !peer.script.left;
		if (peer.over && !peer.silent && peer.fd >= 0)
			shutdown(peer.fd, SHUT_WR);
	}
	pthread_mutex_unlock(&peer.mutex);
	return fed;
}

/* Has this end taken all that was said to it? */
static bool all_taken(void)
{
	int bytes = 0;

	return peer.fd < 0 || ioctl(peer.fd, SIOCOUTQ, &bytes) || bytes == 0;
}

/*
 * True if the other thread also acted on it, and waits for more. It leaves ppoll()
 * before it takes anything, so the order of the questions matters.
 */
static bool all_answered(void)
{
	return all_taken() && peer.asleep;
}

static jmp_buf died; /* where stop_die() returns to */

int peer_run(int (*main_of)(int argc, char **argv), int argc, char **argv)
{
	int signal = setjmp(died);

	return signal ? 128 + signal : main_of(argc, argv);
}

/* What follows stands in for the functions of those names. */

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
	close_fd(&peer.fd);
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
	fault_phase(f, "listening for the client");
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
	longjmp(died, signal);
}

int __wrap_oob_send(struct oob *o, json_t *m, uint64_t deadline_ns, struct fault *f)
{
	bool waits =
		m && !message_is(m, "busy") && !message_is(m, "error") && !message_is(m, "alive");
	int rc = __real_oob_send(o, m, deadline_ns, f);

	if (waits)
		feed();
	return rc;
}

int __wrap_ppoll(struct pollfd *p, nfds_t n, const struct timespec *ts, const sigset_t *mask)
{
	static const struct timespec none, second = {.tv_sec = 1};
	int rc = __real_ppoll(p, n, &none, mask);

	if (rc || (ts && !ts->tv_sec && !ts->tv_nsec))
		return rc;
	if (!pthread_equal(pthread_self(), peer.main)) {
		peer.asleep++;
		peer.waits++;
		syscall(SYS_futex, &peer.waits, FUTEX_WAKE, 1, NULL, NULL, 0);
		rc = __real_ppoll(p, n, ts, mask);
		peer.asleep--;
		return rc;
	}
	/* A mere pause waits for nobody. */
	while (n > 1 && p[1].fd >= 0 && feed()) {
		rc = __real_ppoll(p, n, &none, mask);
		if (rc)
			return rc;
	}
	if (!ts) {
		send_signal(SIGTERM);
		return __real_ppoll(p, n, &second, mask);
	}
	peer.passed_ns += (uint64_t)ts->tv_sec * 1000000000 + (uint64_t)ts->tv_nsec;
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

uint64_t __wrap_clock_now_ns(void)
{
	return __real_clock_now_ns() + peer.passed_ns;
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
		peer.idle = all_answered() ? peer.idle + 1 : 0;
		if (peer.idle > 100) {
			peer.idle = 0;
			feed();
		}
	}
	return got;
}

/*
 * A server without a loop. A thread that has ended waits for nothing: then the next word comes
 * after 0.1 s all the same. It may have ended because of the last word: so that is asked last.
 */
void __wrap_watch_join(struct watch *w)
{
	static const struct timespec longest = {.tv_nsec = 100000000};

	while (w->running && !w->done && !fault_is(&w->fault)) {
		unsigned waits = peer.waits;

		if (!all_answered() &&
		    (syscall(SYS_futex, &peer.waits, FUTEX_WAIT, waits, &longest, NULL, 0) == 0 ||
		     errno != ETIMEDOUT))
			continue;
		if (w->done || !feed())
			break;
	}
	__real_watch_join(w);
}
