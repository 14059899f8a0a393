// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "admit/listener.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "base/clock.h"
#include "proto/message.h"

#define REST_NS UINT64_C(100000000)

/*
 * Connections accepted before those that there are get their turn: fewer than there are places, so
 * that none goes before it was read from once.
 */
#define ACCEPTED_AT_ONCE ((PENDING_MAX - PENDING_WAITING_MAX) / 2)

static void drop_connection(struct listener *l, struct pending_place *at, const char *why)
{
	const char *peer = at->oob.peer;
	size_t size = strlen(peer);

	if (strncmp(why, peer, size) == 0 && why[size] == ' ')
		why += size + 1; /* it is named already */
	peer_log(&l->log, "dropped %s: %s", peer, why);
	json_decref(at->first);
	at->first = NULL;
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
		pending_tell_busy(at, l->busy_with, false);
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

/* True if the client AT, which waits for its turn, is connected and silent; else it is dropped. */
static bool still_waits(struct listener *l, struct pending_place *at)
{
	struct fault why = {0};
	json_t *m = NULL;
	char line[1024];
	int rc = oob_poll(&at->oob, &m, &why);

	if (rc == 0)
		return true;
	if (rc > 0) /* it says so before it goes */
		fault_raise(&why, FAULT_PEER, 0,
			    message_is(m, "error") ? "it gave up"
						   : "it sent an unexpected message");
	json_decref(m);
	fault_format(&why, line, sizeof(line));
	drop_connection(l, at, line);
	return false;
}

/*
 * The time until the first of: a pending connection's deadline, the end of listener_wait() and the
 * next attempt to accept. NULL: none of them is set.
 */
static const struct timespec *next_timeout(const struct listener *l, struct timespec *ts)
{
	uint64_t now = clock_now_ns(), next = pending_due_ns(&l->pending), ns;

	if (l->until_ns && l->until_ns < next)
		next = l->until_ns;
	if (l->accept_again_ns > now && l->accept_again_ns < next)
		next = l->accept_again_ns;
	ns = next > now ? next - now : 0;
	*ts = (struct timespec){(time_t)(ns / UNITS_NS_PER_S), (long)(ns % UNITS_NS_PER_S)};
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
	n += pending_polled(&l->pending, p + n);
	if (ppoll(p, n, next_timeout(l, &ts), NULL) < 0)
		return NULL;
	*woken = p[0].revents != 0;
	if (*woken)
		return NULL;
	for (; at < l->pending.place + PENDING_MAX; at++) {
		bool ready = at->oob.fd >= 0 && p[own++].revents;

		if (at->first && ready)
			still_waits(l, at);
		else if (at->oob.fd >= 0 && !at->first &&
			 (ready || clock_now_ns() >= at->deadline_ns) &&
			 read_first_message(l, at, first))
			return at;
	}
	if (p[1].revents)
		accept_connections(l);
	return NULL;
}

/* Wait until a pending connection, *WHO, has sent its FIRST message. Returns 0, or -1. */
static int wait_for_first_message(struct listener *l, json_t **first, struct pending_place **who,
				  struct fault *f)
{
	for (;;) {
		bool woken = false;

		*who = NULL;
		if (!l->stop->signal)
			*who = poll_once(l, l->stop->fd, first, &woken);
		if (woken)
			stop_drain(l->stop);
		/* It may have been seen while munged was asked, or what is written waited. */
		if (l->stop->signal)
			return stop_raise(l->stop, f);
		if (*who)
			return 0;
		if (l->until_ns && clock_now_ns() >= l->until_ns)
			return fault_raise(f, FAULT_DEADLINE, 0, "no client connected");
	}
}

int listener_wait(struct listener *l, struct oob *client, json_t **first, struct fault *f)
{
	struct pending_place *who = pending_next(&l->pending);
	struct fault ignored = {0};
	int rc = 0;

	fault_phase(f, "waiting for the client");
	while (who && !still_waits(l, who))
		who = pending_next(&l->pending);
	if (!who)
		rc = wait_for_first_message(l, first, &who, f);
	l->until_ns = 0;
	if (rc)
		return -1;
	if (who->first) {
		*first = who->first;
		/* This ends its deadline to be served, however long the handshake takes. */
		oob_send(&who->oob, message_new("alive"), clock_now_ns(), &ignored);
	}
	*client = who->oob;
	*who = (struct pending_place){.oob = OOB_EMPTY};
	return 0;
}

/* Let signals of STOP interrupt what is sent to pending connections; NULL: no signals. */
static void set_signal_stop(struct listener *l, struct stop *stop)
{
	l->signal_stop = stop;
	pending_stop(&l->pending, stop);
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

/* The pending connection AT sent FIRST while a client is served: refuse it, or let it wait. */
static void refuse_or_keep(struct listener *l, struct pending_place *at, json_t *first)
{
	struct fault why = {0};
	char line[1024] = "too many clients wait";

	if (atomic_load(&l->over)) { /* the server ends: a client that gets no answer retries */
		json_decref(first);
		oob_release(&at->oob);
		return;
	}
	if (refuse_connection(l, first, &why)) {
		fault_format(&why, line, sizeof(line));
		/* The deadline is now: a peer that does not read must not block the guard. */
		message_send_fault(&at->oob, &why, clock_now_ns());
	} else {
		pending_keep(&l->pending, at, first);
		pending_tell_busy(at, l->busy_with, at->first);
	}
	if (at->first)
		return;
	json_decref(first);
	drop_connection(l, at, line);
}

/*
 * While a client is served: refuse new ones, or let them wait, until guard_fd becomes readable. The
 * connections and the log belong to this thread meanwhile.
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
			refuse_or_keep(l, who, first);
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
	if (l->fd >= 0) {
		pending_release(&l->pending);
		close(l->fd);
	}
	*l = LISTENER_CLOSED;
}
