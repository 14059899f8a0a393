/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * evidence: all that the files say: who played, and every pair that was tried, as observations in
 * one array. Several files are one body of evidence: a screen, and the tests of its candidates.
 *
 * The files are written by many processes of many hosts, so nothing in them is believed: a line is
 * taken as a whole or counted as one that was not, and each list has a limit.
 */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "pairs/hosts.h"
#include "pairs/names.h"
#include "pairs/schedule.h"
#include "thresholds.h"

#define EVIDENCE_PLAYERS 65536
#define EVIDENCE_RUNS    1024
#define EVIDENCE_MOST    (UINT32_C(1) << 25) /* observations */
#define EVIDENCE_TEXTS   65536

/* Why an observation has no figure: those that the judge asks for. */
enum cause {
	MEASURED,
	FAILED_CONNECT,
	FAILED_DEVICE,
	FAILED_DATA,
	FAILED_MISSED,
	FAILED_OTHER,
	CAUSES
};

#define PARTS_SCREEN (1U << PART_LOADED | 1U << PART_SCREEN)
#define PARTS_TEST   (1U << PART_TEST | 1U << PART_CONTROL)

enum mark {
	MARK_LACKED = 1, /* a thread lacked its CPU: the figure is none */
	MARK_FROM_CLIENT = 4,
	MARK_FROM_BLAMED = 8, /* this end's fault, or the finding is about it */
	MARK_TO_BLAMED = 16,
	MARK_FOUND = 32 /* its text is a finding, not an error */
};

/* A pair that was tried in one direction: a line of kind "pair". */
struct observation {
	uint32_t from, to; /* players */
	float value;       /* in the evidence's unit; NaN: no figure */
	float y;       /* log of VALUE as a part of what its ends' kinds reach; more is better */
	float clock_s; /* the server's clock less the client's; NaN: not known */
	uint32_t text; /* what the run said, in struct evidence.texts; or NAMES_NONE */
	uint16_t run, slot;
	uint8_t part, cause, marks;
};

/* The way in which a player is in an observation. */
enum way {
	SENDS,
	RECEIVES,
	WAYS /* both */
};

/* What the test says of a player. */
enum verdict {
	VERDICT_OPEN, /* not tested, or not often enough: a candidate, "seen once" */
	VERDICT_GOOD,
	VERDICT_UNCLEAR, /* tested, and nobody can tell */
	VERDICT_TIMES,   /* low in more of its runs than the controls */
	VERDICT_PLACE,   /* low with references of other places only: its uplink or its route is */
	VERDICT_SLOW
};

struct player {
	uint32_t host;          /* in struct evidence.hosts */
	float port_gbps;        /* the rate of its rail's port; 0: not known */
	uint32_t missed;        /* slots that it could not use */
	uint32_t server_said;   /* the error of its server, in struct evidence.texts; or NONE */
	bool no_device;         /* that error is about its device */
	uint32_t run, rounds;   /* the last run, or the first that it did not end; what it played of it */
	bool came, done;        /* it said that it began, and that this run is over */
	bool ended_early, unended; /* the last: it may have ended in a line that was cut */

	/* Of the judgement: */
	uint32_t kind, group;           /* their numbers there; NONE */
	uint32_t near[TEST_NEAR];       /* the players with which it is best; NONE: no more */
	bool lost;                      /* its figures are not judged */
	bool lower;                     /* it is of the lower of two levels */
	float best[WAYS], median[WAYS]; /* of its y; NaN: it has none that count */

	/* Of the test: */
	bool candidate;
	double depth; /* how far below the others it is at best, as a logarithm; 0: it is not */
	bool falls;   /* it is lower in the last rounds than in the first */
	double before, after; /* the medians of the first and the last rounds then */
	enum verdict verdict;
	bool sends, receives;
	double y, control;    /* the medians of its figures, and of the controls' */
	uint32_t tests;       /* slots with a reference, */
	uint32_t figures, low, failed; /* and how many of these runs were low, or failed */
	/* how many candidates it has met; how many others may share its place: it has not met them,
	 * or is as good with them as with good ones */
	uint32_t met, unmet;
};

/* What each `run` of all players is. */
struct run {
	uint32_t planned; /* rounds of its schedule; 0: no player says so */
	uint32_t played;  /* the most that a player has completed */
	uint32_t seen;    /* the last slot of which there is an observation, plus 1 */
	uint32_t done;
	uint32_t what; /* what it measured, in struct evidence.whats; or NONE */
	unsigned parts; /* of its observations: bits */
	bool is_plan;
};

