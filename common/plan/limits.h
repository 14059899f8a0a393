/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * limits: the limits of a server for its clients: --max-memory, --max-duration, --max-qps.
 *
 * If the client's hello already exceeds a limit, both ends report the option, the request and the
 * limit. Other limits are checked later: buffers when their exact size is known, before they are
 * allocated (limits_memory()), and time when it has passed (oob_limit()).
 */
#pragma once

#include <stdint.h>

#include "base/fault.h"
#include "cli/options.h"
#include "plan/test.h"

/* What one client of a server that stays may use, unless another limit is given. */
#define LIMITS_MEMORY_BYTES (UINT64_C(2) << 30)
#define LIMITS_DURATION_NS  UINT64_C(3600000000000)
#define LIMITS_QPS          1024

/* Set the limits that are not given to these. */
void limits_default(struct local_options *l);

/* The limits of L as text, for the user. Returns BUF. */
const char *limits_text(const struct local_options *l, char *buf, size_t size);

/*
 * Check that a client may run E, of test T, on this number of RAILS. Raises FAULT_USAGE. Of buffers
 * it counts what the experiment alone tells, which is less than what is made for it.
 */
int limits_check(const struct local_options *l, const struct test *t, const struct experiment *e,
		 uint64_t rails, struct fault *f);

/* Check that its buffers may have BYTES in total at this end. Raises FAULT_USAGE. */
int limits_memory(const struct local_options *l, uint64_t bytes, struct fault *f);
