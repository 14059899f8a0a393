/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * auth_seal: the credentials of munge in auth.h. What asks munged, or looks up users, ends within
 * AUTH_ASK_NS, also if munged hangs. Only auth.c includes this.
 */
#pragma once

#include "admit/auth.h"

#define AUTH_ASK_NS UINT64_C(3000000000)

/* What a credential seals. */
struct auth_claim {
	struct stop *stop; /* not sealed: signals that end a wait for munged; NULL: none */
	const char *from;  /* the end that makes it: "client" or "server" */
	char server_nonce[CRYPTO_HEX], client_nonce[CRYPTO_HEX];
	char hello[CRYPTO_HEX]; /* SHA-256 of the real hello's text */
};

/*
 * See that munged answers, set A's user from what it says, and read the list of A. Raises
 * FAULT_USAGE or FAULT_UNAVAILABLE.
 */
int auth_prepare_munge(struct auth *a, struct stop *stop, struct fault *f);

/* Write a new nonce to HEX. */
int auth_make_nonce(char hex[CRYPTO_HEX], struct fault *f);

/* Read nonce KEY of M. Raises FAULT_PEER. */
int auth_read_nonce(const json_t *m, char hex[CRYPTO_HEX], struct fault *f);

/* Seal C in a new *CREDENTIAL for the user READER; the caller frees it. NULL if it fails. */
int auth_seal(const struct auth *a, const struct auth_claim *c, uid_t reader, char **credential,
	      struct fault *f);

/*
 * Check that CREDENTIAL of the peer (NULL: it sent none) seals EXPECTED, and that --allow has the
 * user that made it, which *UID becomes.
 */
int auth_unseal(const struct auth *a, const struct auth_claim *expected, const char *credential,
		uid_t *uid, struct fault *f);
