/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rdmark: the command that users try first. It starts the other programs and reads their output,
 * but it is itself the server of all tests.
 */
#pragma once

#include <stdio.h>

#include "base/fault.h"
#include "plan/test.h"

#define RDMARK "rdmark"

/* Set *TESTS to those of all programs. Returns their number. Generated: build/gen/tests.c. */
size_t rdmark_tests(const struct test *const **tests);

/*
 * The commands. ARGV is the command line, ended by NULL: "rdmark", the command (of the tour the
 * host), and the rest. They print their fault and return the exit status.
 */
int list_command(char **argv);
int compare_command(char **argv);
int tour_command(char **argv);
int self_command(char **argv);
