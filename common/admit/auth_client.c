// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The client's side of auth.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "admit/auth_seal.h"
#include "base/clock.h"
#include "proto/message.h"

static int send_to(struct oob *o, json_t *m, uint64_t timeout_ns, struct fault *f)
{
	return oob_send(o, m, clock_now_ns() + timeout_ns, f);
}

/* Send the hello that only says the method, and wait for the server's challenge *M. */
static int ask_challenge(const struct auth *a, struct oob *o, json_t **m, uint64_t timeout_ns,
			 struct fault *f)
{
	uint64_t protocol, own = (uint64_t)auth_protocol(a);
	char theirs[16];

	if (send_to(o,
		    json_pack("{s:s, s:I, s:s, s:s}", "type", "hello", "protocol", (json_int_t)own,
			      "version", RDMARK_VERSION, "auth", auth_name(a)),
		    timeout_ns, f) ||
	    message_expect(o, "challenge", m, timeout_ns, f))
		return -1;
	if (message_u64(*m, "protocol", UINT32_MAX, &protocol, f) == 0 &&
	    message_has(*m, "protocol", protocol == own, f) == 0 &&
	    message_text(*m, "auth", theirs, sizeof(theirs), f) == 0 &&
	    message_has(*m, "auth", strcmp(theirs, auth_name(a)) == 0, f) == 0)
		return 0;
	json_decref(*m);
	return -1;
}

/* Read the server's challenge M: its nonce, and its user. */
static int read_challenge(const json_t *m, struct auth_claim *claim, uid_t *uid, struct fault *f)
{
	uint64_t number;

	if (message_u64(m, "uid", UINT32_MAX - 1, &number, f))
		return -1;
	*uid = (uid_t)number;
	return auth_read_nonce(m, claim->server_nonce, f);
}

/* Send the credential for HELLO, with CLAIM, to the server that runs as UID. */
static int send_credential(const struct auth *a, struct oob *o, const struct auth_claim *claim,
			   uid_t uid, const char *hello, uint64_t timeout_ns, struct fault *f)
{
	char *credential;
	int rc;

	if (auth_seal(a, claim, uid, &credential, f))
		return -1;
	rc = send_to(o,
		     json_pack("{s:s, s:s, s:s, s:s}", "type", "credential", "nonce",
			       claim->client_nonce, "credential", credential, "hello", hello),
		     timeout_ns, f);
	free(credential);
	return rc;
}

/* Wait for the server's proof of CLAIM, and check it. */
static int read_proof(const struct auth *a, struct oob *o, struct auth_claim *claim,
		      uint64_t timeout_ns, struct fault *f)
{
	json_t *m;
	uid_t uid;
	int rc;

	if (message_expect(o, "proof", &m, timeout_ns, f))
		return -1;
	claim->from = "server";
	rc = auth_unseal(a, claim, json_string_value(json_object_get(m, "credential")), &uid, f);
	json_decref(m);
	return rc;
}

/* Prove this end by a credential of munge, and check the server's; M is its challenge. */
static int exchange_credentials(const struct auth *a, struct oob *o, const json_t *m,
				const char *hello, uint64_t timeout_ns, struct fault *f)
{
	struct auth_claim claim = {.from = "client", .stop = o->stop};
	uid_t uid;

	if (crypto_hash(&a->crypto, hello, claim.hello, f) ||
	    auth_make_nonce(claim.client_nonce, f) || read_challenge(m, &claim, &uid, f) ||
	    send_credential(a, o, &claim, uid, hello, timeout_ns, f))
		return -1;
	return read_proof(a, o, &claim, timeout_ns, f);
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
		if (auth_secure(a, o, false, f) == 0)
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
