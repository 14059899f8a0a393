// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The server's side of auth.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "admit/auth_seal.h"
#include "base/clock.h"
#include "proto/json_memory.h"
#include "proto/message.h"

/* Raise the fault that the client has no --auth, or THEIRS, and this server another one. */
static int raise_different(const struct auth *a, const char *theirs, struct fault *f)
{
	fault_raise(f, FAULT_USAGE, 0, "the two ends have different --auth: server %s, client %s",
		    auth_name(a), theirs);
	return fault_fix(f, "use --auth=%s on the client",
			 a->method == AUTH_KEY ? "key:FILE" : "munge");
}

/* Check M, the first message of a client. */
static int check_first(const struct auth *a, const json_t *m, struct fault *f)
{
	int own = auth_protocol(a);
	uint64_t protocol;
	char theirs[16];

	if (!message_is(m, "hello"))
		return fault_raise(f, FAULT_PEER, 0, "the first message is not a hello");
	if (!json_object_get(m, "auth"))
		return raise_different(a, "none", f);
	if (message_text(m, "auth", theirs, sizeof(theirs), f) ||
	    message_u64(m, "protocol", UINT32_MAX, &protocol, f))
		return -1;
	if (strcmp(theirs, auth_name(a)) != 0)
		return raise_different(a, theirs, f);
	if (protocol == (uint64_t)own)
		return 0;
	fault_raise(f, FAULT_USAGE, 0,
		    "the two ends have different versions: server protocol %d, client %u", own,
		    (unsigned)protocol);
	return fault_fix(f, "upgrade rdmark on the %s",
			 protocol > (uint64_t)own ? "server" : "client");
}

/* Send M without waiting: it fits the socket's buffer, and no client may block the listener. */
static int send_now(struct oob *o, json_t *m, struct fault *f)
{
	return oob_send(o, m, clock_now_ns(), f);
}

static int send_challenge(const struct auth *a, struct auth_visit *v, struct oob *o,
			  const json_t *m, struct fault *f)
{
	json_t *c;

	if (check_first(a, m, f) || (a->method == AUTH_MUNGE && auth_make_nonce(v->nonce, f)))
		return -1;
	c = json_pack("{s:s, s:i, s:s, s:s}", "type", "challenge", "protocol", auth_protocol(a),
		      "version", RDMARK_VERSION, "auth", auth_name(a));
	if (a->method == AUTH_MUNGE)
		json_object_update_new(
			c, json_pack("{s:s, s:I}", "nonce", v->nonce, "uid", (json_int_t)a->uid));
	v->challenged = true;
	if (send_now(o, c, f))
		return -1;
	return a->method == AUTH_KEY ? auth_secure(a, o, true, f) : 0;
}

/* Prove this end to the client that runs as UID, with the nonces and the hello of CLAIM. */
static int send_proof(const struct auth *a, struct auth_claim claim, uid_t uid, struct oob *o,
		      struct fault *f)
{
	char *credential;
	int rc;

	claim.from = "server";
	if (auth_seal(a, &claim, uid, &credential, f))
		return -1;
	rc = send_now(o, json_pack("{s:s, s:s}", "type", "proof", "credential", credential), f);
	free(credential);
	return rc;
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
	    auth_unseal(a, &claim, json_string_value(json_object_get(m, "credential")), &uid, f) ||
	    send_proof(a, claim, uid, o, f))
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
		send_now(o, message_from_fault(f), &ignored);
	return rc;
}
