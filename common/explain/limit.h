/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * limit: what holds a bandwidth test back. Pure: from the facts of a run to words.
 *
 * "Limited by" needs a ceiling that is reached, or at least 5 % of the time lost to one cause;
 * otherwise it says "may be", or that the limit is not known, or nothing: a wrong accusation costs
 * more than silence. Each rule in limit.c and during.c says what would refute it.
 */
#pragma once

#include "explain/finding.h"
#include "explain/run.h"

enum limit_by {
	LIMIT_UNKNOWN,
	LIMIT_LINK,
	LIMIT_PCIE,
	LIMIT_SCHEDULE, /* --rate_limit */
	LIMIT_CORE,     /* the sender's CPU */
	LIMIT_RECEIVER, /* it posts its receives too late */
	LIMIT_WINDOW,   /* too few messages in flight for the round trip */
	LIMIT_PAUSE,
	LIMIT_LOSS,
	LIMIT_NIC_QP, /* what the NIC does of one QP */
	LIMIT_MEMORY, /* the receiving host's PCIe or memory */
	LIMITS
};

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
	enum limit_by by;
	bool certain;   /* else it may be */
	double share; /* 0 to 1, of the ceiling that is reached, or of the time that is lost; or NaN
		       */
	char text[512]; /* "limited by the link: 97 % of 98.0 Gb/s"; "" if nothing is known */
	char next[512]; /* what to do; "" */
	struct ceilings ceilings;
};

/* The ceilings of the run R. */
struct ceilings run_ceilings(const struct run_facts *r);

/*
 * Judge R: the limit into L, and into TO what went wrong during the run, the largest share first.
 */
void explain_run(const struct run_facts *r, struct limit *l, struct findings *to);

/* "link", "pcie", …, "unknown": stable, for scripts. */
const char *limit_name(enum limit_by by);
