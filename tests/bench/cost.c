// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * cost: what recording costs, for `make bench`.
 *
 *   cost hist|peak|nothing N  N samples into a histogram, into a peak, nowhere: what a profiler
 *                             counts, less what it counts for nothing, are the samples'
 *   cost percentiles N        N samples, and then the milliseconds until all percentiles that a
 *                             report has are known
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hist.h"
#include "base/peak.h"

/* As in a loop that posts and polls, nothing stays in registers from one sample to the next. */
#define FORGET() __asm__ volatile("" ::: "memory")

/* Samples as latencies are: most of a kind, some far off. Any, but not the same each time. */
static inline uint64_t next_sample(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 48;
}

static void fill(struct hist *h, uint64_t n)
{
	for (uint64_t i = 0, state = 1; i < n; i++) {
		hist_add(h, next_sample(&state));
		FORGET();
	}
}

static void fill_peak(struct peak *p, uint64_t n)
{
	for (uint64_t i = 0, state = 1, now = 0; i < n; i++) {
		now += next_sample(&state);
		peak_empty(p, now - 1);
		peak_add(p, now, 100 * (i + 1));
		FORGET();
	}
}

static void fill_nothing(uint64_t n)
{
	for (uint64_t i = 0, state = 1; i < n; i++) {
		__asm__ volatile("" ::"r"(next_sample(&state)));
		FORGET();
	}
}

static void time_percentiles(struct hist *h, uint64_t n)
{
	static const double percents[] = {50, 90, 99, 99.9, 99.99};
	uint64_t start_ns;
	volatile double value;

	fill(h, n);
	start_ns = clock_raw_ns();
	for (unsigned i = 0; i < sizeof(percents) / sizeof(*percents); i++)
		value = hist_percentile(h, percents[i]);
	printf("%.6f\n", (double)(clock_raw_ns() - start_ns) / 1e6);
	(void)value;
}

int main(int argc, char **argv)
{
	struct hist *h = malloc(sizeof(*h));
	const char *what = argc == 3 ? argv[1] : "";
	struct peak p = {0};
	uint64_t n = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;
	int rc = 0;

	if (!h || peak_init(&p, 128))
		return 1;
	hist_reset(h);
	peak_start(&p, &(struct peak_run){.cqs = 1});
	if (!strcmp(what, "hist"))
		fill(h, n);
	else if (!strcmp(what, "peak"))
		fill_peak(&p, n);
	else if (!strcmp(what, "nothing"))
		fill_nothing(n);
	else if (!strcmp(what, "percentiles"))
		time_percentiles(h, n);
	else
		rc = 2;
	peak_release(&p);
	free(h);
	return rc;
}
