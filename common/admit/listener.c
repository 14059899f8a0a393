// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "admit/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "base/clock.h"
#include "base/phase.h"
#include "base/terminal.h"
#include "proto/message.h"

#define REST_NS UINT64_C(100000000)

/*
 * Connections accepted before those that there are get their turn: fewer than there are places, so
 * that none goes before it was read from once.
 */
#define ACCEPTED_AT_ONCE (PENDING_MAX / 3)

/* Listen on address AT. Returns the descriptor, or -errno. */
static int listen_on(const struct sockaddr_storage *at, socklen_t len)
{
	int fd = socket(at->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int on = 1, off = 0, err;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (at->ss_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (bind(fd, (const struct sockaddr *)at, len) == 0 && listen(fd, SOMAXCONN) == 0)
		return fd;
	err = errno;
	close(fd);
	return -err;
}

/* The same on all addresses: IPv6 and IPv4 by one socket, or IPv4 alone if there is no IPv6. */
static int listen_on_all(uint16_t port)
{
	struct sockaddr_storage at = {.ss_family = AF_INET6};
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&at;
	int fd;

	v6->sin6_port = htons(port);
	fd = listen_on(&at, sizeof(*v6));
	if (fd != -EAFNOSUPPORT && fd != -EADDRNOTAVAIL)
		return fd;
	memset(&at, 0, sizeof(at));
	at.ss_family = AF_INET;
	((struct sockaddr_in *)&at)->sin_port = htons(port);
	return listen_on(&at, sizeof(struct sockaddr_in));
}

/* Raise the fault that listening on PORT failed with errno ERR. */
static void raise_not_listening(uint16_t port, int err, struct fault *f)
{
	fault_raise(f, FAULT_LOCAL, err, "listen on TCP port %u", port);
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
	struct sockaddr_storage at = {0};
	socklen_t size = sizeof(at);
	int len = 0;

	fault_phase(f, PHASE_LISTEN);
	*l = LISTENER_CLOSED;
	l->stop = l->signal_stop = stop;
	pending_init(&l->pending);
	if (address) {
		len = oob_own_address(address, port, &at, f);
		if (len < 0)
			return -1;
	}
	l->fd = len ? listen_on(&at, (socklen_t)len) : listen_on_all(port);
	if (l->fd < 0) {
		raise_not_listening(port, -l->fd, f);
		l->fd = -1;
		return -1;
	}
	getsockname(l->fd, (struct sockaddr *)&at, &size); /* such as "[::]:18515" */
	oob_format_address(&at, size, l->address, sizeof(l->address));
	l->port = ntohs(((struct sockaddr_in *)&at)->sin_port); /* at the same offset in IPv6 */
	return 0;
}

static void drop_connection(struct listener *l, struct pending_place *at, const char *why)
{
	const char *peer = at->oob.peer;
	size_t size = strlen(peer);

	if (strncmp(why, peer, size) == 0 && why[size] == ' ')
		why += size + 1; /* it is named already */
	if (l->log)
		terminal_note(l->log, "dropped %s: %s", peer, why);
	oob_release(&at->oob);
}

/* Give the new connection FD a place, and a deadline for its first message. */
static void add_connection(struct listener *l, int fd)
{
	struct sockaddr_storage peer = {0};
	socklen_t len = sizeof(peer);
	struct pending_place *at;
	uint64_t origin;

	getpeername(fd, (struct sockaddr *)&peer, &len);
	origin = pending_origin(&peer);
	at = pending_place_for(&l->pending, origin);
	if (at->oob.fd >= 0) {
		pending_tell_busy(at, l->busy_with);
		drop_connection(l, at, "too many connections");
	}
	*at = (struct pending_place){.origin = origin,
				     .deadline_ns = clock_now_ns() + l->patience_ns};
	oob_adopt(&at->oob, l->signal_stop, fd);
}

static void accept_connections(struct listener *l)
{
	int fd = 0;

	for (int n = 0; n < ACCEPTED_AT_ONCE && fd >= 0; n++) {
		fd = accept4(l->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd >= 0)
			add_connection(l, fd);
	}
	if (fd >= 0)
		return;
	/*
	 * Out of descriptors or memory: the connection stays in the backlog, and poll() would
	 * return at once, so the socket is not polled for a while.
	 */
	if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
		l->accept_again_ns = clock_now_ns() + REST_NS;
}

/* Read from the pending connection AT: 1 with its FIRST message, else 0. Drops it if it fails. */
static int read_first_message(struct listener *l, struct pending_place *at, json_t **first)
{
	struct fault why = {0};
	char line[1024];
	int rc = oob_poll(&at->oob, first, &why);

	if (why.code == FAULT_LOCAL) /* this end has no memory: it is no use to try again */
		message_send_fault(&at->oob, &why, clock_now_ns());
	if (rc > 0 && l->auth)
		rc = auth_receive(l->auth, &at->visit, &at->oob, first, &why);
	if (rc < 0) {
		fault_format(&why, line, sizeof(line));
		drop_connection(l, at, line);
	} else if (rc == 0 && clock_now_ns() >= at->deadline_ns) {
		snprintf(line, sizeof(line), "it connected, but %s", pending_said(at));
		drop_connection(l, at, line);
	}
	return rc > 0;
}

/*
 * The time until the first of: a pending connection's deadline, the end of listener_wait() and the
 * next attempt to accept. NULL: none of them is set.
 */
static const struct timespec *next_timeout(const struct listener *l, struct timespec *ts)
{
	uint64_t now = clock_now_ns(), next = UINT64_MAX, ns;

	for (const struct pending_place *at = l->pending.place; at < l->pending.place + PENDING_MAX;
	     at++)
		if (at->oob.fd >= 0 && at->deadline_ns < next)
			next = at->deadline_ns;
	if (l->until_ns && l->until_ns < next)
		next = l->until_ns;
	if (l->accept_again_ns > now && l->accept_again_ns < next)
		next = l->accept_again_ns;
	ns = next > now ? next - now : 0;
	*ts = clock_timespec(ns);
	return next == UINT64_MAX ? NULL : ts;
}

/*
 * Poll all connections once, and WAKE_FD (then *WOKEN). Returns a pending connection whose FIRST
 * message has come, or NULL. Only open descriptors are in the array: poll(2) refuses more entries
 * than a process may have descriptors.
 */
static struct pending_place *poll_once(struct listener *l, int wake_fd, json_t **first, bool *woken)
{
	struct pollfd p[PENDING_MAX + 2] = {{.fd = wake_fd, .events = POLLIN},
					    {.fd = l->fd, .events = POLLIN}};
	struct pending_place *at = l->pending.place;
	nfds_t n = 2, own = 2;
	struct timespec ts;

	if (l->accept_again_ns > clock_now_ns())
		p[1].fd = -1;
	for (; at < l->pending.place + PENDING_MAX; at++)
		if (at->oob.fd >= 0)
			p[n++] = (struct pollfd){.fd = at->oob.fd, .events = POLLIN};
	if (ppoll(p, n, next_timeout(l, &ts), NULL) < 0)
		return NULL;
	*woken = p[0].revents != 0;
	if (*woken)
		return NULL;
	for (at = l->pending.place; at < l->pending.place + PENDING_MAX; at++) {
		bool ready = at->oob.fd >= 0 && p[own++].revents;

		if (at->oob.fd >= 0 && (ready || clock_now_ns() >= at->deadline_ns) &&
		    read_first_message(l, at, first))
			return at;
	}
	if (p[1].revents)
		accept_connections(l);
	return NULL;
}

int listener_wait(struct listener *l, struct oob *client, json_t **first, struct fault *f)
{
	struct pending_place *who = NULL;
	int rc = 0;

	fault_phase(f, PHASE_AWAIT_CLIENT);
	while (!who && !rc) {
		bool woken = false;

		if (!l->stop->signal)
			who = poll_once(l, l->stop->fd, first, &woken);
		if (woken)
			stop_drain(l->stop);
		/* It may have been seen while what is written waited. */
		if (l->stop->signal)
			rc = stop_raise(l->stop, f);
		else if (!who && l->until_ns && clock_now_ns() >= l->until_ns)
			rc = fault_raise(f, FAULT_DEADLINE, 0, "no client connected");
	}
	l->until_ns = 0;
	if (rc)
		return -1;
	*client = who->oob;
	*who = (struct pending_place){.oob = OOB_EMPTY};
	return 0;
}

/* Let signals of STOP interrupt what is sent to pending connections; NULL: no signals. */
static void set_signal_stop(struct listener *l, struct stop *stop)
{
	l->signal_stop = stop;
	for (unsigned i = 0; i < PENDING_MAX; i++)
		l->pending.place[i].oob.stop = stop;
}

/*
 * The pending connection AT sent FIRST while a client is served. It is told why the server will
 * never serve it, or that the server is busy: then it tries again, here or at the next server.
 */
static void turn_away(struct listener *l, struct pending_place *at, json_t *first)
{
	struct fault why = {0};
	char line[1024];
	bool refused = l->vet && l->vet(l->vet_arg, first, &why);

	if (!refused && l->once && !atomic_load(&l->over)) {
		refused = true;
		fault_phase(&why, PHASE_AGREE_CLIENT);
		fault_raise(&why, FAULT_LOCAL, 0, "this server serves only one client, %s",
			    l->busy_with);
		fault_fix(&why, "start the server with --persistent to serve one client after "
				"another, or wait until it runs again");
	}
	json_decref(first);
	if (refused) {
		/* The deadline is now: a peer that does not read must not block the guard. */
		message_send_fault(&at->oob, &why, clock_now_ns());
		fault_format(&why, line, sizeof(line));
		drop_connection(l, at, line);
	} else {
		pending_tell_busy(at, l->busy_with);
		oob_release(&at->oob);
	}
}

/*
 * While a client is served: turn new ones away, until guard_fd becomes readable. The connections
 * and the log belong to this thread meanwhile.
 */
static void *guard_thread(void *arg)
{
	struct listener *l = arg;
	bool woken = false;

	while (!woken) {
		json_t *first = NULL;
		struct pending_place *who;

		who = poll_once(l, l->guard_fd, &first, &woken);
		if (who)
			turn_away(l, who, first);
	}
	return NULL;
}

int listener_guard(struct listener *l, const char *peer, struct fault *f)
{
	snprintf(l->busy_with, sizeof(l->busy_with), "%s", peer);
	/* The guard must not consume the signals that the measuring thread waits for. */
	set_signal_stop(l, NULL);
	l->guard_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (l->guard_fd < 0)
		return fault_raise(f, FAULT_LOCAL, errno, "eventfd");
	if (cgroup_thread(&l->guard, guard_thread, l, f))
		return -1;
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
	snprintf(l->busy_with, sizeof(l->busy_with), LISTENER_OTHERS);
	set_signal_stop(l, l->stop);
}

void listener_close(struct listener *l)
{
	listener_unguard(l);
	for (unsigned i = 0; i < PENDING_MAX && l->fd >= 0; i++)
		oob_release(&l->pending.place[i].oob);
	if (l->fd >= 0)
		close(l->fd);
	*l = LISTENER_CLOSED;
}
