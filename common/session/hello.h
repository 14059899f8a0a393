/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hello: may the client that says this be served? Looks at the message and the command line alone
 * and keeps nothing, so the door's guard may ask while another client is served.
 */
#ifndef RDMARK_SESSION_HELLO_H
#define RDMARK_SESSION_HELLO_H

#include <jansson.h>

#include "base/fault.h"
#include "session/session.h"

/*
 * Check M, the first message of a client, and read its experiment into E. Raises FAULT_USAGE if the
 * client is one of ours that cannot be served (version, test, options, limits), FAULT_PEER if it is
 * none.
 */
int hello_check(const struct session *s, const json_t *m, struct experiment *e, struct fault *f);

#endif
