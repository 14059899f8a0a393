// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "admit/auth.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "admit/auth_seal.h"
#include "base/clock.h"
#include "proto/json_memory.h"
#include "proto/message.h"

static const struct {
	const char *name, *usage;
	int protocol;
	bool alone, with_file; /* it may be given so */
} methods[] = {
	[AUTH_NONE] = {"none", "none", 0, true, false},
	[AUTH_MUNGE] = {"munge", "munge", AUTH_PROTOCOL, true, true},
	[AUTH_KEY] = {"key", "key:FILE", AUTH_KEY_PROTOCOL, false, true},
};

static const char *method_name(const struct auth *a)
{
	return methods[a->method].name;
}

static int read_method(struct auth *a, const char *how, struct fault *f)
{
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		size_t n = strlen(methods[i].name);
		bool has_file;

		if (strncmp(how, methods[i].name, n) != 0)
			continue;
		has_file = how[n] == ':' && how[n + 1];
		if (how[n] ? !has_file || !methods[i].with_file : !methods[i].alone)
			break;
		a->method = (enum auth_method)i;
		a->file = has_file ? how + n + 1 : NULL;
		return 0;
	}
	return fault_usage(f, "use none, munge, munge:SOCKET or key:FILE",
			   "invalid value '%.60s' of --auth", how);
}

int auth_read(struct auth *a, const char *how, const char *list, struct fault *f)
{
	*a = (struct auth){.list = list};
	if (how && read_method(a, how, f))
		return -1;
	if (!list || a->method == AUTH_MUNGE)
		return 0;
	fault_raise(f, FAULT_USAGE, 0, "--allow cannot be used %s",
		    a->method == AUTH_KEY ? "with --auth=key" : "without --auth=munge");
	if (a->method == AUTH_KEY)
		fault_cause(f, "The key does not say which user has it");
	return fault_fix(f, a->method == AUTH_KEY
				    ? "omit it: every user who can read the key file is allowed"
				    : "add --auth=munge on both ends");
}

static int open_key(struct auth *a, struct fault *f)
{
	struct crypto_key key;
	unsigned char derived[CRYPTO_HASH];
	int rc = crypto_read_key(&key, a->file, f) ||
		 crypto_derive(&a->crypto, &key, "rdmark TLS 1.3", derived, f) ||
		 tls_open(&a->tls, &a->crypto, derived, f);

	explicit_bzero(&key, sizeof(key));
	explicit_bzero(derived, sizeof(derived));
	return rc ? -1 : 0;
}

int auth_open(struct auth *a, struct stop *stop, struct fault *f)
{
	fault_phase(f, "preparing --auth");
	if (a->method == AUTH_NONE)
		return 0;
	if (crypto_open(&a->crypto, f))
		return -1;
	a->uid = geteuid();
	if (a->method == AUTH_KEY)
		return open_key(a, f);
	return munge_open(&a->munge, a->file, f) || auth_prepare_munge(a, stop, f) ? -1 : 0;
}

int auth_rehearse(const struct auth *a, struct fault *f)
{
	return a->method == AUTH_KEY ? tls_rehearse(&a->tls, f) : 0;
}

void auth_release(struct auth *a)
{
	tls_close(&a->tls);
}

/*
 * From now on what passes at O is encrypted with the key of A. The other end does the same in the
 * other role, after the "challenge" of the server.
 */
static int secure(const struct auth *a, struct oob *o, bool server, struct fault *f)
{
	struct tls *t = tls_new(&a->tls, o->fd, server, f);

	if (t)
		oob_secure(o, t);
	return t ? 0 : -1;
}

int auth_refuse(const json_t *m, struct fault *f)
{
	char theirs[16];

	if (!json_object_get(m, "auth"))
		return 0;
	if (message_text(m, "auth", theirs, sizeof(theirs), f))
		return -1;
	fault_raise(f, FAULT_USAGE, 0, "the two ends have different --auth: server none, client %s",
		    theirs);
	return fault_fix(f, "start the server with --auth=%s, or omit it on the client",
			 strcmp(theirs, "key") == 0 ? "key:FILE" : theirs);
}

/* The client's side. */

static int send_to(struct oob *o, json_t *m, uint64_t timeout_ns, struct fault *f)
{
	return oob_send(o, m, clock_now_ns() + timeout_ns, f);
}

