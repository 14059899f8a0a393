// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "wire/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "wire/message.h"

#define REST_NS UINT64_C(100000000)

/* Listen on address AT. Returns the descriptor, or -errno. */
static int listen_on(const struct oob_ops *ops, const struct sockaddr_storage *at, socklen_t len)
{
	int fd = ops->socket(at->ss_family);
	int on = 1, off = 0, err;

	if (fd < 0)
		return -errno;
	ops->setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (at->ss_family == AF_INET6)
		ops->setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (ops->bind(fd, (const struct sockaddr *)at, len) == 0 &&
	    ops->listen(fd, LISTENER_PENDING_MAX) == 0)
		return fd;
	err = errno;
	ops->close(fd);
	return -err;
}

/* The same on all addresses: IPv6 and IPv4 by one socket, or IPv4 alone if there is no IPv6. */
static int listen_on_all(const struct oob_ops *ops, uint16_t port)
{
	struct sockaddr_storage at = {.ss_family = AF_INET6};
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&at;
	int fd;

	v6->sin6_port = htons(port);
	fd = listen_on(ops, &at, sizeof(*v6));
	if (fd != -EAFNOSUPPORT && fd != -EADDRNOTAVAIL)
		return fd;
	memset(&at, 0, sizeof(at));
	at.ss_family = AF_INET;
	((struct sockaddr_in *)&at)->sin_port = htons(port);
	return listen_on(ops, &at, sizeof(struct sockaddr_in));
}

/* Store the address that the socket has got, such as "[::]:18515", and its port. */
static void remember_address(struct listener *l)
{
	struct sockaddr_storage sa = {0};
	socklen_t len = sizeof(sa);

	l->ops->getsockname(l->fd, (struct sockaddr *)&sa, &len);
	oob_format_address(&sa, len, l->address, sizeof(l->address));
	l->port = ntohs(((struct sockaddr_in *)&sa)->sin_port); /* at the same offset in IPv6 */
}

/* Raise the fault that listening on PORT failed with errno ERR. */
static void raise_not_listening(const struct oob_ops *ops, uint16_t port, int err, struct fault *f)
{
	fault_raise(f, FAULT_LOCAL, err, "listen on %s %u", ops->port, port);
	if (err == EADDRINUSE)
		fault_cause(f, "Another program on this host, perhaps another server, already "
			       "listens there");
	if (err == EADDRINUSE || err == EACCES)
		fault_fix(f, "choose another port with -p on both ends, or -p 0 for any free one");
	else if (err == EMFILE)
		fault_fix(f, "raise the limit on open files (ulimit -n)");
}

int listener_open(struct listener *l, const char *address, uint16_t port, struct stop *stop,
		  struct fault *f)
{
	const struct oob_ops *ops = l->ops;
	struct sockaddr_storage at;
	int len = 0;

	fault_phase(f, "listening for the client");
	*l = LISTENER_CLOSED;
	l->ops = ops;
	l->stop = l->signal_stop = stop;
	for (int i = 0; i < LISTENER_PENDING_MAX; i++)
		l->pending[i].oob = OOB_EMPTY;
	if (ops->check(f))
		return -1;
	if (address) {
		len = oob_own_address(address, port, &at, f);
		if (len < 0)
			return -1;
	}
	l->fd = len ? listen_on(ops, &at, (socklen_t)len) : listen_on_all(ops, port);
	if (l->fd < 0) {
		raise_not_listening(ops, port, -l->fd, f);
		l->fd = -1;
		return -1;
	}
	remember_address(l);
	return 0;
}

static void drop_connection(struct listener *l, int i, const char *why)
{
	const char *peer = l->pending[i].oob.peer;
	size_t size = strlen(peer);

	if (strncmp(why, peer, size) == 0 && why[size] == ' ')
		why += size + 1; /* it is named already */
	peer_log(&l->log, peer, "dropped %s: %s", peer, why);
	oob_release(&l->pending[i].oob);
}

/* Index for a new connection: a free one, else that of the connection that has waited longest. */
static int find_pending_slot(struct listener *l)
{
	int oldest = 0;

	for (int i = 0; i < LISTENER_PENDING_MAX; i++) {
		if (l->pending[i].oob.fd < 0)
			return i;
		if (l->pending[i].deadline_ns < l->pending[oldest].deadline_ns)
			oldest = i;
	}
	return oldest;
}

