/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * oob: the out-of-band exchange: JSON messages in frames over one TCP connection.
 *
 * A frame is the four bytes "RDMK", a 32-bit big-endian length, and that many bytes of JSON with an
 * object at the top. The peer is not trusted: an invalid frame, a message that is too long, text
 * that is no JSON object and too many messages in a second are its fault, at the first wrong byte.
 * Every wait has a deadline (CLOCK_MONOTONIC nanoseconds) and ends at once on SIGINT or SIGTERM. One
 * thread at a time uses a struct oob. A zeroed object is not valid: use OOB_EMPTY.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/fault.h"
#include "base/stop.h"
#include "proto/bounds.h"

#define OOB_GREETING_MAX (64u * 1024u)        /* limit for the client's first message */
#define OOB_MESSAGE_MAX  (8u * 1024u * 1024u) /* enough for the details of 65536 QPs */

#define OOB_FRAMES_PER_S 100000 /* messages that a peer may send in a second */
#define OOB_ALIVE_COST   100    /* of which an "alive" counts as so many */

struct tls; /* trust/tls.h */

struct oob {
	int fd;               /* non-blocking; -1: not connected */
	struct tls *tls;      /* what passes is encrypted; NULL: it is not; owned */
	struct stop *stop;    /* interrupts a wait; may be NULL */
	char peer[80];        /* "192.0.2.1:18515" */
	char *buf;            /* the incoming frame; owned */
	size_t have, size;    /* bytes in it, bytes it can hold */
	struct bounds bounds; /* of a message; set for an experiment by the caller */
	struct {
		uint64_t since_ns; /* start of the current second */
		unsigned frames;   /* received in it, by OOB_ALIVE_COST */
	} rate;
	bool lost;               /* it failed, the peer closed it, or has no place for it */
	unsigned unwaited;       /* messages received since this end last waited */
	uint64_t received;       /* messages so far */
	uint64_t until_ns;       /* the connection ends at this time; 0: never */
	uint64_t allowed_ns;     /* the length of that limit, for the fault */
};

#define OOB_EMPTY ((struct oob){.fd = -1})

/* The address to connect to, and how. */
struct oob_connect_attr {
	const char *host; /* a name, IPv4, IPv6, [IPv6], either with %interface */
	uint16_t port;
	const char *from; /* IP address of this end; NULL: by the route */
	bool ipv6;        /* only over IPv6 */
	/* called once after a while without an answer, with the remaining time; or NULL */
	void (*waiting)(void *arg, uint64_t left_ns);
	void *arg;
};

/*
 * Connect to ATTR's host, again and again until DEADLINE_NS: the server may start later. Raises
 * FAULT_USAGE for a host that does not resolve and for an address that this host does not have,
 * FAULT_DEADLINE without an answer.
 */
int oob_connect(struct oob *o, struct stop *stop, const struct oob_connect_attr *attr,
		uint64_t deadline_ns, struct fault *f);

/*
 * Write the IP address TEXT of this host, with PORT, to ADDRESS. Returns its length, or -1 with
 * FAULT_USAGE if TEXT is not an IP address of this host.
 */
int oob_own_address(const char *text, uint16_t port, struct sockaddr_storage *address,
		    struct fault *f);

/* Write "192.0.2.1:18515" or "[::1]:18515"; "?:?" for another family. */
void oob_format_address(const struct sockaddr_storage *sa, socklen_t len, char *buf, size_t size);

/* Initialize O with the connected socket FD. O owns FD from then on. */
void oob_adopt(struct oob *o, struct stop *stop, int fd);

/*
 * From now on what passes is encrypted by T (owned; NULL: nothing is). The handshake is a part of
 * the next message: the client sends it, or waits for it.
 */
void oob_secure(struct oob *o, struct tls *t);

/* Write this end's address of the connection, of IPv4 as such; an unknown one has family 0. */
void oob_local_address(const struct oob *o, struct sockaddr_storage *address);

/*
 * Send MESSAGE and release the caller's reference to it, also on failure. NULL is a fault (ENOMEM).
 */
int oob_send(struct oob *o, json_t *message, uint64_t deadline_ns, struct fault *f);

/*
 * Wait for the next message; the caller releases *MESSAGE. Raises FAULT_PEER if the peer has
 * closed, and at the deadline FAULT_DEADLINE, or FAULT_INTERRUPTED if a signal came earlier.
 */
int oob_recv(struct oob *o, json_t **message, uint64_t deadline_ns, struct fault *f);

/* Read what has come, without waiting. Returns 1 and a whole *MESSAGE; 0: there is none; -1. */
int oob_poll(struct oob *o, json_t **message, struct fault *f);

/*
 * Wait until O is readable, one of the N ordinary descriptors of P is ready, or the deadline
 * passes. P[0] and P[1] are used here; the caller's are P[2] and following. Returns 1 if something
 * is ready (O: P[1].revents), 0 at the deadline, -1 with the fault raised.
 */
int oob_wait(struct oob *o, struct pollfd *p, nfds_t n, uint64_t deadline_ns, struct fault *f);

/*
 * Limit the connection to ALLOWED_NS from now, the server's --max-duration. oob_limit_passed() is
 * true when that is over, and gives the connection MORE_NS to end in order.
 */
void oob_limit(struct oob *o, uint64_t allowed_ns);
bool oob_limit_passed(struct oob *o, uint64_t more_ns);

/* Check the limit: 0, or -1 with FAULT_USAGE if it has passed. oob_recv() checks it, too. */
int oob_check_limit(const struct oob *o, struct fault *f);

/* Close; safe on OOB_EMPTY. */
void oob_release(struct oob *o);
