/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * gate: the thresholds for every row of a run (--min-bw, --max-lat, --min-msgrate and perftest's
 * two).
 *
 * The client checks each row that it shows, with -b each direction, also one that a signal cut
 * short, and the run continues in any case. At the end the first row that missed a threshold
 * becomes the run's fault. A threshold without any row is missed, too. One object per run; its
 * texts are those of the command line.
 */
#pragma once

#include <stdbool.h>

#include "base/fault.h"
#include "cli/options.h"

struct field;
struct result_row;

#define GATES_MAX 16

struct gate {
	const char *option; /* option name for the error: "--min-bw" */
	char what[16];      /* the value's name: "bandwidth" */
	const struct field *field;
	bool ceiling; /* a maximum; otherwise a minimum */
	bool share;   /* of the row's messages, in percent */
	bool of_link; /* of the link's rate, in percent */
	bool summed;  /* with -b of the sum of both directions, as in perftest; else of each */
	double bound; /* in the field's unit, or percent */
	double typed; /* of a rate: the number as typed, of this unit; 0: in the table's */
	char unit[16];
	const char *text; /* as typed; NULL: in the unit that is shown */
};

struct gates {
	bool gbits; /* show bandwidth in Gb/s */
	struct gate gate[GATES_MAX];
	unsigned count;
	unsigned judged, missed; /* rows */
	double link_gbps;        /* of the row that is judged; 0 or NaN: unknown */
	struct fault unknown;    /* why the first one that cannot be judged cannot */
	struct fault first;      /* of the first row that missed; */
	char also[512];          /* other thresholds that the same row missed */
};

/*
 * Read the thresholds from the options. Raises FAULT_USAGE for an invalid one, and for one that
 * needs more messages than the run has.
 */
int gates_read(struct gates *g, const struct options *o, struct fault *f);

/* The first threshold, as its option is called; NULL: there is none, --output is no threshold. */
const char *gates_threshold(const struct gates *g);

/* Which gates a row is checked by: all; those of a sum of both directions; those of each. */
enum gates_of {
	GATES_ALL,
	GATES_SUMMED,
	GATES_EACH
};

/*
 * Check ROW by the gates OF it. LINK_GBPS: the rate of the link that carried it; 0 or NaN: unknown.
 * A row that misses a threshold and one of whose threads lacked its CPU is not judged.
 */
void gates_judge(struct gates *g, const struct result_row *row, enum gates_of of, double link_gbps);

/*
 * At the end: raises FAULT_THRESHOLD if a row missed a threshold, or if there is no row; and
 * FAULT_UNAVAILABLE if a threshold could not be judged.
 */
int gates_verdict(const struct gates *g, struct fault *f);
