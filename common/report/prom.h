/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * prom: the results of a run, of --check or of a judgement, for Prometheus: the text that
 * node_exporter's textfile collector reads.
 *
 * node_exporter rejects all files if two series have the same name and labels. So each series has
 * the name of its file as a label, and each result is shown once: of repeated runs the median one,
 * of others the last one. Units are bytes and seconds; there are no timestamps. What the peer has
 * chosen, its name, is in labels only, escaped. A lack of memory is remembered until prom_end().
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* What the document does not say of a run that failed early. */
struct prom_about {
	const char *file;   /* the last part of its name becomes a label */
	const char *device; /* as the user named it; NULL: not named */
	const char *peer;   /* the host that the user named; NULL: as the client names itself */
};

/* The text for the document of a run; the caller frees it. NULL: out of memory. */
char *prom_run(const struct prom_about *about, const json_t *document);

/* The text for a check, which ends with STATUS; DOCUMENT is NULL if nothing could be checked. */
char *prom_check(const struct prom_about *about, const json_t *document, int status);

enum prom_family {
#define FAMILY(symbol, ...) symbol,
#include "report/prom_families.def"
#undef FAMILY
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

/* Add a series unless it is there, or VALUE is not finite; and one with a further label. */
void prom_add(struct prom *p, enum prom_family family, const json_t *labels, double value);
void prom_add_labelled(struct prom *p, enum prom_family family, const json_t *labels,
		       const char *label, const char *text, double value);

/* Release P. Returns its text, which the caller frees, or NULL if memory was lacking. */
char *prom_end(struct prom *p);
