// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "proto/oob.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "proto/fields.h"
#include "proto/json_memory.h"
#include "trust/tls.h"

#define MAGIC       "RDMK"
#define HEADER_SIZE 8u

#define UNWAITED_MAX 64 /* messages without a wait, after which signals are looked for */

void oob_format_address(const struct sockaddr_storage *sa, socklen_t len, char *buf, size_t size)
{
	char host[INET6_ADDRSTRLEN + 20] = "?", port[8] = "?";
	const char *shown = host;

	getnameinfo((const struct sockaddr *)sa, len, host, sizeof(host), port, sizeof(port),
		    NI_NUMERICHOST | NI_NUMERICSERV);
	if (strncmp(host, "::ffff:", 7) == 0)
		shown = host + 7;
	snprintf(buf, size, strchr(shown, ':') ? "[%s]:%s" : "%s:%s", shown, port);
}

void oob_adopt(struct oob *o, struct stop *stop, int fd)
{
	struct sockaddr_storage sa = {0};
	socklen_t len = sizeof(sa);
	int one = 1;

	*o = (struct oob){.fd = fd, .stop = stop, .bounds = BOUNDS_GREETING};
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	getpeername(fd, (struct sockaddr *)&sa, &len);
	oob_format_address(&sa, len, o->peer, sizeof(o->peer));
}

void oob_secure(struct oob *o, struct tls *t)
{
	tls_free(o->tls);
	o->tls = t;
}

void oob_local_address(const struct oob *o, struct sockaddr_storage *address)
{
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)address;
	struct sockaddr_in v4 = {.sin_family = AF_INET};
	socklen_t len = sizeof(*address);

	memset(address, 0, sizeof(*address));
	if (getsockname(o->fd, (struct sockaddr *)address, &len)) {
		memset(address, 0, sizeof(*address));
		return;
	}
	if (address->ss_family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr))
		return;
	memcpy(&v4.sin_addr, v6->sin6_addr.s6_addr + 12, 4);
	memset(address, 0, sizeof(*address));
	memcpy(address, &v4, sizeof(v4));
}

void oob_release(struct oob *o)
{
	tls_free(o->tls);
	if (o->fd >= 0)
		close(o->fd);
	free(o->buf);
	*o = OOB_EMPTY;
}

/* Raise the fault that the connection failed with ERRNUM; 0: the peer closed it. Returns -1. */
static int connection_lost(struct oob *o, int errnum, struct fault *f)
{
	if (errnum == EPROTO && o->tls)
		return tls_raise(o->tls, f);
	if (errnum == ENOMEM)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "the connection to %s", o->peer);
	o->lost = true;
	fault_raise(f, FAULT_PEER, errnum, "the connection to %s was lost", o->peer);
	if (!errnum)
		fault_cause(f, "The peer closed the connection without giving a reason: it exited, "
			       "crashed or was killed");
	return fault_fix(f, "see what the program printed on the other host");
}

static int peer_late(struct oob *o, const char *what, struct fault *f)
{
	fault_raise(f, FAULT_DEADLINE, ETIMEDOUT, "%s %s", what, o->peer);
	fault_cause(f, "The peer is connected, but silent: it hangs, is stopped, or is not rdmark");
	return fault_fix(f, "check the other host; --timeout sets the deadline");
}

int oob_wait(struct oob *o, struct pollfd *p, nfds_t n, uint64_t deadline_ns, struct fault *f)
{
	p[1] = (struct pollfd){.fd = o->fd, .events = POLLIN};
	return stop_wait_any(o->stop, p, n + 2, deadline_ns, f);
}

void oob_limit(struct oob *o, uint64_t allowed_ns)
{
	o->until_ns = clock_now_ns() + allowed_ns;
	o->allowed_ns = allowed_ns;
}

bool oob_limit_passed(struct oob *o, uint64_t more_ns)
{
	if (!o->until_ns || clock_now_ns() < o->until_ns)
		return false;
	o->until_ns = clock_now_ns() + more_ns;
	return true;
}

int oob_check_limit(const struct oob *o, struct fault *f)
{
	if (!o->until_ns || clock_now_ns() < o->until_ns)
		return 0;
	return fault_usage(f, "measure less in one run, or raise --max-duration on the server",
			   "%s was served for %s, the --max-duration of this server", o->peer,
			   units_ns(o->allowed_ns).text);
}

