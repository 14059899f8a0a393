/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * transport: what -c, -e, --use-srq and --own-cqs mean for a session: what goes together, how
 * large a message may be, and when one that has not come counts as lost. Pure functions.
 */
#ifndef RDMARK_SESSION_TRANSPORT_H
#define RDMARK_SESSION_TRANSPORT_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "session/session.h"
#include "wire/experiment.h"

/* Refuse what TEST cannot do with them. */
int transport_check(const struct experiment *e, const struct test *t, struct fault *f);

/*
 * The same once it is known whether receives complete at both ends, IMMEDIATE, or a CPU looks at
 * memory: nothing wakes who waits for that.
 */
int transport_check_memory(const struct experiment *e, const struct test *t, bool immediate,
			   struct fault *f);

enum ibv_qp_type transport_type(const struct experiment *e);

/* "RC", "UC" or "UD" */
const char *transport_name(const struct experiment *e);

/* May a message be lost without anybody being told? */
bool transport_loses(const struct experiment *e);

/*
 * If nothing has come for so long, what was sent before is lost; 0: nothing ever is. Time for a
 * message of BYTES at 0.1 Gb/s, and for a machine that is busy with something else.
 */
uint64_t transport_quiet_ns(const struct experiment *e, uint64_t bytes);

/* The largest message: MAX_BYTES, the port's, but a datagram fits one packet of MTU_BYTES. */
uint64_t transport_max_bytes(const struct experiment *e, unsigned mtu_bytes, uint64_t max_bytes);

#endif
