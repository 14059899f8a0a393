// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "trust/munge.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define ROW(function) {#function, offsetof(struct munge, function)},

int munge_open(struct munge *m, const char *socket, struct fault *f)
{
	static const struct {
		const char *name;
		size_t offset;
	} entry[] = {MUNGE_ENTRIES(ROW)};
	const char *why;
	void *library;

	errno = 0;
	library = dlopen(MUNGE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!library && errno == ENOMEM)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "dlopen(" MUNGE_LIBRARY ")");
	why = library ? NULL : dlerror();
	*m = (struct munge){.socket = socket};
	if (!library) {
		fault_raise(f, FAULT_UNAVAILABLE, 0, "%s", why ? why : "dlopen(" MUNGE_LIBRARY ")");
		fault_cause(f, "This host or container has no libmunge");
		return fault_fix(f, "install munge (libmunge2 of Debian, munge-libs of Fedora), or "
				    "use --auth=key:FILE on both ends");
	}
	for (size_t i = 0; i < sizeof(entry) / sizeof(entry[0]); i++) {
		void *symbol = dlsym(library, entry[i].name);

		if (!symbol) {
			fault_raise(f, FAULT_UNAVAILABLE, 0, MUNGE_LIBRARY " has no %s",
				    entry[i].name);
			return fault_fix(f, "install munge 0.5.8 or newer");
		}
		memcpy((char *)m + entry[i].offset, &symbol, sizeof(symbol));
	}
	return 0;
}

/* The errno of a connection to the socket PATH: why munged cannot be reached. */
static int connect_errno(const char *path)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), err = 0;

	snprintf(to.sun_path, sizeof(to.sun_path), "%s", path);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&to, sizeof(to)))
		err = errno;
	if (fd >= 0)
		close(fd);
	return err;
}

/* Add the cause that munged at the socket PATH cannot be asked, found by looking. */
static int explain_no_munged(const char *path, struct fault *f)
{
	char folder[128];
	char *slash;

	snprintf(folder, sizeof(folder), "%s", path);
	slash = strrchr(folder, '/');
	if (slash && slash > folder)
		*slash = '\0';
	if (access(folder, F_OK)) {
		fault_cause(f,
			    "The folder %s does not exist: munge is not installed, or this is a "
			    "container without it",
			    folder);
		return fault_fix(f,
				 "install munge and start munged; in a container, mount %s from "
				 "the host",
				 folder);
	}
	switch (connect_errno(path)) {
	case ENOENT:
	case ECONNREFUSED:
		fault_cause(f, "munged is not running");
		return fault_fix(f, "start munged: systemctl start munge");
	case EACCES:
		fault_cause(f, "This user cannot open the socket of munged");
		return fault_fix(f, "chmod 0755 %s", folder);
	}
	fault_cause(f, "munged does not answer");
	return fault_fix(f, "see what munged has logged: journalctl -u munge");
}

/* Raise the fault that CALL with CTX returned ERR, which is not the credential's. Returns -1. */
static int call_failed(const struct munge *m, munge_ctx_t ctx, const char *call, munge_err_t err,
		       struct fault *f)
{
	const char *text = m->munge_ctx_strerror(ctx), *path = NULL;

	fault_raise(f, err == EMUNGE_NO_MEMORY ? FAULT_LOCAL : FAULT_UNAVAILABLE, 0, "%s: %s", call,
		    text ? text : m->munge_strerror(err));
	if (err != EMUNGE_SOCKET && err != EMUNGE_TIMEOUT)
		return -1;
	if (m->munge_ctx_get(ctx, MUNGE_OPT_SOCKET, &path) != EMUNGE_SUCCESS || !path)
		path = m->socket ? m->socket : "/run/munge/munge.socket.2";
	return explain_no_munged(path, f);
}

/* A context with the socket of M; NULL: no memory. */
static munge_ctx_t make_context(const struct munge *m, struct fault *f)
{
	munge_ctx_t ctx = m->munge_ctx_create();

	if (ctx &&
	    (!m->socket || m->munge_ctx_set(ctx, MUNGE_OPT_SOCKET, m->socket) == EMUNGE_SUCCESS))
		return ctx;
	if (ctx)
		m->munge_ctx_destroy(ctx);
	fault_raise(f, FAULT_LOCAL, ENOMEM, "munge_ctx_create");
	return NULL;
}

