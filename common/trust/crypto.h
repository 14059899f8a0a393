/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * crypto: OpenSSL, opened at run time, and the key in a file; tls.h uses the rest.
 *
 * Every distribution maintains it, and hosts have it for ssh or curl already, while libsodium is
 * not in the base repositories of RHEL. It is opened by the first use of --auth: a run without
 * it does not pay for loading that. Its types are those of its headers; they are
 * the same in 1.1.1 and 3.
 * Its configuration can leave it without SHA-256, which crypto_derive() finds. Any thread may call.
 */
#pragma once

#include <openssl/err.h>
#include <openssl/hmac.h>
#include <openssl/ssl.h>
#include <stddef.h>

#include "base/fault.h"

#define CRYPTO_HASH    32
#define CRYPTO_KEY_MIN 32u
#define CRYPTO_KEY_MAX 4096u

/* clang-format off */
#define CRYPTO_ENTRIES(X)							\
	X(EVP_sha256) X(HMAC)							\
	X(ERR_clear_error) X(ERR_peek_error) X(ERR_peek_last_error)		\
	X(ERR_reason_error_string)						\
	X(TLS_method) X(SSL_CTX_new) X(SSL_CTX_free) X(SSL_CTX_ctrl)		\
	X(SSL_CTX_set_ciphersuites) X(SSL_CTX_set_num_tickets) X(SSL_CTX_clear_options)	\
	X(SSL_CTX_set_psk_server_callback) X(SSL_CTX_set_psk_client_callback)	\
	X(SSL_set_verify) X(SSL_new) X(SSL_free) X(SSL_set_fd)			\
	X(SSL_set_accept_state) X(SSL_set_connect_state)			\
	X(SSL_read) X(SSL_write) X(SSL_pending) X(SSL_get_error)
/* clang-format on */

#define CRYPTO_ENTRY(function) __typeof__(function) *function;

struct crypto {
	CRYPTO_ENTRIES(CRYPTO_ENTRY)
};

/* The contents of a key file. */
struct crypto_key {
	unsigned char bytes[CRYPTO_KEY_MAX + 1]; /* and one that shows that there are more */
	size_t size;
};

/* Open the library. Raises FAULT_UNAVAILABLE or FAULT_LOCAL. */
int crypto_open(struct crypto *c, struct fault *f);

/*
 * Read the key from the file at PATH. Every byte counts. Raises FAULT_USAGE if other users could
 * read or change the file, or if it is too short or too long.
 */
int crypto_read_key(struct crypto_key *k, const char *path, struct fault *f);

/*
 * Write to DERIVED what HKDF-SHA256 (RFC 5869, without salt) makes of K for PURPOSE: a key of fixed
 * length, of which nobody learns K. Raises FAULT_LOCAL.
 */
int crypto_derive(const struct crypto *c, const struct crypto_key *k, const char *purpose,
		  unsigned char derived[CRYPTO_HASH], struct fault *f);
