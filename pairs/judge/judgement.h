/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * judgement: what a body of evidence says of the nodes, rails, groups and pairs. Each rule is a
 * function of its own and adds suspects; rdmark-pairs(1) has them in words. The order matters: who
 * is lost has no pairs that are judged; a slow group pair is taken out before its nodes are judged;
 * a pair is judged only if both its nodes are good.
 */
#pragma once

#include "body.h"
#include "groups.h"
#include "incast.h"
#include "level.h"
#include "matrix.h"
#include "suspect.h"

#define JUDGEMENT_SLOW  .93 /* of a rate: below this part of what is normal it is slow */
#define JUDGEMENT_GROUP .95 /* of the median of a block of two groups */
#define JUDGEMENT_HIGH  2.1 /* of a latency: above this many times the least of its class */
#define JUDGEMENT_TAIL  3.  /* p99 above this many times the median */

/* What rails reach, if adapters of different speed are in the hosts. */
struct judge_speeds {
	struct names rails;
	uint32_t *of; /* of each player: its rail; owned */
	double *part; /* of each rail: what it reaches of the fastest one; owned */
	bool differ;
};

/* A pair is within a group, or between two. */
#define JUDGEMENT_DISTANCES 2

/* How far the runs came. */
struct judge_rounds {
	uint32_t planned, played; /* of the first run that did not come to its end; 0: all did */
	uint32_t unnamed;         /* players that no line names, though there should be as many */
	uint32_t unended;         /* players that may have ended in a line that was cut */
};

struct judgement {
	const struct body *body;
	const struct groups *groups;
	struct matrix m;
	struct judge_speeds speeds;
	struct judge_rounds rounds;
	/* of each cell: more is better, as a part of its rail's speed; NaN: no figure, or in a slow
	 * group pair
	 */
	float *x;
	float *plain;    /* the same with those */
	float *some;     /* room for as many figures as there are cells, for a function to use */
	uint32_t *group; /* of each player: a group or NAMES_NONE; NULL: no groups */
	bool *lost;      /* players whose figures are not judged */
	char *hosts;     /* of each host: room for what a writer finds out of it */
	bool *excused;   /* these, and those that missed slots: a pair without a figure is theirs */
	double usual;    /* the median latency of pairs of good nodes, in us */
	bool any_loaded; /* X is of full rounds; otherwise of pairs alone */
	struct level level;
	struct suspects suspects;
	struct incast incast; /* if it has rounds, its flows are judged by it and not as pairs */
	uint32_t measured, tried; /* cells; of a latency, pairs */
	bool has_baseline;
	uint32_t compared; /* with the baseline: players, and cells of those with few partners */
};

/* Judge BODY, which is settled. GROUPS may be empty. Returns -1 if there is no memory. */
int judgement_init(struct judgement *j, const struct body *body, const struct groups *groups);

/*
 * Add those whose level is below that of BEFORE, and count what was compared. Returns -1 if there
 * is no memory. (baseline.c)
 */
int judgement_compare(struct judgement *j, const struct judgement *before);

void judgement_release(struct judgement *j);

/* Find what is normal for each rail; PLAIN has all figures. Returns -1 if there is no memory. */
int judge_speeds(struct judgement *j); /* speeds.c */

/* What the rail of PLAYER reaches, as a part of the fastest one. */
double judge_speed(const struct judgement *j, uint32_t player);

/* What a cell is judged by: what it reaches among others, unless nothing was measured so. */
static inline float judge_figure(const struct judgement *j, uint32_t cell)
{
	const struct matrix_cell *c = &j->m.cell[cell];

	return j->any_loaded ? c->loaded : c->alone;
}

/* How far apart the ends of a cell are: below JUDGEMENT_DISTANCES. */
static inline int judge_distance(const struct judgement *j, uint32_t cell)
{
	const struct matrix_cell *c = &j->m.cell[cell];

	return j->group && j->group[c->from] != j->group[c->to];
}

/* Find the latency that each distance is judged by. Returns -1 if there is no memory. */
int judge_leasts(const struct judgement *j, double least[JUDGEMENT_DISTANCES]); /* least.c */

/* The rules. Each returns -1 if there is no memory. */
int judge_lost(struct judgement *j);              /* lost.c */
int judge_groups(struct judgement *j, bool last); /* blocks.c: LAST adds suspects */
int judge_levels(struct judgement *j);            /* slow.c */
int judge_tails(struct judgement *j);

/*
 * The median of the COUNT figures of PLAYER in these directions with partners that are not slow;
 * ALONE: of those alone. NaN: there is none. J->some is used.
 */
double judge_middle(const struct judgement *j, uint32_t player, const bool way[MATRIX_WAYS],
		    bool alone, uint32_t *count);
int judge_pairs(struct judgement *j); /* links.c */

/*
 * What runs said most often of PLAYER, in struct body.texts, or SUSPECT_NONE.
 * FAILED: errors, otherwise findings. (said.c)
 */
uint32_t judge_said(const struct judgement *j, uint32_t player, bool failed);

/* What all runs that failed said most often, or SUSPECT_NONE. (said.c) */
uint32_t judge_said_most(const struct judgement *j);

/* Make one suspect of a host of those of all its players, from number FIRST of the list on. */
void judge_hosts(struct judgement *j, uint32_t first); /* rails.c */
