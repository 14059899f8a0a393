/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * incast: rounds in which several players send to one: how much arrives, how evenly the senders
 * share it, and who starves.
 *
 * A sender's share in a round is its rate as a part of the median rate of the round's other
 * senders. It is not a part of the mean, which the others of a sender that starves make larger, and
 * who sends from nearby gets more of than many who come by one uplink. A sender starves if its
 * share is below INCAST_STARVES in more than half of its rounds, and in three, with a receiver
 * each: so neither one bad round nor one receiver names anybody. And this must be more often than
 * chance makes it of one of all senders, where the flows of the others say what chance does. Where
 * more than half of the senders look so, nobody is normal, and nobody is named.
 */
#pragma once

#include <stdint.h>

#include "body.h"

struct incast_round {
	uint32_t round;             /* those of several runs have different numbers */
	uint32_t receiver, senders; /* those that have a figure, two at least */
	double sum_gbps;
	double limit_gbps;  /* what could arrive */
	double jain;        /* Jain's index: 1 if all send alike, 1 / senders if only one does */
	uint32_t least;     /* the sender with the least share */
	double least_share; /* and that share */
};

/* What sums are compared with: the first of these that is known of every receiver. */
enum incast_of {
	INCAST_OF_PORT,  /* the rate of its port */
	INCAST_OF_ALONE, /* what it receives from one alone */
	INCAST_OF_BEST   /* the best sum of all rounds */
};

struct incast_starving {
	uint32_t sender;
	double share; /* the median of its rounds */
	uint32_t starved, rounds;
	/* what it sends alone, as a part of what others do in the median; NaN: not known */
	double alone;
};

struct incast {
	struct incast_round *round; /* owned; in the order of their numbers */
	uint32_t rounds;            /* 0: there was no incast */
	uint32_t senders;           /* in most rounds: the median */
	enum incast_of of;
	double reach;                     /* the median of sum / limit; */
	uint32_t worst;                   /* the round in which that is least, */
	double jain;                      /* the median of Jain's index, */
	uint32_t uneven;                  /* and the round in which that is least */
	struct incast_starving *starving; /* owned */
	uint32_t starved;
};

/*
 * Find the incast of B, which is settled: rounds in which several clients send to one player. Other
 * bodies have none. Returns -1 if there is no memory; release IT in any case.
 */
int incast_find(struct incast *it, const struct body *b);

void incast_release(struct incast *it);
