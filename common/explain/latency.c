// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "explain/latency.h"

#include <math.h>

/*
 * What healthy pairs have with one switch between them, SEND and WRITE, and what operators accept,
 * all in us. EDR, NDR: vendors' guides to bring clusters up; accepted: ngc_multinode_perf.
 */
static const struct {
	double gbps, low, high;
} seen[] = {{100, 1.0, 1.5}, {400, 0.8, 1.1}};

#define ACCEPTED_US       2.5
#define ACCEPTED_WHOLE_US 4.5
#define KNOWN_FROM_GBPS   100 /* nothing is known of slower links */

void latency_judge(const struct latency_facts *l, struct findings *to)
{
	double accepted = l->whole_trip ? ACCEPTED_WHOLE_US : ACCEPTED_US;
	struct finding_value link = FINDING_NUMBER("link", l->rate_gbps, "Gb/s");
	double low = NAN, high = accepted;

	if (!(l->rate_gbps >= KNOWN_FROM_GBPS) || !(l->median_us > 0))
		return;
	for (size_t i = 0; i < sizeof(seen) / sizeof(seen[0]); i++)
		if (l->infiniband && !l->whole_trip && l->rate_gbps == seen[i].gbps) {
			low = seen[i].low;
			high = seen[i].high;
		}
	finding_add(
		to,
		&(struct finding_facts){
			.code = l->median_us > high ? FINDING_LATENCY_ABOVE_TYPICAL
						    : FINDING_LATENCY_TYPICAL,
			.level = l->median_us > accepted ? FINDING_WARN : FINDING_NOTE,
			.value = {FINDING_NUMBER("median", l->median_us, "us"),
				  FINDING_NUMBER("low", low, "us"),
				  FINDING_NUMBER(isnan(low) ? "accepted" : "high", high, "us"),
				  link,
				  FINDING_WORD("kind", l->infiniband ? "InfiniBand" : "RoCE")}});
}
