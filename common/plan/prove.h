/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * prove: the experiment behind --prove. A run is repeated with one thing changed at a time, in
 * turns with the unchanged one, until the ratio of their rates is known: what makes it faster was
 * its limit. Pure functions, but for their fault: session/prove.c plays what they plan.
 *
 * One thing at a time: four times the QPs have a quarter of the depth each, or the window would be
 * larger, too; two threads are compared with as many QPs of one thread.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "cli/experiment.h"
#include "finding/finding.h"

#define PROVE_WINDOWS_MAX 64 /* of a change */
#define PROVE_WINDOW_NS   UINT64_C(200000000)

enum prove_change {
	PROVE_BASE, /* nothing is changed */
	PROVE_WINDOW,
	PROVE_OUTS,
	PROVE_QPS,
	PROVE_SIZE,
	PROVE_RECEIVES,
	PROVE_ORDER,
	PROVE_FOOTPRINT,
	PROVE_THREADS,
	PROVE_LIST,
	PROVE_TOGETHER, /* the two that help most */
	PROVE_CHANGES
};

/* What the interval of the ratio tells. */
enum prove_so {
	PROVE_OPEN, /* as yet, or for good: it cannot tell */
	PROVE_BETTER,
	PROVE_SAME,
	PROVE_WORSE
};

struct prove_try {
	struct experiment experiment;
	const char *not_tried; /* why it is not; static; NULL: it is */
	bool planned;          /* false: there is nothing of it to change */
	char option[64];       /* as typed: "-q 4 -t 32" */
	enum prove_change against;
	struct {
		double gbps, against_gbps;
	} window[PROVE_WINDOWS_MAX];
	unsigned windows;
	double ratio, half; /* of its rate to that of `against`; of the 99 % interval; 0: unknown */
	double low, high;   /* of the windows, or of their median's interval if they are many */
	enum prove_so so;
};

/* What the base ran on. */
struct prove_facts {
	const struct experiment *base; /* as both ends agreed on it */
	bool receives, fetches;        /* SEND; READ and atomics */
	bool software;
	unsigned rx_depth, max_depth; /* of the base's receive queue; that a queue may have */
	unsigned cpus;                /* that this process may use for each device */
	uint64_t max_bytes;           /* the largest message of the transport */
};

struct prove {
	struct prove_facts facts;
	struct prove_try try[PROVE_CHANGES];
	unsigned turn;
	double loopback_gbps[2]; /* of the client's and the server's adapter with itself; 0: unknown
				  */
};

/* Plan the changes of P, whose facts are set. */
void prove_plan(struct prove *p);

/*
 * The windows of the next turn, as changes, into ORDER: each change is before or behind a window of
 * what it is compared with, every second turn backwards. Returns how many; 0: all is told.
 */
unsigned prove_turn(struct prove *p, enum prove_change order[3 * PROVE_CHANGES]);

/* Add the turn that was played: GBPS of each window of ORDER; NaN: it is no figure. */
void prove_add(struct prove *p, const enum prove_change *order, const double *gbps, unsigned count);

/* Plan the two changes that help most together. Returns false: there are no two. */
bool prove_plan_together(struct prove *p);

/* Change C cannot be tried because of WHY, which is static. */
void prove_refuse(struct prove *p, enum prove_change c, const char *why);

/*
 * Returns the change that makes the base fastest; the next one after BUT; NULL: none does. It is
 * PROVE_BETTER, or leads: each of its windows is above the margin, and above each window of every
 * other change that would be another limit. This assumes nothing of how rates vary. It does not
 * tell how much faster the change is, so the one after BUT must be PROVE_BETTER.
 */
const struct prove_try *prove_best(const struct prove *p, const struct prove_try *but);

/*
 * What limits the base. It "is" what leads in enough windows, which are played with nothing but
 * the base; "may be" what makes the base faster otherwise.
 */
enum finding_code prove_limit(const struct prove *p, enum finding_strength *strength);

#define PROVE_MARGIN       0.05 /* a rate within that is the same */
#define PROVE_HELPS_LITTLE 1.25 /* what helps no more than that comes after the rate of messages \
				 */

/*
 * prove_words.c: what limits the base, as a sentence; what a change told, by its name in documents;
 * and all as JSON.
 */
bool prove_is_unmoved(const struct prove *p); /* nothing that was changed helps */
const char *prove_text(const struct prove *p, char *buf, size_t size);
const char *prove_so_name(const struct prove_try *t);
json_t *prove_json(const struct prove *p);
