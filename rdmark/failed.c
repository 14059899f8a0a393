// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Prints errors in the form that all programs use. */
#include <stdio.h>

#include "rdmark.h"

int rdmark_failed(const struct fault *f)
{
	fault_print(f, RDMARK, stderr);
	return fault_exit_status(f);
}
