/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * door: the server's listening socket, and who may come in.
 *
 * Several strangers may be connected at once; each has its own deadline to send one whole message.
 * The first that does is the client. Port scanners, browsers and silent peers are dropped, with a
 * line in the log, and never keep a client out. While a client is served, a guard thread has the
 * door: it refuses whom the server would refuse, and lets the others wait in line. Strangers cannot
 * take the places in line, nor those in line the places of strangers.
 */
#ifndef RDMARK_WIRE_DOOR_H
#define RDMARK_WIRE_DOOR_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "wire/line.h"
#include "wire/oob.h"

#define DOOR_STRANGERS 32

struct door {
	int fd; /* listening; -1: closed */
	uint16_t port;
	char address[80];       /* "[::]:18515" */
	uint64_t patience_ns;   /* how long a stranger may stay silent */
	uint64_t rest_until_ns; /* nobody is let in before: there was no descriptor left */
	FILE *log;              /* where dropped strangers are noted; NULL: nowhere */
	struct stop *stop;      /* whose signals door_wait() heeds */
	struct stop *heeded;    /* the same; NULL while the guard has the door */
	struct {
		struct oob oob;
		uint64_t deadline_ns;
	} stranger[DOOR_STRANGERS];
	struct line line; /* who has spoken while another one was served */
	/* May who sends FIRST be served? Called by the guard. NULL: anybody may. */
	int (*vet)(const void *arg, const json_t *first, struct fault *f);
	const void *vet_arg;
	pthread_t guard;
	bool guarding;
	int guard_fd; /* eventfd that ends the guard */
	char busy_with[80];
};

#define DOOR_CLOSED ((struct door){.fd = -1, .guard_fd = -1})

/*
 * Listen on PORT (0: any free one) of this host's ADDRESS (NULL: of all, IPv4 and IPv6). Raises
 * FAULT_LOCAL if the port is taken, FAULT_USAGE if the address is none of this host.
 */
int door_open(struct door *d, const char *address, uint16_t port, struct stop *stop,
	      struct fault *f);

/*
 * Wait, without end, for a client, the first in line if there is one: *CLIENT is the connection and
 * *FIRST its first message, both the caller's. Returns 0, or -1 with the fault raised (a signal).
 */
int door_wait(struct door *d, struct oob *client, json_t **first, struct fault *f);

/* PEER is served from now on, until door_unguard(): who else comes waits in line and is told so. */
int door_guard(struct door *d, const char *peer, struct fault *f);

/* The client has gone: door_wait() may be called for the next one. Safe where nobody guards. */
void door_unguard(struct door *d);

/* End the guard, tell those in line, drop strangers, close. Safe on DOOR_CLOSED. */
void door_close(struct door *d);

#endif
