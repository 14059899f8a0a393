/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * incast: rounds in which several players send to one: how much arrives, how evenly the senders
 * share it, and who starves.
 *
 * A sender's share in a round is its rate as a part of the median rate of the round's other
 * senders. It starves if that is below STARVES in more than half of its rounds, and in three, with
 * a receiver each, and this more often than chance makes it of one of all senders. Where more than
 * half of the senders look so, nobody is normal, and nobody is named.
 */
#pragma once

#include <stdint.h>

#include "evidence.h"

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
	double share; /* of its rounds: the mean of logarithms */
	uint32_t starved, rounds;
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
 * Find the incast of E: rounds in which several clients send to one player. Other evidence has
 * none. Returns -1 if there is no memory; release IT in any case.
 */
int incast_find(struct incast *it, const struct evidence *e);

void incast_release(struct incast *it);
