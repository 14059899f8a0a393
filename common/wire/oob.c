// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "wire/oob.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"

#define MAGIC       "RDMK"
#define HEADER_SIZE 8u

void oob_adopt(struct oob *o, struct stop *stop, int fd)
{
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);
	char host[INET6_ADDRSTRLEN + 20] = "?", port[8] = "?";
	const char *shown = host;
	int one = 1;

	*o = (struct oob){.fd = fd, .stop = stop, .limit = OOB_MESSAGE_MAX};
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (getpeername(fd, (struct sockaddr *)&sa, &len) == 0)
		getnameinfo((struct sockaddr *)&sa, len, host, sizeof(host), port, sizeof(port),
			    NI_NUMERICHOST | NI_NUMERICSERV);
	if (strncmp(host, "::ffff:", 7) == 0)
		shown = host + 7;
	snprintf(o->peer, sizeof(o->peer), strchr(shown, ':') ? "[%s]:%s" : "%s:%s", shown, port);
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
	if (o->fd >= 0)
		close(o->fd);
	free(o->buf);
	*o = OOB_EMPTY;
}

/* The peer is gone, in one of the ways in which TCP tells. */
static int lost(struct oob *o, int errnum, struct fault *f)
{
	fault_raise(f, FAULT_PEER, errnum, "the connection to %s was lost", o->peer);
	if (!errnum)
		fault_cause(
			f,
			"The peer closed it without saying why: it ended, crashed or was killed");
	return fault_fix(f, "look at what the program printed on the other host");
}

static int late(struct oob *o, const char *what, struct fault *f)
{
	fault_raise(f, FAULT_DEADLINE, ETIMEDOUT, "%s %s", what, o->peer);
	fault_cause(f, "The peer is connected but silent: hung, stopped, or no rdmark");
	return fault_fix(f, "look at the other host; --timeout sets the deadline");
}

void oob_limit(struct oob *o, uint64_t allowed_ns)
{
	o->until_ns = clock_now_ns() + allowed_ns;
	o->allowed_ns = allowed_ns;
}

int oob_check_limit(const struct oob *o, struct fault *f)
{
	char allowed[32];

	if (!o->until_ns || clock_now_ns() < o->until_ns)
		return 0;
	units_format_ns(o->allowed_ns, allowed, sizeof(allowed));
	fault_raise(f, FAULT_USAGE, 0,
		    "%s has been served for %s: this server's --max-duration allows no more",
		    o->peer, allowed);
	return fault_fix(f, "measure less in one run, or raise --max-duration on the server");
}

static int write_all(struct oob *o, const char *data, size_t size, uint64_t deadline_ns,
		     struct fault *f)
{
	while (size) {
		ssize_t n = send(o->fd, data, size, MSG_NOSIGNAL);

		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return lost(o, errno, f);
		if (n > 0) {
			data += n;
			size -= (size_t)n;
			continue;
		}
		n = stop_wait(o->stop, o->fd, POLLOUT, deadline_ns, f);
		if (n < 0)
			return -1;
		if (n == 0)
			return late(o, "sending to", f);
	}
	return 0;
}

int oob_send(struct oob *o, json_t *message, uint64_t deadline_ns, struct fault *f)
{
	char *text = message ? json_dumps(message, JSON_COMPACT) : NULL;
	size_t len = text ? strlen(text) : 0;
	char *frame = text ? malloc(HEADER_SIZE + len) : NULL;
	uint32_t be = htonl((uint32_t)len);
	int rc = -1;

	if (!frame) {
		fault_raise(f, FAULT_LOCAL, ENOMEM, "making a message for %s", o->peer);
	} else {
		memcpy(frame, MAGIC, 4);
		memcpy(frame + 4, &be, 4);
		memcpy(frame + HEADER_SIZE, text, len);
		rc = write_all(o, frame, HEADER_SIZE + len, deadline_ns, f);
		o->sent += rc == 0;
	}
	free(frame);
	free(text);
	json_decref(message);
	return rc;
}

/* What a stranger sent, so that the log tells a port scan from a web browser. */
static int stranger(struct oob *o, struct fault *f)
{
	char seen[25];
	size_t n = 0;

	for (; n < o->have && n < sizeof(seen) - 1; n++)
		seen[n] = isprint((unsigned char)o->buf[n]) ? o->buf[n] : '.';
	seen[n] = '\0';
	return fault_raise(f, FAULT_PEER, 0, "%s does not speak rdmark's protocol: it sent \"%s\"",
			   o->peer, seen);
}

/* Bytes still missing for the header, then for the whole frame; 0: complete; -1: fault. */
static int64_t frame_missing(struct oob *o, struct fault *f)
{
	size_t magic = o->have < 4 ? o->have : 4;
	uint32_t be, len;

	if (magic && memcmp(o->buf, MAGIC, magic) != 0)
		return stranger(o, f);
	if (o->have < HEADER_SIZE)
		return (int64_t)(HEADER_SIZE - o->have);
	memcpy(&be, o->buf + 4, 4);
	len = ntohl(be);
	if (len > o->limit)
		return fault_raise(f, FAULT_PEER, 0,
				   "%s sent a message of %u bytes, more than the %zu allowed",
				   o->peer, len, o->limit);
	return (int64_t)(HEADER_SIZE + len - o->have);
}

static int make_room(struct oob *o, size_t more, struct fault *f)
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

static int decode(struct oob *o, json_t **message, struct fault *f)
{
	json_error_t error;
	json_t *top = json_loadb(o->buf + HEADER_SIZE, o->have - HEADER_SIZE,
				 JSON_REJECT_DUPLICATES, &error);

	o->have = 0;
	if (!json_is_object(top)) {
		json_decref(top);
		return fault_raise(f, FAULT_PEER, 0, "%s sent a message that is no JSON object: %s",
				   o->peer, top ? "wrong type" : error.text);
	}
	o->received++;
	*message = top;
	return 1;
}

int oob_poll(struct oob *o, json_t **message, struct fault *f)
{
	for (;;) {
		int64_t missing = frame_missing(o, f);
		ssize_t n;

		if (missing < 0)
			return -1;
		if (missing == 0)
			return decode(o, message, f);
		/* Grow by what arrives, not by what a header promises. */
		if (missing > 65536)
			missing = 65536;
		if (make_room(o, (size_t)missing, f))
			return -1;
		n = recv(o->fd, o->buf + o->have, (size_t)missing, MSG_DONTWAIT);
		if (n == 0)
			return lost(o, 0, f);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : lost(o, errno, f);
		o->have += (size_t)n;
	}
}

int oob_recv(struct oob *o, json_t **message, uint64_t deadline_ns, struct fault *f)
{
	if (o->until_ns && o->until_ns < deadline_ns)
		deadline_ns = o->until_ns;
	for (;;) {
		int rc = oob_check_limit(o, f) ? -1 : oob_poll(o, message, f);

		if (rc)
			return rc < 0 ? -1 : 0;
		rc = stop_wait(o->stop, o->fd, POLLIN, deadline_ns, f);
		if (rc < 0)
			return -1;
		if (rc == 0)
			return oob_check_limit(o, f) ? -1
						     : late(o, "waiting for a message from", f);
	}
}
