/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * body: all that the files say: who played, and every pair that was tried. Several files are one
 * body of evidence: a first run and the one that repeats its suspects.
 *
 * The files are written by many processes of many hosts, so nothing in them is believed: a line is
 * taken as a whole or counted as one that was not, and each list has a limit.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "names.h"
#include "pairs/hosts.h"

#define BODY_PLAYERS_MAX 65536
#define BODY_RUNS_MAX    1024
#define BODY_TRIES_MAX   (UINT32_C(1) << 25)
#define BODY_TEXTS_MAX   65536
#define BODY_WHATS_MAX   64
#define BODY_NOTES_MAX   (UINT32_C(1) << 21)
#define BODY_NO_WHAT     255
#define BODY_NONE        UINT32_MAX

/* Why a pair has no figure: in lines, and in reports if its run did not say more. */
#define BODY_FAILURES(X)                                \
	X(BODY_CONNECT, "connect", "could not connect") \
	X(BODY_LOST, "lost", "the other end was lost")  \
	X(BODY_DEVICE, "device", "no device")           \
	X(BODY_CLOCK, "clock", "a clock is wrong")      \
	X(BODY_REFUSED, "refused", "refused")           \
	X(BODY_DATA, "data", "data arrived wrong")      \
	X(BODY_MISSED, "missed", "missed its slot")     \
	X(BODY_OTHER, "other", "failed")

enum body_cause {
	BODY_MEASURED,
#define BODY_CAUSE(cause, ...) cause,
	BODY_FAILURES(BODY_CAUSE)
#undef BODY_CAUSE
	BODY_CAUSES
};

/* A pair that was tried in one direction: a line of kind "pair". */
struct body_try {
	uint32_t from, to; /* players */
	uint32_t text;     /* what the run said of it, in struct body.texts; or BODY_NONE */
	float value, p99;  /* in the body's unit; NaN: not known */
	float clock_s;     /* the server's clock less the client's; NaN: not known */
	uint16_t run, round;
	uint8_t cause;  /* enum body_cause */
	uint8_t blame;  /* whose fault that is: 1 from, 2 to, 0 not known */
	bool lacked[2]; /* the thread of from, and of to, lacked its CPU: the figure is none */
	bool alone, client_is_from;
	bool found;    /* its text is a finding */
	bool mirrored; /* a latency, which is that of the other direction, too */
};

struct body_player {
	uint32_t host;               /* in struct body.hosts */
	uint16_t came, done;         /* runs that it began, and those that it played to their end */
	uint32_t came_run, done_run; /* the last of each plus 1; 0: none. Until it is settled */
	uint32_t missed, rounds;     /* slots that it could not use, of how many */
	float port_gbps;             /* the active rate of its rail's port; 0: not known */
	uint32_t server_said;        /* the error of its server, in struct body.texts, plus 1 */
	bool no_device;              /* that error is about its device */
	bool stopped;                /* it played fewer rounds of a run than others did */
};

/* One run of all players. */
struct body_run {
	uint32_t planned;    /* rounds of its schedule; 0: no player says so */
	uint32_t players;    /* that it says it has */
	double slot_s;       /* the length of its slots; 0: not known */
	uint32_t played;     /* the most that a player has done to their end */
	uint32_t seen;       /* the last round of which there is a pair, plus 1 */
	uint32_t came, done; /* lines that say that a player began, and ended */
	uint8_t what;        /* what it measured, in struct body.whats, or BODY_NO_WHAT */
};

enum body_note_kind {
	BODY_CAME,  /* a player began */
	BODY_DONE,  /* it ended */
	BODY_SERVER /* its server ended */
};

/* What a player says of itself in a run: a line that is about no pair. */
struct body_note {
	enum body_note_kind kind;
	uint32_t player;
	uint32_t rounds, missed; /* if it ended */
	float port_gbps;         /* if it came: of its rail; 0: not known */
	uint32_t text;           /* the error of its server, in struct body.texts; or BODY_NONE */
	uint16_t run;
	bool no_device; /* that error is about its device */
};

/* What the lines were. */
struct body_counts {
	uint64_t lines;
	uint64_t players, done; /* notes of these kinds that were used */
	uint64_t other_text, broken, impossible, others, repeated, other_unit, beyond;
};

struct body {
	const struct hosts *known;              /* lines of others are not used; NULL: all are */
	struct names hosts, names, runs, texts; /* NAMES: "HOST" or "HOST/RAIL", of each player */
	struct names whats;                     /* "gbps write_bw -s 1m": what runs measured */
	struct body_run run[BODY_RUNS_MAX];     /* as many as RUNS */
	struct body_player *player;             /* as many as names */
	struct body_try *tries;
	uint32_t count;
	struct body_note *notes; /* until it is settled */
	uint32_t notes_n;
	bool incast;       /* a run has that schedule */
	uint32_t expected; /* players that the runs say they have */
	bool latency;      /* figures are us, otherwise Gbit/s */
	double slot_s;     /* the longest slot; 0: not known */
	char schedule[16];
	uint32_t at_once; /* pairs in a slot of the first run; 0: no limit, or not known */
	char title[201];  /* what the first run is that says so; "": none does */
	struct body_counts counts;
};

void body_init(struct body *b);

/* Add all lines of FILE. Returns -1 with errno if it cannot be read or there is no memory. */
int body_read(struct body *b, FILE *file);

/*
 * Drop what is of another experiment than the first run, and repeated tries; count what the notes
 * say, and number the players that are left by host and rail, so that n2 comes before n10. A
 * latency gets a try in the other direction: it is measured in one, and both ends are in it.
 */
int body_complete(struct body *b);

/* The number of the player on HOST with RAIL ("" or NULL: none), maybe a new one; or BODY_NONE. */
uint32_t body_player(struct body *b, const char *host, const char *rail);

/*
 * Say what PERCENT of their CPUs the threads at T's from and to had: a figure of one that lacked it
 * (finding/quality.h) is forgotten.
 */
void body_cpu(struct body_try *t, const double percent[2]);

static inline bool body_lacked(const struct body_try *t)
{
	return t->lacked[0] || t->lacked[1];
}

/* Add one, unless there are too many, which is counted. Return -1 if there is no memory. */
int body_add(struct body *b, const struct body_try *t);
int body_add_note(struct body *b, const struct body_note *n);

/* The number of the run NAME, which is added if it is new; or NAMES_NONE. */
uint32_t body_run(struct body *b, const char *name);

/* True if RUN measured something else than the first run did. */
static inline bool body_is_other(const struct body *b, uint32_t run)
{
	return b->run[run].what != BODY_NO_WHAT && b->run[run].what != 0;
}

void body_release(struct body *b);
