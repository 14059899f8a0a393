/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hello: whether a client with this first message can be served. The check reads only the message
 * and what is offered and keeps no state, so the listener's guard may call it while another client
 * is served.
 */
#pragma once

#include <jansson.h>

#include "base/fault.h"
#include "proto/fields.h"
#include "session/program.h"

/* What a rail of the client supports; and what the server chose from it. */
struct hello_rail {
	bool ethernet, iwarp;   /* of an offer */
	enum gid_kind gid_kind; /* of a choice */
	unsigned mtu_bytes;
	uint16_t pkey;                /* that the user chose; 0: any */
	uint16_t default_pkey;        /* InfiniBand: of index 0, if nobody chooses; 0: not told */
	unsigned message_max;         /* that its port supports; 0: not told */
	struct operation_depth reads; /* 0: not used */
};

const struct fields *hello_offer(void);
const struct fields *hello_choice(void);

/* What P offers for the test that HELLO names; if it offers none of that name, what it runs. */
const struct offer *hello_wanted(const struct program *p, const json_t *hello);

/*
 * Check M, the first message of a client for O, and read its experiment into E. Returns 0, or -1 with
 * FAULT_USAGE if it is an rdmark client that cannot be served (version, test, options, limits), or
 * FAULT_PEER if it is something else.
 */
int hello_check(const struct offer *o, const json_t *m, struct experiment *e, struct fault *f);

/*
 * Add the names of the options that the client varies to its hello M; and read them as axes without
 * values. Raises FAULT_PEER if they are invalid.
 */
void hello_write_sweep(const struct sweep *sweep, json_t *m);
int hello_read_sweep(struct sweep *sweep, const json_t *m, struct fault *f);
