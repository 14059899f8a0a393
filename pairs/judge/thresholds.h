/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * thresholds: from where on a figure counts, for all of pairs/judge: one for each meaning, each with
 * its source: measured, physical (it follows from how the thing works), statistics, or chosen. Parts
 * of a rate; of a latency, of its inverse.
 */
#pragma once

/* clang-format off */

#define SPREADS          4.5  /* deviations below what is usual from which on a figure, a player or a group is low: measured on made clusters */
#define ORDER_LEAST      6    /* figures before their order tells: of so many the second best is what a player reaches, of fewer the best; and partners before medians are compared by ranks: chosen */
#define FIGURES_LEAST    3    /* figures before anything is said of them: chosen */
#define FEW_HOSTS        8    /* of so few all pairs are in the screen, most are needed as references, and fewer have no levels: chosen */

/* What harms somebody. */
#define LEAST_RATE       .03  /* a rate that is lower by less harms nobody: chosen */
#define LEAST_LATENCY    .167 /* a latency is less even: 1.2 times, cores and routes differ by a tenth: chosen */
#define DEEP             .15  /* a level, a rail or a port's share that is missing so much is a fault: chosen */

/* The screen: generous, as a candidate costs a test only. */
#define TYPICAL          .7   /* the quantile of all players' best that the others are held against: measured, half may be slow */
#define SCREEN_PART      .6   /* of what harms: a screen must see more than a test has to prove: chosen */
#define LOW_LEAST        .1   /* what comes and goes is low from here on: chosen */
#define LOW_CHANCE       .002 /* that so many of its figures are low: statistics, 1 of 500 is tested for nothing */
#define LEVEL_APART      4.   /* Ashman's D of two sets of players that are two levels: statistics, 2 is bimodal; 3.5 is what an even distribution has */
#define LEVEL_SHARE      .2   /* of the players: fewer are candidates: chosen */

/* The test. */
#define TEST_FIRST       9    /* references of a candidate: complete separation of 9 and 9 has a chance of 2e-4: statistics */
#define TEST_AGAIN       18   /* for those that are not clear then: chosen */
#define TEST_NEAR        3    /* of them with whom it was best: chosen */
#define TEST_SHARE       8    /* one host in four is busy when this share of all hosts is pairs: chosen */
#define TEST_MOST        64   /* candidates: about ten minutes: chosen */
#define TEST_RISK        .01  /* that a sweep drains any healthy player: chosen */
#define TEST_DOUBT       .05  /* the chance of such figures from which on nobody calls a candidate good: statistics */
#define TEST_REACHES     .2   /* of its figures reach what controls have: more, and it is not slow, but at times: chosen */
#define TEST_PAIR_SPREAD .0025/* what pairs differ by where too few are known to tell: measured, calm clusters */

/* Statements. */
#define LOST_HARDLY      .7   /* of its runs that fail: fewer, and it fails at times: chosen */
#define FAILED_MANY      .25  /* of all runs, where no node explains them: chosen */
#define CLOCK_PART       .25  /* of a slot: physical, its runs begin in another one */
#define NETWORK_TAKES    .9   /* of what few pairs reach: below it the network is why: chosen */
#define PORTS_PART       .8   /* of the ports' rate: measured, the best pairs reach it with messages of 64 KiB */
#define STARVES          .5   /* of the others' share: chosen, ways of different length share unevenly, too */
#define UNSEEN           .2   /* of a rate: if a fault must be larger to be seen nobody is good; of a latency .5: chosen */

/* clang-format on */
