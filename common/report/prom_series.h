/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * prom_series: the series of a text for Prometheus, by family, each once. For prom.c only.
 *
 * A lack of memory is remembered, and reported by prom_end().
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum prom_family {
	PROM_UP,
	PROM_EXIT_STATUS,
	PROM_THRESHOLDS_MET,
	PROM_LAST_RUN,
	PROM_CHECK_OK,
	PROM_LINK_RATE,
	PROM_BANDWIDTH,
	PROM_MESSAGES,
	PROM_OF_CEILING,
	PROM_LATENCY,
	PROM_LATENCY_MEAN,
	PROM_LIMITED_BY,
	PROM_DIAGNOSIS,
	PROM_PAIRS_NODES,
	PROM_PAIRS_NORMAL,
	PROM_PAIRS_BANDWIDTH,
	PROM_PAIRS_OF_NORMAL,
	PROM_PAIRS_SUSPECT,
	PROM_PAIRS_SUSPECTS,
	PROM_FAMILIES
};

/* Of each family its series: an object of name and labels, as they are printed, to values. */
struct prom {
	json_t *series[PROM_FAMILIES];
	json_t *labels; /* of all series */
	uint64_t json_failures;
	bool failed; /* no memory */
};

/* Begin a text; the last part of the name FILE becomes the label "file". */
void prom_begin(struct prom *p, const char *file);

/* Add NAME="VALUE" to LABELS, unless VALUE is empty. */
void prom_label(json_t *labels, const char *name, const char *value);

/* The labels as they are printed: `{device="mlx5_0"}`. The caller frees it. NULL: no memory. */
char *prom_labels(const json_t *labels);

/* Add a series unless it is there, or VALUE is not finite; and one with a further label. */
void prom_add(struct prom *p, enum prom_family family, const json_t *labels, double value);
void prom_add_labelled(struct prom *p, enum prom_family family, const json_t *labels,
		       const char *label, const char *text, double value);

/* Release P. Returns its text, which the caller frees, or NULL if memory was lacking. */
char *prom_end(struct prom *p);
