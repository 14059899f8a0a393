/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * auth: --auth: both ends prove who they are before the server reads what the client requests.
 *
 *	client  hello       protocol AUTH_PROTOCOL, version, auth: the method. A server of an older
 *			    version answers that the versions differ
 *	server  challenge   protocol, version, auth, nonce, uid: its user
 *	client  credential  nonce: its own, credential, hello: its real hello as a text
 *	server  proof       credential
 *
 * Then the real hello counts as the client's first message. Each of them may be an error instead.
 *
 * A credential seals which end made it, AUTH_PROTOCOL, both nonces and the SHA-256 of the real
 * hello. So none is of use in another connection, at another server, in the other direction or with
 * another hello. With munge it is munge's, restricted to the peer's user; with a key it is the text
 * that it seals and the HMAC-SHA-256 of that.
 *
 * What follows on the connection is not authenticated again, and nothing is encrypted.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "host/allow.h"
#include "host/crypto.h"
#include "host/munge.h"
#include "wire/oob.h"

#define AUTH_PROTOCOL       3
#define AUTH_CREDENTIAL_MAX 4096u

enum auth_method {
	AUTH_NONE,
	AUTH_MUNGE,
	AUTH_KEY
};

/* What this end requires of its peers, and how it proves itself. Not changed after auth_open(). */
struct auth {
	enum auth_method method;
	const char *file; /* socket of munged, NULL: the default one; or the key file */
	const char *list; /* --allow; NULL: not given */
	struct munge munge;
	struct crypto crypto;
	struct crypto_key key;
	struct allow allow;
	uid_t uid; /* this process's user; with munge, the one that munged reports */
};

/* A connection to the server that has not proved itself yet. Zeroed at first. */
struct auth_visit {
	char nonce[CRYPTO_HEX]; /* of the challenge sent to it; "": none yet */
};

/* Read the options: HOW none, munge, munge:SOCKET, key:FILE or NULL; LIST of --allow, or NULL. */
int auth_read(struct auth *a, const char *how, const char *list, struct fault *f);

/*
 * Get all that authenticating needs: libraries, key file, users. munged is requested to seal and to
 * decode a credential; a signal of STOP ends the wait for that. Raises FAULT_USAGE or
 * FAULT_UNAVAILABLE.
 */
int auth_open(struct auth *a, struct stop *stop, struct fault *f);

/* "none", "munge" or "key". */
const char *auth_name(const struct auth *a);

/* Raise the fault that the client with hello M requests --auth, if so: this server has none. */
int auth_refuse(const json_t *m, struct fault *f);

/*
 * Server: message *M has come from the client at O (stolen). Returns 1: it is authenticated, and *M
 * is its real hello; 0: it was answered, and another message must follow; -1: refused, the client
 * was told, and *M is NULL. Waits for munged only, for a few seconds at most, or until a signal of
 * the stop of O.
 */
int auth_receive(const struct auth *a, struct auth_visit *v, struct oob *o, json_t **m,
		 struct fault *f);

/*
 * Client: introduce this end to the server at O with its HELLO (stolen), and check the server's
 * proof. Each answer must come within TIMEOUT_NS.
 */
int auth_introduce(const struct auth *a, struct oob *o, json_t *hello, uint64_t timeout_ns,
		   struct fault *f);
