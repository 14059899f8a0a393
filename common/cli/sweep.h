/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sweep: options of the experiment, and GPUs, with several values: -q 1,4,16 -s 64:64k:x4. Each is
 * an axis. A point is one value of each axis, and is one experiment. All points are measured; the
 * axis given last changes fastest, like the innermost of nested loops.
 *
 * Plain data, part of struct options, whose header has it: copied with it. A zeroed object has no
 * axis and one point.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/options.h"

/* True if ROW may have several values and TEXT is a list or range: "1,4,16" or "1:16:x4". */
bool sweep_is(const struct option_row *row, const char *text);

/* Add the values of the list or range TEXT to A, of which the row is set. Returns 0, or -1 with
 * FAULT_USAGE. */
int sweep_read(struct sweep_axis *a, const char *text, struct fault *f);

/* Add ROW as the last axis (a counted one as the first) with the values of TEXT, in place of an
 * earlier one; or remove ROW, which was given a single value. Raises FAULT_USAGE. */
int sweep_add(struct sweep *s, const struct option_row *row, const char *text, struct fault *f);
void sweep_forget(struct sweep *s, const struct option_row *row);

/* The axis of ROW, or NULL. */
const struct sweep_axis *sweep_axis(const struct sweep *s, const struct option_row *row);

/* True if AXIS has VALUE. */
bool sweep_has(const struct sweep_axis *axis, uint64_t value);

unsigned sweep_points(const struct sweep *s);

/* Set O's experiment, and GPU, to POINT of its sweep, from 0. */
void sweep_set(struct options *o, unsigned point);

/* Write the current values of the axes as a user would type them: "-q 4 -s 64". Returns BUF. */
const char *sweep_point(const struct options *o, char *buf, size_t size);

/* Write VALUE of ROW as one word for a column; sizes in bytes; and O's value of ROW. Return BUF. */
const char *sweep_word(const struct option_row *row, uint64_t value, char *buf, size_t size);
const char *sweep_value(const struct options *o, const struct option_row *row, char *buf,
			size_t size);
