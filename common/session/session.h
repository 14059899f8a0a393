/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * session: runs a program: its roles, phases, deadlines and signals.
 *
 * A program fills in a struct test and ends with SESSION_MAIN(). The session brings up both ends,
 * and calls the test's loops once per pass over a message size.
 */
#pragma once

#include "base/rate.h" /* for EXPERIMENT_DEFAULTS */
#include "plan/test.h"

/*
 * Run with this command line the first of the COUNT TESTS that it fits; a server that stays serves
 * the clients of all that it fits. Returns the exit status of the process.
 */
int session_main(const struct test *const *tests, size_t count, char **argv);

/* The main() of a program with one test. It is weak: `rdmark server`, whose main() is its own,
 * links the tests of all programs. */
#define SESSION_MAIN(the_test)                                                           \
	__attribute__((weak)) int main(int argc, char **argv)                            \
	{                                                                                \
		(void)argc;                                                              \
		return session_main((const struct test *const[]){&(the_test)}, 1, argv); \
	}
