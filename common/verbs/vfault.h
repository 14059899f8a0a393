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

/* What carries a port's packets, as far as words about them go: hca_link(). */
enum link_kind {
	LINK_KIND_IB,
	LINK_KIND_ROCE,
	LINK_KIND_IWARP,
	LINK_KIND_EFA,
	LINK_KIND_SOFT,
	LINK_KIND_ROCE_V1,
	LINK_KINDS
};

/* What to check, of the host of that port and of its peer: texts that follow "check ". */
struct link_words {
	const char *way;   /* no packet comes through */
	const char *later; /* none does any more */
	const char *ports; /* the cause is not known: what tells more */
	const char *gids;  /* the peer's GID cannot be reached */
	bool switches_cut; /* a switch may drop packets longer than its MTU */
};

const struct link_words *vfault_words(enum link_kind link);

/*
 * Raise FAULT_LOCAL for a failed verb. RC is its result, or errno. PINNED_BYTES is the amount of
 * memory that the call would pin (0: none); it distinguishes a memlock limit from a lack of memory.
 * CALL is printf. Returns -1.
 */
int vfault_raise(struct fault *f, int rc, size_t pinned_bytes, const char *call, ...)
	__attribute__((format(printf, 4, 5)));

/*
 * Raise the fault for the failed completion WC of a QP on LINK; a later one on the same F is dropped.
 * FAULT_PEER if the peer no longer responds, otherwise FAULT_LOCAL. WHAT names the work, e.g. "SEND
 * of 64 KiB". Returns -1.
 */
int vfault_completion(struct fault *f, enum link_kind link, const struct ibv_wc *wc,
		      const char *what);

/*
 * Raise FAULT_DEADLINE: on LINK no completion came for WAITED_NS, after so many messages BEFORE.
 * Returns -1.
 */
int vfault_stuck(struct fault *f, enum link_kind link, uint64_t waited_ns, uint64_t before);

/* True if F is that, of this end. */
bool vfault_is_stuck(const struct fault *f);

/* True if F is a failed completion for want of the peer's answer. */
bool vfault_unanswered(const struct fault *f);

/* True if F is a failed completion of a request that this end's soft-RoCE could not send. */
bool vfault_unsent(const struct fault *f);

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
