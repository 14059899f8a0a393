/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * latency: is the latency of small messages what such a link usually has? For rdmark(7), EXPECTED
 * FIGURES.
 */
#pragma once

#include "finding/finding.h"

/* Of small messages in host memory, between two ports, with adapters on PCIe that is known. */
struct latency_facts {
	bool infiniband;   /* else RoCE */
	bool whole_trip;   /* READs and atomics: there and back; else half of that */
	double rate_gbps;  /* of the slower link */
	double median_us;
};

/* Append to TO what is said of it, if anything is known of such links. */
void latency_judge(const struct latency_facts *l, struct findings *to);
