/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * strict: with --strict the program exits with 6 if a result is doubtful: disturbed, or with a
 * wider confidence interval than requested. The result is shown anyway. The client checks the rows
 * of its table; at the end the first doubt becomes the run's fault. A zeroed object does nothing.
 */
#pragma once

#include <stdbool.h>

#include "base/fault.h"

struct strict {
	bool on;            /* --strict is given, and this is the client */
	unsigned doubts;    /* a row may have several */
	struct fault first; /* the first one */
};

/*
 * Record a doubtful row: the reason (printf), as one line of the error, and FIX, what to do about
 * it. Does nothing without --strict.
 */
void strict_doubt(struct strict *s, const char *fix, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* At the end: raises FAULT_THRESHOLD if there was a doubt. */
int strict_verdict(const struct strict *s, struct fault *f);
