/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verdict_cause: what may keep GPU memory from being as fast as host memory, in the order in which
 * it is thought of. For verdict.c.
 */
#ifndef GDR_BW_VERDICT_CAUSE_H
#define GDR_BW_VERDICT_CAUSE_H

#include "verdict.h"

struct verdict_cause {
	const char *word; /* for JSON */
	bool (*fits)(const struct verdict_facts *x);
	/* Both append to a text of SIZE bytes: what it is (no full stop), and what to do about it.
	 */
	void (*say)(const struct verdict_facts *x, char *line, size_t size);
	void (*advise)(const struct verdict_facts *x, char *next, size_t size);
};

/* The first that fits; "unknown" always does. */
const struct verdict_cause *verdict_cause_first(const struct verdict_facts *x);

/* Append to NEXT those behind CAUSE that fit, too: one thing seldom explains it all. */
void verdict_cause_others(const struct verdict_facts *x, const struct verdict_cause *cause,
			  char *next, size_t size);

/* The PCIe ceiling of the direction in which the cell moves data; 0 unknown. */
double verdict_ceiling_gbps(const struct verdict_facts *x);

#endif
