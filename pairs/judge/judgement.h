/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * judgement: what the evidence says of players, pairs and groups. The screen only chooses
 * candidates; each is measured again with references, beside controls, and only that is a verdict
 * (screen.c, plan.c, verdict.c). All else is a statement from one comparison each. rdmark-pairs(1)
 * has the rules in words.
 */
#pragma once

#include "evidence.h"
#include "finding/finding.h"
#include "ranks.h"

#define NONE           UINT32_MAX
#define KINDS_MAX      256
#define FIGURES_ENOUGH 65536
#define FAILED         (-9.)   /* the y of a run that failed, in the test */
#define AT_TIMES       (-.001) /* the depth of who is not low at best */

/* A kind of player: a rail, the rate of its port, and which of two levels it is of. */
struct kind {
	const char *rail;
	double gbps; /* 0: not known */
	bool lower;
	uint32_t players;
	double reach; /* what its pairs reach: of a rate the logarithm, of a latency its negative */
};

enum about {
	ABOUT_ALL, /* it is a note: no single node's fault; all others are suspects */
	ABOUT_PLAYER,
	ABOUT_HOST, /* all players of it, of which A is one */
	ABOUT_PAIR, /* A to B */
	ABOUT_GROUP
};

/* A conclusion about a player, host, group or pair: report, drain list and exit status follow. */
struct statement {
	enum finding_code code;         /* by which they are sorted, suspects first */
	enum finding_level level;       /* a fault is exit status 6 */
	enum finding_strength strength; /* what is not certain is exit status 77 */
	enum about about;
	uint32_t a, b;
	bool tested;          /* a suspect that is not was seen once */
	bool drained;         /* it is slow by the test */
	bool sends, receives; /* of a pair: A to B, B to A */
	double value, normal; /* in the evidence's unit, or s, or parts; 0: none */
	uint32_t count, of;   /* those that are bad, of the hosts or runs that it was judged by */
	const char *text;     /* what its runs said; of a note, names. NULL: nothing */
};

/* What is known of a host; the largest one counts. */
enum host_state {
	HOST_UNDECIDED,
	HOST_GOOD,
	HOST_NAMED, /* a suspect that is not drained */
	HOST_SLOW,
	HOST_LOST,
	HOST_STATES
};

struct judgement {
	struct evidence *e; /* lent; the y of its observations and its kinds are set */
	const struct groups *groups;
	double expected;       /* what a pair must reach, in Gb/s; 0: not given */
	struct player *player; /* those of E */
	uint32_t players;
	struct kind kind[KINDS_MAX];
	uint32_t kinds;
	double level; /* what the lower of two levels reaches of the other; 0: there is one */
	double level_best[WAYS]; /* what most players reach at best */
	uint32_t *candidate;     /* players, the worst first; owned, as all lists below are */
	uint32_t candidates;
	uint32_t tests; /* runs of candidates, and of controls */
	double smallest; /* the smallest fault that makes a candidate; NaN: not known */
	double loaded;   /* what all pairs at once reach of what few do; NaN: not known */
	double *room;    /* for a figure of each observation, or text, or three of each player */
	struct statement *statement;
	uint32_t statements;
	enum host_state *host; /* of each host */
	uint32_t hosts_in[HOST_STATES];
	uint32_t measured, tried; /* observations of the screen */
};

/*
 * Judge the evidence E, which is complete. GROUPS may be empty. EXPECTED: Gb/s that a pair must
 * reach; 0: what its ports make likely. Returns -1 if there is no memory; release it in any case.
 */
int judgement_init(struct judgement *j, struct evidence *e, const struct groups *groups,
		   double expected);
void judgement_release(struct judgement *j);

/* The steps, in this order. */
void judge_lost(struct judgement *j);      /* lost.c */
void judge_kinds(struct judgement *j);     /* kinds.c: and what each observation is of its kinds */
void judge_standings(struct judgement *j); /* levels.c */
void judge_screen(struct judgement *j);    /* screen.c */
int judge_verdicts(struct judgement *j);   /* verdict.c. -1: no memory */
void judge_name_suspects(struct judgement *j);
void judge_notes(struct judgement *j);  /* notes.c */
void judge_groups(struct judgement *j); /* groups.c */

/* Add those who reach less than in BEFORE. */
void judge_compare(struct judgement *j, const struct judgement *before);

/*
 * After the last rule: make one statement of a host of those of all its players, put the worst
 * first, and find what is known of each host.
 */
void judge_states(struct judgement *j);

/*
 * The exit status: 3, nodes are lost, some are named by no line, or no pair was measured; 6,
 * something is slow; 77, nobody can tell, or a run did not come to its end; 0.
 */
int judge_status(const struct judgement *j);

