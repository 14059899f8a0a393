// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "host/steal.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"

#define LINE_BYTES      256 /* for each CPU; the lines after these are not needed */
#define INTERVAL_MIN_NS UINT64_C(100000000)

void steal_open(struct steal *s, const char *file)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	*s = (struct steal){.file = file};
	s->size = (size_t)(cpus > 0 ? cpus + 1 : 2) * LINE_BYTES;
	s->before = calloc(2, s->size);
	s->at = s->before ? s->before + s->size : NULL;
}

void steal_start(struct steal *s)
{
	s->elapsed_ns = 0;
	if (!s->before)
		return;
	text_read(s->file, s->before, s->size);
	s->start_ns = clock_now_ns();
}

void steal_stop(struct steal *s)
{
	if (!s->before)
		return;
	s->elapsed_ns = clock_now_ns() - s->start_ns;
	text_read(s->file, s->at, s->size);
}

/* Parse the eighth number after the CPU's name in /proc/stat. False if it is missing. */
static bool parse_stolen_ticks(const char *text, int cpu, uint64_t *ticks)
{
	char name[16];
	const char *line;

	snprintf(name, sizeof(name), "\ncpu%d ", cpu);
	line = strstr(text, name);
	return line &&
	       sscanf(line + strlen(name), "%*u %*u %*u %*u %*u %*u %*u %" SCNu64, ticks) == 1;
}

/* One tick is subtracted: it may have begun before the interval. */
double steal_percent(const struct steal *s, int cpu)
{
	long per_s = sysconf(_SC_CLK_TCK);
	uint64_t before, after;

	if (!s->before || s->elapsed_ns < INTERVAL_MIN_NS || per_s <= 0 ||
	    !parse_stolen_ticks(s->before, cpu, &before) ||
	    !parse_stolen_ticks(s->at, cpu, &after) || after < before)
		return NAN;
	if (after - before < 2)
		return 0;
	return fmin(100, (double)(after - before - 1) / (double)per_s /
				 ((double)s->elapsed_ns / 1e9) * 100);
}

void steal_close(struct steal *s)
{
	free(s->before);
	*s = (struct steal){.size = 0};
}
