/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * repeat: several runs of one size (--repeat, --until-stable): whether another run is needed, and
 * the summary of the runs.
 *
 * Both ends keep the records of a size's runs; the client decides. The summarized figure is the
 * same at both ends: the leader's bandwidth, the sum of both directions, or the mean latency. A run
 * without it (two directions that never ran at the same time, all round trips lost) is counted but
 * otherwise ignored. Apart from memory these functions are pure: they measure nothing and print
 * nothing. A zeroed object repeats nothing and can be released.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/options.h"
#include "stat/stable.h"
#include "measure/result.h"
#include "proto/record.h"

#define REPEAT_UNTIL_MAX 150     /* the most runs until they are stable, without --repeat */
#define REPEAT_PPM       1000000 /* 100 % */
#define REPEAT_ROWS      4

struct repeat_run {
	struct record figure; /* of the leader, or the sum of both directions */
	/* what this end's table shows, and of a sum its two parts; without a record: none */
	struct result_row row[REPEAT_ROWS];
	struct record record[REPEAT_ROWS];
	double cpu_percent;
};

struct repeat {
	bool latency, gbits; /* a latency test; show bandwidth in Gb/s */
	uint64_t most;       /* maximum of runs of a size; 0: measured once, without repetition */
	uint64_t within_ppm; /* --until-stable; 0: run `most` times */
	/* of the current size */
	uint64_t number;        /* number of the last run, from 1 */
	struct repeat_run *run; /* runs with a figure; without any, the last run is first */
	double *value;          /* room for the figure of each run, and as much scratch */
	size_t count, room;     /* number, and room, of run[] */
	size_t all;             /* all runs, with or without a figure */
};

/* Read the options. Raises FAULT_USAGE. */
int repeat_read(struct repeat *r, const struct options *o, bool latency, struct fault *f);

/* Start a new size, and delete the old runs. */
void repeat_start(struct repeat *r);

/* Add a run with its FIGURE and its rows. Raises a fault if out of memory. Sets what RESULT says of
 * all runs so far. */
int repeat_keep(struct repeat *r, const struct record *figure, struct result *result,
		struct fault *f);

/* True if another run is needed. */
bool repeat_goes_on(const struct repeat *r);

/*
 * The run with the median figure, or the lower of two; if none has a figure, the last run; NULL: no
 * run. Owned by R, until the next run.
 */
const struct repeat_run *repeat_median(const struct repeat *r);

/* The same as a result with its rows. There must be a run. Owned by R, until the next run. */
struct result repeat_median_result(struct repeat *r);

/* The summary for the document, which the caller releases; and as text. There must be a run. */
json_t *repeat_summary(const struct repeat *r);
const char *repeat_text(const struct repeat *r, char *buf, size_t size);

/* Free the memory of all runs. More may follow. */
void repeat_release(struct repeat *r);
