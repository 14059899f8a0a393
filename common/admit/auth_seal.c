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

int auth_read_nonce(const json_t *m, char hex[CRYPTO_HEX], struct fault *f)
{
	const char *nonce = json_string_value(json_object_get(m, "nonce"));

	bool valid = nonce && strlen(nonce) == CRYPTO_HEX - 1 &&
		     strspn(nonce, "0123456789abcdef") == CRYPTO_HEX - 1;

	if (message_has(m, "nonce", valid, f))
		return -1;
	memcpy(hex, nonce, CRYPTO_HEX);
	return 0;
}

static void format_claim(const struct auth_claim *c, char text[TEXT_BYTES])
{
	snprintf(text, TEXT_BYTES, "rdmark %s %d %s %s %s", c->from, AUTH_PROTOCOL, c->server_nonce,
		 c->client_nonce, c->hello);
}

/* A question to munged, and to the service that knows the users: all that it reads and writes. */
struct asked {
	struct timed_call call;
	int (*what)(struct asked *k); /* prepare(), seal() or unseal() */
	struct auth auth;
	struct auth_claim claim;
	char *credential; /* owned */
	uid_t uid;        /* who may read it, or has made it */
	struct fault fault;
	int rc;
};

static int seal(struct asked *k)
{
	char text[TEXT_BYTES];

	format_claim(&k->claim, text);
	return munge_seal(&k->auth.munge, text, k->uid, &k->credential, &k->fault);
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

static int unseal(struct asked *k)
{
	const char *whose = k->claim.from, *credential = k->credential;
	struct munge_sealed s = {.clocks_differ_s = 0};
	struct fault *f = &k->fault;
	char text[TEXT_BYTES];

	if (!credential || strlen(credential) > AUTH_CREDENTIAL_MAX)
		return fault_raise(f, FAULT_PEER, 0,
				   credential ? "the %s's credential is longer than %u bytes"
					      : "the %s sent no credential",
				   whose, AUTH_CREDENTIAL_MAX);
	if (munge_unseal(&k->auth.munge, whose, credential, &s, f))
		return -1;
	format_claim(&k->claim, text);
	if (strcmp(text, s.text) != 0)
		return refuse_claim(&k->claim, s.text, f);
	k->uid = s.uid;
	return check_clocks(&s, whose, f) || check_user(&k->auth, &s, whose, f) ? -1 : 0;
}

/*
 * Let munged seal and decode a credential, to see that it answers; set the user from what it says,
 * and read the list of users.
 */
static int prepare(struct asked *k)
{
	struct munge_sealed s;
	struct auth *a = &k->auth;

	if (munge_seal(&a->munge, "rdmark", (uid_t)-1, &k->credential, &k->fault) ||
	    munge_unseal(&a->munge, "program", k->credential, &s, &k->fault))
		return -1;
	/* A container's user ID can be another one to munged outside. */
	a->uid = s.uid;
	return allow_read(&a->allow, a->list, a->uid, &k->fault);
}

static void run_asked(struct timed_call *c)
{
	struct asked *k = (struct asked *)c;

	k->rc = k->what(k);
}

static void release_asked(struct timed_call *c)
{
	struct asked *k = (struct asked *)c;

	free(k->credential);
	free(k);
}

/*
 * Ask QUESTION, whose credential is stolen, and wait for a while. Returns the answer, which the
 * caller releases; NULL if it fails.
 */
static struct asked *ask(const struct asked *question, struct stop *stop, struct fault *f)
{
	struct asked *k = malloc(sizeof(*k));
	int rc;

	if (!k) {
		free(question->credential);
		fault_raise(f, FAULT_LOCAL, ENOMEM, "asking munged");
		return NULL;
	}
	*k = *question;
	k->call.run = run_asked;
	k->call.release = release_asked;
	k->fault = *f;
	rc = timed_call(&k->call, AUTH_ASK_NS, stop, f);
	if (rc == 0) {
		*f = k->fault;
		if (!k->rc)
			return k;
		release_asked(&k->call);
	} else if (rc > 0) {
		fault_raise(f, FAULT_UNAVAILABLE, 0, "munged has not answered within %s",
			    units_ns(AUTH_ASK_NS).text);
		fault_cause(f, "It hangs or is stopped, or the service that knows the users' names "
			       "does");
		fault_fix(f, "try `munge -n | unmunge` and `id` on that host, and see what munged "
			     "has logged: journalctl -u munge");
	}
	return NULL;
}

int auth_prepare_munge(struct auth *a, struct stop *stop, struct fault *f)
{
	struct asked *k = ask(&(struct asked){.what = prepare, .auth = *a}, stop, f);

	if (!k)
		return -1;
	*a = k->auth;
	release_asked(&k->call);
	return 0;
}

int auth_seal(const struct auth *a, const struct auth_claim *c, uid_t reader, char **credential,
	      struct fault *f)
{
	struct asked question = {.what = seal, .auth = *a, .claim = *c, .uid = reader};
	struct asked *k = ask(&question, c->stop, f);

	*credential = k ? k->credential : NULL;
	free(k);
	return k ? 0 : -1;
}

int auth_unseal(const struct auth *a, const struct auth_claim *expected, const char *credential,
		uid_t *uid, struct fault *f)
{
	struct asked question = {.what = unseal, .auth = *a, .claim = *expected}, *k;

	if (credential && !(question.credential = strdup(credential)))
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "asking munged");
	k = ask(&question, expected->stop, f);
	if (!k)
		return -1;
	*uid = k->uid;
	release_asked(&k->call);
	return 0;
}
