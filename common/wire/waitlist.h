/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * waitlist: the clients that wait for their turn while the server serves another one.
 *
 * A client joins with its connection and its first message, and both are kept: at its turn the
 * server serves it at once, and the client repeats nothing. Until then the server sends it the
 * client being served and its place, when either changes and otherwise once a second. A client that
 * sends, closes or does not read is dropped, and those after it move up.
 *
 * A zeroed object is an empty waitlist. One thread at a time uses it; no function waits.
 */
#pragma once

#include <jansson.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/peer_log.h"
#include "wire/oob.h"

#define WAITLIST_PLACES    16
#define WAITLIST_REPEAT_NS UINT64_C(1000000000)

struct waitlist_place {
	struct oob oob;
	json_t *first;   /* its first message; owned */
	unsigned told;   /* place in the latest message to it; 0: none */
	uint64_t due_ns; /* time of the next message to it */
};

struct waitlist {
	struct waitlist_place place[WAITLIST_PLACES]; /* the first `count`, in order of arrival */
	unsigned count;
};

/*
 * Add the client at O with its first message FIRST. Returns true and owns both, or false if the
 * waitlist is full.
 */
bool waitlist_join(struct waitlist *l, const struct oob *o, json_t *first);

/* The server serves another client now: the next waitlist_notify() tells all waiting ones. */
void waitlist_notify_again(struct waitlist *l);

/*
 * Tell waiting clients that the server serves WITH: those that do not know it, and those whose
 * second has passed. Each dropped client, here and below, gets a line in LOG, which may be NULL.
 */
void waitlist_notify(struct waitlist *l, const char *with, struct peer_log *log);

/* Drop clients that have closed or sent something. */
void waitlist_drop_gone(struct waitlist *l, struct peer_log *log);

/* Fill P, with room for WAITLIST_PLACES, for poll(2). Returns their number. */
nfds_t waitlist_polled(const struct waitlist *l, struct pollfd *p);

/* The time when waitlist_notify() is due next; UINT64_MAX: never. */
uint64_t waitlist_due_ns(const struct waitlist *l);

/*
 * Remove the first client and tell it that it is served. The caller owns *O and *FIRST. False if
 * there is none.
 */
bool waitlist_next(struct waitlist *l, struct oob *o, json_t **first, struct peer_log *log);

/* Tell all clients that the server ends, and close their connections. */
void waitlist_end(struct waitlist *l);