/* FLAGS: MSG_MORE if the rest of the frame follows. */
static int write_all(struct oob *o, const char *data, size_t size, int flags, uint64_t deadline_ns,
		     struct fault *f)
{
	while (size) {
		short events = POLLOUT;
		ssize_t n = o->tls ? tls_send(o->tls, data, size, &events)
				   : send(o->fd, data, size, MSG_NOSIGNAL | flags);

		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return connection_lost(o, errno, f);
		if (n > 0) {
			data += n;
			size -= (size_t)n;
			continue;
		}
		n = stop_wait(o->stop, o->fd, events, deadline_ns, f);
		if (n < 0)
			return -1;
		if (n == 0)
			return peer_late(o, "sending to", f);
	}
	return 0;
}

int oob_send(struct oob *o, json_t *message, uint64_t deadline_ns, struct fault *f)
{
	char *text = message ? json_dumps(message, JSON_COMPACT) : NULL;
	size_t len = text ? strlen(text) : 0;
	bool whole = !json_memory_failed(); /* since the last message: in this one, or a record */
	uint32_t be = htonl((uint32_t)len);
	char header[HEADER_SIZE] = MAGIC;
	int rc;

	memcpy(header + 4, &be, 4);
	if (!text || !whole)
		rc = fault_raise(f, FAULT_LOCAL, ENOMEM, "creating a message for %s", o->peer);
	else if (write_all(o, header, HEADER_SIZE, MSG_MORE, deadline_ns, f) ||
		 write_all(o, text, len, 0, deadline_ns, f))
		rc = -1;
	else
		rc = 0;
	json_memory_release(text);
	json_decref(message);
	return rc;
}

/* Raise with the first bytes received, so that the log tells a port scan from a web browser. */
static int foreign_protocol(struct oob *o, struct fault *f)
{
	char seen[25] = "";
	size_t n = 0;

	for (; n < o->have && n < sizeof(seen) - 1; n++)
		seen[n] = isprint((unsigned char)o->buf[n]) ? o->buf[n] : '.';
	seen[n] = '\0';
	fault_raise(f, FAULT_PEER, 0, "%s does not speak rdmark's protocol: it sent \"%s\"",
		    o->peer, seen);
	/* perftest's ends begin with their version: "6.06". */
	if (!(isdigit(seen[0]) && seen[1] == '.' && isdigit(seen[2]) && isdigit(seen[3])))
		return fault_fix(f, "use another port on both ends (-p)");
	fault_cause(f, "That is perftest %.4s", seen);
	return fault_fix(f, "start rdmark's program on both ends, or perftest's");
}

/* Bytes missing for the header or, once that is complete, for the frame; 0: complete; -1: fault. */
static int64_t frame_missing(struct oob *o, struct fault *f)
{
	size_t magic = o->have < 4 ? o->have : 4;
	uint32_t be, len;

	if (magic && memcmp(o->buf, MAGIC, magic) != 0)
		return foreign_protocol(o, f);
	if (o->have < HEADER_SIZE)
		return (int64_t)(HEADER_SIZE - o->have);
	memcpy(&be, o->buf + 4, 4);
	len = ntohl(be);
	if (len > o->bounds.bytes)
		return fault_raise(f, FAULT_PEER, 0,
				   "%s sent a message of %u bytes, more than the %zu allowed",
				   o->peer, len, o->bounds.bytes);
	return (int64_t)(HEADER_SIZE + len - o->have);
}

static int grow_buffer(struct oob *o, size_t more, struct fault *f)
{
	size_t size = o->have + more;
	char *buf;

	if (size <= o->size)
		return 0;
	buf = realloc(o->buf, size);
	if (!buf)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "receiving a message of %zu bytes",
				   size);
	o->buf = buf;
	o->size = size;
	return 0;
}

/* Free the room of a large message, so that it is not kept until the peer goes. */
static void shrink_buffer(struct oob *o)
{
	o->have = 0;
	if (o->size <= OOB_GREETING_MAX)
		return;
	free(o->buf);
	o->buf = NULL;
	o->size = 0;
}

