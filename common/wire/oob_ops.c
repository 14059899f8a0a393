// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "wire/oob_ops.h"

#include <errno.h>
#include <fcntl.h>
#include <rdma/rsocket.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "verbs/cm.h"

/*
 * The longest rpoll() of a listening rsocket. A thread of librdmacm accepts connections; rpoll()
 * (44.0) sleeps on the descriptor that this thread reads, not on the one it writes, so it would
 * notice a connection up to 5 s late.
 */
#define LISTEN_MS 20

static int tcp_socket(int family)
{
	return socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

static int tcp_accept(int fd)
{
	return accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

static ssize_t tcp_send(int fd, const void *data, size_t size)
{
	return send(fd, data, size, MSG_NOSIGNAL);
}

static ssize_t tcp_recv(int fd, void *data, size_t size)
{
	return recv(fd, data, size, MSG_DONTWAIT);
}

static int tcp_poll(struct pollfd *p, nfds_t n, const struct timespec *ts)
{
	return ppoll(p, n, ts, NULL);
}

static int tcp_check(struct fault *f)
{
	(void)f;
	return 0;
}

static const struct oob_ops tcp = {
	.name = "tcp",
	.port = "TCP port",
	.socket = tcp_socket,
	.bind = bind,
	.listen = listen,
	.accept = tcp_accept,
	.connect = connect,
	.send = tcp_send,
	.recv = tcp_recv,
	.getsockopt = getsockopt,
	.setsockopt = setsockopt,
	.getsockname = getsockname,
	.getpeername = getpeername,
	.poll = tcp_poll,
	.close = close,
	.check = tcp_check,
};

const struct oob_ops *oob_ops_tcp(void)
{
	return &tcp;
}

static int rdma_unblock(int fd)
{
	int err;

	if (fd < 0 || rfcntl(fd, F_SETFL, O_NONBLOCK) == 0)
		return fd;
	err = errno;
	rclose(fd);
	errno = err;
	return -1;
}

static int rdma_socket(int family)
{
	return rdma_unblock(rsocket(family, SOCK_STREAM, 0));
}

static int rdma_accept_one(int fd)
{
	return rdma_unblock(raccept(fd, NULL, NULL));
}

static ssize_t rdma_send(int fd, const void *data, size_t size)
{
	return rsend(fd, data, size, 0);
}

static ssize_t rdma_recv(int fd, void *data, size_t size)
{
	return rrecv(fd, data, size, 0);
}

/*
 * Poll with a timerfd for the timeout. An rpoll() (44.0) that times out does not decrement its
 * count of callers, after which the next event of a connection makes every rpoll() spin for ever.
 */
static int rdma_poll(struct pollfd *p, nfds_t n, const struct timespec *ts)
{
	struct itimerspec timer = {.it_value = ts ? *ts : (struct timespec){0}};
	struct pollfd *all;
	int fd, ready = -1;

	if (!ts || (!ts->tv_sec && !ts->tv_nsec))
		return rpoll(p, n, ts ? 0 : -1);
	fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	all = calloc(n + 1, sizeof(*all));
	if (fd >= 0 && all && timerfd_settime(fd, 0, &timer, NULL) == 0) {
		memcpy(all, p, n * sizeof(*p));
		all[n] = (struct pollfd){.fd = fd, .events = POLLIN};
		ready = rpoll(all, n + 1, -1);
		memcpy(p, all, n * sizeof(*p));
		if (ready > 0 && all[n].revents)
			ready--;
	}
	free(all);
	if (fd >= 0)
		close(fd);
	return ready;
}

static const struct oob_ops rdma_cm = {
	.name = "rdma_cm",
	.port = "rdma_cm port",
	.socket = rdma_socket,
	.bind = rbind,
	.listen = rlisten,
	.accept = rdma_accept_one,
	.connect = rconnect,
	.send = rdma_send,
	.recv = rdma_recv,
	.getsockopt = rgetsockopt,
	.setsockopt = rsetsockopt,
	.getsockname = rgetsockname,
	.getpeername = rgetpeername,
	.poll = rdma_poll,
	.listen_ms = LISTEN_MS,
	.close = rclose,
	.check = cm_check,
};

const struct oob_ops *oob_ops_rdma_cm(void)
{
	return &rdma_cm;
}
