/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verdict_cause: what may make GPU memory slower than host memory, in the order of checking. For
 * verdict.c.
 */
#pragma once

#include "verdict.h"

#define VERDICT_CAUSES_MAX 6

struct verdict_cause {
	const char *word; /* for JSON */
	char what[256];   /* no full stop */
	char advice[256];
};

/*
 * Find all causes that fit; the first one is the main cause. There is at least one, which may be
 * "unknown". Returns their number.
 */
unsigned verdict_causes(const struct verdict_facts *x, struct verdict_cause c[VERDICT_CAUSES_MAX]);

/* The PCIe ceiling of the cell's direction; 0 unknown. */
double verdict_ceiling_gbps(const struct verdict_facts *x);
