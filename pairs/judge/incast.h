/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * incast: rounds in which several players send to one: how much arrives, and how evenly the senders
 * share it. Who starves is a candidate of the screen, as everywhere.
 */
#pragma once

#include <stdint.h>

#include "evidence.h"

struct incast_round {
	uint32_t round;             /* those of several runs have different numbers */
	uint32_t receiver, senders; /* those that have a figure, two at least */
	double sum_gbps;
	double limit_gbps;  /* the rate of the receiver's port; or the best sum of all rounds */
	double jain;        /* Jain's index: 1 if all send alike, 1 / senders if only one does */
	uint32_t least;     /* the sender that sends least */
	double least_share; /* as a part of an equal share */
};

struct incast {
	struct incast_round *round; /* owned; in the order of their numbers */
	uint32_t rounds;            /* 0: there was no incast */
	uint32_t senders;           /* in most rounds: the median */
	bool of_ports;              /* limits are rates of ports: all are known */
	double reach;               /* the median of sum / limit; */
	uint32_t worst;             /* the round in which that is least, */
	double jain;                /* the median of Jain's index, */
	uint32_t uneven;            /* and the round in which that is least */
};

/*
 * Find the incast of E: rounds in which several clients send to one player. Other evidence has
 * none. Returns -1 if there is no memory; release IT in any case.
 */
int incast_find(struct incast *it, const struct evidence *e);

void incast_release(struct incast *it);
