/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pending: the server's connections that have not said yet what they want, in a fixed number of
 * places. If all are taken, a new connection gets one of the host that has most of them, and there
 * the one of a connection that has not been challenged (admit/auth.h) before one that has. So a
 * host that opens connections without end takes no place of another host. A zeroed object is not
 * valid: use pending_init(). One thread at a time uses it; nothing here waits.
 */
#pragma once

#include <stdint.h>

#include "admit/auth.h"
#include "proto/oob.h"

#define PENDING_MAX 48

struct pending_place {
	struct oob oob; /* fd -1: a free place */
	struct auth_visit visit;
	uint64_t origin;      /* of the peer; see pending_origin() */
	uint64_t deadline_ns; /* for its first message; in the order of arrival */
};

struct pending {
	struct pending_place place[PENDING_MAX];
};

/* All places are free. */
void pending_init(struct pending *p);

/*
 * What counts as the same host: an IPv4 address, or the first half of an IPv6 address, since a host
 * has as many of the other half as it likes. Other families are one host.
 */
uint64_t pending_origin(const struct sockaddr_storage *address);

/* The place for a new connection from ORIGIN: a free one, or one whose connection must go. */
struct pending_place *pending_place_for(struct pending *p, uint64_t origin);

/* What the connection at P has sent so far, for the log: "sent nothing". */
const char *pending_said(const struct pending_place *p);

/* Tell the connection AT, without waiting for it, that WITH takes the server's time. */
void pending_tell_busy(struct pending_place *at, const char *with);
