/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * auth: --auth: both ends prove who they are before the server reads what the client requests.
 *
 *	client  hello      protocol, version, auth: "key"
 *	server  challenge  the same
 *
 * Either may be an error instead. Then both ends go on in TLS, which proves that they have the key
 * (trust/tls.h): the real hello, the client's first message, comes through that, and so does all
 * that follows.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "proto/oob.h"
#include "trust/crypto.h"
#include "trust/tls.h"

#define AUTH_PROTOCOL 4

/* What this end requires of its peers, and how it proves itself. Not changed after auth_open(). */
struct auth {
	const char *file; /* of the key; NULL: --auth=none */
	struct crypto crypto;
	struct tls_context tls;
};

/* A connection to the server that has not proved itself yet. Zeroed at first. */
struct auth_visit {
	bool challenged;
};

/* Read the option: HOW none, key:FILE or NULL. */
int auth_read(struct auth *a, const char *how, struct fault *f);

/* Get all that it needs: OpenSSL and the key. Raises FAULT_USAGE, FAULT_UNAVAILABLE or FAULT_LOCAL. */
int auth_open(struct auth *a, struct fault *f);

/* Server: before it says that it is ready: can it authenticate anybody? Raises FAULT_LOCAL. */
int auth_rehearse(const struct auth *a, struct fault *f);

/* Release the library's memory. Safe if auth_open() has failed, or has not been called. */
void auth_release(struct auth *a);

/* Raise the fault that the client with hello M requests --auth, if so: this server has none. */
int auth_refuse(const json_t *m, struct fault *f);

/*
 * Server: message *M has come from the client at O. Returns 1: it is its real hello, through TLS;
 * 0: it was answered, and another message must follow; -1: refused, and the client was told. *M is
 * stolen but for 1. Waits for nothing.
 */
int auth_receive(const struct auth *a, struct auth_visit *v, struct oob *o, json_t **m,
		 struct fault *f);

/*
 * Client: introduce this end to the server at O with its HELLO (stolen). The server's answer must
 * come within TIMEOUT_NS.
 */
int auth_introduce(const struct auth *a, struct oob *o, json_t *hello, uint64_t timeout_ns,
		   struct fault *f);
