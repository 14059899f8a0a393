/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * prom: the results of a run, or of --check, for Prometheus: the text that node_exporter's textfile
 * collector reads. Made from the finished document (json.c).
 *
 * node_exporter rejects all files if two series have the same name and labels. So each series has
 * the name of its file as a label, and each result is shown once: of repeated runs the median one,
 * of others the last one. Units are bytes and seconds; there are no timestamps.
 *
 * What the peer has chosen, its name, is in labels only, escaped.
 */
#pragma once

#include <jansson.h>

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
