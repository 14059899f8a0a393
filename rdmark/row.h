/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * row: a result of a document, as far as it can be compared: which measurement it is, of which
 * experiment, and its figures with their intervals.
 *
 * It is a JSON object: `of` (test, message_bytes, qps, direction, cell, route), `facts` (what makes
 * its experiment: the options, but for how long it was measured, the MTU, and at both ends the kind
 * of device, the transport and the memory), `connection` (a number: rows of one share their QPs)
 * and the `result`. Documents are untrusted: what is no figure is left out.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "cli/percentile.h"

#define ROW_MEAN      "latency_mean_us"
#define ROW_BANDWIDTH "bandwidth_gbps"

/* One figure of a row: its value, and the limits of its 95 % interval; NAN: not known. */
struct row_figure {
	double value, low, high, freedom;
};

/* The row of RESULT in DOCUMENT, the NUMBER-th of its file. */
json_t *row_new(const json_t *document, const json_t *result, size_t number);

/* Figure NAME of ROW, which is the percentile P or NULL; false: it has none. */
bool row_figure(const json_t *row, const char *name, const struct percentile *p,
		struct row_figure *to);
