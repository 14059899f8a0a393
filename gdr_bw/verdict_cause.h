/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verdict_cause: what may make GPU memory slower than host memory, in the order of checking. For
 * verdict.c.
 */
#pragma once

#include "verdict.h"

#define VERDICT_CAUSES_MAX 7

struct verdict_cause {
	const char *word; /* for JSON */
	char what[384];   /* no full stop */
	char advice[520];
};

/* The first finding that says what took a part of the time, and for certain; NULL: none. */
const struct finding *verdict_event(const struct verdict_facts *x);

/*
 * Find all causes that fit; the first one is the main cause. There is at least one, which may be
 * "unknown". Returns their number.
 */
unsigned verdict_causes(const struct verdict_facts *x, struct verdict_cause c[VERDICT_CAUSES_MAX]);

/* The PCIe ceiling of the cell's direction; 0 unknown. */
double verdict_ceiling_gbps(const struct verdict_facts *x);
