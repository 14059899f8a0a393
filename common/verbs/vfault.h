/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * vfault: one error convention for libibverbs' three (NULL and errno, a positive errno returned, a
 * negative errno returned), and the probable cause found by looking: limits, state, addresses.
 */
#ifndef RDMARK_VERBS_VFAULT_H
#define RDMARK_VERBS_VFAULT_H

#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

/* Positive errno of what a verb returned: RC may be -1 with errno set, -errno or errno. */
int vfault_errno(int rc);

/*
 * Raise FAULT_LOCAL for a failed verb. ERRNUM as from vfault_errno(); PINNED_BYTES is how much
 * memory the call wanted to pin (0: not that kind of call), used to tell a memlock limit from a
 * real lack of memory. CALL is printf.
 */
int vfault_raise(struct fault *f, int errnum, size_t pinned_bytes, const char *call, ...)
	__attribute__((format(printf, 4, 5)));

/*
 * Raise the fault that a failed completion means, once for the first one: FAULT_PEER when the
 * peer does not answer any more, FAULT_LOCAL for all else. WHAT names the work, e.g. "SEND of 64
 * KiB".
 */
int vfault_completion(struct fault *f, enum ibv_wc_status status, uint32_t vendor_err,
		      uint32_t qp_num, const char *what);

/*
 * Take one asynchronous event of CTX, which must have one waiting (its async_fd is readable), and
 * raise FAULT_LOCAL if it means that the run on PORT cannot go on. Returns -1 then, else 0.
 */
int vfault_async_event(struct fault *f, struct ibv_context *ctx, uint8_t port);

#endif