int munge_seal(const struct munge *m, const char *text, uid_t reader, char **credential,
	       struct fault *f)
{
	munge_ctx_t ctx = make_context(m, f);
	munge_err_t err;

	*credential = NULL;
	if (!ctx)
		return -1;
	err = m->munge_ctx_set(ctx, MUNGE_OPT_TTL, MUNGE_TTL_S);
	if (err == EMUNGE_SUCCESS)
		err = m->munge_ctx_set(ctx, MUNGE_OPT_UID_RESTRICTION, reader);
	if (err == EMUNGE_SUCCESS)
		err = m->munge_encode(credential, ctx, text, (int)strlen(text));
	if (err != EMUNGE_SUCCESS)
		call_failed(m, ctx, "munge_encode", err, f);
	m->munge_ctx_destroy(ctx);
	return err == EMUNGE_SUCCESS ? 0 : -1;
}

/* Raise the fault that munged refused the credential of the end WHOSE with ERR. Returns -1. */
static int refuse_credential(const struct munge *m, const char *whose, munge_err_t err,
			     struct fault *f)
{
	switch ((int)err) {
	case EMUNGE_CRED_REPLAYED:
		fault_raise(f, FAULT_PEER, 0, "munge_decode: the %s's credential was used before",
			    whose);
		return fault_cause(f, "A credential is valid once: this one was recorded, and sent "
				      "again");
	case EMUNGE_CRED_UNAUTHORIZED:
		fault_raise(f, FAULT_PEER, 0,
			    "munge_decode: the %s's credential is for another user than uid %u, "
			    "the user of this end",
			    whose, (unsigned)geteuid());
		return fault_cause(f, "It was made for another program, and sent here");
	case EMUNGE_CRED_INVALID:
		fault_raise(f, FAULT_USAGE, 0, "munge_decode: the %s's credential is invalid",
			    whose);
		fault_cause(f, "The two hosts have different munge keys, or the credential was "
			       "changed");
		return fault_fix(f, "use the same /etc/munge/munge.key on both hosts, and restart "
				    "munged");
	}
	fault_raise(f, FAULT_PEER, 0, "munge_decode: the %s's credential: %s", whose,
		    m->munge_strerror(err));
	return fault_cause(f, "What was sent is not a credential of munge, or of a version that "
			      "this munged does not support");
}

/* Seconds between the two times of a decoded credential. */
static int64_t age_s(const struct munge *m, munge_ctx_t ctx)
{
	time_t made = 0, now = 0;

	m->munge_ctx_get(ctx, MUNGE_OPT_ENCODE_TIME, &made);
	m->munge_ctx_get(ctx, MUNGE_OPT_DECODE_TIME, &now);
	return (int64_t)now - (int64_t)made;
}

int munge_unseal(const struct munge *m, const char *whose, const char *credential,
		 struct munge_sealed *s, struct fault *f)
{
	munge_ctx_t ctx = make_context(m, f);
	void *text = NULL;
	munge_err_t err;
	int size = 0, rc = 0;

	*s = (struct munge_sealed){.uid = (uid_t)-1, .gid = (gid_t)-1};
	if (!ctx)
		return -1;
	err = m->munge_decode(credential, ctx, &text, &size, &s->uid, &s->gid);
	if (text && size > 0)
		snprintf(s->text, sizeof(s->text), "%.*s", size, (const char *)text);
	if (err == EMUNGE_CRED_EXPIRED || err == EMUNGE_CRED_REWOUND) {
		s->clocks_differ_s = age_s(m, ctx);
		if (!s->clocks_differ_s)
			s->clocks_differ_s = err == EMUNGE_CRED_EXPIRED ? 1 : -1;
	} else if (err == EMUNGE_SOCKET || err == EMUNGE_TIMEOUT || err == EMUNGE_NO_MEMORY) {
		rc = call_failed(m, ctx, "munge_decode", err, f);
	} else if (err != EMUNGE_SUCCESS) {
		rc = refuse_credential(m, whose, err, f);
	}
	free(text);
	m->munge_ctx_destroy(ctx);
	return rc;
}
