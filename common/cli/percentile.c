// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/percentile.h"

#include <string.h>

#include "proto/record.h"

static const struct percentile table[] = {
	{"p50", "latency_p50_us", "latency_p50_low_us", "latency_p50_high_us", 50, "the median", 2},
	{"p90", "latency_p90_us", NULL, NULL, 90, "p90", 10},
	{"p99", "latency_p99_us", "latency_p99_low_us", "latency_p99_high_us", 99, "p99", 100},
	{"p99.9", "latency_p99_9_us", NULL, NULL, 99.9, "p99.9", 1000},
	{"p99.99", "latency_p99_99_us", NULL, NULL, 99.99, "p99.99", 10000},
	{NULL},
};

const struct percentile *percentiles(void)
{
	return table;
}

const struct percentile *percentile_of(const char *field)
{
	for (const struct percentile *p = table; p->name; p++)
		if (strcmp(p->field, field) == 0 ||
		    (p->low && (strcmp(p->low, field) == 0 || strcmp(p->high, field) == 0)))
			return p;
	return NULL;
}

uint64_t percentile_needs(const struct percentile *p)
{
	return PERCENTILE_BEYOND * p->one_in;
}

uint64_t percentile_samples(const struct record *rec)
{
	return rec->messages > rec->lost ? rec->messages - rec->lost : 0;
}

bool percentile_known(const struct record *rec, const char *field)
{
	const struct percentile *p = percentile_of(field);

	return !p || percentile_samples(rec) >= percentile_needs(p);
}
