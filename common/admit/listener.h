/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * listener: the server's listening socket and its connections.
 *
 * Several connections may be pending at once; each has its own deadline to send one whole message.
 * The first connection that does so is the client. Port scanners, browsers and silent peers are
 * dropped with a line in the log, and never block a client, however many they are: see
 * admit/pending.h. While a client is served, a guard thread has the listener: it refuses the clients
 * that the server would refuse, and tells the others which client is served; they try again.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "admit/auth.h"
#include "admit/pending.h"
#include "proto/oob.h"

struct listener {
	int fd; /* listening; -1: closed */
	uint16_t port;
	char address[80];         /* "[::]:18515" */
	uint64_t patience_ns;     /* how long a pending connection may stay silent */
	uint64_t until_ns;        /* deadline of listener_wait(); 0: none */
	uint64_t accept_again_ns; /* no accept4() before this time, after descriptors ran out */
	FILE *log;                /* of dropped connections; NULL: none */
	struct stop *stop;        /* signals that end listener_wait() */
	struct stop *signal_stop; /* the same; NULL while the guard runs */
	struct pending pending;
	bool once;                /* the server serves one client only */
	atomic_bool over;         /* and has served it: new clients may try the next server */
	/* Called by the guard: can the client that sent FIRST be served? NULL: all can. */
	int (*vet)(const void *arg, const json_t *first, struct fault *f);
	const void *vet_arg;
	const struct auth
		*auth; /* how a client proves who it is, before all else; NULL: not at all */
	pthread_t guard;
	bool guarding;
	int guard_fd; /* eventfd that ends the guard */
	char busy_with[80];
};

#define LISTENER_OTHERS "other connections" /* what it is busy with while no client is served */

#define LISTENER_CLOSED \
	((struct listener){.fd = -1, .guard_fd = -1, .busy_with = LISTENER_OTHERS})

/*
 * Listen on PORT (0: any free one) at this host's ADDRESS (NULL: all, IPv4 and IPv6). Raises
 * FAULT_LOCAL if the port is taken, FAULT_USAGE if this host does not have the address.
 */
int listener_open(struct listener *l, const char *address, uint16_t port, struct stop *stop,
		  struct fault *f);

/*
 * Wait for a client. The caller owns *CLIENT, the connection, and *FIRST, its first message. Returns
 * 0, or -1 with the fault raised, after a signal or at until_ns, which is reset in both cases.
 */
int listener_wait(struct listener *l, struct oob *client, json_t **first, struct fault *f);

/*
 * Start the guard: PEER is served until listener_unguard(). New clients are told that the server is
 * busy; they are refused if it serves one client only (`once`), or by `vet`.
 */
int listener_guard(struct listener *l, const char *peer, struct fault *f);

/* Tell that new clients need not wait for the current client. Any thread may call. */
void listener_over(struct listener *l);

/* Stop the guard, if there is one, after the client has gone: listener_wait() may be called. */
void listener_unguard(struct listener *l);

/* Stop the guard, drop all connections, and close. Safe on LISTENER_CLOSED. */
void listener_close(struct listener *l);
