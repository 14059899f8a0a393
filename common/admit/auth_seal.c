// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "admit/auth_seal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/timed_call.h"
#include "base/units.h"
#include "proto/message.h"

#define NONCE_BYTES 32
#define TEXT_BYTES  256

int auth_make_nonce(char hex[CRYPTO_HEX], struct fault *f)
{
	unsigned char nonce[NONCE_BYTES];

	if (getrandom(nonce, sizeof(nonce), 0) != sizeof(nonce))
		return fault_raise(f, FAULT_LOCAL, errno, "getrandom");
	crypto_hex(nonce, sizeof(nonce), hex);
	return 0;
}

static bool is_hex(const char *text)
{
	return strlen(text) == CRYPTO_HEX - 1 && strspn(text, "0123456789abcdef") == CRYPTO_HEX - 1;
}

int auth_read_nonce(const json_t *m, char hex[CRYPTO_HEX], struct fault *f)
{
	const char *nonce = json_string_value(json_object_get(m, "nonce"));

	if (message_has(m, "nonce", nonce && is_hex(nonce), f))
		return -1;
	memcpy(hex, nonce, CRYPTO_HEX);
	return 0;
}

static void format_claim(const struct auth_claim *c, char text[TEXT_BYTES])
{
	snprintf(text, TEXT_BYTES, "rdmark %s %d %s %s %s", c->from, AUTH_PROTOCOL, c->server_nonce,
		 c->client_nonce, c->hello);
}

static int seal(const struct auth *a, const struct auth_claim *c, uid_t reader, char **credential,
		struct fault *f)
{
	char text[TEXT_BYTES];

	format_claim(c, text);
	return munge_seal(&a->munge, text, reader, credential, f);
}

/* Raise the fault that the credential of the end WHOSE, which is genuine, seals TEXT. */
static int refuse_claim(const struct auth_claim *expected, const char *text, struct fault *f)
{
	char from[16], hello[CRYPTO_HEX], server_nonce[CRYPTO_HEX], client_nonce[CRYPTO_HEX];
	const char *whose = expected->from;
	int protocol = 0;

	if (sscanf(text, "rdmark %15s %d %64s %64s %64s", from, &protocol, server_nonce,
		   client_nonce, hello) != 5) {
		fault_raise(f, FAULT_PEER, 0, "the %s's credential is of another program", whose);
		return fault_cause(f, "It is genuine, but was not made for rdmark");
	}
	if (strcmp(from, whose) != 0) {
		fault_raise(f, FAULT_PEER, 0, "the %s's credential is one that a %s made", whose,
			    strcmp(whose, "client") == 0 ? "server" : "client");
		return fault_cause(f, "The credential of one end was sent back to it");
	}
	if (protocol != AUTH_PROTOCOL)
		return fault_raise(f, FAULT_USAGE, 0,
				   "the %s's credential is for protocol %d, not %d", whose,
				   protocol, AUTH_PROTOCOL);
	if (strcmp(server_nonce, expected->server_nonce) != 0 ||
	    strcmp(client_nonce, expected->client_nonce) != 0) {
		fault_raise(f, FAULT_PEER, 0, "the %s's credential is for another connection",
			    whose);
		return fault_cause(f, "It was recorded and sent again, or it was made for another "
				      "server");
	}
	fault_raise(f, FAULT_PEER, 0, "the %s's credential is for another hello", whose);
	return fault_cause(f, "The client's hello was changed between the two ends");
}

/* Check that the peer's clock is near enough: S is genuine and was made for this connection. */
static int check_clocks(const struct munge_sealed *s, const char *whose, struct fault *f)
{
	int64_t by = s->clocks_differ_s;

	if (!by)
		return 0;
	fault_raise(
		f, FAULT_USAGE, 0,
		"munge_decode: the %s's credential %s: the clocks of the two hosts differ by %s",
		whose, by > 0 ? "has expired" : "is from the future",
		units_ns((uint64_t)(by > 0 ? by : -by) * UNITS_NS_PER_S).text);
	fault_cause(f, "The clock of the %s's host is %s; credentials are valid for %d s", whose,
		    by > 0 ? "behind" : "ahead", MUNGE_TTL_S);
	return fault_fix(f, "set both clocks, for example with chrony or systemd-timesyncd");
}

static int check_user(const struct auth *a, const struct munge_sealed *s, const char *whose,
		      struct fault *f)
{
	const char *other = strcmp(whose, "client") == 0 ? "server" : "client";
	char user[96], own[96];

	if (allow_has(&a->allow, s->uid, s->gid))
		return 0;
	fault_raise(f, FAULT_USAGE, 0, "the %s's user %s is not allowed", whose,
		    allow_user(s->uid, user, sizeof(user)));
	if (!a->list)
		fault_cause(f, "Without --allow only %s and root are allowed",
			    allow_user(a->uid, own, sizeof(own)));
	else
		fault_cause(f, "--allow of the %s does not have that user, nor a group of it",
			    other);
	return fault_fix(f, "add the user to --allow of the %s", other);
}

