/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * judgement: what a body of evidence says of the nodes, rails, groups and pairs. Each rule is a
 * function of its own and adds suspects; rdmark-pairs(1) has them in words. The order matters: who
 * is lost has no pairs that are judged; a slow group pair is taken out before its nodes are judged;
 * a pair is judged only if both its nodes are good.
 */
#pragma once

#include <math.h>
#include <string.h>

#include "finding/finding.h"
#include "fit.h"
#include "incast.h"

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
};

/* Suspect A as KIND, of which nothing else is known. */
struct suspect suspect_of(enum finding_code kind, uint32_t a);

/* Add S. If there is no memory, json_memory_failures() says so. */
void suspects_add(struct suspects *l, const struct suspect *s);

/* Put the worst first. */
void suspects_sort(struct suspects *l);

/* True if this kind of suspect cannot be used at all: exit status 3. */
bool suspect_is_lost(enum finding_code kind);

/* How much of the normal is left, for sorting: 0 to 1, smaller is worse. */
double suspect_part(const struct suspect *s);

/* How far the runs came. */
struct judge_rounds {
	uint32_t planned, played; /* of the first run that did not come to its end; 0: all did */
	uint32_t unnamed;         /* players that no line names, though there should be as many */
	uint32_t unended;         /* players that may have ended in a line that was cut */
};

/* What is known of a host; the largest one counts. */
enum host_state {
	HOST_UNKNOWN, /* it has no figure, or is in a slow pair; in the end it is undecided */
	HOST_GOOD,
	HOST_UNDECIDED, /* so are those of slow pairs who have too few partners to be judged */
	HOST_SUSPECT,   /* these and lost ones are drained */
	HOST_LOST,
	HOST_STATES
};

struct judgement {
	const struct body *body;
	const struct groups *groups;
	struct matrix m;
	struct fit fit;
	struct judge_rounds rounds;
	uint32_t *group;                /* of each player: a group or NAMES_NONE; NULL: no groups */
	bool *lost;                     /* players whose figures are not judged */
	uint8_t *hosts;                 /* of each host: enum host_state */
	uint32_t hosts_in[HOST_STATES]; /* how many */
	bool *excused; /* these, and those that missed slots: a pair without a figure is theirs */
	struct suspects suspects;
	struct findings notes; /* what is nobody's fault */
	struct incast incast;  /* if it has rounds, its flows are judged by it and not as pairs */
	uint32_t measured, tried; /* cells; of a latency, pairs */
	double expected;          /* what a pair must reach, in Gb/s; 0: not given */
	double smallest; /* the part by which a sender that is named is too slow; NaN: not known */
	double network;  /* what most pairs reach of the best ones; NaN: not known */
	uint32_t slots, failed_slots; /* of all players */
	bool retested;                /* some pairs were measured alone after the others */
	bool uplinks_doubtful; /* pairs of two groups are slow; nobody knows whose uplink it is */
	uint32_t late;         /* players that missed slots */
	uint32_t slow_pairs;   /* far slower, though chance may make as many; 0: too few */
	bool blind;       /* no node can be called good: noise or the network hides slow ones */
	bool cannot_tell; /* a slow node might not have been seen */
	bool has_baseline;
	uint32_t compared; /* with the baseline: players, and cells of those with few partners */
};

/*
 * Judge BODY, which is settled. GROUPS may be empty. EXPECTED: Gb/s that a pair must reach; 0: what
 * its ports make likely. Returns -1 if there is no memory.
 */
int judgement_init(struct judgement *j, const struct body *body, const struct groups *groups,
		   double expected);

/*
 * Add those whose level is below that of BEFORE, and count what was compared. Returns -1 if there
 * is no memory. (baseline.c)
 */
int judgement_compare(struct judgement *j, const struct judgement *before);

void judgement_release(struct judgement *j);

/* Where so many players miss slots, as clients do, all may have been started late. */
static inline bool judge_launcher_late(const struct judgement *j)
{
	return j->late > NOTES_LATE * j->m.players;
}

/* True if a pair reaches three quarters of what is normal at most, and its ends are good. */
static inline bool judge_is_far_slower(const struct judgement *j, uint32_t cell)
{
	const struct matrix_cell *c = &j->m.cell[cell];

	return (double)j->fit.part[cell] < log(NOTES_FAR_SLOWER) &&
	       !fit_is_aside(&j->fit, c->from) && !fit_is_aside(&j->fit, c->to);
}

/* A figure in the body's unit, of its logarithm in the fit. */
static inline double judge_unit(const struct judgement *j, double y)
{
	return exp(j->body->latency ? -y : y);
}

/* The part of normal that PLAYER reaches in a direction; NaN: not known. */
static inline double judge_part(const struct judgement *j, uint32_t player, enum matrix_way way)
{
	return exp((double)j->fit.of[player].way[way].effect);
}

/* What is normal for a PLAYER, in the body's unit; NaN: not known. */
static inline double judge_normal(const struct judgement *j, uint32_t player)
{
	return judge_unit(j, j->fit.kind[j->fit.kinds.of[player]]);
}

/* True if PLAYER has enough good partners to be judged. */
static inline bool judge_is_known(const struct judgement *j, uint32_t player)
{
	return j->fit.of[player].way[FIT_SENDS].partners >= FIT_PARTNERS ||
	       j->fit.of[player].way[FIT_RECEIVES].partners >= FIT_PARTNERS ||
	       j->fit.of[player].nowhere;
}

/* True if pair CELL was measured and has no figure, as a thread lacked its CPU. */
static inline bool judge_is_undecided(const struct judgement *j, uint32_t cell)
{
	const struct matrix_cell *c = &j->m.cell[cell];

	return c->lacked && isnan(fit_figure(&j->fit, c)) && !j->lost[c->from] && !j->lost[c->to];
}

/* The part of all pairs that was tried. */
static inline double judge_covered(const struct judgement *j)
{
	double all = (double)j->m.players * (j->m.players - 1);

	return all > 0 ? j->m.cells / all : 1;
}

/* True if --schedule full would try more. */
static inline bool judge_misses_pairs(const struct judgement *j)
{
	return judge_covered(j) < .9 && strcmp(j->body->schedule, "full") != 0;
}

/* Suspect the pair of a cell as KIND, of which nothing else is known. (slow.c) */
struct suspect judge_pair(const struct judgement *j, enum finding_code kind,
			  const struct matrix_cell *c);

/* The rules. */
void judge_lost(struct judgement *j);   /* lost.c */
void leaves_find(struct judgement *j);  /* leaves.c: groups whose uplinks are slow */
void judge_levels(struct judgement *j); /* slow.c */
void judge_tails(struct judgement *j);
void judge_pairs(struct judgement *j);
void judge_notes(struct judgement *j);  /* notes.c, as the next one: */
void judge_no_cpu(struct judgement *j); /* pairs that are undecided for want of CPU */

/*
 * What runs said most often of PLAYER, in struct body.texts, or SUSPECT_NONE: errors if FAILED,
 * otherwise findings. And what all runs that failed said most often.
 */
uint32_t judge_said(const struct judgement *j, uint32_t player, bool failed);
uint32_t judge_said_most(const struct judgement *j);

/* Find what is known of each host, after the last rule. (suspect.c) */
void judge_states(struct judgement *j);

/* Make one suspect of a host of those of all its players, from number FIRST of the list on. */
void judge_hosts(struct judgement *j, uint32_t first); /* suspect.c */