/* Send the hello that only says the method, and wait for the server's challenge *M. */
static int ask_challenge(const struct auth *a, struct oob *o, json_t **m, uint64_t timeout_ns,
			 struct fault *f)
{
	uint64_t protocol, own = (uint64_t)methods[a->method].protocol;
	char theirs[16];

	if (send_to(o,
		    json_pack("{s:s, s:I, s:s, s:s}", "type", "hello", "protocol", (json_int_t)own,
			      "version", RDMARK_VERSION, "auth", method_name(a)),
		    timeout_ns, f) ||
	    message_expect(o, "challenge", m, timeout_ns, f))
		return -1;
	if (message_u64(*m, "protocol", UINT32_MAX, &protocol, f) == 0 &&
	    message_has(*m, "protocol", protocol == own, f) == 0 &&
	    message_text(*m, "auth", theirs, sizeof(theirs), f) == 0 &&
	    message_has(*m, "auth", strcmp(theirs, method_name(a)) == 0, f) == 0)
		return 0;
	json_decref(*m);
	return -1;
}

/* Send M (stolen) with a credential that seals CLAIM, and that only the user READER can decode. */
static int send_sealed(const struct auth *a, struct oob *o, const struct auth_claim *claim,
		       uid_t reader, json_t *m, uint64_t timeout_ns, struct fault *f)
{
	char *credential;

	if (auth_seal(a, claim, reader, &credential, f)) {
		json_decref(m);
		return -1;
	}
	json_object_set_new(m, "credential", json_string(credential));
	free(credential);
	return send_to(o, m, timeout_ns, f);
}

/* Prove this end by a credential of munge, and check the server's; M is its challenge. */
static int exchange_credentials(const struct auth *a, struct oob *o, const json_t *m,
				const char *hello, uint64_t timeout_ns, struct fault *f)
{
	struct auth_claim claim = {.from = "client", .stop = o->stop};
	uint64_t reader;
	json_t *proof;
	uid_t uid;
	int rc;

	if (crypto_hash(&a->crypto, hello, claim.hello, f) ||
	    auth_make_nonce(claim.client_nonce, f) ||
	    message_u64(m, "uid", UINT32_MAX - 1, &reader, f) ||
	    auth_read_nonce(m, claim.server_nonce, f) ||
	    send_sealed(a, o, &claim, (uid_t)reader,
			json_pack("{s:s, s:s, s:s}", "type", "credential", "nonce",
				  claim.client_nonce, "hello", hello),
			timeout_ns, f) ||
	    message_expect(o, "proof", &proof, timeout_ns, f))
		return -1;
	claim.from = "server";
	rc = auth_unseal(a, &claim, json_string_value(json_object_get(proof, "credential")), &uid,
			 f);
	json_decref(proof);
	return rc;
}

int auth_introduce(const struct auth *a, struct oob *o, json_t *hello, uint64_t timeout_ns,
		   struct fault *f)
{
	char *text;
	json_t *m;
	int rc;

	fault_phase(f, "authenticating to the server");
	rc = ask_challenge(a, o, &m, timeout_ns, f);
	if (rc == 0 && a->method == AUTH_KEY) {
		json_decref(m);
		if (secure(a, o, false, f) == 0)
			return send_to(o, hello, timeout_ns, f);
		rc = -1;
	} else if (rc == 0) {
		text = hello ? json_dumps(hello, JSON_COMPACT) : NULL;
		rc = text ? exchange_credentials(a, o, m, text, timeout_ns, f)
			  : fault_raise(f, FAULT_LOCAL, ENOMEM, "creating a message for %s",
					o->peer);
		free(text);
		json_decref(m);
	}
	json_decref(hello);
	return rc;
}

/* The server's side. It sends without waiting: what it sends fits the socket's buffer, and no
 * client may block the listener. */

/* Raise the fault that the client has no --auth, or THEIRS, and this server another one. */
static int raise_different(const struct auth *a, const char *theirs, struct fault *f)
{
	fault_raise(f, FAULT_USAGE, 0, "the two ends have different --auth: server %s, client %s",
		    method_name(a), theirs);
	return fault_fix(f, "use --auth=%s on the client", methods[a->method].usage);
}

