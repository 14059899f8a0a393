/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * crypto_abi: what rdmark uses of OpenSSL's libcrypto, with the original names. Versions 1.1 and 3
 * have these calls, none of them deprecated, and they are looked up at run time. If OpenSSL's
 * headers come first, the compiler compares both: tests/cli/auth_abi.bats.
 */
#pragma once

#include <stddef.h>

typedef struct evp_md_st EVP_MD;

const EVP_MD *EVP_sha256(void);
unsigned char *SHA256(const unsigned char *d, size_t n, unsigned char *md);
unsigned char *HMAC(const EVP_MD *evp_md, const void *key, int key_len, const unsigned char *d,
		    size_t n, unsigned char *md, unsigned int *md_len);
int CRYPTO_memcmp(const void *a, const void *b, size_t len);