static int unseal(const struct auth *a, const struct auth_claim *expected, const char *credential,
		  uid_t *uid, struct fault *f)
{
	const char *whose = expected->from;
	struct munge_sealed s = {.clocks_differ_s = 0};
	char text[TEXT_BYTES];

	if (!credential || strlen(credential) > AUTH_CREDENTIAL_MAX)
		return fault_raise(f, FAULT_PEER, 0,
				   credential ? "the %s's credential is longer than %u bytes"
					      : "the %s sent no credential",
				   whose, AUTH_CREDENTIAL_MAX);
	if (munge_unseal(&a->munge, whose, credential, &s, f))
		return -1;
	format_claim(expected, text);
	if (strcmp(text, s.text) != 0)
		return refuse_claim(expected, s.text, f);
	*uid = s.uid;
	return check_clocks(&s, whose, f) || check_user(a, &s, whose, f) ? -1 : 0;
}

/*
 * Let munged seal and decode a credential, to see that it answers; set A's user from what it says,
 * and read the list of users.
 */
static int prepare_munge(struct auth *a, struct fault *f)
{
	struct munge_sealed s;
	char *credential;
	int rc;

	if (munge_seal(&a->munge, "rdmark", (uid_t)-1, &credential, f))
		return -1;
	rc = munge_unseal(&a->munge, "program", credential, &s, f);
	free(credential);
	/* A container's user ID can be another one to munged outside. */
	a->uid = s.uid;
	return rc || allow_read(&a->allow, a->list, a->uid, f) ? -1 : 0;
}

/* One of the three above that asks munged, and looks up users: all that it reads and writes. */
struct asked {
	struct timed_call call;
	enum {
		ASKED_TO_PREPARE,
		ASKED_TO_SEAL,
		ASKED_TO_UNSEAL
	} what;
	struct auth auth;
	struct auth_claim claim;
	char *credential;
	uid_t uid;
	struct fault fault;
	int rc;
};

static void run_asked(struct timed_call *c)
{
	struct asked *k = (struct asked *)c;

	if (k->what == ASKED_TO_PREPARE)
		k->rc = prepare_munge(&k->auth, &k->fault);
	else if (k->what == ASKED_TO_SEAL)
		k->rc = seal(&k->auth, &k->claim, k->uid, &k->credential, &k->fault);
	else
		k->rc = unseal(&k->auth, &k->claim, k->credential, &k->uid, &k->fault);
}

static void release_asked(struct timed_call *c)
{
	struct asked *k = (struct asked *)c;

	free(k->credential);
	free(k);
}

/* A call with A and CLAIM (NULL: none), whose fault comes after F; NULL: no memory. */
static struct asked *make_asked(const struct auth *a, const struct auth_claim *claim,
				struct fault *f)
{
	struct asked *k = calloc(1, sizeof(*k));

	if (!k) {
		fault_raise(f, FAULT_LOCAL, ENOMEM, "asking munged");
		return NULL;
	}
	k->call.run = run_asked;
	k->call.release = release_asked;
	k->auth = *a;
	if (claim)
		k->claim = *claim;
	k->fault = *f;
	return k;
}

/* Ask, and wait for a while. Returns what it has returned, and *ASKED to release; or -1 and NULL.
 */
static int ask(struct asked **asked, struct stop *stop, struct fault *f)
{
	struct asked *k = *asked;
	int rc = timed_call(&k->call, AUTH_ASK_NS, stop, f);

	if (rc == 0) {
		*f = k->fault;
		return k->rc;
	}
	*asked = NULL;
	if (rc < 0)
		return -1;
	fault_raise(f, FAULT_UNAVAILABLE, 0, "munged has not answered within %s",
		    units_ns(AUTH_ASK_NS).text);
	fault_cause(f, "It hangs or is stopped, or the service that knows the users' names does");
	return fault_fix(f,
			 "try `munge -n | unmunge` and `id` on that host, and see what munged has "
			 "logged: journalctl -u munge");
}

int auth_prepare_munge(struct auth *a, struct stop *stop, struct fault *f)
{
	struct asked *k = make_asked(a, NULL, f);
	int rc;

	if (!k)
		return -1;
	k->what = ASKED_TO_PREPARE;
	rc = ask(&k, stop, f);
	if (rc == 0)
		*a = k->auth;
	if (k)
		release_asked(&k->call);
	return rc;
}

int auth_seal(const struct auth *a, const struct auth_claim *c, uid_t reader, char **credential,
	      struct fault *f)
{
	struct asked *k;
	int rc;

	*credential = NULL;
	k = make_asked(a, c, f);
	if (!k)
		return -1;
	k->what = ASKED_TO_SEAL;
	k->uid = reader;
	rc = ask(&k, c->stop, f);
	if (rc == 0) {
		*credential = k->credential;
		k->credential = NULL;
	}
	if (k)
		release_asked(&k->call);
	return rc;
}

int auth_unseal(const struct auth *a, const struct auth_claim *expected, const char *credential,
		uid_t *uid, struct fault *f)
{
	struct asked *k;
	int rc;

	if (!credential)
		return unseal(a, expected, credential, uid, f);
	k = make_asked(a, expected, f);
	if (!k)
		return -1;
	k->what = ASKED_TO_UNSEAL;
	k->credential = strdup(credential);
	if (!k->credential) {
		release_asked(&k->call);
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "asking munged");
	}
	rc = ask(&k, expected->stop, f);
	if (rc == 0)
		*uid = k->uid;
	if (k)
		release_asked(&k->call);
	return rc;
}
