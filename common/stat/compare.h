/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * compare: whether figures have become better or worse from before to after: what is sure, and what
 * cannot be told.
 *
 * A figure has one value per connection: two connections over the same link differ, by the paths of
 * their packets and by where their memory lies, however long each is measured. The interval of the
 * change is Welch's (Biometrika 34, 1947) over the connections, with Student's t, of the logarithms,
 * since figures vary in proportion. With one connection a side how much connections vary is
 * unknown, which is not zero: the interval is that within both runs, and wider by COMPARE_BETWEEN
 * at both ends.
 *
 * All figures of a call are one question: claims of a kind are corrected for their number (Holm,
 * Scandinavian Journal of Statistics 6, 1979), so that "worse" is false of any of them in at most
 * COMPARE_RISK of calls, and so is "better". Assumes that connections are drawn independently;
 * figures may depend on each other. Pure functions.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Chosen: below 2 %; and with 5 connections a side that vary by 1 %, a
 * change by 3 % is found in 9 of 10 (tests/unit/test_compare_ground.c).
 */
#define COMPARE_RISK 0.012
/*
 * By how much lone connections may differ. Chosen: 5 deviations of the difference of two
 * connections that vary by 1 %, so that even many rows of many comparisons do not call that worse.
 */
#define COMPARE_BETWEEN   0.07
#define COMPARE_TOLERANCE 0.05 /* what "same" means if nothing else is tolerated. Chosen. */

enum compare_answer {
	COMPARE_CANNOT_TELL,
	COMPARE_SAME,
	COMPARE_NOT_WORSE,
	COMPARE_BETTER,
	COMPARE_WORSE,
	COMPARE_ANSWERS
};

/* "cannot_tell", "same", "not_worse", "better", "worse". */
const char *compare_word(enum compare_answer answer);

/* The mean of logarithms, its variance (NAN: not known), and the degrees of freedom of that. */
struct compare_side {
	double mean, variance, freedom;
};

/* The mean of COUNT logarithms; its variance is NAN if COUNT is 1. */
struct compare_side compare_side(const double *value, size_t count);

struct compare_figure {
	struct compare_side side[2]; /* before, after */
	bool lower_is_better;
	bool lone;         /* one connection a side, of a link that has others */
	bool disturbed[2]; /* a run was: no change is sure, and nothing if it was one before */
	/* results: fractions of the value before */
	double change, half; /* half of its 95 % interval, without COMPARE_BETWEEN; NAN: not known */
	enum compare_answer answer;
};

/*
 * Judge COUNT figures. WITHIN is the loss that is tolerated, as a fraction; NAN: none was given,
 * and it is COMPARE_TOLERANCE for "same" and "not worse".
 * - worse: surely, and by more than WITHIN as it was measured;
 * - better: surely;
 * - same: its 95 % interval has no loss and no gain of more than WITHIN;
 * - not worse: the interval has no such loss.
 */
void compare_judge(struct compare_figure *f, size_t count, double within);
