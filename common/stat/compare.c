// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "stat/compare.h"

#include <math.h>
#include <stdlib.h>

#include "stat/interval.h"
#include "stat/series.h"

#define NORMAL 1e6  /* degrees of freedom: as good as a normal distribution */
#define FEW    5    /* connections a side: what to try where nothing is known of how they vary */
#define NEAR   0.05 /* of its interval: a change this near to the limit will not be told from it */

/* The limits of the change. */
struct span {
	double low, high;
};

const char *compare_word(enum compare_answer answer)
{
	static const char *const word[] = {"cannot_tell", "same", "better", "worse"};

	return word[answer];
}

bool compare_is_lone(const struct compare_figure *f)
{
	return f->side[0].count == 1 && f->side[1].count == 1;
}

/* How far the limit of S above or below its value is from it, as a fraction. */
static double lone_part(const struct compare_side *s, bool upwards, double confidence)
{
	double limit = upwards ? s->high : s->low;
	double scale = interval_t(confidence, s->freedom) / interval_t(95, s->freedom);

	return (limit / s->value[0] - 1) * scale;
}

/* Of one connection a side. The lower limit has the value before at its upper one. */
static struct span lone_span(const struct compare_figure *f, double confidence)
{
	const struct compare_side *a = &f->side[0], *b = &f->side[1];
	double ratio = b->value[0] / a->value[0];

	return (struct span){
		ratio * (1 -
			 hypot(lone_part(a, true, confidence), lone_part(b, false, confidence))) -
			1,
		ratio * (1 +
			 hypot(lone_part(a, false, confidence), lone_part(b, true, confidence))) -
			1,
	};
}

static struct span welch_span(const struct compare_figure *f, double confidence)
{
	double mean[2], variance[2], freedom, part[2], sum, half;

	for (int i = 0; i < 2; i++) {
		const struct compare_side *s = &f->side[i];

		mean[i] = series_mean(s->value, s->count);
		variance[i] = series_variance(s->value, s->count, mean[i]);
	}
	for (int i = 0; i < 2; i++) {
		if (f->side[i].count == 1) /* it varies like the other side */
			variance[i] = variance[!i] * pow(mean[i] / mean[!i], 2);
		part[i] = variance[i] / (double)f->side[i].count;
	}
	sum = part[0] + part[1];
	freedom = (double)(f->side[0].count + f->side[1].count - 2);
	if (sum > 0 && f->side[0].count > 1 && f->side[1].count > 1)
		freedom = sum * sum /
			  (part[0] * part[0] / (double)(f->side[0].count - 1) +
			   part[1] * part[1] / (double)(f->side[1].count - 1));
	half = interval_t(confidence, fmax(1, freedom)) * sqrt(sum);
	return (struct span){(mean[1] - half) / mean[0] - 1, (mean[1] + half) / mean[0] - 1};
}

/*
 * The limits by ranks: of all ratios in ascending order the K-th from either end; NAN without
 * memory. False: not even the outermost are sure.
 */
static bool rank_span(const struct compare_figure *f, double confidence, struct span *to)
{
	const struct compare_side *a = &f->side[0], *b = &f->side[1];
	double n = (double)a->count, m = (double)b->count, *ratio;
	double k = n * m / 2 - interval_t(confidence, NORMAL) * sqrt(n * m * (n + m + 1) / 12);
	size_t pairs = a->count * b->count, at = k < 1 ? 0 : (size_t)k;

	if (!at)
		return false;
	*to = (struct span){NAN, NAN};
	ratio = malloc(pairs * sizeof(*ratio));
	if (!ratio)
		return true;
	for (size_t i = 0; i < pairs; i++)
		ratio[i] = b->value[i % b->count] / a->value[i / b->count] - 1;
	series_sort(ratio, pairs);
	*to = (struct span){ratio[at - 1], ratio[pairs - at]};
	free(ratio);
	return true;
}

static struct span change_span(const struct compare_figure *f, double confidence)
{
	struct span s;

	if (compare_is_lone(f))
		return lone_span(f, confidence);
	if (f->side[0].count >= COMPARE_RANKS && f->side[1].count >= COMPARE_RANKS &&
	    f->side[0].count * f->side[1].count <= COMPARE_PAIRS && rank_span(f, confidence, &s))
		return s;
	return welch_span(f, confidence);
}

/* The change as a loss: what is worse is positive; with what lone connections may differ by. */
static struct span loss_span(const struct compare_figure *f, double confidence)
{
	struct span s = change_span(f, confidence);
	double between = compare_is_lone(f) ? f->between : 0;

	if (!f->lower_is_better)
		s = (struct span){-s.high, -s.low};
	return (struct span){s.low - between, s.high + between};
}

static double loss(const struct compare_figure *f)
{
	return f->lower_is_better ? f->change : -f->change;
}

/* Set the change and its 95 % interval. */
static void measure_change(struct compare_figure *f)
{
	struct span s = change_span(f, INTERVAL_CONFIDENCE);

	f->half = (s.high - s.low) / 2;
	f->change = compare_is_lone(f) ? f->side[1].value[0] / f->side[0].value[0] - 1
				       : (s.low + s.high) / 2;
	f->answer = COMPARE_CANNOT_TELL;
}

/* Claim that figures are WORSE (or better) where that is sure of one of ASKED. Returns how many. */
static size_t claim(struct compare_figure *f, size_t count, size_t asked, bool worse)
{
	double confidence = 100 * (1 - 2 * COMPARE_RISK / (double)asked);
	size_t found = 0;

	for (size_t i = 0; i < count; i++) {
		struct span s = loss_span(&f[i], confidence);

		if (f[i].answer != COMPARE_CANNOT_TELL || !(worse ? s.low > 0 : s.high < 0))
			continue;
		f[i].answer = worse ? COMPARE_WORSE : COMPARE_BETTER;
		found++;
	}
	return found;
}

void compare_judge(struct compare_figure *f, size_t count, double within)
{
	double most = isnan(within) ? COMPARE_TOLERANCE : within;
	size_t known = 0;

	for (size_t i = 0; i < count; i++) {
		measure_change(&f[i]);
		known += !isnan(f[i].half);
	}
	for (int worse = 0; worse < 2; worse++) {
		size_t left = known, found = 1;

		/* Each claim that is made leaves fewer to be made: this is Holm's procedure. */
		for (; left && found; left -= found)
			found = claim(f, count, left, worse);
	}
	for (size_t i = 0; i < count; i++) {
		struct span s = loss_span(&f[i], INTERVAL_CONFIDENCE);

		if (f[i].answer == COMPARE_WORSE && loss(&f[i]) <= within)
			f[i].answer = COMPARE_CANNOT_TELL;
		if (f[i].answer == COMPARE_CANNOT_TELL && s.high <= most &&
		    (!isnan(within) || (s.low >= -most && fabs(f[i].change) <= f[i].half)))
			f[i].answer = COMPARE_SAME;
	}
}

unsigned compare_connections(const struct compare_figure *f, double within)
{
	double most = isnan(within) ? COMPARE_TOLERANCE : within, way, n;

	if (compare_is_lone(f))
		return FEW;
	way = fabs(loss(f) - most);
	/* Without a limit it is also told when it is surely better or worse. */
	if (isnan(within))
		way = fmax(way, fabs(f->change));
	n = (double)(f->side[0].count < f->side[1].count ? f->side[0].count : f->side[1].count);
	n *= way > NEAR * f->half ? pow(f->half / way, 2) : INFINITY;
	return n < COMPARE_MOST ? (unsigned)fmax(ceil(n), FEW) : 0;
}
