/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * repeat: a size measured several times over (--repeat, --until-stable): whether it goes on, and
 * what the runs say together.
 *
 * It keeps the records of one size's runs; both ends do, the client's decides. What is summed up is
 * the leader's bandwidth, both directions' together, or the mean latency: the same at both ends.
 * Pure but for memory: it measures nothing and prints nothing. A zeroed one repeats nothing and may
 * be released.
 */
#ifndef RDMARK_SESSION_REPEAT_H
#define RDMARK_SESSION_REPEAT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "report/report.h"
#include "wire/options.h"
#include "wire/record.h"

#define REPEAT_WINDOW    5   /* so many last runs are looked at for stability */
#define REPEAT_UNTIL_MAX 100 /* runs with --until-stable, unless --repeat says; and after */
#define REPEAT_UNTIL_NS  UINT64_C(300000000000) /* this time no more than the window's */
#define REPEAT_PPM       1000000                /* all of it */

struct repeat_run {
	struct record figure; /* the leader's, or the sum of both directions */
	struct record record[2];
	struct report_row row[2]; /* what this end's table would show */
	size_t rows;
	double cpu_percent;
};

struct repeat {
	bool latency;
	uint64_t most;      /* runs of a size; 0: it is measured once, and that is no repeating */
	uint64_t until_ppm; /* 0: until there are that many */
	/* of the size that is under way */
	uint64_t start_ns;
	uint64_t number; /* of the last run, from 1 */
	struct repeat_run *run;
	double *value; /* room for two figures of each run */
	size_t count, room;
};

/* From the options. Raises FAULT_USAGE. */
int repeat_read(struct repeat *r, const struct options *o, bool latency, struct fault *f);

/* A new size; what was kept is forgotten. */
void repeat_start(struct repeat *r, uint64_t now_ns);

/* A run is over, with this FIGURE and these rows. Raises want of memory. */
int repeat_keep(struct repeat *r, const struct record *figure, const struct report_result *result,
		struct fault *f);

/* Is one more run to be made? */
bool repeat_goes_on(const struct repeat *r, uint64_t now_ns);

/* The run whose figure is the median, or the lower of two; NULL: there is none. R's until then. */
const struct repeat_run *repeat_median(const struct repeat *r);

/* The same as a result that shows its rows. There must be a run. R's until the next one. */
struct report_result repeat_median_result(struct repeat *r);

/* The summary for the document (the caller's), and in words. There must be a run. */
json_t *repeat_summary(const struct repeat *r);
const char *repeat_text(const struct repeat *r, char *buf, size_t size);

void repeat_release(struct repeat *r);

#endif
