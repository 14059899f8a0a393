/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* listen: where a server listens, and what it says when clients can connect. */
#pragma once

#include "session/program.h"

/*
 * Find this end's device and GPU, so that what is wrong with them is said before a client comes;
 * open the program's listener, and announce it: in the log, to the service manager, to --ready-fd.
 * Returns 0, or -1 with the program's fault. The listener is the program's, which releases it in
 * either case.
 */
int listen_open(struct session *s);
