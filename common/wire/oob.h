/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * oob: the out-of-band exchange: JSON messages, each in a frame, over one TCP connection.
 *
 * A frame is the four bytes "RDMK", a 32-bit big-endian length, and that many bytes of JSON with an
 * object at the top. The peer may be anything: what is no frame, too long, no JSON or no object is
 * a fault of the peer, found at the first byte that shows it. Every wait has a deadline
 * (CLOCK_MONOTONIC nanoseconds) and ends at once on SIGINT or SIGTERM.
 *
 * A struct oob is used by one thread at a time. A zeroed object is not valid: OOB_EMPTY is.
 */
#ifndef RDMARK_WIRE_OOB_H
#define RDMARK_WIRE_OOB_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/fault.h"
#include "base/stop.h"

#define OOB_GREETING_MAX (64u * 1024u)        /* until the client has said who it is */
#define OOB_MESSAGE_MAX  (8u * 1024u * 1024u) /* enough for the details of 65536 QPs */

struct oob {
	int fd;                  /* non-blocking; -1: not connected */
	struct stop *stop;       /* what interrupts a wait; may be NULL */
	char peer[80];           /* "192.0.2.1:18515" */
	char *buf;               /* the frame that is coming in; owned */
	size_t have, size;       /* bytes in it, bytes it can hold */
	size_t limit;            /* longest message taken */
	uint64_t sent, received; /* messages so far */
	uint64_t until_ns;       /* when it is over whatever goes on; 0: never */
	uint64_t allowed_ns;     /* how long that was from the beginning: for the fault */
};

#define OOB_EMPTY ((struct oob){.fd = -1})

/* Whom to connect to, and how. */
struct oob_dial {
	const char *host; /* a name, IPv4, IPv6, [IPv6], either with %interface */
	uint16_t port;
	const char *from; /* this end's IP address; NULL: as the route has it */
	bool ipv6;        /* only over IPv6 */
};

/*
 * Connect to WHOM. Refused and unreachable are tried again until DEADLINE_NS, so the server may
 * start later than the client. Raises FAULT_USAGE for a host that does not resolve and for an
 * address that is none of this host, FAULT_DEADLINE if nobody answered.
 */
int oob_connect(struct oob *o, struct stop *stop, const struct oob_dial *whom, uint64_t deadline_ns,
		struct fault *f);

/*
 * The IP address TEXT of this host, with PORT, into ADDRESS; returns its length, or -1 with
 * FAULT_USAGE if it is no IP address, or none of this host.
 */
int oob_own_address(const char *text, uint16_t port, struct sockaddr_storage *address,
		    struct fault *f);

/* Make O of the connected socket FD, which it owns from now on. */
void oob_adopt(struct oob *o, struct stop *stop, int fd);

/*
 * This end's address of the connection, an IPv4 one as such also on a dual-stack socket. An unknown
 * one is all zero, with family 0.
 */
void oob_local_address(const struct oob *o, struct sockaddr_storage *address);

/* Send MESSAGE and drop the caller's reference to it, also on failure. NULL is a fault (ENOMEM). */
int oob_send(struct oob *o, json_t *message, uint64_t deadline_ns, struct fault *f);

/* Wait for the next message; the caller owns *MESSAGE. Raises FAULT_PEER if the peer is gone. */
int oob_recv(struct oob *o, json_t **message, uint64_t deadline_ns, struct fault *f);

/* Take what has arrived without waiting: 1 and *MESSAGE when a message is complete, 0 not yet, -1.
 */
int oob_poll(struct oob *o, json_t **message, struct fault *f);

/* From now on O may last ALLOWED_NS, the server's --max-duration. */
void oob_limit(struct oob *o, uint64_t allowed_ns);

/* Has it lasted that long? -1 with FAULT_USAGE raised, else 0. oob_recv() looks by itself. */
int oob_check_limit(const struct oob *o, struct fault *f);

/* Close; safe on OOB_EMPTY. */
void oob_release(struct oob *o);

#endif
