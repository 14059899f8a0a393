// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * auth, crypto, allow: known hashes, who is in a list, and the option. Both ends with a key are in
 * test_auth_talk.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
	char hex[CRYPTO_HEX];

	(void)state;
	assert_int_equal(crypto_open(&c, &f), 0);
	assert_int_equal(crypto_hash(&c, "abc", hex, &f), 0); /* FIPS 180 */
	assert_string_equal(hex,
			    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
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

static unsigned char *no_hash(const unsigned char *d, size_t n, unsigned char *to)
{
	(void)d, (void)n, (void)to;
	return NULL;
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
	char hex[CRYPTO_HEX];
	struct crypto c;

	(void)state;
	for (size_t i = 0; i < sizeof(macs) / sizeof(macs[0]); i++) {
		struct fault f = {0};

		assert_int_equal(crypto_open(&c, &f), 0);
		c.HMAC = macs[i];
		assert_int_equal(crypto_derive(&c, &key, "x", derived, &f), -1);
		assert_int_equal(f.code, FAULT_LOCAL);
		assert_int_equal(f.errnum, macs[i] == starved_mac ? ENOMEM : 0);
		fault_clear(&f);
		c.SHA256 = no_hash;
		memset(hex, 'x', sizeof(hex));
		assert_int_equal(crypto_hash(&c, "x", hex, &f), -1);
		assert_string_equal(hex, "");
	}
}

static void a_list_of_users_and_groups(void **state)
{
	struct fault f = {0};
	struct allow a;
	char text[96];

	(void)state;
	assert_int_equal(allow_read(&a, NULL, 1234, &f), 0);
	assert_true(allow_has(&a, 1234, 5) && allow_has(&a, 0, 5));
	assert_false(allow_has(&a, 1235, 1234));
	assert_int_equal(allow_read(&a, "root,4000000000,@77", 1234, &f), 0);
	assert_true(allow_has(&a, 0, 5) && allow_has(&a, 4000000000, 5) &&
		    allow_has(&a, 3999999999, 77));
	assert_false(allow_has(&a, 1234, 5)); /* the default is gone */
	assert_false(allow_has(&a, 77, 5));   /* a group is no user */
	assert_false(allow_has(&a, (uid_t)-1, (gid_t)-1));
	assert_string_equal(allow_user(0, text, sizeof(text)), "root (uid 0)");
	assert_string_equal(allow_user(3999999999, text, sizeof(text)), "uid 3999999999");
}

static void wrong_lists_are_refused(void **state)
{
	static const char *const wrong[] = {
		"",           ",",          "root,", "@",  "nosuchuser", "@nosuchgroup",
		"4294967295", "4294967296", "-1",    "1x", " root",      "99999999999999999999"};
	char many[ALLOW_MAX * 2 + 8] = "0";
	struct fault f = {0};
	struct allow a;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(allow_read(&a, wrong[i], 1, &f), -1);
		assert_int_equal(f.code, FAULT_USAGE);
		memset(&f, 0, sizeof(f));
	}
	for (int i = 1; i < ALLOW_MAX; i++)
		strcat(many, ",0");
	assert_int_equal(allow_read(&a, many, 1, &f), 0);
	strcat(many, ",0");
	assert_int_equal(allow_read(&a, many, 1, &f), -1);
}

/* A user of this machine who is in a second group, if there is one. */
static void members_of_a_group(void **state)
{
	struct passwd *user = NULL;
	struct fault f = {0};
	struct group *g;
	struct allow a;
	char list[32];

	(void)state;
	setgrent();
	while (!user && (g = getgrent()))
		if (g->gr_mem[0])
			user = getpwnam(g->gr_mem[0]);
	if (user)
		snprintf(list, sizeof(list), "@%u", (unsigned)g->gr_gid);
	endgrent();
	if (!user)
		skip();
	assert_int_equal(allow_read(&a, list, 1, &f), 0);
	assert_true(allow_has(&a, user->pw_uid, user->pw_gid));
	assert_false(allow_has(&a, 3999999999, 3999999999));
}

static void options_are_read(void **state)
{
	static const char *const wrong[] = {"",     "Munge", "munge:", "key",
					    "key:", "none:", "keys:x"};
	struct fault f = {0};
	struct auth a;

	(void)state;
	assert_int_equal(auth_read(&a, NULL, NULL, &f) | auth_read(&a, "none", NULL, &f), 0);
	assert_int_equal(a.method, AUTH_NONE);
	assert_int_equal(auth_read(&a, "munge", "root", &f), 0);
	assert_true(a.method == AUTH_MUNGE && !a.file);
	assert_int_equal(auth_read(&a, "munge:/a:b", NULL, &f), 0);
	assert_string_equal(a.file, "/a:b");
	assert_int_equal(auth_read(&a, "key:k", NULL, &f), 0);
	assert_int_equal(a.method, AUTH_KEY);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(auth_read(&a, wrong[i], NULL, &f), -1);
		assert_int_equal(f.code, FAULT_USAGE);
		memset(&f, 0, sizeof(f));
	}
	assert_int_equal(auth_read(&a, "key:k", "root", &f), -1);
	memset(&f, 0, sizeof(f));
	assert_int_equal(auth_read(&a, NULL, "root", &f), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hashes_are_those_of_the_standards),
		cmocka_unit_test(a_hash_that_fails_is_a_fault),
		cmocka_unit_test(a_list_of_users_and_groups),
		cmocka_unit_test(wrong_lists_are_refused),
		cmocka_unit_test(members_of_a_group),
		cmocka_unit_test(options_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
