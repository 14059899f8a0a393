/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tls: TLS 1.3 with a pre-shared key, by OpenSSL, over a connected socket. Both ends prove that
 * they have the key; what they then send is encrypted, and cannot be changed, omitted, repeated or
 * sent elsewhere without that being noticed.
 *
 * The key is an external one of RFC 8446, always with a Diffie-Hellman exchange: a key that gets
 * out decrypts nothing that was recorded before. No certificate is accepted; there are no tickets
 * and no early data. The handshake is a part of the first tls_recv() or tls_send() of either end.
 * Nothing here waits: the socket does not block. One thread at a time uses a connection.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/fault.h"
#include "trust/crypto.h"

/* What all connections of this process share. Zeroed: none. Not changed after tls_open(). */
struct tls_context {
	const struct crypto *crypto;
	SSL_CTX *ctx;
	unsigned char key[CRYPTO_HASH];
};

/* One connection. */
struct tls;

/* Prepare for connections with KEY. C must last as long as X, and X as its connections. Raises
 * FAULT_LOCAL. */
int tls_open(struct tls_context *x, const struct crypto *c, const unsigned char key[CRYPTO_HASH],
	     struct fault *f);

/* Safe on a zeroed X. Its connections are freed first. */
void tls_close(struct tls_context *x);

/* This end of a connection over FD, which stays the caller's. Raises FAULT_LOCAL and returns NULL.
 */
struct tls *tls_new(const struct tls_context *x, int fd, bool server, struct fault *f);

/* Safe on NULL. Tells the other end nothing. */
void tls_free(struct tls *t);

/*
 * As recv(2) and send(2), with errno: EAGAIN: wait for *EVENTS of the socket first; EPROTO: see
 * tls_raise(). A message that tls_send() sent in one piece comes as a record of its own.
 */
ssize_t tls_recv(struct tls *t, void *to, size_t size);
ssize_t tls_send(struct tls *t, const void *from, size_t size, short *events);

/* True if there are data that poll(2) of the socket does not tell of. */
bool tls_pending(const struct tls *t);

/*
 * Connect X to itself, once more if that fails. OpenSSL makes what all connections need in the first
 * handshake of a process, and where it had no memory then, all that follow fail, too. Raises
 * FAULT_LOCAL.
 */
int tls_rehearse(const struct tls_context *x, struct fault *f);

/* Raise why tls_recv() or tls_send() failed with EPROTO. Returns -1. */
int tls_raise(const struct tls *t, struct fault *f);
