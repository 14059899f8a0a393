/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * figures: the same measurements in two sets of documents, before and after.
 *
 * A figure is a bandwidth, or the mean or a percentile of a latency, of one test, size, number of
 * QPs and direction (and cell and route of gdr_bw). It has one value per run, of --repeat or of
 * several documents. The input is untrusted: what is not a figure is ignored.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"

enum figures_side {
	FIGURES_BEFORE,
	FIGURES_AFTER,
	FIGURES_SIDES
};

struct figures {
	json_t *all; /* object: a key for each figure, with its values */
	const char *file[FIGURES_SIDES];
};

struct figures_change {
	const json_t *of; /* test, message_bytes, …, figure: keys of the JSON output */
	bool latency;     /* lower is better */
	double mean[FIGURES_SIDES];
	size_t runs[FIGURES_SIDES];
	double percent;      /* from before to after */
	double half_percent; /* half of the 95 % confidence interval of the change; NaN: unknown */
};

/* Read one or more documents from FILE for SIDE. Raises FAULT_USAGE if it has none. */
int figures_read(struct figures *fs, enum figures_side side, const char *file, struct fault *f);

/*
 * Compute the change of the figure at ITER (json_object_iter) of FS; false if a side does not have
 * it.
 */
bool figures_change(void *iter, struct figures_change *c);

/*
 * True if the change exceeds its confidence interval, or if that is unknown; and if the change is
 * for the worse.
 */
bool figures_moved(const struct figures_change *c);
bool figures_worse(const struct figures_change *c);

void figures_release(struct figures *fs);
