// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "admit/auth.h"

#include <string.h>

#include "base/clock.h"
#include "base/phase.h"
#include "proto/message.h"

#define METHOD "key" /* as both ends say it */

int auth_read(struct auth *a, const char *how, struct fault *f)
{
	bool key = how && strncmp(how, "key:", 4) == 0 && how[4];

	*a = (struct auth){.file = key ? how + 4 : NULL};
	if (key || !how || strcmp(how, "none") == 0)
		return 0;
	return fault_usage(f,
			   "give none, or key:FILE with a secret that both ends have in a file, for "
			   "example in a shared home directory",
			   "invalid value '%.60s' of --auth", how);
}

int auth_open(struct auth *a, struct fault *f)
{
	struct crypto_key key;
	unsigned char derived[CRYPTO_HASH];
	int rc;

	fault_phase(f, PHASE_AUTH);
	if (!a->file)
		return 0;
	rc = crypto_open(&a->crypto, f) || crypto_read_key(&key, a->file, f) ||
	     crypto_derive(&a->crypto, &key, "rdmark TLS 1.3", derived, f) ||
	     tls_open(&a->tls, &a->crypto, derived, f);
	explicit_bzero(&key, sizeof(key));
	explicit_bzero(derived, sizeof(derived));
	return rc ? -1 : 0;
}

int auth_rehearse(const struct auth *a, struct fault *f)
{
	return a->file ? tls_rehearse(&a->tls, f) : 0;
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

/* Raise the fault that only one end, or each in its own way, has --auth. Returns -1. */
static int raise_different(const char *server, const char *client, struct fault *f)
{
	return fault_raise(f, FAULT_USAGE, 0,
			   "the two ends have different --auth: server %s, client %s", server,
			   client);
}

int auth_refuse(const json_t *m, struct fault *f)
{
	char theirs[16];

	if (!json_object_get(m, "auth"))
		return 0;
	if (message_text(m, "auth", theirs, sizeof(theirs), f))
		return -1;
	raise_different("none", theirs, f);
	return fault_fix(f, "start the server with --auth=key:FILE, or omit it on the client");
}

/* The first message of either end, of TYPE. */
static json_t *make_first(const char *type)
{
	return json_pack("{s:s, s:i, s:s, s:s}", "type", type, "protocol", AUTH_PROTOCOL, "version",
			 RDMARK_VERSION, "auth", METHOD);
}

static int send_to(struct oob *o, json_t *m, uint64_t timeout_ns, struct fault *f)
{
	return oob_send(o, m, clock_now_ns() + timeout_ns, f);
}

/* The client's side: send the hello that only says the method, and wait for the challenge. */
static int ask_challenge(struct oob *o, uint64_t timeout_ns, struct fault *f)
{
	uint64_t protocol;
	char theirs[16];
	json_t *m;
	int rc;

	if (send_to(o, make_first("hello"), timeout_ns, f) ||
	    message_expect(o, "challenge", &m, timeout_ns, f))
		return -1;
	rc = message_u64(m, "protocol", UINT32_MAX, &protocol, f) ||
	     message_has(m, "protocol", protocol == AUTH_PROTOCOL, f) ||
	     message_text(m, "auth", theirs, sizeof(theirs), f) ||
	     message_has(m, "auth", strcmp(theirs, METHOD) == 0, f);
	json_decref(m);
	return rc ? -1 : 0;
}

int auth_introduce(const struct auth *a, struct oob *o, json_t *hello, uint64_t timeout_ns,
		   struct fault *f)
{
	fault_phase(f, PHASE_PROVE_TO_SERVER);
	if (ask_challenge(o, timeout_ns, f) == 0 && secure(a, o, false, f) == 0)
		return send_to(o, hello, timeout_ns, f);
	json_decref(hello);
	return -1;
}

/* The server's side. It sends without waiting: what it sends fits the socket's buffer, and no
 * client may block the listener. */

static int check_first(const json_t *m, struct fault *f)
{
	uint64_t protocol = 0;
	char theirs[16] = "none";

	if (!message_is(m, "hello"))
		return fault_raise(f, FAULT_PEER, 0, "the first message is not a hello");
	if (json_object_get(m, "auth") &&
	    (message_text(m, "auth", theirs, sizeof(theirs), f) ||
	     message_u64(m, "protocol", UINT32_MAX, &protocol, f)))
		return -1;
	if (strcmp(theirs, METHOD) != 0) {
		raise_different(METHOD, theirs, f);
		return fault_fix(f, "use --auth=key:FILE on the client");
	}
	if (protocol == AUTH_PROTOCOL)
		return 0;
	fault_raise(f, FAULT_USAGE, 0,
		    "the two ends have different versions: server protocol %d, client %u",
		    AUTH_PROTOCOL, (unsigned)protocol);
	return fault_fix(f, "upgrade rdmark on the %s",
			 protocol > AUTH_PROTOCOL ? "server" : "client");
}

int auth_receive(const struct auth *a, struct auth_visit *v, struct oob *o, json_t **m,
		 struct fault *f)
{
	struct fault ignored = {0};
	int rc;

	fault_phase(f, PHASE_PROVE_CLIENT);
	if (v->challenged)
		return 1;            /* it came through TLS */
	if (message_is(*m, "error")) /* it says why before it goes */
		rc = message_raise(*m, f);
	else
		rc = check_first(*m, f);
	v->challenged = rc == 0;
	if (rc == 0 && (send_to(o, make_first("challenge"), 0, f) || secure(a, o, true, f)))
		rc = -1;
	json_decref(*m);
	*m = NULL;
	if (rc < 0 && !f->from_peer)
		send_to(o, message_from_fault(f), 0, &ignored);
	return rc;
}
