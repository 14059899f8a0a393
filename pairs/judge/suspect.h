/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* suspect: who is lost or slow, in which way, and by what figures; a list of them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "finding/finding.h"

#define SUSPECT_NONE UINT32_MAX

enum suspect_proof {
	SUSPECT_ONCE,      /* measured in rounds with other pairs only */
	SUSPECT_CONFIRMED, /* bad alone, too */
	SUSPECT_LOAD       /* good alone: slow only under load */
};

struct suspect {
	enum finding_code kind; /* SUSPECT_NODE: of the group SUSPECT, by which they are sorted */
	enum suspect_proof proof;
	bool sends, receives;   /* in which direction; of a pair and groups: A to B, B to A */
	bool few_partners;      /* of a pair: an end has too few to be judged itself */
	bool is_host;           /* A is a host, all of its rails; otherwise a player, or a group */
	uint32_t a, b;          /* B: of a pair or groups; otherwise SUSPECT_NONE */
	double value, normal;   /* in the body's unit, or s, slots, parts of tails; NaN: none */
	uint32_t partners, bad; /* hosts that it was judged by; tries or cells that were bad */
	uint32_t cause;         /* a cause of body.h for those that have no figure */
	uint32_t from_round;    /* it is slow from this one on; 0: always, or not known */
	uint32_t text;          /* what its runs said, in struct body.texts; or SUSPECT_NONE */
};

struct suspects {
	struct suspect *of; /* owned */
	uint32_t count;
	bool no_memory; /* one is missing for want of memory */
};

/* Suspect A as KIND, of which nothing else is known. */
struct suspect suspect_of(enum finding_code kind, uint32_t a);

void suspects_add(struct suspects *l, const struct suspect *s);

/* Put the worst first. */
void suspects_sort(struct suspects *l);

/* True if this kind of suspect cannot be used at all: exit status 3. */
bool suspect_is_lost(enum finding_code kind);

/* How much of the normal is left, for sorting: 0 to 1, smaller is worse. */
double suspect_part(const struct suspect *s);