/* Accept all connections there are; each gets a deadline for its first message. */
static void accept_connections(struct listener *l)
{
	int fd, place;

	while ((fd = l->ops->accept(l->fd)) >= 0) {
		place = find_pending_slot(l);
		if (l->pending[place].oob.fd >= 0)
			drop_connection(l, place, "too many silent connections");
		l->pending[place].visit = (struct auth_visit){""};
		oob_adopt(&l->pending[place].oob, l->ops, l->signal_stop, fd);
		l->pending[place].deadline_ns = clock_now_ns() + l->patience_ns;
	}
	/*
	 * Out of descriptors or memory: the connection stays in the backlog, and poll() would
	 * return at once, so the socket is not polled for a while.
	 */
	if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
		l->accept_again_ns = clock_now_ns() + REST_NS;
}

/* Read from pending connection I: 1 with its FIRST message, else 0. Drops it if it fails. */
static int read_first_message(struct listener *l, int i, json_t **first)
{
	struct fault why = {0};
	char line[1024];
	int rc = oob_poll(&l->pending[i].oob, first, &why);

	if (rc > 0 && l->auth)
		rc = auth_receive(l->auth, &l->pending[i].visit, &l->pending[i].oob, first, &why);
	if (rc < 0) {
		fault_format(&why, line, sizeof(line));
		drop_connection(l, i, line);
	} else if (rc == 0 && clock_now_ns() >= l->pending[i].deadline_ns) {
		drop_connection(l, i, "it connected, but sent nothing");
	}
	return rc > 0;
}

/*
 * Milliseconds until the first of: a pending connection's deadline, the end of listener_wait(), the
 * next attempt to accept, the next message to the waitlist. -1: none of them is set.
 */
static int next_timeout(const struct listener *l)
{
	uint64_t now = clock_now_ns(), next = waitlist_due_ns(&l->waitlist);

	for (int i = 0; i < LISTENER_PENDING_MAX; i++)
		if (l->pending[i].oob.fd >= 0 && l->pending[i].deadline_ns < next)
			next = l->pending[i].deadline_ns;
	if (l->until_ns && l->until_ns < next)
		next = l->until_ns;
	if (l->accept_again_ns > now && l->accept_again_ns < next)
		next = l->accept_again_ns;
	if (next == UINT64_MAX)
		return -1;
	if (next <= now)
		return 0;
	next = (next - now) / 1000000 + 1;
	return next > INT_MAX ? INT_MAX : (int)next;
}