static int check_first(const struct auth *a, const json_t *m, struct fault *f)
{
	int own = methods[a->method].protocol;
	uint64_t protocol;
	char theirs[16];

	if (!message_is(m, "hello"))
		return fault_raise(f, FAULT_PEER, 0, "the first message is not a hello");
	if (!json_object_get(m, "auth"))
		return raise_different(a, "none", f);
	if (message_text(m, "auth", theirs, sizeof(theirs), f) ||
	    message_u64(m, "protocol", UINT32_MAX, &protocol, f))
		return -1;
	if (strcmp(theirs, method_name(a)) != 0)
		return raise_different(a, theirs, f);
	if (protocol == (uint64_t)own)
		return 0;
	fault_raise(f, FAULT_USAGE, 0,
		    "the two ends have different versions: server protocol %d, client %u", own,
		    (unsigned)protocol);
	return fault_fix(f, "upgrade rdmark on the %s",
			 protocol > (uint64_t)own ? "server" : "client");
}

static int send_challenge(const struct auth *a, struct auth_visit *v, struct oob *o,
			  const json_t *m, struct fault *f)
{
	json_t *c;

	if (check_first(a, m, f) || (a->method == AUTH_MUNGE && auth_make_nonce(v->nonce, f)))
		return -1;
	c = json_pack("{s:s, s:i, s:s, s:s}", "type", "challenge", "protocol",
		      methods[a->method].protocol, "version", RDMARK_VERSION, "auth",
		      method_name(a));
	if (a->method == AUTH_MUNGE)
		json_object_update_new(
			c, json_pack("{s:s, s:I}", "nonce", v->nonce, "uid", (json_int_t)a->uid));
	v->challenged = true;
	if (send_to(o, c, 0, f))
		return -1;
	return a->method == AUTH_KEY ? secure(a, o, true, f) : 0;
}

/* Read the real HELLO of PEER, a text in M: it is bounded like a message. */
static int read_hello(const json_t *m, const char *peer, json_t **hello, struct fault *f)
{
	const char *text = json_string_value(json_object_get(m, "hello"));
	struct bounds bounds = bounds_greeting();
	uint64_t failures = json_memory_failures();

	if (bounds_check(&bounds, text, strlen(text), peer, f))
		return -1;
	*hello = json_memory_load(text, strlen(text), JSON_REJECT_DUPLICATES, NULL);
	if (json_memory_failures() != failures) {
		json_memory_failed();
		fault_raise(f, FAULT_LOCAL, ENOMEM, "reading a message of %s", peer);
	} else if (!message_has(m, "hello", json_is_object(*hello), f)) {
		return 0;
	}
	json_decref(*hello);
	*hello = NULL;
	return -1;
}

/* Check credential M. Returns 1 with the client's real HELLO, or -1. */
static int read_credential(const struct auth *a, const struct auth_visit *v, struct oob *o,
			   const json_t *m, json_t **hello, struct fault *f)
{
	const char *text = json_string_value(json_object_get(m, "hello"));
	struct auth_claim claim = {.from = "client", .stop = o->stop};
	uid_t uid = (uid_t)-1;

	if (!message_is(m, "credential"))
		return fault_raise(f, FAULT_PEER, 0, "the client sent no credential");
	if (message_has(m, "hello", text, f) || auth_read_nonce(m, claim.client_nonce, f))
		return -1;
	memcpy(claim.server_nonce, v->nonce, sizeof(v->nonce));
	if (crypto_hash(&a->crypto, text, claim.hello, f) ||
	    auth_unseal(a, &claim, json_string_value(json_object_get(m, "credential")), &uid, f))
		return -1;
	claim.from = "server";
	if (send_sealed(a, o, &claim, uid, message_new("proof"), 0, f))
		return -1;
	return read_hello(m, o->peer, hello, f) ? -1 : 1;
}

int auth_receive(const struct auth *a, struct auth_visit *v, struct oob *o, json_t **m,
		 struct fault *f)
{
	struct fault ignored = {0};
	json_t *hello = NULL;
	int rc;

	fault_phase(f, "authenticating the client");
	if (v->challenged && a->method == AUTH_KEY)
		return 1;            /* it came through TLS */
	if (message_is(*m, "error")) /* it says why before it goes */
		rc = message_raise(*m, f);
	else if (v->challenged)
		rc = read_credential(a, v, o, *m, &hello, f);
	else
		rc = send_challenge(a, v, o, *m, f);
	json_decref(*m);
	*m = hello;
	if (rc < 0 && !f->from_peer)
		send_to(o, message_from_fault(f), 0, &ignored);
	return rc;
}
