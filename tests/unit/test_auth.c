// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * auth, crypto, allow: known hashes, who is in a list, and both ends over a socketpair, with a key.
 * munged and the faults that users see are in tests/cli/auth.bats.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "wire/auth.h"
#include "wire/message.h"

#define PATIENCE_NS UINT64_C(20000000000)

static void hashes_are_those_of_the_standards(void **state)
{
	struct crypto_key jefe = {.bytes = "Jefe", .size = 4};
	struct crypto_text text = {"what do ya want for nothing?", 28};
	struct fault f = {0};
	struct crypto c;
	char hex[CRYPTO_HEX], other[CRYPTO_HEX];

	(void)state;
	assert_int_equal(crypto_open(&c, &f), 0);
	assert_int_equal(crypto_hash(&c, "abc", hex, &f), 0); /* FIPS 180 */
	assert_string_equal(hex,
			    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	assert_int_equal(crypto_hmac(&c, &jefe, text, hex, &f), 0); /* RFC 4231, test case 2 */
	assert_string_equal(hex,
			    "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
	memcpy(other, hex, sizeof(hex));
	assert_true(crypto_equal(&c, hex, other));
	other[CRYPTO_HEX - 2] ^= 1;
	assert_false(crypto_equal(&c, hex, other));
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
	struct crypto_text text = {"x", 1};
	char hex[CRYPTO_HEX];
	struct crypto c;

	(void)state;
	for (size_t i = 0; i < sizeof(macs) / sizeof(macs[0]); i++) {
		struct fault f = {0};

		assert_int_equal(crypto_open(&c, &f), 0);
		c.HMAC = macs[i];
		memset(hex, 'x', sizeof(hex));
		assert_int_equal(crypto_hmac(&c, &key, text, hex, &f), -1);
		assert_string_equal(hex, "");
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

/* Both ends with the same key, and the connection between them. */
struct world {
	struct auth auth;
	struct oob server, client;
	struct fault fault; /* the client's */
	int rc;             /* its result */
	char file[32];
};

static int set_up(void **state)
{
	struct world *w = test_calloc(1, sizeof(*w));
	struct fault f = {0};
	char how[48];
	int fd[2], key;

	snprintf(w->file, sizeof(w->file), "/tmp/rdmark-key-XXXXXX");
	key = mkstemp(w->file); /* mode 0600 */
	assert_int_equal(write(key, "0123456789abcdef0123456789abcdef", 32), 32);
	close(key);
	snprintf(how, sizeof(how), "key:%s", w->file);
	assert_int_equal(auth_read(&w->auth, how, NULL, &f) | auth_open(&w->auth, NULL, &f), 0);
	unlink(w->file);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd), 0);
	oob_adopt(&w->server, NULL, fd[0]);
	oob_adopt(&w->client, NULL, fd[1]);
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	oob_release(&w->server);
	oob_release(&w->client);
	test_free(w);
	return 0;
}

static void *be_client(void *world)
{
	struct world *w = world;

	w->rc = auth_introduce(&w->auth, &w->client,
			       json_pack("{s:s, s:s}", "type", "hello", "test", "send_lat"),
			       PATIENCE_NS, &w->fault);
	return NULL;
}

static json_t *received(struct oob *o)
{
	struct fault f = {0};
	json_t *m;

	assert_int_equal(oob_recv(o, &m, clock_now_ns() + PATIENCE_NS, &f), 0);
	return m;
}

static void both_ends_agree(void **state)
{
	struct world *w = *state;
	struct auth_visit visit = {""};
	struct fault f = {0};
	pthread_t client;
	json_t *m;

	pthread_create(&client, NULL, be_client, w);
	m = received(&w->server);
	assert_null(json_object_get(m, "test")); /* nothing of the experiment before the proof */
	assert_int_equal(auth_receive(&w->auth, &visit, &w->server, &m, &f), 0);
	assert_null(m);
	m = received(&w->server);
	assert_int_equal(auth_receive(&w->auth, &visit, &w->server, &m, &f), 1);
	assert_string_equal(json_string_value(json_object_get(m, "test")), "send_lat");
	json_decref(m);
	pthread_join(client, NULL);
	assert_int_equal(w->rc, 0);
	/* The price: two messages more each way. */
	assert_true(w->client.sent == 2 && w->client.received == 2);
}

/* Every key of a credential message, changed or absent, is found. */
static void what_is_changed_is_found(void **state)
{
	static const char *const keys[] = {"nonce", "credential", "hello"};
	struct world *w = *state;

	for (size_t i = 0; i < 2 * sizeof(keys) / sizeof(keys[0]); i++) {
		struct auth_visit visit = {""};
		struct fault f = {0};
		pthread_t client;
		json_t *m;
		char *text;

		memset(&w->fault, 0, sizeof(w->fault));
		pthread_create(&client, NULL, be_client, w);
		m = received(&w->server);
		assert_int_equal(auth_receive(&w->auth, &visit, &w->server, &m, &f), 0);
		m = received(&w->server);
		text = strdup(json_string_value(json_object_get(m, keys[i / 2])));
		text[strlen(text) - 3] ^= 1;
		if (i % 2)
			json_object_del(m, keys[i / 2]);
		else
			json_object_set_new(m, keys[i / 2], json_string(text));
		free(text);
		assert_int_equal(auth_receive(&w->auth, &visit, &w->server, &m, &f), -1);
		assert_null(m);
		pthread_join(client, NULL);
		assert_true(w->rc == -1 && w->fault.from_peer && fault_is(&f));
		assert_string_equal(w->fault.call, f.call); /* both ends say the same */
	}
}

/* Neither end takes a credential as valid, or sends one, if it cannot compute its own. */
static void no_end_accepts_what_it_cannot_check(void **state)
{
	struct world *w = *state;
	struct auth_visit visit = {""};
	struct auth rogue = w->auth;
	struct fault f = {0};
	pthread_t client;
	json_t *m;

	pthread_create(&client, NULL, be_client, w);
	m = received(&w->server);
	assert_int_equal(auth_receive(&w->auth, &visit, &w->server, &m, &f), 0);
	m = received(&w->server);
	rogue.crypto.HMAC = no_mac;
	assert_int_equal(auth_receive(&rogue, &visit, &w->server, &m, &f), -1);
	assert_int_equal(f.code, FAULT_LOCAL);
	pthread_join(client, NULL);
	assert_int_equal(w->rc, -1);
	w->auth.crypto.HMAC = no_mac;
	memset(&w->fault, 0, sizeof(w->fault));
	pthread_create(&client, NULL, be_client, w);
	json_decref(received(&w->server));
	fault_clear(&f);
	oob_send(&w->server,
		 json_pack("{s:s, s:i, s:s, s:s, s:i}", "type", "challenge", "protocol",
			   AUTH_PROTOCOL, "auth", "key", "nonce", visit.nonce, "uid", 0),
		 clock_now_ns() + PATIENCE_NS, &f);
	pthread_join(client, NULL);
	assert_int_equal(w->rc, -1);
	assert_int_equal(w->fault.code, FAULT_LOCAL);
	assert_int_equal(oob_poll(&w->server, &m, &f), 0); /* it has sent nothing */
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
		cmocka_unit_test_setup_teardown(both_ends_agree, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_changed_is_found, set_up, tear_down),
		cmocka_unit_test_setup_teardown(no_end_accepts_what_it_cannot_check, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
