// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* listener_open(): the socket that a server listens on. */
#include "admit/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

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

	fault_phase(f, "listening for the client");
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
