/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * gate: what every row of a run must reach (--min-bw, --max-lat, --min-msgrate and perftest's two),
 * and whether it does.
 *
 * The client judges each row that it shows, whole or cut short by a signal, and goes on whatever
 * comes of it; when all is measured the first row that missed becomes the run's fault. A gate that
 * saw no row has not been passed. One object per run; the texts in it are the command line's.
 */
#ifndef RDMARK_SESSION_GATE_H
#define RDMARK_SESSION_GATE_H

#include <stdbool.h>

#include "base/fault.h"
#include "wire/options.h"
#include "wire/record.h"

#define GATES_MAX 16

struct gate {
	const char *option; /* as it is called in the error: "--min-bw" */
	const char *what;   /* the figure in words: "bandwidth" */
	const struct record_field *field;
	bool ceiling; /* at most, else at least */
	double bound; /* in the field's unit */
	double shown; /* the field's unit in the one that is shown: the user's */
	const char *unit;
};

struct gates {
	struct gate gate[GATES_MAX];
	unsigned count;
	unsigned judged, missed; /* rows */
	struct fault first;      /* of the first row that missed */
};

/*
 * From the options, of a latency test or a bandwidth test. Raises FAULT_USAGE for what is no
 * threshold, or none that this test has.
 */
int gates_read(struct gates *g, const struct options *o, bool latency, struct fault *f);

/* A row is shown: DIRECTION as the document calls it. */
void gates_judge(struct gates *g, const struct record *rec, const char *direction);

/* All is measured: raises FAULT_THRESHOLD if a row missed, or if there is none. */
int gates_verdict(const struct gates *g, struct fault *f);

#endif
