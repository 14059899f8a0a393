/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * munge: credentials of munge, the authentication service of HPC clusters. A credential seals a
 * text; a program that decodes it on a host with the same key learns which user made it, and when.
 *
 * libmunge.so.2 is opened at run time, so that one package serves hosts with and without munge. It
 * keeps no state between calls, so any thread may call. A call waits for munged, for 10 s or more if
 * that hangs: admit/auth_seal.h limits that. A zeroed struct has nothing to release.
 */
#pragma once

#include <stdint.h>

#include "base/fault.h"
#include "trust/munge_abi.h"

#define MUNGE_LIBRARY "libmunge.so.2"

#define MUNGE_TTL_S 60 /* how long a credential of rdmark is valid */

/* clang-format off */
#define MUNGE_ENTRIES(X)						\
	X(munge_encode) X(munge_decode) X(munge_strerror)		\
	X(munge_ctx_create) X(munge_ctx_destroy) X(munge_ctx_strerror)	\
	X(munge_ctx_get) X(munge_ctx_set)
/* clang-format on */

#define MUNGE_ENTRY(function) __typeof__(function) *function;

struct munge {
	MUNGE_ENTRIES(MUNGE_ENTRY)
	const char *socket; /* of munged; NULL: the library's default */
};

/* What munged says of a credential. */
struct munge_sealed {
	char text[256]; /* what it seals; cut */
	uid_t uid;      /* who made it */
	gid_t gid;
	/*
	 * seconds from when it was made to now, by the clocks of the two hosts, if that is too much
	 * for it to be valid; otherwise 0
	 */
	int64_t clocks_differ_s;
};

/* Open the library. SOCKET as above. Raises FAULT_UNAVAILABLE. */
int munge_open(struct munge *m, const char *socket, struct fault *f);

/*
 * Seal TEXT in a new *CREDENTIAL that only the user READER can decode ((uid_t)-1: any), within
 * MUNGE_TTL_S. The caller frees it.
 */
int munge_seal(const struct munge *m, const char *text, uid_t reader, char **credential,
	       struct fault *f);

/*
 * Decode CREDENTIAL of the end WHOSE ("client"). One that is expired, or that is from the future,
 * is no failure here: the caller compares its text first.
 */
int munge_unseal(const struct munge *m, const char *whose, const char *credential,
		 struct munge_sealed *s, struct fault *f);
