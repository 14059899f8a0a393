// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Prints errors in the form that all programs use. */
#include <stdio.h>

#include "rdmark.h"

int rdmark_failed(const struct fault *f)
{
	fault_print(f, RDMARK, stderr);
	return fault_exit_status(f);
}

int rdmark_unknown(const char *command, const char *argument, const char *how)
{
	struct fault f = {0};

	fault_phase(&f, "reading the command line");
	if (*argument)
		fault_raise(&f, FAULT_USAGE, 0, "%s: unexpected argument: %s", command, argument);
	else
		fault_raise(&f, FAULT_USAGE, 0, "%s: an argument is missing", command);
	fault_fix(&f, "%s", how);
	return rdmark_failed(&f);
}