/* Count M, and check how many messages have come in this second. */
static int check_rate(struct oob *o, const json_t *m, struct fault *f)
{
	bool alive = strcmp(json_text_at(m, "type"), "alive") == 0;
	uint64_t now = clock_now_ns();

	if (now - o->rate.since_ns >= UNITS_NS_PER_S) {
		o->rate.since_ns = now;
		o->rate.frames = 0;
	}
	o->rate.frames += alive ? OOB_ALIVE_COST : 1;
	if (o->rate.frames <= OOB_FRAMES_PER_S)
		return 0;
	return fault_raise(f, FAULT_PEER, 0, "%s sent more than %u messages in a second", o->peer,
			   alive ? OOB_FRAMES_PER_S / OOB_ALIVE_COST : OOB_FRAMES_PER_S);
}

static int decode_message(struct oob *o, json_t **message, struct fault *f)
{
	const char *text = o->buf + HEADER_SIZE;
	size_t size = o->have - HEADER_SIZE;
	uint64_t failures = json_memory_failures();
	json_error_t error;
	json_t *top;

	if (bounds_check(&o->bounds, text, size, o->peer, f)) {
		shrink_buffer(o);
		return -1;
	}
	top = json_memory_load(text, size, JSON_REJECT_DUPLICATES, &error);
	shrink_buffer(o);
	if (json_memory_failures() != failures) {
		json_memory_failed();
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "reading a message of %s", o->peer);
	}
	if (!json_is_object(top)) {
		fault_raise(f, FAULT_PEER, 0, "%s sent a message that is not a JSON object: %s",
			    o->peer, top ? "wrong type" : error.text);
	} else if (!check_rate(o, top, f)) {
		o->received++;
		o->unwaited++;
		*message = top;
		return 1;
	}
	json_decref(top);
	return -1;
}

int oob_poll(struct oob *o, json_t **message, struct fault *f)
{
	for (;;) {
		int64_t missing = frame_missing(o, f);
		ssize_t n;

		if (missing < 0)
			return -1;
		if (missing == 0 && o->tls && tls_pending(o->tls)) /* poll(2) would not tell */
			return fault_raise(f, FAULT_PEER, 0,
					   "%s sent more than a message in one record", o->peer);
		if (missing == 0)
			return decode_message(o, message, f);
		/* Allocate as data arrive, not as much as an unchecked header announces. */
		if (missing > 65536)
			missing = 65536;
		if (grow_buffer(o, (size_t)missing, f))
			return -1;
		n = o->tls ? tls_recv(o->tls, o->buf + o->have, (size_t)missing)
			   : recv(o->fd, o->buf + o->have, (size_t)missing, MSG_DONTWAIT);
		if (n == 0)
			return connection_lost(o, 0, f);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : connection_lost(o, errno, f);
		o->have += (size_t)n;
	}
}

/*
 * No message in time. After a signal this end has only waited for a regular end; otherwise the peer
 * is to blame.
 */
static int nothing_came(struct oob *o, struct fault *f)
{
	if (oob_check_limit(o, f))
		return -1;
	if (o->stop && o->stop->signal)
		return stop_raise(o->stop, f);
	return peer_late(o, "waiting for a message from", f);
}

/*
 * A wait sees signals and its deadline. Messages that come faster than they are read leave nothing
 * to wait for, so look at both from time to time.
 */
static int check_unwaited(struct oob *o, uint64_t deadline_ns, struct fault *f)
{
	if (o->unwaited < UNWAITED_MAX)
		return 0;
	o->unwaited = 0;
	if (o->stop && stop_check(o->stop, f))
		return -1;
	return clock_now_ns() < deadline_ns ? 0 : nothing_came(o, f);
}

int oob_recv(struct oob *o, json_t **message, uint64_t deadline_ns, struct fault *f)
{
	if (o->until_ns && o->until_ns < deadline_ns)
		deadline_ns = o->until_ns;
	for (;;) {
		int rc;

		if (oob_check_limit(o, f) || check_unwaited(o, deadline_ns, f))
			return -1;
		rc = oob_poll(o, message, f);
		if (rc)
			return rc < 0 ? -1 : 0;
		o->unwaited = 0;
		rc = stop_wait(o->stop, o->fd, POLLIN, deadline_ns, f);
		if (rc < 0)
			return -1;
		if (rc == 0)
			return nothing_came(o, f);
	}
}
