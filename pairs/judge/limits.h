/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * limits: every threshold that the judgement of a cluster rests on, and where it is from. Chosen: by
 * what users are told, and checked by the rates of error of tests/unit/test_clusters.c. Tried: the
 * value with which these were least.
 */
#pragma once

/* clang-format off */

/* What chance makes of a figure (chances.c). */
#define CHANCES_TAIL_COUNT 20.  /* figures that the tail's power is computed from, */
#define CHANCES_TAIL_LEAST .005 /* or this part of all, */
#define CHANCES_TAIL_MOST  .2   /* and this part at most */
#define CHANCES_FEW        60   /* figures that say little of a tail: */
#define CHANCES_NEAR_FEW   .01  /* it begins at this distance at least, */
#define CHANCES_NEAR       .004 /* and of many at this */
#define CHANCES_POWER_MOST 8.   /* a normal distribution's at three deviations */
#define CHANCES_POWER_FEW  4.
#define CHANCES_FARTHEST   4.   /* the farthest figures of a tail: one in so many may be no chance */
#define CHANCES_OUTWARD    1.5  /* the power grows outward: a normal distribution's without end */
#define CHANCES_NO_FARTHER 1.05

/* What is normal for a kind of player (normal.c). */
#define KIND_HOSTS_OWN   4    /* a kind of fewer hosts may be all slow: it is compared with others */
#define KIND_OWN_BEST    .9   /* the part of its figures that is below its best */
#define KIND_FAR_BELOW   .357 /* -log(.7): less than that of its ports' rate is no kind's normal */
#define KIND_CELLS_LEAST 6

/* Who is set aside at first (fit.c). */
#define FIRST_WORST        {.5, .2} /* the quantiles of its figures by which a player is compared */
#define FIRST_BEST         .95 /* of few figures: there is one that is better, which may be chance */
#define FIRST_BELOW        .05 /* who is lower than most by this, and by */
#define FIRST_BELOW_SURE   6.  /* this many deviations, is set aside */
#define FIRST_FEW_HOSTS    8   /* of so few, bad ones leave too few partners: see find_nowhere() */
#define FIRST_NOWHERE      .07 /* below the best: no good figure; with much noise */
#define FIRST_NOWHERE_MOST .25 /* this at most */
#define FIRST_NONE         .99 /* of the figures of a player is no good one, */
#define FIRST_GOOD         .75 /* of the figures of others, which must be good then: chosen */

/* The figures of a player (normal.c). */
#define FIGURES_ENOUGH 256 /* figures of a player: of more, as many that are spread evenly are used */

/* Who is slow (fit.c). */
#define FIT_ALWAYS    {.8, .9, 1}        /* K of N figures, as parts of N: what is always slow. Tried */
#define FIT_SOMETIMES {0, .3}   /* and what comes and goes; two at least */
#define FIT_BEST     .9   /* of three hosts one may be slow in most pairs: the best ones are normal */
#define FIT_FIRST    .75  /* at first slow nodes are among the figures: so high a quantile is normal */
#define FIT_CHANCE   .005 /* that a healthy cluster has a slow player: chosen */
#define FIT_LEAST    .03  /* a rate that is lower by less harms nobody: chosen */
#define FIT_LATENCY  .20  /* a latency is less even: cores and routes differ by a tenth: chosen */
#define FIT_DEPTH    .10  /* what comes and goes is told from here on: chosen */
#define FIT_SAME     .03  /* kinds that are nearer than this reach the same: chosen */
#define FIT_NETWORK  .9   /* of the best figures: where most reach less, the network is why: chosen */
#define FIT_PARTNERS 3    /* hosts that a player is judged by: with two, it may be them */

/* Which fault is seen, and whether the network is uneven (notes.c). */
#define POWER_SAFE        .8  /* of the share of figures that is proof: it is known from as many as there are */
#define POWER_BEST        .95 /* the part of figures below the best ones */
#define POWER_TOP         .99 /* the same, for what a node must be able to reach */
#define POWER_MEDIAN_SURE 2.1 /* deviations of a median of normal figures: 1.645 times 1.253 */
#define POWER_ROUND_PAIRS 4
#define POWER_ROUND_LOW   .93 /* of the best round's average: what is lower is the network's doing, */
#define POWER_ROUND_SURE  5.  /* if by so many deviations */

/* Racks that nobody told of (leaves.c). */
#define RACK_FAST_WITHIN .5   /* of its figures with other slow ones, */
#define RACK_FAST_OUT    .25  /* and at most of those with good ones */
#define RACK_SAME_LEVEL  .08  /* what reaches as much as a rack's players may be one of them */
#define RACK_ROUNDS      3    /* one after another */

