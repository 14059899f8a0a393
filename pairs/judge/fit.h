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
 * whose best figures are low.
 */
#pragma once

#include "body.h"
#include "limits.h"
#include "matrix.h"
#include "meetings.h"
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
	FIT_BETTER, /* of both directions */
	FIT_WORSE,  /* if this is low, it may be so in some slots only */
	FIT_WAYS
};

/* What chance makes of one direction, of the better one of both and of the worse. */
enum {
	FIT_FIGURES,
	FIT_BETTERS,
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

/* Players of the same rail and rate of its port. */
struct kinds {
	struct names names; /* "mlx5_0 400"; without rails or known rates the parts that are left */
	uint32_t *of;       /* of each player; owned, as the next two are */
	double *rate;       /* the logarithm of the port's rate; 0: not known */
	uint32_t *hosts;
	uint32_t count;
	bool rates_known; /* of all players */
};

/* All of what follows is of logarithms. */
struct fit {
	const struct body *body; /* lent, as the next three are */
	const struct matrix *m;
	const uint32_t *group; /* of each player; NULL: no groups */
	const bool *lost;      /* players whose figures are not used */
	bool alone;            /* there are only figures of pairs alone */
	struct kinds kinds;
	struct fit_player *of; /* of each player; owned, as all lists are */
	uint32_t hosts;        /* that have a figure */
	uint32_t *rack;        /* of each player: a rack that was found; 0: none */
	uint32_t racks;        /* that were found */
	uint32_t groups;
	const bool *bad_pair; /* of each pair of groups, FROM * GROUPS + TO: it is the network that
				 is slow there; lent, or NULL */
	float *part;          /* of each cell: its part of normal; NaN: none */
	double *kind;         /* of each kind: what it reaches */
	double distance[FIT_DISTANCES]; /* what is added to that */
	double spread;                  /* of what good players reach: a standard deviation */
	double chance;                  /* for each test */
	bool *aside[MATRIX_WAYS];
	struct meetings slots;
	struct chances pool[FIT_POOLS][FIT_DISTANCES];
	struct fit_figure *figure; /* room for those of one player */
	double *share;             /* room for as many */
	float *some;               /* room for all cells */
};

/*
 * Collect the figures of a settled body with its matrix, both of which stay. Returns -1 if there is
 * no memory. Release it in either case.
 */
int fit_init(struct fit *f, const struct body *body, const struct matrix *m, const uint32_t *group,
	     const bool *lost);

/* Fit them, once it is known who is lost. */
void fit_first(struct fit *f);

/* Fit again, after racks or bad pairs of groups were found. */
void fit_again(struct fit *f);

/* A cell's figure as more is better; NaN: it has none that is judged. */
float fit_y(const struct fit *f, uint32_t cell);

/* How far a player must be below others; it must also be lower than chance makes it. */
double fit_least(const struct fit *f);

/* True if what A and B reach with each other tells nothing of either. */
bool fit_skips(const struct fit *f, uint32_t a, uint32_t b);

/* Between two players: FIT_NEAR and so on. */
uint32_t fit_distance(const struct fit *f, uint32_t a, uint32_t b);

/* True if PLAYER is of a slower kind THAN another one. */
bool fit_is_slower(const struct fit *f, uint32_t player, uint32_t than);

/* What is normal from A to B. */
double fit_normal(const struct fit *f, uint32_t a, uint32_t b);

/* Find the players' kinds. Returns -1 if there is no memory. (normal.c) */
int kinds_find(struct fit *f);
void kinds_release(struct fit *f);

/* Find what kinds and distances reach. AT: the quantile of figures that is normal. (normal.c) */
void kinds_fit(struct fit *f, double at);

/* Find racks, and fit again with them. Returns -1 if there is no memory. (racks.c) */
int racks_find(struct fit *f);

/* The pool of figures at the most common distance. */
const struct chances *fit_main_pool(const struct fit *f, uint32_t pool);

/*
 * The smallest part by which a node may send too slowly and is named with the chance NAMED; NaN:
 * no player has enough partners. NETWORK: what pairs reach on average of
 * the best ones, if it is the network that takes the rest; NaN: it is not. (power.c)
 */
double fit_smallest(const struct fit *f, double named, double *network);

/* True if PLAYER is set aside in a direction. */
bool fit_is_aside(const struct fit *f, uint32_t player);

void fit_release(struct fit *f);

/*
 * Collect into f->figure what a player reaches in one way with partners that are not aside, or with
 * ALL. HOSTS: how many partners' hosts. Returns how many figures. (figures.c)
 */
uint32_t figures_of(const struct fit *f, uint32_t player, enum fit_way way, bool all,
		    uint32_t *hosts);

/* The number below which a part AT of the N figures lies. */
double figures_quantile(const struct fit *f, uint32_t n, double at);

/* Find the shares of the N figures in WAY, in ascending order. OWN: they are in the pools. */
void figures_shares(const struct fit *f, enum fit_way way, uint32_t n, bool own);

/* At first, set those aside who may be slow, and count hosts. (first.c) */
void first_aside(struct fit *f);
