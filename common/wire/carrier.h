/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * carrier: what carries the bytes of the out-of-band exchange: TCP, or rdma_cm (librdmacm's
 * rsockets: a byte stream over an RDMA connection of its own).
 *
 * Both are sockets with the same calls, which is what a carrier is a table of. Descriptors of one
 * carrier are for its own calls alone, but any carrier's poll() takes ordinary ones beside its own,
 * so that one wait serves all.
 */
#ifndef RDMARK_WIRE_CARRIER_H
#define RDMARK_WIRE_CARRIER_H

#include <poll.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "base/fault.h"
#include "base/stop.h"

struct carrier {
	const char *name; /* "tcp", "rdma_cm" */
	const char *port; /* what a port is called: "TCP port" */
	/* As the calls of those names; new sockets do not block and are closed on exec. */
	int (*socket)(int family);
	int (*bind)(int fd, const struct sockaddr *address, socklen_t len);
	int (*listen)(int fd, int backlog);
	int (*accept)(int fd);
	int (*connect)(int fd, const struct sockaddr *address, socklen_t len);
	ssize_t (*send)(int fd, const void *data, size_t size);
	ssize_t (*recv)(int fd, void *data, size_t size);
	int (*getsockopt)(int fd, int level, int name, void *value, socklen_t *len);
	int (*setsockopt)(int fd, int level, int name, const void *value, socklen_t len);
	int (*getsockname)(int fd, struct sockaddr *address, socklen_t *len);
	int (*getpeername)(int fd, struct sockaddr *address, socklen_t *len);
	stop_poll *poll;
	int listen_ms; /* poll() may sleep over a connection that comes: look this often; 0: it does
			  not */
	int (*close)(int fd);
	/* Can it be used on this host? Raises what is missing. */
	int (*look)(struct fault *f);
};

/* Static storage. */
const struct carrier *carrier_tcp(void);
const struct carrier *carrier_rdma_cm(void);

#endif
