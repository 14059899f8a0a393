// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "wire/door.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "wire/message.h"

#define REST_NS UINT64_C(100000000)

static int listen_on(const struct sockaddr_storage *at, socklen_t len)
{
	int fd = socket(at->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int on = 1, off = 0, err;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (at->ss_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (bind(fd, (const struct sockaddr *)at, len) == 0 && listen(fd, DOOR_STRANGERS) == 0)
		return fd;
	err = errno;
	close(fd);
	return -err;
}

/* On every address: IPv6 with IPv4 in it, or IPv4 where there is no other. */
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

/* What became of the address: "[::]:18515", and the port. */
static void remember_address(struct door *d)
{
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);
	char ip[64] = "?", port[8] = "0";

	if (getsockname(d->fd, (struct sockaddr *)&sa, &len) == 0)
		getnameinfo((struct sockaddr *)&sa, len, ip, sizeof(ip), port, sizeof(port),
			    NI_NUMERICHOST | NI_NUMERICSERV);
	d->port = (uint16_t)atoi(port);
	snprintf(d->address, sizeof(d->address), strchr(ip, ':') ? "[%s]:%u" : "%s:%u", ip,
		 d->port);
}

int door_open(struct door *d, const char *address, uint16_t port, struct stop *stop,
	      struct fault *f)
{
	struct sockaddr_storage at;
	int len = 0;

	fault_phase(f, "listening for the client");
	*d = DOOR_CLOSED;
	d->stop = d->heeded = stop;
	for (int i = 0; i < DOOR_STRANGERS; i++)
		d->stranger[i].oob = OOB_EMPTY;
	if (address) {
		len = oob_own_address(address, port, &at, f);
		if (len < 0)
			return -1;
	}
	d->fd = len ? listen_on(&at, (socklen_t)len) : listen_on_all(port);
	if (d->fd < 0) {
		fault_raise(f, FAULT_LOCAL, -d->fd, "listen on TCP port %u", port);
		if (d->fd == -EADDRINUSE)
			fault_cause(
				f,
				"Another program on this host listens there, perhaps another server");
		fault_fix(f, "choose another port with -p on both ends, or -p 0 for any free one");
		d->fd = -1;
		return -1;
	}
	remember_address(d);
	return 0;
}

static void drop(struct door *d, int i, const char *why)
{
	if (d->log)
		fprintf(d->log, "rdmark: dropped %s: %s\n", d->stranger[i].oob.peer, why);
	oob_release(&d->stranger[i].oob);
}

/* The place for one more: an empty one, else that of the one who waited longest. */
static int find_place(struct door *d)
{
	int oldest = 0;

	for (int i = 0; i < DOOR_STRANGERS; i++) {
		if (d->stranger[i].oob.fd < 0)
			return i;
		if (d->stranger[i].deadline_ns < d->stranger[oldest].deadline_ns)
			oldest = i;
	}
	return oldest;
}

/* Take everybody who knocks. */
static void admit(struct door *d)
{
	int fd, place;

	while ((fd = accept4(d->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
		place = find_place(d);
		if (d->stranger[place].oob.fd >= 0)
			drop(d, place, "too many connections that say nothing");
		oob_adopt(&d->stranger[place].oob, d->heeded, fd);
		d->stranger[place].oob.limit = OOB_GREETING_MAX;
		d->stranger[place].deadline_ns = clock_now_ns() + d->patience_ns;
	}
	/* Out of descriptors or memory: the caller stays in the queue, and poll() would not wait.
	 */
	if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
		d->rest_until_ns = clock_now_ns() + REST_NS;
}

/* Look at stranger I: 1 if its first message is there. */
static int hear(struct door *d, int i, json_t **first)
{
	struct fault why = {0};
	char line[1024];
	int rc = oob_poll(&d->stranger[i].oob, first, &why);

	if (rc < 0) {
		fault_format(&why, line, sizeof(line));
		drop(d, i, line);
	} else if (rc == 0 && clock_now_ns() >= d->stranger[i].deadline_ns) {
		drop(d, i, "it connected and said nothing");
	}
	return rc > 0;
}

/*
 * Milliseconds until the next stranger's patience or the rest ends or the line is to be told, -1 if
 * nothing of that is due.
 */
static int next_timeout(const struct door *d)
{
	uint64_t now = clock_now_ns(), next = line_due_ns(&d->line);

	for (int i = 0; i < DOOR_STRANGERS; i++)
		if (d->stranger[i].oob.fd >= 0 && d->stranger[i].deadline_ns < next)
			next = d->stranger[i].deadline_ns;
	if (d->rest_until_ns > now && d->rest_until_ns < next)
		next = d->rest_until_ns;
	if (next == UINT64_MAX)
		return -1;
	if (next <= now)
		return 0;
	next = (next - now) / 1000000 + 1;
	return next > INT_MAX ? INT_MAX : (int)next;
}

/*
 * One turn: wait for somebody, or for WAKE_FD (then *WOKEN); index + 1 of a stranger who spoke.
 * Only what is there is polled: poll(2) refuses more entries than there may be descriptors.
 */
static int turn(struct door *d, int wake_fd, json_t **first, bool *woken)
{
	struct pollfd p[DOOR_STRANGERS + LINE_PLACES + 2] = {{.fd = wake_fd, .events = POLLIN},
							     {.fd = d->fd, .events = POLLIN}};
	nfds_t n = 2;

	if (d->rest_until_ns > clock_now_ns())
		p[1].fd = -1;
	for (int i = 0; i < DOOR_STRANGERS; i++)
		if (d->stranger[i].oob.fd >= 0)
			p[n++] = (struct pollfd){.fd = d->stranger[i].oob.fd, .events = POLLIN};
	n += line_polled(&d->line, p + n);
	if (poll(p, n, next_timeout(d)) < 0)
		return 0;
	*woken = p[0].revents != 0;
	if (*woken)
		return 0;
	for (int i = 0; i < DOOR_STRANGERS; i++)
		if (d->stranger[i].oob.fd >= 0 && hear(d, i, first))
			return i + 1;
	if (p[1].revents)
		admit(d);
	return 0;
}

int door_wait(struct door *d, struct oob *client, json_t **first, struct fault *f)
{
	fault_phase(f, "waiting for the client");
	if (line_take(&d->line, client, first, d->log)) {
		client->stop = d->stop;
		client->limit = OOB_MESSAGE_MAX;
		return 0;
	}
	for (;;) {
		bool woken = false;
		int who = turn(d, d->stop->fd, first, &woken);

		if (woken) {
			stop_drain(d->stop);
			if (d->stop->signal)
				return stop_raise(d->stop, f);
		}
		if (who) {
			*client = d->stranger[who - 1].oob;
			d->stranger[who - 1].oob = OOB_EMPTY;
			client->limit = OOB_MESSAGE_MAX;
			return 0;
		}
	}
}

/* Whose signals interrupt what is sent to a stranger: STOP's or nobody's. */
static void heed(struct door *d, struct stop *stop)
{
	d->heeded = stop;
	for (int i = 0; i < DOOR_STRANGERS; i++)
		d->stranger[i].oob.stop = stop;
}

/* Stranger I said FIRST while another one is served: refuse it, or let it wait in line. */
static void line_up(struct door *d, int i, json_t *first)
{
	struct oob *o = &d->stranger[i].oob;
	struct fault why = {0}, ignored = {0};
	json_t *answer;
	char line[1024];

	if (d->vet && d->vet(d->vet_arg, first, &why)) {
		fault_format(&why, line, sizeof(line));
		answer = message_from_fault(&why);
	} else if (line_join(&d->line, o, first)) {
		*o = OOB_EMPTY;
		return;
	} else {
		snprintf(line, sizeof(line), "the line is full");
		answer = json_pack("{s:s, s:s, s:i}", "type", "busy", "with", d->busy_with, "line",
				   LINE_PLACES);
	}
	json_decref(first);
	oob_send(o, answer, clock_now_ns(), &ignored); /* who does not read it shall not stop us */
	drop(d, i, line);
}

static void *guard(void *arg)
{
	struct door *d = arg;
	bool woken = false;

	while (!woken) {
		json_t *first = NULL;
		int who;

		line_tell(&d->line, d->busy_with, d->log);
		who = turn(d, d->guard_fd, &first, &woken);
		if (who)
			line_up(d, who - 1, first);
		line_look(&d->line, d->log);
	}
	return NULL;
}

int door_guard(struct door *d, const char *peer, struct fault *f)
{
	int rc;

	snprintf(d->busy_with, sizeof(d->busy_with), "%s", peer);
	line_forget(&d->line);
	/* The guard must not take the signals that the measuring thread waits for. */
	heed(d, NULL);
	d->guard_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (d->guard_fd < 0)
		return fault_raise(f, FAULT_LOCAL, errno, "eventfd");
	rc = pthread_create(&d->guard, NULL, guard, d);
	if (rc)
		return fault_raise(f, FAULT_LOCAL, rc, "pthread_create");
	d->guarding = true;
	return 0;
}

void door_unguard(struct door *d)
{
	if (d->guarding) {
		eventfd_write(d->guard_fd, 1);
		pthread_join(d->guard, NULL);
	}
	if (d->guard_fd >= 0)
		close(d->guard_fd);
	d->guard_fd = -1;
	d->guarding = false;
	heed(d, d->stop);
}

void door_close(struct door *d)
{
	door_unguard(d);
	line_end(&d->line);
	for (int i = 0; d->fd >= 0 && i < DOOR_STRANGERS; i++)
		oob_release(&d->stranger[i].oob);
	if (d->fd >= 0)
		close(d->fd);
	*d = DOOR_CLOSED;
}
