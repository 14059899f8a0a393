/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * munge_abi: what rdmark uses of libmunge's interface, with the original names, so that building
 * needs no munge.h. libmunge.so.2 has had it since version 0.5.8 of 2006. Nothing is linked against
 * the calls: they are looked up at run time. tests/cli/auth_abi.bats compares this with munge.h.
 */
#pragma once

#include <sys/types.h>

typedef struct munge_ctx *munge_ctx_t;

typedef enum munge_opt {
	MUNGE_OPT_TTL = 4,             /* int: seconds that a credential is valid */
	MUNGE_OPT_ENCODE_TIME = 6,     /* time_t */
	MUNGE_OPT_DECODE_TIME = 7,     /* time_t */
	MUNGE_OPT_SOCKET = 8,          /* const char * */
	MUNGE_OPT_UID_RESTRICTION = 9, /* uid_t: who may decode it */
} munge_opt_t;

typedef enum munge_err {
	EMUNGE_SUCCESS = 0,
	EMUNGE_NO_MEMORY = 5,
	EMUNGE_SOCKET = 6,
	EMUNGE_TIMEOUT = 7,
	EMUNGE_BAD_CRED = 8,
	EMUNGE_BAD_VERSION = 9,
	EMUNGE_CRED_INVALID = 14,
	EMUNGE_CRED_EXPIRED = 15,
	EMUNGE_CRED_REWOUND = 16,
	EMUNGE_CRED_REPLAYED = 17,
	EMUNGE_CRED_UNAUTHORIZED = 18,
} munge_err_t;

/* calls */
munge_err_t munge_encode(char **cred, munge_ctx_t ctx, const void *buf, int len);
munge_err_t munge_decode(const char *cred, munge_ctx_t ctx, void **buf, int *len, uid_t *uid,
			 gid_t *gid);
const char *munge_strerror(munge_err_t e);
munge_ctx_t munge_ctx_create(void);
void munge_ctx_destroy(munge_ctx_t ctx);
const char *munge_ctx_strerror(munge_ctx_t ctx);
munge_err_t munge_ctx_get(munge_ctx_t ctx, int opt, ...);
munge_err_t munge_ctx_set(munge_ctx_t ctx, int opt, ...);