/* Why lines were not used, as it is said on stderr. */
#define EVIDENCE_COUNTS(X)                                                                       \
	X(OTHER_TEXT, "of other text")                                                           \
	X(BROKEN, "cut or not JSON")                                                             \
	X(IMPOSSIBLE, "with impossible content")                                                 \
	X(REPEATED, "there twice")                                                               \
	X(OTHER_UNIT, "of another experiment")                                                   \
	X(BEYOND, "more than can be kept")

enum evidence_count {
#define EVIDENCE_COUNT(name, ...) COUNT_##name,
	EVIDENCE_COUNTS(EVIDENCE_COUNT)
#undef EVIDENCE_COUNT
	COUNTS
};

struct evidence {
	const struct hosts *known; /* lines of others are impossible; none: all are possible */
	struct names hosts, names, runs, texts, whats; /* NAMES: "HOST" or "HOST/RAIL" */
	struct run run[EVIDENCE_RUNS];
	struct player *player;  /* as many as names */
	struct observation *of; /* owned, as all lists are */
	uint32_t count;
	uint32_t *start;    /* players + 1: the first place in AT of each */
	uint32_t *at;       /* numbers of observations: those of each player, who is either end */
	uint32_t *first;    /* hosts + 1: the first player of each */
	uint32_t expected;  /* players that the runs say they have */
	uint32_t plans;     /* that were played */
	bool latency;       /* figures are us, otherwise Gbit/s */
	bool incast, one_way;
	bool at_once;         /* the user limits how many pairs there are at once */
	double slot_s;        /* the longest slot; 0: not known */
	double slot_needed_s; /* that a run would have needed; 0: none */
	char title[201];
	uint64_t counts[COUNTS];
};

void evidence_init(struct evidence *e);

/* Add all lines of FILE. Returns -1 with errno if it cannot be read or there is no memory. */
int evidence_read(struct evidence *e, FILE *file);

/*
 * Number the players by host and rail, so that n2 comes before n10; drop what is there twice; make
 * the indexes; and find who ended early. Returns -1 if there is no memory.
 */
int evidence_complete(struct evidence *e);

void evidence_release(struct evidence *e);

/* The number of the player on HOST with RAIL ("" or NULL: none), maybe a new one; or NONE. */
uint32_t evidence_player(struct evidence *e, const char *host, const char *rail);

/* The number of the run NAME, which is added if it is new; or NONE. */
uint32_t evidence_run(struct evidence *e, const char *name);

/* Add one, unless there are too many, which is counted, or no memory, which json_memory tells. */
void evidence_add(struct evidence *e, const struct observation *o);

/*
 * PLAYER says that it takes part in RUN; that it has ended it after ROUNDS, without those it
 * MISSED.
 */
void evidence_came(struct evidence *e, uint32_t player, uint32_t run);
void evidence_done(struct evidence *e, uint32_t player, uint32_t run, uint32_t rounds,
		   uint32_t missed);

/*
 * A walk over the observations of PLAYER in WAY, of those PARTS (bits). A latency is in one
 * direction only, and both ends are in it: all of the player's are in either way.
 */
struct walk {
	const struct evidence *e;
	uint32_t player;
	enum way way;
	unsigned parts;
	/* Where it is: */
	uint32_t next;
	const struct observation *is;
	uint32_t with; /* the other end */
};

/* Go to the next one. Returns false behind the last. */
bool walk_next(struct walk *w);

/* Those of PLAYER in WAY. */
static inline struct walk walk_way(const struct evidence *e, uint32_t player, enum way way,
				   unsigned parts)
{
	return (struct walk){.e = e, .player = player, .way = way, .parts = parts};
}

/* One of both ways. */
static inline struct walk walk_all(const struct evidence *e, uint32_t player, unsigned parts)
{
	return walk_way(e, player, WAYS, parts);
}

/* How many ways there are to judge a player. */
static inline enum way evidence_ways(const struct evidence *e)
{
	return e->latency ? RECEIVES : WAYS;
}

static inline const char *evidence_name(const struct evidence *e, uint32_t player)
{
	return e->names.text[player];
}

/* Its device; "": it is all of the host. */
static inline const char *evidence_rail(const struct evidence *e, uint32_t player)
{
	const char *slash = strchr(evidence_name(e, player), '/');

	return slash ? slash + 1 : "";
}

static inline const char *evidence_host(const struct evidence *e, uint32_t player)
{
	return e->hosts.text[e->player[player].host];
}
