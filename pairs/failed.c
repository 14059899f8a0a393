// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Prints errors in the form that all programs use. */
#include <stdio.h>

#include "pairs.h"

int pairs_failed(const struct fault *f)
{
	fault_print(f, PAIRS, stderr);
	return fault_exit_status(f);
}