/* A statement of CODE about player A, without figures. */
static inline struct statement suspect_of(enum finding_code code, uint32_t a)
{
	return (struct statement){
		.code = code, .level = FINDING_FAULT, .about = ABOUT_PLAYER, .a = a};
}

/* Add S. If there is no memory, json_memory_failures() says so. */
void statements_add(struct judgement *j, const struct statement *s);

/* Make TO the words of S: of a suspect, the text is the title of its code, its cause what is said
 * of it alone. */
void statement_words(struct finding *to, const struct judgement *j, const struct statement *s);

/* What runs said most often of PLAYER (NONE: of anybody): errors if FAILED, otherwise findings; or
 * NULL. */
const char *judge_said(const struct judgement *j, uint32_t player, bool failed);

/* True if a suspect for CODE cannot be used at all: exit status 3. */
static inline bool statement_is_lost(enum finding_code code)
{
	return code <= SUSPECT_BROKE && code != SUSPECT_CLOCK;
}

/* Of more than enough observations every so manyth is taken. */
static inline uint32_t judge_step(const struct judgement *j)
{
	return j->e->count / FIGURES_ENOUGH + 1;
}

/* The figures of PARTS (bits) that count; of more than enough, some that are spread evenly. */
struct figures judge_figures(const struct judgement *j, unsigned parts);

/* What is missing of a rate that harms somebody, as a logarithm. */
static inline double judge_least(const struct judgement *j)
{
	return -log1p(j->e->latency ? -LEAST_LATENCY : -LEAST_RATE);
}

/* The logarithm of O's figure; more is better. */
static inline double judge_log(const struct judgement *j, const struct observation *o)
{
	return (j->e->latency ? -1 : 1) * log((double)o->value);
}

/* True if O has a figure to judge: both ends had their CPU, and neither is lost. */
static inline bool judge_counts(const struct judgement *j, const struct observation *o)
{
	return !isnan(o->y) && !j->player[o->from].lost && !j->player[o->to].lost;
}

/* The y of O, FAILED if it failed though both ends were there; NaN: it tells nothing. */
static inline double judge_y(const struct judgement *j, const struct observation *o)
{
	if (o->cause && o->cause != FAILED_MISSED && !j->player[o->from].lost &&
	    !j->player[o->to].lost)
		return FAILED;
	return judge_counts(j, o) ? (double)o->y : NAN;
}

/* True if a run with WITH tells of PLAYER: a partner whose port is slower hides what it lacks. */
static inline bool judge_tells(const struct judgement *j, uint32_t player, uint32_t with)
{
	return !(j->kind[j->player[with].kind].reach <
		 j->kind[j->player[player].kind].reach - LEAST_RATE);
}

/* Candidates that are tested; more of them are no exceptions, and nobody is named before a test. */
static inline uint32_t judge_most(const struct judgement *j)
{
	return (uint32_t)fmax(4, fmin(TEST_MOST, j->players / 4));
}

/* True if a fault must be larger to be seen than anybody would accept. */
static inline bool judge_is_blind(const struct judgement *j)
{
	return j->smallest > (j->e->latency ? .5 : UNSEEN) && j->players > 2 && !j->e->incast;
}

/* By the test: what such a player reaches says nothing of its group, nor of the network. */
static inline bool judge_is_bad(const struct judgement *j, uint32_t player)
{
	return j->player[player].verdict == VERDICT_SLOW || j->player[player].verdict == VERDICT_TIMES;
}

/* What Y, of P's kind, is in the evidence's unit. */
static inline double judge_unit(const struct judgement *j, const struct player *p, double y)
{
	y += j->kind[p->kind].reach;
	return exp(j->e->latency ? -y : y);
}

/* Players of two groups, or of one that is not known. */
static inline bool judge_is_apart(const struct judgement *j, uint32_t a, uint32_t b)
{
	return j->player[a].group == NONE || j->player[a].group != j->player[b].group;
}

/* True if a group that is slow with others can be told from these: there is a third one. */
static inline bool judge_tells_groups(const struct judgement *j)
{
	return j->groups->names.count > 2 && !j->e->latency;
}

/* True if candidate A, which is slow, may share a place with candidate B. */
static inline bool judge_may_share(const struct judgement *j, uint32_t a, uint32_t b)
{
	enum verdict verdict = j->player[b].verdict;

	return verdict >= VERDICT_PLACE || verdict == VERDICT_OPEN || !judge_is_apart(j, a, b) ||
	       (j->e->latency && j->player[a].group == NONE); /* a far rack's hosts are candidates */
}

/* True if A and B are near to each other: in one group; if groups are not known, at best there. */
bool judge_is_near(const struct judgement *j, uint32_t a, uint32_t b);
