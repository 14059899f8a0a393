/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * limits: what a client may ask of this server: --max-memory, --max-duration, --max-qps.
 *
 * What shows in the client's hello is refused then, on both ends, with the option, what was asked
 * and what is allowed. What shows only later is refused later: buffers when their exact size is
 * known, before they are made (limits_memory()), and time when it has passed (oob_limit()).
 */
#ifndef RDMARK_SESSION_LIMITS_H
#define RDMARK_SESSION_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "wire/options.h"

/* May a client run E on so many RAILS? LATENCY: a latency test. Raises FAULT_USAGE. */
int limits_check(const struct local_options *l, const struct experiment *e, bool latency,
		 uint64_t rails, struct fault *f);

/* May it have buffers of BYTES in all at this end? Raises FAULT_USAGE. */
int limits_memory(const struct local_options *l, uint64_t bytes, struct fault *f);

#endif
