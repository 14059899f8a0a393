/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* during: what went wrong at a port while a run went on. */
#pragma once

#include "explain/run.h"
#include "finding/finding.h"

/* Append to TO what the events of both ends say: faults first, then the largest share of time. */
void explain_events(const struct run_facts *r, struct findings *to);

/* The same where data ran in both directions in turn; R has one of them. */
void explain_both_ways(const struct run_facts *r, struct findings *to);

/* What the finding of this CODE makes the limit, if its share is large; else LIMIT_UNKNOWN. */
enum finding_code limit_of_finding(enum finding_code code);
