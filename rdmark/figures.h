/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * figures: the same measurements in two sets of documents, before and after.
 *
 * A figure is a bandwidth, or the mean, p50 or p99 of a latency, of one measurement: a test, size,
 * number of QPs and direction (each of -b; and cell and route of gdr_bw) of one experiment. It has
 * a value per connection: of each document and each run of --reconnect; the runs of --repeat share
 * theirs. Documents are untrusted: what is no figure is left out.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"
#include "stat/compare.h"

#define FIGURE_MEAN      "latency_mean_us"
#define FIGURE_BANDWIDTH "bandwidth_gbps"

enum figures_side {
	FIGURES_BEFORE,
	FIGURES_AFTER,
	FIGURES_SIDES
};

struct figure {
	const json_t *of;     /* test, message_bytes, …: row_new(), as the next two */
	const json_t *facts;  /* what makes its experiment */
	const json_t *varied; /* the options given as lists, with its values */
	const char *name;     /* the key of the result, */
	const char *label;    /* and in short: "p99" */
	struct compare_figure *judged; /* one of struct figures */
	size_t connections[FIGURES_SIDES], runs[FIGURES_SIDES];
};

struct figures {
	const char *file[FIGURES_SIDES];
	json_t *groups; /* object: what is one measurement and experiment, and its rows of each side */
	struct figure *all; /* those that both sides have */
	struct compare_figure *judged;
	size_t count, alone[FIGURES_SIDES];
	size_t lost;                     /* of those only before: rates and mean latencies */
	char failed[FIGURES_SIDES][384]; /* why the first that is not whole is not; "": none */
};

/* Read one or more documents from FILE for SIDE. Raises FAULT_USAGE if it has none. */
int figures_read(struct figures *fs, enum figures_side side, const char *file, struct fault *f);

/* Add DOCUMENT, the NUMBER-th of its side. */
void figures_add(struct figures *fs, enum figures_side side, const json_t *document, size_t number);

/*
 * How the experiments of the first rows differ that are of the same test, size, QPs and direction:
 * "tx_depth: 128 before, 1 after"; "": no such rows are on both sides.
 */
void figures_tell_difference(const struct figures *fs, char *buf, size_t size);

/*
 * Once both sides are read: judge all figures; the loss WITHIN is tolerated (stat/compare.h).
 * Raises FAULT_LOCAL without memory.
 */
int figures_judge(struct figures *fs, double within, struct fault *f);

void figures_release(struct figures *fs);

/*
 * row.c: the row of RESULT in DOCUMENT, the NUMBER-th of its file, as a JSON object: `of` (test,
 * message_bytes, qps, direction, cell, route), `facts` (what makes its experiment: the options, but
 * for how long it was measured, the MTU, and at both ends the kind of device, the transport and the
 * memory), `varied` (those of them that were given as lists), `connection` (a number: rows of one
 * share their QPs) and the `result`.
 */
json_t *row_new(const json_t *document, const json_t *result, size_t number);

/* Figure NAME of ROW; NAN: it has none. */
double row_figure(const json_t *row, const char *name);

/* VALUE of a lone run, and how sure it is by the run's own account of its mean. */
struct compare_side row_alone(const json_t *row, double value);