/* Poll for MS milliseconds (negative: forever), or less if the transport may miss a connection. */
static int poll_ms(const struct oob_ops *ops, struct pollfd *p, nfds_t n, int ms)
{
	struct timespec ts;

	if (ops->listen_ms && (ms < 0 || ms > ops->listen_ms))
		ms = ops->listen_ms;
	ts = (struct timespec){.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
	return ops->poll(p, n, ms < 0 ? NULL : &ts);
}

/*
 * Poll all connections once, and WAKE_FD (then *WOKEN). Returns index + 1 of a pending connection
 * whose FIRST message has come, or 0. Only open descriptors are in the array: poll(2) refuses more
 * entries than a process may have descriptors.
 */
static int poll_once(struct listener *l, int wake_fd, json_t **first, bool *woken)
{
	struct pollfd p[LISTENER_PENDING_MAX + WAITLIST_PLACES + 2] = {
		{.fd = wake_fd, .events = POLLIN}, {.fd = l->fd, .events = POLLIN}};
	nfds_t n = 2;

	if (l->accept_again_ns > clock_now_ns())
		p[1].fd = -1;
	for (int i = 0; i < LISTENER_PENDING_MAX; i++)
		if (l->pending[i].oob.fd >= 0)
			p[n++] = (struct pollfd){.fd = l->pending[i].oob.fd, .events = POLLIN};
	n += waitlist_polled(&l->waitlist, p + n);
	if (poll_ms(l->ops, p, n, next_timeout(l)) < 0)
		return 0;
	*woken = p[0].revents != 0;
	if (*woken)
		return 0;
	for (int i = 0; i < LISTENER_PENDING_MAX; i++)
		if (l->pending[i].oob.fd >= 0 && read_first_message(l, i, first))
			return i + 1;
	if (p[1].revents)
		accept_connections(l);
	return 0;
}

/* Wait until a pending connection, *WHO, has sent its FIRST message. Returns 0, or -1. */
static int wait_for_first_message(struct listener *l, json_t **first, int *who, struct fault *f)
{
	for (;;) {
		bool woken = false;

		*who = poll_once(l, l->stop->fd, first, &woken) - 1;
		if (woken) {
			stop_drain(l->stop);
			if (l->stop->signal)
				return stop_raise(l->stop, f);
		}
		if (*who >= 0)
			return 0;
		if (l->until_ns && clock_now_ns() >= l->until_ns)
			return fault_raise(f, FAULT_DEADLINE, 0, "no client connected");
	}
}

int listener_wait(struct listener *l, struct oob *client, json_t **first, struct fault *f)
{
	int who, rc;

	fault_phase(f, "waiting for the client");
	if (waitlist_next(&l->waitlist, client, first, &l->log)) {
		client->stop = l->stop;
		l->until_ns = 0;
		return 0;
	}
	rc = wait_for_first_message(l, first, &who, f);
	l->until_ns = 0;
	if (rc)
		return -1;
	*client = l->pending[who].oob;
	l->pending[who].oob = OOB_EMPTY;
	return 0;
}

/* Let signals of STOP interrupt what is sent to pending connections; NULL: no signals. */
static void set_signal_stop(struct listener *l, struct stop *stop)
{
	l->signal_stop = stop;
	for (int i = 0; i < LISTENER_PENDING_MAX; i++)
		l->pending[i].oob.stop = stop;
}

/*
 * Called by the guard thread for a client that connects while another one is served. Returns -1
 * with WHY if the server would refuse its FIRST message, or serves one client only; else 0.
 */
static int refuse_connection(const struct listener *l, const json_t *first, struct fault *why)
{
	if (l->vet && l->vet(l->vet_arg, first, why))
		return -1;
	if (!l->once)
		return 0;
	fault_phase(why, "agreeing with the client");
	fault_raise(why, FAULT_LOCAL, 0, "this server serves only one client, %s", l->busy_with);
	return fault_fix(why, "start the server with --persistent to serve one client after "
			      "another, or wait until it runs again");
}

/* Pending connection I sent FIRST while a client is served: refuse it, or let it wait. */
static void refuse_or_enqueue(struct listener *l, int i, json_t *first)
{
	struct oob *o = &l->pending[i].oob;
	struct fault why = {0}, ignored = {0};
	json_t *answer;
	char line[1024];

	if (atomic_load(&l->over)) { /* the server ends: a client that gets no answer retries */
		json_decref(first);
		oob_release(o);
		return;
	}
	if (refuse_connection(l, first, &why)) {
		fault_format(&why, line, sizeof(line));
		answer = message_from_fault(&why);
	} else if (waitlist_join(&l->waitlist, o, first)) {
		*o = OOB_EMPTY;
		return;
	} else {
		snprintf(line, sizeof(line), "the queue is full");
		answer = json_pack("{s:s, s:s}", "type", "busy", "with", l->busy_with);
	}
	json_decref(first);
	/* The deadline is now: a peer that does not read must not block the guard. */
	oob_send(o, answer, clock_now_ns(), &ignored);
	drop_connection(l, i, line);
}

/*
 * While a client is served: refuse new ones, or add them to the waitlist, until guard_fd becomes
 * readable. The waitlist and the log belong to this thread meanwhile.
 */
static void *guard_thread(void *arg)
{
	struct listener *l = arg;
	bool woken = false;

	while (!woken) {
		json_t *first = NULL;
		int who;

		waitlist_notify(&l->waitlist, l->busy_with, &l->log);
		who = poll_once(l, l->guard_fd, &first, &woken);
		if (who)
			refuse_or_enqueue(l, who - 1, first);
		waitlist_drop_gone(&l->waitlist, &l->log);
	}
	return NULL;
}

int listener_guard(struct listener *l, const char *peer, struct fault *f)
{
	int rc;

	snprintf(l->busy_with, sizeof(l->busy_with), "%s", peer);
	waitlist_notify_again(&l->waitlist);
	/* The guard must not consume the signals that the measuring thread waits for. */
	set_signal_stop(l, NULL);
	l->guard_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (l->guard_fd < 0)
		return fault_raise(f, FAULT_LOCAL, errno, "eventfd");
	rc = pthread_create(&l->guard, NULL, guard_thread, l);
	if (rc)
		return fault_raise(f, FAULT_LOCAL, rc, "pthread_create");
	l->guarding = true;
	return 0;
}

void listener_over(struct listener *l)
{
	atomic_store(&l->over, l->once);
}

void listener_unguard(struct listener *l)
{
	if (l->guarding) {
		eventfd_write(l->guard_fd, 1);
		pthread_join(l->guard, NULL);
	}
	if (l->guard_fd >= 0)
		close(l->guard_fd);
	l->guard_fd = -1;
	l->guarding = false;
	set_signal_stop(l, l->stop);
}

void listener_close(struct listener *l)
{
	listener_unguard(l);
	waitlist_end(&l->waitlist);
	for (int i = 0; l->fd >= 0 && i < LISTENER_PENDING_MAX; i++)
		oob_release(&l->pending[i].oob);
	if (l->fd >= 0)
		l->ops->close(l->fd);
	*l = LISTENER_CLOSED;
}
