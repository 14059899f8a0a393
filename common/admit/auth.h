/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * auth: --auth: both ends prove who they are before the server reads what the client requests.
 *
 *	client  hello       protocol of its method, version, auth: the method
 *	server  challenge   protocol, version, auth [, with munge: nonce, uid: its user]
 *
 * With a key both ends then go on in TLS, which proves that they have it (trust/tls.h): the real
 * hello comes through that, and so does all that follows. With munge these do:
 *
 *	client  credential  nonce: its own, credential, hello: its real hello as a text
 *	server  proof       credential
 *
 * Then the real hello counts as the client's first message. Each of them may be an error instead.
 *
 * A credential of munge seals which end made it, the protocol, both nonces and the SHA-256 of the
 * real hello, and is restricted to the peer's user. So none is of use in another connection, at
 * another server, in the other direction or with another hello. What follows is then not
 * authenticated again, and nothing is encrypted.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "proto/oob.h"
#include "trust/allow.h"
#include "trust/crypto.h"
#include "trust/munge.h"
#include "trust/tls.h"

#define AUTH_PROTOCOL       3 /* with munge */
#define AUTH_KEY_PROTOCOL   4
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
	struct tls_context tls; /* with a key */
	struct allow allow;
	uid_t uid; /* this process's user; with munge, the one that munged reports */
};

/* A connection to the server that has not proved itself yet. Zeroed at first. */
struct auth_visit {
	bool challenged;
	char nonce[CRYPTO_HEX]; /* with munge: of the challenge */
};

/* Read the options: HOW none, munge, munge:SOCKET, key:FILE or NULL; LIST of --allow, or NULL. */
int auth_read(struct auth *a, const char *how, const char *list, struct fault *f);

/* Get all that it needs: libraries, key file, users; munged must seal and decode a credential, for
 * which a signal of STOP ends the wait. Raises FAULT_USAGE or FAULT_UNAVAILABLE. */
int auth_open(struct auth *a, struct stop *stop, struct fault *f);

/* Server: before it says that it is ready: can it authenticate anybody? Raises FAULT_LOCAL. */
int auth_rehearse(const struct auth *a, struct fault *f);

/* Release the library's memory. Safe if auth_open() has failed, or has not been called. */
void auth_release(struct auth *a);

/* Raise the fault that the client with hello M requests --auth, if so: this server has none. */
int auth_refuse(const json_t *m, struct fault *f);

/*
 * Server: message *M has come from the client at O (stolen). Returns 1: it is authenticated, and *M
 * is its real hello; 0: it was answered, and another message must follow; -1: refused, the client
 * was told, and *M is NULL. Waits for munged only, some seconds at most.
 */
int auth_receive(const struct auth *a, struct auth_visit *v, struct oob *o, json_t **m,
		 struct fault *f);

/*
 * Client: introduce this end to the server at O with its HELLO (stolen), and check the server's
 * proof. Each answer must come within TIMEOUT_NS.
 */
int auth_introduce(const struct auth *a, struct oob *o, json_t *hello, uint64_t timeout_ns,
		   struct fault *f);
