/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * session: runs a program: its roles, phases, deadlines and signals.
 *
 * A program fills in a struct test and calls session_main(). The session brings up both ends, and
 * calls the program's loops once per pass over a message size.
 */
#pragma once

#include "plan/test.h"

/* Run TEST with this command line. Returns the exit status of the process. */
int session_main(const struct test *test, int argc, char **argv);
