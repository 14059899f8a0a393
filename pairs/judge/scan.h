/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * scan: one line of `rdmark-pairs run` (row.h) as values, each at the place of its key.
 *
 * Most lines are flat objects of plain texts and numbers; these are read in place. All others
 * (escapes, arrays, letters beyond ASCII) are read by jansson, which means the same: it needs 5.6
 * us for a line, and 1,000 nodes write 999,000. The texts point into the line or into what jansson
 * made of it, so both must outlive them.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum scan_key {
	SCAN_KIND,
	SCAN_RUN,
	SCAN_ROUND,
	SCAN_FROM,
	SCAN_FROM_RAIL,
	SCAN_TO,
	SCAN_TO_RAIL,
	SCAN_CLIENT,
	SCAN_ALONE,
	SCAN_STATUS,
	SCAN_VALUE,
	SCAN_P99,
	SCAN_LATE,
	SCAN_CLOCK,
	SCAN_CAUSE,
	SCAN_NODE,
	SCAN_ERROR,
	SCAN_FIX,
	SCAN_FINDINGS,
	SCAN_PLAYER,
	SCAN_HOST,
	SCAN_RAIL,
	SCAN_PLAYERS,
	SCAN_SCHEDULE,
	SCAN_ROUNDS,
	SCAN_SLOT,
	SCAN_PROGRAM,
	SCAN_OPTIONS,
	SCAN_UNIT,
	SCAN_MISSED,
	SCAN_KEYS
};

enum scan_type {
	SCAN_ABSENT,
	SCAN_TEXT,
	SCAN_NUMBER,
	SCAN_TRUE,
	SCAN_FALSE,
	SCAN_OTHER
};

struct scan_value {
	enum scan_type type;
	const char *text; /* of SCAN_TEXT; not terminated */
	size_t bytes;
	double number;
};

struct scan {
	struct scan_value of[SCAN_KEYS];
	json_t *whole;    /* owned; NULL: the line was read in place */
	json_t *findings; /* borrowed from WHOLE: an array, or NULL */
	json_t *options;  /* the same */
};

/*
 * Read the object at the start of the BYTES at LINE. Returns the number of bytes that it has, or 0
 * if there is no whole object. Release S in either case.
 */
size_t scan_line(struct scan *s, const char *line, size_t bytes);

/* The same by jansson alone, for tests to compare. */
size_t scan_line_slowly(struct scan *s, const char *line, size_t bytes);

void scan_release(struct scan *s);

/* True if the text of KEY is WORD. */
bool scan_is(const struct scan *s, enum scan_key key, const char *word);

/* The number of KEY if it has one from LEAST to MOST, otherwise OTHERWISE. */
double scan_number(const struct scan *s, enum scan_key key, double least, double most,
		   double otherwise);
