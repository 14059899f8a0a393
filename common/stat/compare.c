// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "stat/compare.h"

#include <math.h>

#include "stat/interval.h"
#include "stat/series.h"

const char *compare_word(enum compare_answer answer)
{
	static const char *const word[] = {"cannot_tell", "same", "not_worse", "better", "worse"};

	return word[answer];
}

struct compare_side compare_side(const double *value, size_t count)
{
	double mean = series_mean(value, count), variance = NAN;

	if (count > 1)
		variance = series_variance(value, count, mean) / (double)count;
	return (struct compare_side){mean, variance, fmax((double)count - 1, 1)};
}

static double variance_of(const struct compare_figure *f)
{
	return f->side[0].variance + f->side[1].variance;
}

/* Welch's degrees of freedom. */
static double freedom_of(const struct compare_figure *f)
{
	double a = f->side[0].variance, b = f->side[1].variance;
	double v = (a + b) * (a + b) / (a * a / f->side[0].freedom + b * b / f->side[1].freedom);

	return a + b > 0 ? fmax(v, 1) : 1;
}

/* The logarithm of the ratio, as a loss: what is worse is positive. */
static double loss_of(const struct compare_figure *f)
{
	double change = f->side[1].mean - f->side[0].mean;

	return f->lower_is_better ? change : -change;
}

static double between(const struct compare_figure *f)
{
	return f->lone ? COMPARE_BETWEEN : 0;
}

static bool disturbed(const struct compare_figure *f)
{
	return f->disturbed[0] || f->disturbed[1];
}

/* The chance of a loss (with WORSE, else of a gain) as large as this one if there is none. */
static double chance(const struct compare_figure *f, bool worse)
{
	double beyond = (worse ? loss_of(f) : -loss_of(f)) - between(f);
	double t = beyond / sqrt(variance_of(f));

	return t > 0 ? interval_p(t, freedom_of(f)) / 2 : 1;
}

/* Claim that figures are WORSE (or better) where that is sure of one of ASKED. Returns how many. */
static size_t claim(struct compare_figure *f, size_t count, size_t asked, bool worse)
{
	size_t found = 0;

	for (size_t i = 0; i < count; i++) {
		if (f[i].answer != COMPARE_CANNOT_TELL || disturbed(&f[i]) ||
		    chance(&f[i], worse) > COMPARE_RISK / (double)asked)
			continue;
		f[i].answer = worse ? COMPARE_WORSE : COMPARE_BETTER;
		found++;
	}
	return found;
}

/* The change and its interval; the answer as far as that follows from them alone, of a loss MOST. */
static void measure(struct compare_figure *f, double most)
{
	double middle = f->side[1].mean - f->side[0].mean;
	double half = interval_t(INTERVAL_CONFIDENCE, freedom_of(f)) * sqrt(variance_of(f));
	double low = expm1(middle - half - between(f)), high = expm1(middle + half + between(f));

	f->change = expm1(middle);
	f->half = (expm1(middle + half) - expm1(middle - half)) / 2;
	f->answer = COMPARE_CANNOT_TELL;
	if (!f->disturbed[0] && (f->lower_is_better ? high <= most : low >= -most))
		f->answer = high <= most && low >= -most ? COMPARE_SAME : COMPARE_NOT_WORSE;
}

void compare_judge(struct compare_figure *f, size_t count, double within)
{
	double most = isnan(within) ? COMPARE_TOLERANCE : within;
	size_t known = 0;

	for (size_t i = 0; i < count; i++) {
		known += !isnan(variance_of(&f[i])) && !disturbed(&f[i]);
		f[i].answer = COMPARE_CANNOT_TELL;
	}
	for (int worse = 0; worse < 2; worse++) {
		size_t left = known, found = 1;

		/* Each claim that is made leaves fewer to be made: this is Holm's procedure. */
		for (; left && found; left -= found)
			found = claim(f, count, left, worse);
	}
	for (size_t i = 0; i < count; i++) {
		enum compare_answer claimed = f[i].answer;

		measure(&f[i], most);
		/* What is worse by less than is tolerated may be within that, or cannot be told. */
		if (claimed == COMPARE_BETTER ||
		    (claimed == COMPARE_WORSE &&
		     !((f[i].lower_is_better ? f[i].change : -f[i].change) <= within)))
			f[i].answer = claimed;
	}
}
