/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* during: what went wrong at a port while a run went on, and whether its latency is usual. */
#pragma once

#include "explain/run.h"
#include "finding/finding.h"

/* Append to TO what the events of both ends say: faults first, then the largest share of time. */
void explain_events(const struct run_facts *r, struct findings *to);

/* The same where data ran in both directions in turn; R has one of them. */
void explain_both_ways(const struct run_facts *r, struct findings *to);

/* What the finding of this CODE makes the limit, if its share is large; else LIMIT_UNKNOWN. */
enum finding_code limit_of_finding(enum finding_code code);

/* Of small messages in host memory, between two ports, with adapters on PCIe that is known. */
struct latency_facts {
	bool infiniband;   /* else RoCE */
	bool whole_trip;   /* READs and atomics: there and back; else half of that */
	double rate_gbps;  /* of the slower link */
	double median_us;
};

/* Append to TO whether that is what such a link usually has, if that is known (rdmark(7)). */
void latency_judge(const struct latency_facts *l, struct findings *to);
