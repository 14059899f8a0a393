// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * auth, crypto: known hashes, and the option. Both ends are in test_auth_talk.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "admit/auth.h"

static void hashes_are_those_of_the_standards(void **state)
{
	static const unsigned char expanded[CRYPTO_HASH] = {
		0x8d, 0xa4, 0xe7, 0x75, 0xa5, 0x63, 0xc1, 0x8f, 0x71, 0x5f, 0x80,
		0x2a, 0x06, 0x3c, 0x5a, 0x31, 0xb8, 0xa1, 0x1f, 0x5c, 0x5e, 0xe1,
		0x87, 0x9e, 0xc3, 0x45, 0x4e, 0x5f, 0x3c, 0x73, 0x8d, 0x2d};
	struct crypto_key key = {.size = 22};
	unsigned char derived[CRYPTO_HASH], other[CRYPTO_HASH];
	struct fault f = {0};
	struct crypto c;

	(void)state;
	assert_int_equal(crypto_open(&c, &f), 0);
	memset(key.bytes, 0x0b, key.size);
	assert_int_equal(crypto_derive(&c, &key, "", derived, &f), 0); /* RFC 5869, test case 3 */
	assert_memory_equal(derived, expanded, sizeof(derived));
	assert_int_equal(crypto_derive(&c, &key, "x", other, &f), 0);
	assert_memory_not_equal(derived, other, sizeof(derived));
	/* Every byte of the longest key counts. */
	key.size = CRYPTO_KEY_MAX;
	assert_int_equal(crypto_derive(&c, &key, "", derived, &f), 0);
	key.bytes[CRYPTO_KEY_MAX - 1] ^= 1;
	assert_int_equal(crypto_derive(&c, &key, "", other, &f), 0);
	assert_memory_not_equal(derived, other, sizeof(derived));
}

static unsigned char *no_mac(const EVP_MD *m, const void *key, int key_size, const unsigned char *d,
			     size_t n, unsigned char *to, unsigned *size)
{
	(void)m, (void)key, (void)key_size, (void)d, (void)n, (void)to, (void)size;
	return NULL;
}

static unsigned char *short_mac(const EVP_MD *m, const void *key, int key_size,
				const unsigned char *d, size_t n, unsigned char *to, unsigned *size)
{
	(void)m, (void)key, (void)key_size, (void)d, (void)n;
	*size = 20;
	return to;
}

static unsigned char *starved_mac(const EVP_MD *m, const void *key, int key_size,
				  const unsigned char *d, size_t n, unsigned char *to,
				  unsigned *size)
{
	(void)m, (void)key, (void)key_size, (void)d, (void)n, (void)to, (void)size;
	errno = ENOMEM;
	return NULL;
}

/* A library whose configuration forbids SHA-256, or that has no memory. */
static void a_hash_that_fails_is_a_fault(void **state)
{
	unsigned char *(*const macs[])(const EVP_MD *, const void *, int, const unsigned char *,
				       size_t, unsigned char *,
				       unsigned *) = {no_mac, short_mac, starved_mac};
	struct crypto_key key = {.size = 32};
	unsigned char derived[CRYPTO_HASH];
	struct crypto c;

	(void)state;
	for (size_t i = 0; i < sizeof(macs) / sizeof(macs[0]); i++) {
		struct fault f = {0};

		assert_int_equal(crypto_open(&c, &f), 0);
		c.HMAC = macs[i];
		assert_int_equal(crypto_derive(&c, &key, "x", derived, &f), -1);
		assert_int_equal(f.code, FAULT_LOCAL);
		assert_int_equal(f.errnum, macs[i] == starved_mac ? ENOMEM : 0);
	}
}

static void options_are_read(void **state)
{
	static const char *const wrong[] = {"", "munge", "munge:/a:b", "key", "key:", "none:", "keys:x"};
	struct fault f = {0};
	struct auth a;

	(void)state;
	assert_int_equal(auth_read(&a, NULL, &f) | auth_read(&a, "none", &f), 0);
	assert_null(a.file);
	assert_int_equal(auth_read(&a, "key:/a:b", &f), 0);
	assert_string_equal(a.file, "/a:b");
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(auth_read(&a, wrong[i], &f), -1);
		assert_int_equal(f.code, FAULT_USAGE);
		assert_non_null(strstr(f.fix, "key:FILE"));
		memset(&f, 0, sizeof(f));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hashes_are_those_of_the_standards),
		cmocka_unit_test(a_hash_that_fails_is_a_fault),
		cmocka_unit_test(options_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