/* Groups with a bad uplink (leaves.c). */
#define LEAF_LOW       .15 /* a pair that is lower by this part is slow, */
#define LEAF_GOOD      .75 /* than what this part of pairs of two groups are not above */
#define LEAF_LEAST     4   /* groups or pairs of groups: of fewer nobody can say how uneven they are */
#define LEAF_BEGINS    {.002, .005, .02, .1, .4} /* quantiles of all pairs where slow may begin: tried */
#define LEAF_ONE_BLOCK .7  /* of a group's slow pairs: if more are with one other group, it is those two */
#define LEAF_PLAYERS   .2  /* of a group's players that have such pairs: not one bad player */
#define LEAF_DEEP      .6  /* of the best: no noise, and no share of a network that is full */
#define LEAF_DEEP_MOST .1  /* of the pairs: more is how the network is */

/* Slow pairs of good nodes (slow.c). */
#define LINK_SLOW_RATE    .93 /* of normal: below it a pair may be slow, if chance does not explain it */
#define LINK_SLOW_LATENCY .6
#define LINK_FEW          12  /* pairs: of so few nobody knows what chance makes, so it is lower */
#define LINK_FEW_UNKNOWN  24  /* the same, of ends that have too few partners to be judged themselves */
#define LINK_FEW_SURE     4.  /* by this many times the distance of what is higher */
#define LINK_FEW_HIGH     .9

/* What a node is named for, and what it reaches alone (slow.c). */
#define SLOW_TAIL         3.   /* p99 is long above this many times the median: chosen */
#define SLOW_ALONE_LEAST  2    /* figures that a player has alone before that is proof, */
#define SLOW_ALONE_THIRD  4    /* and if these are neither good nor bad */
#define SLOW_FALLS_SLOTS  6    /* with fewer nobody knows in which order */
#define SLOW_FALLS_SURE   3.   /* deviations of Kendall's sum, */
#define SLOW_FALLS_CHANCE .015 /* or the chance that the slow slots come last */
#define SLOW_CURE         .35  /* the part of what is missing that is missing alone, too: below, it is good */
#define SLOW_PROOF        .6   /* above, it is bad */

/* Who explains bad pairs (matrix.c). */
#define EXPLAIN_NEAR     .97 /* those who are bad nearly as often as the worst go with it */
#define EXPLAIN_FEW_GOOD .05 /* of all pairs: if fewer are good, nobody explains the bad ones */

/* Who is lost, fails or was late (lost.c). */
#define LOST_HARDLY      .7  /* of its runs that fail: fewer, and it fails at times */
#define LOST_MISSED_MANY .25 /* if it missed more than these, what it reached is not judged */

/* Clocks (lost.c). */
#define CLOCK_LEAST_S .1  /* a clock is never wrong by less */
#define CLOCK_OTHER_S .25 /* the limit, if the length of a slot is not known */

/* What has become worse (baseline.c). */
#define BASELINE_WORSE .95
#define BASELINE_SURE  5.  /* standard deviations */

/* Incasts (incast.c). */
#define INCAST_ROUNDS_LEAST 3   /* in which a sender must starve: in two it may by chance */
#define INCAST_STARVES      .5  /* of its share. Chosen: ways of different length share unevenly, too */
#define INCAST_SLOW_ALONE   .9  /* of what the others send alone, from one or two runs each: chosen */
#define INCAST_RISK         .01 /* of a sweep that names any healthy sender */

/* Notes (notes.c). */
#define NOTES_UNSEEN     .2   /* of a rate: if a node may be slower by this and not be named */
#define NOTES_UNSEEN_NETWORK .5 /* the same behind a network that takes more: half is what fails first */
#define NOTES_REPORTED   .95  /* the chance with which the smallest fault that is told is named, */
#define NOTES_SURE       .995 /* and that on which the exit status rests */
#define NOTES_RAIL       .95  /* of the best rail whose ports are as fast */
#define NOTES_CLUSTER    .8   /* of the ports' rate: the best pairs reach it with messages of 64 KiB */
#define NOTES_LATE       .3   /* of the players: where so many miss slots, all may have been late: tried */
#define NOTES_FAR_SLOWER .75  /* of normal: such pairs are told, though chance may make as many: chosen */
#define NOTES_FULL_BYTES 65536 /* messages that fill a good link: the tests' default */
#define NOTES_EXPECTED   .97
#define NOTES_SOME_LEAST 8    /* pairs that are far slower than the others, */
#define NOTES_SOME_MOST  .1   /* and at most this part of all: more is how the network is */

/* clang-format on */
