/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * limit: what holds a bandwidth test back. Pure: from the facts of a run to a finding.
 *
 * The run's own evidence comes first: its schedule, its window, its thread's CPU. What a port
 * counted may be other programs'; it matters only for the time that this run lacks. "Limited by"
 * (FINDING_IS) means that every other explanation that is known is refuted; otherwise it may be, or
 * the limit is not known: a wrong accusation costs more than silence. Each rule in limit.c and
 * during*.c says what would refute it.
 */
#pragma once

#include <stdbool.h>

#include "finding/finding.h"

struct run_facts;

/* Payload rates that cannot be exceeded; NaN: unknown. */
struct ceilings {
	double link_gbps;
	const char *link_end; /* whose port is the slower one; NULL: they are alike */
	double pcie_gbps;     /* what an adapter reaches of it */
	const char *pcie_end; /* whose link is the slower one; NULL: they are alike */
	double window_gbps;   /* all messages in flight, in the time of a lone one */
	double core_gbps;     /* what the sender's threads could post */
};

struct limit {
	/*
	 * Of group LIMIT; its share is that of the ceiling that is reached, or of the time that is
	 * lost. Its text has "limited by" or "may be limited by" before the catalogue's words; ""
	 * if nothing is known.
	 */
	struct finding finding;
	struct ceilings ceilings;
};

/* Those of R. */
struct ceilings ceilings_of(const struct run_facts *r);

/* What R lacks of the slower one of link and PCIe, as a share of its time; NaN: unknown. */
double ceilings_lack(const struct run_facts *r, const struct ceilings *c);

/* So few messages are in flight that R's rate leaves no SHARE of the time for anything else. */
bool ceilings_fill_window(const struct run_facts *r, const struct ceilings *c, double share);

/* What limits a row, and what went wrong meanwhile. */
struct explained {
	struct limit limit;
	struct findings findings;
};

/*
 * Judge R: the limit into L, and into TO what went wrong during the run, the largest share first.
 */
void explain_run(const struct run_facts *r, struct limit *l, struct findings *to);
