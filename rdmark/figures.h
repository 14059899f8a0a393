/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * figures: the same measurements in two sets of documents, before and after.
 *
 * A figure is a bandwidth, or the mean or a percentile of a latency, of one measurement: a test,
 * size, number of QPs and direction (and cell and route of gdr_bw) of one experiment. It has a
 * value per connection: of each document and each run of --reconnect; the runs of --repeat share
 * theirs.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"
#include "stat/compare.h"

enum figures_side {
	FIGURES_BEFORE,
	FIGURES_AFTER,
	FIGURES_SIDES
};

struct figure {
	const json_t *of;     /* test, message_bytes, …: row.h */
	const json_t *varied; /* the options that tell it from others of its file */
	const char *name;     /* the key of the result, */
	const char *label;    /* and in short: "p99.9" */
	struct compare_figure judged;
	double mean[FIGURES_SIDES]; /* of the connections */
	size_t runs[FIGURES_SIDES];
	bool disturbed; /* a run was */
	double seconds; /* the shortest run; NAN: not known */
	double *value;  /* what `judged` lends, of both sides */
};

struct figures {
	const char *file[FIGURES_SIDES];
	json_t *rows[FIGURES_SIDES];
	json_t *groups;     /* object: what is one measurement, and its rows on both sides */
	struct figure *all; /* those that both sides have */
	size_t count, alone[FIGURES_SIDES];
	size_t lost;      /* of those only before: rates and mean latencies */
	char differ[192]; /* measurements of different experiments: how; "": none */
	char failed[FIGURES_SIDES]
		   [384]; /* of the first document that is not whole: why; "": none */
};

/* Read one or more documents from FILE for SIDE. Raises FAULT_USAGE if it has none. */
int figures_read(struct figures *fs, enum figures_side side, const char *file, struct fault *f);

/* Add DOCUMENT, the NUMBER-th of its side. */
void figures_add(struct figures *fs, enum figures_side side, const json_t *document, size_t number);

/*
 * Once both sides are read: put rows of the same measurement together, of the same experiment only,
 * or with ANYWAY of any.
 */
void figures_match(struct figures *fs, bool anyway);

/*
 * After that: judge all figures; the loss WITHIN is tolerated (stat/compare.h). Raises FAULT_LOCAL
 * without memory.
 */
int figures_judge(struct figures *fs, double within, struct fault *f);

void figures_release(struct figures *fs);
