/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * crypto: SHA-256, and HMAC-SHA-256 with the key in a file.
 *
 * The library is OpenSSL's libcrypto: every distribution maintains it, and hosts have it for ssh or
 * curl already, while libsodium is not in the base repositories of RHEL. It is opened at run time,
 * by the first use of --auth: one package then serves hosts with OpenSSL 1.1, 3 or none, and a run
 * without --auth does not pay for loading it. A function of it that fails says so: its
 * configuration can leave it without SHA-256. Any thread may call.
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

/* A text that need not end with a 0. */
struct crypto_text {
	const char *at;
	size_t size;
};

/* The contents of a key file. */
struct crypto_key {
	unsigned char bytes[CRYPTO_KEY_MAX];
	size_t size;
};

/*
 * Open the library, and check that it computes what the standards say. That also initializes it, so
 * that a lack of memory shows here. Raises FAULT_UNAVAILABLE, or what crypto_hash() raises.
 */
int crypto_open(struct crypto *c, struct fault *f);

/*
 * Read the key from the file at PATH. Every byte counts. Raises FAULT_USAGE if other users could
 * read or change the file, or if it is too short or easy to guess.
 */
int crypto_read_key(struct crypto_key *k, const char *path, struct fault *f);

/* Write the SIZE bytes of DATA in hexadecimal to HEX, which has 2 * SIZE + 1 bytes. */
void crypto_hex(const unsigned char *data, size_t size, char *hex);

/*
 * Write the SHA-256 of the text, or its HMAC with key K, to HEX. Returns 0, or -1 with FAULT_LOCAL:
 * then HEX is "", which is equal to no credential's.
 */
int crypto_hash(const struct crypto *c, const char *text, char hex[CRYPTO_HEX], struct fault *f);
int crypto_hmac(const struct crypto *c, const struct crypto_key *k, struct crypto_text text,
		char hex[CRYPTO_HEX], struct fault *f);

/* True if both are equal. Takes the same time wherever they differ. */
bool crypto_equal(const struct crypto *c, const char a[CRYPTO_HEX], const char b[CRYPTO_HEX]);
