// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "admit/auth.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "admit/auth_seal.h"
#include "proto/message.h"

const char *auth_name(const struct auth *a)
{
	static const char *const name[] = {
		[AUTH_NONE] = "none", [AUTH_MUNGE] = "munge", [AUTH_KEY] = "key"};

	return name[a->method];
}

int auth_protocol(const struct auth *a)
{
	return a->method == AUTH_KEY ? AUTH_KEY_PROTOCOL : AUTH_PROTOCOL;
}

/* The rest of TEXT after PREFIX, which must not be empty; NULL: it is not that. */
static const char *rest_of(const char *text, const char *prefix)
{
	size_t size = strlen(prefix);

	return strncmp(text, prefix, size) == 0 && text[size] ? text + size : NULL;
}

static int read_method(struct auth *a, const char *how, struct fault *f)
{
	if (!how || strcmp(how, "none") == 0)
		return 0;
	a->method = AUTH_MUNGE;
	if (strcmp(how, "munge") == 0)
		return 0;
	a->file = rest_of(how, "munge:");
	if (a->file)
		return 0;
	a->method = AUTH_KEY;
	a->file = rest_of(how, "key:");
	if (a->file)
		return 0;
	fault_raise(f, FAULT_USAGE, 0, "invalid value '%.60s' of --auth", how);
	return fault_fix(f, "use none, munge, munge:SOCKET or key:FILE");
}

int auth_read(struct auth *a, const char *how, const char *list, struct fault *f)
{
	*a = (struct auth){.list = list};
	if (read_method(a, how, f))
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

/* Prepare TLS with what is in the key file. */
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

void auth_release(struct auth *a)
{
	tls_close(&a->tls);
}

int auth_secure(const struct auth *a, struct oob *o, bool server, struct fault *f)
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
