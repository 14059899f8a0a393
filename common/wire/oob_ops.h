/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * oob_ops: the socket calls of a transport for the out-of-band exchange: TCP, or rdma_cm
 * (librdmacm's rsockets: a byte stream over an RDMA connection).
 *
 * A descriptor of one transport works only with the calls of that transport. poll() of either also
 * accepts ordinary descriptors, so one call waits for all.
 */
#pragma once

#include <poll.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "base/fault.h"
#include "base/stop.h"

struct oob_ops {
	const char *name; /* "tcp", "rdma_cm" */
	const char *port; /* the name of a port: "TCP port" */
	/*
	 * Like the system calls of the same name. New sockets are non-blocking and close-on-exec.
	 */
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
	int listen_ms; /* poll() may miss a new connection: check after this time; 0: it does not */
	int (*close)(int fd);
	/* Check that the transport works on this host. Raises a fault with what is missing. */
	int (*check)(struct fault *f);
};

/* The two transports. Static storage. */
const struct oob_ops *oob_ops_tcp(void);
const struct oob_ops *oob_ops_rdma_cm(void);
