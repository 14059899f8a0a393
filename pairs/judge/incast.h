/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * incast: rounds in which several players send to one: how much arrives, how evenly the senders
 * share it, who starves, and the latency of a victim during them.
 *
 * A sender's share in a round is its rate as a part of the median rate of the round's other
 * senders. It is not a part of the mean, which the others of a sender that starves make larger, and
 * who sends from nearby gets more of than many who come by one uplink. A sender starves if its
 * share is below INCAST_STARVES in more than half of its rounds, and in three, with a receiver
 * each: so neither one bad round nor one receiver names anybody. And this must be more often than
 * chance makes it of one of all senders, where the flows of the others say what chance does. Where
 * more than half of the senders look so, nobody is normal, and nobody is named.
 *
 * Those of incast.c are pure functions of numbers; those of incast_body.c connect them with the
 * lines and the report.
 */
#pragma once

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "body.h"
#include "suspect.h"


/* What one sender reached in a round. */
struct incast_flow {
	uint32_t round, receiver, sender; /* rounds of several runs have different numbers */
	double gbps;                      /* NAN: it was tried, and has no figure */
};

/* A latency of the victim. It was during an incast if its round has flows. */
struct incast_probe {
	uint32_t round;
	double p50_us, p99_us; /* NAN: not known */
};

struct incast_input {
	const struct incast_flow *flow;
	size_t flows;
	uint32_t players; /* receivers and senders are below it */
	/* of each player, 0: not known, NULL: of none: the rate of its port, and the best that it
	 * receives and sends with one partner alone
	 */
	const double *port_gbps, *receives_gbps, *sends_gbps;
	const struct incast_probe *probe;
	size_t probes;
};

struct incast_round {
	uint32_t round, receiver, senders; /* those that have a figure, two at least */
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
	/* what it sends alone, as a part of what others do in the median; NAN: not known */
	double alone;
};

/* Medians of all rounds; NAN: none is known. Rounds of which half of the flows failed do not count.
 */
struct incast_victim {
	uint32_t during, without; /* rounds that have a latency */
	double p50_during_us, p50_without_us;
	double p99_during_us, p99_without_us;
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
	struct incast_starving *starving; /* owned; the worst first */
	uint32_t starved;
	struct incast_victim victim;
};

/* Judge IN. Returns -1 if there is no memory; release IT in any case. */
int incast_judge(struct incast *it, const struct incast_input *in);

/*
 * The incast of B, which is settled: rounds in which several clients send to one player. Other
 * bodies have none. Returns -1 if there is no memory; release IT in any case. (incast_body.c)
 */
int incast_of_body(struct incast *it, const struct body *b);

/* Add who starves. Returns -1 if there is no memory. (incast_body.c) */
int incast_suspects(struct suspects *to, const struct incast *it);

/* The lines of the report, without who starves; none if there is no incast. (incast_body.c) */
void incast_print(FILE *to, const struct incast *it, const struct body *b);

/* The same for a document; null if there is no incast. The caller frees it. (incast_body.c) */
json_t *incast_json(const struct incast *it, const struct body *b);

void incast_release(struct incast *it);
