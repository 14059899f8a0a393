/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * compare: whether figures have become better or worse from before to after: what is sure, and what
 * cannot be told.
 *
 * A figure has one value per connection: two connections over the same link differ, by the paths of
 * their packets and by where their memory lies, however long each is measured. The interval of the
 * change is Welch's (Biometrika 34, 1947) over the connections, with Student's t; where both sides
 * have COMPARE_RANKS connections or more and not too many, that of the rank test by Mann and
 * Whitney with the median of all ratios as the change (Hodges and Lehmann, Annals of Mathematical
 * Statistics 34, 1963), which outliers do not widen. If only one side has several connections, the
 * other one is taken to vary alike. With one connection a side how much connections vary is
 * unknown, which is not zero: the interval is that within both runs, and wider by `between` at both
 * ends.
 *
 * All figures of a call are one question: claims of a kind are corrected for their number (Holm,
 * Scandinavian Journal of Statistics 6, 1979), so that "worse" is false of any of them in at most
 * COMPARE_RISK of calls, and so is "better". Assumes that connections are drawn independently;
 * figures may depend on each other. Pure functions, but that ranks need memory.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Chosen: below 2 %; and with 5 connections a side that vary by 1 %, a
 * change by 3 % is found in 9 of 10 (tests/unit/test_compare_ground.c).
 */
#define COMPARE_RISK  0.012
#define COMPARE_RANKS 8 /* connections a side: with fewer a rank test cannot be sure after Holm */
#define COMPARE_PAIRS 100000 /* the most ratios that are sorted for that */
/*
 * By how much lone connections may differ. Chosen: 5 deviations of the difference of two
 * connections that vary by 1 %, so that even many rows of many comparisons do not call that worse.
 */
#define COMPARE_BETWEEN 0.07
/* The same of percentiles beyond p90, which a single stall of the host decides. Chosen. */
#define COMPARE_BETWEEN_TAIL 1.0
#define COMPARE_TOLERANCE    0.05 /* what "same" means if nothing else is tolerated. Chosen. */

enum compare_answer {
	COMPARE_CANNOT_TELL,
	COMPARE_SAME,
	COMPARE_BETTER,
	COMPARE_WORSE,
	COMPARE_ANSWERS
};

/* "cannot_tell", "same", "better", "worse". */
const char *compare_word(enum compare_answer answer);

/* A figure on one side. All values are above 0. */
struct compare_side {
	const double *value; /* of each connection; lent */
	size_t count;        /* at least 1 */
	/* of a lone connection: the limits of its 95 % interval, NAN: not known; and their freedom
	 */
	double low, high, freedom;
};

struct compare_figure {
	struct compare_side side[2]; /* before, after */
	bool lower_is_better;
	double between; /* COMPARE_BETWEEN or another one */
	/* results: fractions of the value before */
	double change, half; /* half of its 95 % interval, without `between`; NAN: not known */
	enum compare_answer answer;
};

/* True if it has one connection a side. */
bool compare_is_lone(const struct compare_figure *f);

/*
 * Judge COUNT figures. WITHIN is the loss that is tolerated, as a fraction; NAN: none was given,
 * and "same" means within COMPARE_TOLERANCE.
 * - worse: surely, and by more than WITHIN as it was measured;
 * - better: surely;
 * - same: its 95 % interval has no loss of more than WITHIN; if none was given, it has no such gain
 *   either, and has no change at all in it.
 */
void compare_judge(struct compare_figure *f, size_t count, double within);

/*
 * How many connections a side would tell, at the present noise; 0: more than COMPARE_MOST, because
 * the change is as large as what is tolerated, or nearly so.
 */
#define COMPARE_MOST 100
unsigned compare_connections(const struct compare_figure *f, double within);
