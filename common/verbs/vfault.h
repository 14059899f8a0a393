/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * vfault: converts the three error conventions of libibverbs (NULL and errno, a positive errno
 * returned, a negative errno returned) into faults, and checks limits, states and addresses for the
 * probable cause.
 */
#pragma once

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

/*
 * Raise FAULT_LOCAL for a failed verb. RC is its result, or errno. PINNED_BYTES is the amount of
 * memory that the call would pin (0: none); it distinguishes a memlock limit from a lack of memory.
 * CALL is printf. Returns -1.
 */
int vfault_raise(struct fault *f, int rc, size_t pinned_bytes, const char *call, ...)
	__attribute__((format(printf, 4, 5)));

/*
 * Raise the fault for a failed completion; a later one on the same F is dropped. FAULT_PEER if the
 * peer no longer responds, otherwise FAULT_LOCAL. WHAT names the work, e.g. "SEND of 64 KiB".
 * Returns -1.
 */
int vfault_completion(struct fault *f, enum ibv_wc_status status, uint32_t vendor_err,
		      uint32_t qp_num, const char *what);

/*
 * Set cause and fix of the fault just raised for STATUS if it may be that a NIC cannot access the
 * GPU memory of the messages, which is HERE, THERE at the peer, or both.
 */
void vfault_of_gpu(struct fault *f, enum ibv_wc_status status, bool here, bool there);

/*
 * Read one asynchronous event of CTX, whose async_fd must be readable. Returns -1 with FAULT_LOCAL
 * if the run on PORT cannot continue, otherwise 0.
 */
int vfault_async_event(struct fault *f, struct ibv_context *ctx, uint8_t port);
