/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * crypto: SHA-256, and HMAC-SHA-256 with the key in a file.
 *
 * The library is OpenSSL's libcrypto: every distribution maintains it, and hosts have it for ssh or
 * curl already, while libsodium is not in the base repositories of RHEL. It is opened at run time,
 * by the first use of --auth: one package then serves hosts with OpenSSL 1.1, 3 or none, and a run
 * without --auth does not pay for loading it. Any thread may call.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"
#include "host/crypto_abi.h"

#define CRYPTO_HEX     65 /* a SHA-256 in hexadecimal, with the 0 */
#define CRYPTO_KEY_MIN 32u
#define CRYPTO_KEY_MAX 4096u

/* clang-format off */
#define CRYPTO_ENTRIES(X) X(EVP_sha256) X(SHA256) X(HMAC) X(CRYPTO_memcmp)
/* clang-format on */

#define CRYPTO_ENTRY(function) __typeof__(function) *function;

struct crypto {
	CRYPTO_ENTRIES(CRYPTO_ENTRY)
};

/* The contents of a key file. */
struct crypto_key {
	unsigned char bytes[CRYPTO_KEY_MAX];
	size_t size;
};

/* Open the library. Raises FAULT_UNAVAILABLE. */
int crypto_open(struct crypto *c, struct fault *f);

/*
 * Read the key from the file at PATH. Every byte counts. Raises FAULT_USAGE if other users could
 * read or change the file, or if it is too short.
 */
int crypto_read_key(struct crypto_key *k, const char *path, struct fault *f);

/* Write the SIZE bytes of DATA in hexadecimal to HEX, which has 2 * SIZE + 1 bytes. */
void crypto_hex(const unsigned char *data, size_t size, char *hex);

/* Write the SHA-256 of the text, or its HMAC with key K, to HEX. */
void crypto_hash(const struct crypto *c, const char *text, char hex[CRYPTO_HEX]);
void crypto_hmac(const struct crypto *c, const struct crypto_key *k, const char *text, size_t size,
		 char hex[CRYPTO_HEX]);

/* True if both are equal. Takes the same time wherever they differ. */
bool crypto_equal(const struct crypto *c, const char a[CRYPTO_HEX], const char b[CRYPTO_HEX]);
