/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * percentile: which fields of a record are percentiles, and whether there are enough samples for
 * one.
 *
 * With fewer than ten samples beyond it, a percentile depends on chance and counts as unknown. A
 * record has the number anyway, because perftest's form shows it; all other forms call these
 * functions.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct record;

#define PERCENTILE_BEYOND 10 /* minimum number of samples beyond a percentile */

struct percentile {
	const char *name;      /* the user's name for it: "p99.9" */
	const char *field;     /* of the record */
	const char *low, *high; /* fields of its rank interval; NULL: it has none */
	double percent;
	const char *words; /* in the table: "99.9 %" */
	uint64_t one_in;   /* one in this many samples is beyond it */
};

/* All percentiles in ascending order, ended by one without a name. Static storage. */
const struct percentile *percentiles(void);

/* The percentile of that field, or whose limit it is; NULL: the field is neither. */
const struct percentile *percentile_of(const char *field);

/* The number of samples that it needs. */
uint64_t percentile_needs(const struct percentile *p);

/* The number of samples of REC, a latency test's: lost round trips have none. */
uint64_t percentile_samples(const struct record *rec);

/* True if REC has enough samples for FIELD, or if FIELD is not a percentile. */
bool percentile_known(const struct record *rec, const char *field);
