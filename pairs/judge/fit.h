/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fit: what is normal for each pair, and which players reach less than that.
 *
 * Normal for a pair is what the slower kind of both ends reaches (a kind: a rail, and the rate of
 * its port) at their distance (within a group, or between two). What a player reaches is compared
 * with what chance makes of good players (chances.h): it is slow if K of its N figures are as low
 * as a part P of the good ones, and the chance of that, which is binomial, is less than FIT_CHANCE
 * for all players and all K that are tried. So neither the shape of the noise nor a shared network
 * makes a healthy player slow, as long as it shares them with all others.
 *
 * Slow players make others look slow, and normal low. So those that are slow are set aside with all
 * of their figures, and all is fitted again, until the same ones are set aside; at first those
 * whose middle or low figures are lower than most of the others'.
 */
#pragma once

#include <math.h>

#include "body.h"
#include "limits.h"
#include "matrix.h"
#include "chances.h"

/* How far the ends of a pair are apart: the groups are given, and racks are found. */
enum {
	FIT_NEAR,
	FIT_GROUPS,
	FIT_RACKS, /* may be added to FIT_GROUPS */
	FIT_DISTANCES = 4
};

/* What a player is judged by: each of its slots is a figure of each of these. */
enum fit_way {
	FIT_SENDS = MATRIX_SEND,
	FIT_RECEIVES = MATRIX_RECEIVE,
	FIT_WORSE, /* of both directions; it may be low in some slots only */
	FIT_WAYS
};

/* What chance makes of one direction, and of the worse one of both. */
enum {
	FIT_FIGURES,
	FIT_WORSES,
	FIT_POOLS
};

/* A figure in a test: the logarithm of its part of normal. */
struct fit_figure {
	float part;
	uint32_t distance, at; /* AT: its place in time */
};

/* What is known of a player. */
struct fit_player {
	struct {
		/* the median of its figures; of FIT_WORSE, of those that are low; NaN: none */
		float effect;
		uint32_t partners; /* hosts that these are with, which are not slow themselves */
		uint32_t figures;
		uint32_t low; /* nearer to EFFECT than to what is normal */
		bool slow;    /* chance does not explain that */
	} way[FIT_WAYS];
	bool has_equals; /* enough partners that are of no slower kind */
	bool doubtful;   /* slow, or of a rack: cannot be told */
	uint8_t nowhere; /* bits: ways in which it met all, and was good with none */
};

#define FIT_KINDS_MAX 64

/* Players of the same rail and rate of its port. */
struct kinds {
	struct names names; /* "mlx5_0 400"; without rails or known rates the parts that are left */
	uint32_t *of;       /* of each player; owned */
	double rate[FIT_KINDS_MAX]; /* the logarithm of the port's rate; 0: not known */
	uint32_t hosts[FIT_KINDS_MAX];
	uint32_t count;
	bool rates_known; /* of all players */
};

/* All of what follows is of logarithms. */
struct fit {
	const struct body *body; /* lent, as the next three are */
	const struct matrix *m;
	const uint32_t *group; /* of each player; NULL: no groups */
	const bool *lost;      /* players whose figures are not used */
	uint32_t groups;
	bool *bad_pair; /* of each pair of groups, FROM * GROUPS + TO: the network is slow there */
	bool alone;     /* there are only figures of pairs alone */
	struct kinds kinds;
	struct fit_player *of;          /* of each player; owned, as all lists are */
	uint32_t hosts;                 /* that have a figure */
	uint32_t *rack;                 /* of each player: a rack that was found; 0: none */
	uint32_t racks;                 /* that were found */
	float *part;                    /* of each cell: its part of normal; NaN: none */
	double kind[FIT_KINDS_MAX];     /* what it reaches */
	double distance[FIT_DISTANCES]; /* what is added to that */
	double spread;                  /* of what good players reach: a standard deviation */
	double chance;                  /* for each test */
	bool *aside[MATRIX_WAYS];
	struct meetings slots;
	struct chances (*pool)[FIT_DISTANCES]; /* FIT_POOLS of them */
	struct fit_figure *figure;             /* room for those of one player */
	double *share;                         /* room for as many */
	float *some;                           /* room for all cells */
	signed char *bad;            /* room for what a rule finds of each cell: 1, 0 or -1, */
	bool *mark[2 * MATRIX_WAYS]; /* and of each player */
};

/*
 * Collect the figures of the matrix M, which stays, as GROUP and LOST do. Returns -1 if there is no
 * memory. Release it in either case.
 */
int fit_init(struct fit *f, const struct matrix *m, const uint32_t *group, uint32_t groups,
	     const bool *lost);
void fit_release(struct fit *f);

/* Fit them, once it is known who is lost; and again, after racks or bad pairs were found. */
void fit_first(struct fit *f);
void fit_again(struct fit *f);

/* Find racks, and fit again with them. (leaves.c) */
void racks_find(struct fit *f);

/* Unmark all players. Returns their marks, room for a rule: of both directions, twice. */
bool *const *fit_marks(struct fit *f);

/* The figure of a cell that is judged, and as more is better; NaN: none. */
static inline float fit_figure(const struct fit *f, const struct matrix_cell *c)
{
	return f->alone ? c->alone : c->loaded;
}

static inline float fit_y(const struct fit *f, const struct matrix_cell *c)
{
	return meetings_y(fit_figure(f, c), f->body->latency);
}

/* The part of normal of the slot T of PLAYER, a logarithm. (normal.c) */
float fit_part(const struct fit *f, const struct meeting *t, enum fit_way way);

/* True if PLAYER is set aside in a direction. */
static inline bool fit_is_aside(const struct fit *f, uint32_t player)
{
	return f->aside[MATRIX_SEND][player] || f->aside[MATRIX_RECEIVE][player];
}

/* How far a player must be below others; it must also be lower than chance makes it. */
double fit_least(const struct fit *f);

/* True if what A and B reach with each other tells nothing of either. (normal.c) */
bool fit_skips(const struct fit *f, uint32_t a, uint32_t b);

/* Between two players: FIT_NEAR and so on; and what is normal from A to B. (normal.c) */
uint32_t fit_distance(const struct fit *f, uint32_t a, uint32_t b);
double fit_normal(const struct fit *f, uint32_t a, uint32_t b);

/* Find the players' kinds; returns -1 if there is no memory. (normal.c) */
int kinds_find(struct fit *f);

/* Find what kinds and distances reach. AT: the quantile of figures that is normal. (normal.c) */
void kinds_fit(struct fit *f, double at);

/* Put what good players reach into the pools. (pools.c, as the next two are) */
void pools_fill(struct fit *f);

/* The pool of figures at the most common distance; and the deviation of what is in its middle. */
const struct chances *fit_main_pool(const struct fit *f);
double fit_noise(const struct fit *f);

/*
 * Put the figures of PLAYER that tell what it reaches into the fit: with partners who are aside if
 * ALL. HOSTS: how many partners' hosts. Returns how many figures. (normal.c)
 */
uint32_t figures_of(const struct fit *f, uint32_t player, enum fit_way way, bool all,
		    uint32_t *hosts);

/* The number below which a part AT of the N figures lies. (normal.c) */
double figures_quantile(const struct fit *f, uint32_t n, double at);
