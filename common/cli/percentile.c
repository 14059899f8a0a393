// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/percentile.h"

#include <string.h>

#include "proto/record.h"

#define PERCENTILE(name, key, words, percent, one_in)                                            \
	{                                                                                        \
		name, "latency_" key "_us", "latency_" key "_low_us", "latency_" key "_high_us", \
			"latency_corrected_" key "_us", percent, words, one_in                   \
	}

static const struct percentile table[] = {
	PERCENTILE("p50", "p50", "the median", 50, 2),
	PERCENTILE("p90", "p90", "p90", 90, 10),
	PERCENTILE("p99", "p99", "p99", 99, 100),
	PERCENTILE("p99.9", "p99_9", "p99.9", 99.9, 1000),
	PERCENTILE("p99.99", "p99_99", "p99.99", 99.99, 10000),
	{NULL},
};

const struct percentile *percentiles(void)
{
	return table;
}

const struct percentile *percentile_of(const char *field)
{
	for (const struct percentile *p = table; p->name; p++)
		if (strcmp(p->field, field) == 0 || strcmp(p->low, field) == 0 ||
		    strcmp(p->high, field) == 0)
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
