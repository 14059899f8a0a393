// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "ratio.h"

#include <math.h>
#include <string.h>

#include "stat/interval.h"
#include "stat/series.h"

#define ROUNDING    1e-9
#define WORTH_LEAST 2.6 /* independent windows: of fewer interval_of_time() promises nothing */
#define HOSTS       2   /* host memory cells: one for each direction */
#define PART_LEAST  4   /* windows before a fall, and after it */
#define FIT_HIDES   1.5 /* chosen; see find_fall() */

#define ERROR_OF_LOOK ((100 - INTERVAL_CONFIDENCE) / RATIO_LOOKS) /* percent (Boole) */

unsigned ratio_next_look(const struct ratio_attr *a, unsigned done)
{
	for (unsigned look = 0; look < RATIO_LOOKS; look++)
		if (a->first << look > done)
			return a->first << look;
	return 0;
}

bool ratio_is_open(const struct ratios *all, const struct gdr_result *r)
{
	for (unsigned i = 0; i < all->cells; i++) {
		const struct ratio *c = &all->cell[i];

		if ((!r || c->result == r || c->result->host == r) && c->best != c->worst &&
		    c->worst > all->best)
			return true;
	}
	return false;
}

/*
 * Copy the windows of the turns in which both R and its host cell were measured: R's to VALUE, the
 * host's to BASE. Returns how many pairs.
 */
static unsigned pair_windows(const struct gdr_result *r, double *value, double *base)
{
	unsigned n = 0;

	for (unsigned i = 0; i < r->turns; i++) {
		if (!(r->gbps[i] > 0 && r->host->gbps[i] > 0))
			continue;
		value[n] = r->gbps[i];
		base[n++] = r->host->gbps[i];
	}
	return n;
}

/*
 * To first order, the quotient of two means varies as (VALUE - ratio * BASE) / mean of BASE: so its
 * interval is that of the mean of these values, which replace VALUE. For a host cell they are its
 * rates.
 */
static unsigned ratio_windows(const struct gdr_result *r, double *value, double *base)
{
	unsigned n = pair_windows(r, value, base);
	double base_mean = series_mean(base, n), ratio = series_mean(value, n) / base_mean;

	for (unsigned i = 0; i < n && r != r->host; i++)
		value[i] = ratio + (value[i] - ratio * base[i]) / base_mean;
	return n;
}

/* Whose correlation time. */
enum course {
	OF_RATIOS,
	OF_HOST,      /* host memory's rates */
	WITHOUT_FALLS /* of ratios, the best fall of each cell subtracted */
};

/* What all cells have in common. */
struct limits {
	double time[3];    /* by enum course */
	double floor;      /* of a ratio that passes */
	unsigned together; /* cells */
};

/* What explains the deviations of values best: a step down before the value AT, or a line down. */
struct fall {
	unsigned at; /* of a line: 0 */
	double slope,
		spread; /* the height of the step, or of the line in a turn; squares of its x */
};

static struct fall best_fall(const double *value, unsigned count)
{
	double mean = series_mean(value, count), left = 0, line = 0, most = 0;
	struct fall best = {0};

	for (unsigned i = 0; i <= count; i++) {
		bool step = i < count;
		double spread = step ? (double)i * (count - i) / count
				     : count * ((double)count * count - 1) / 12;
		double product = step ? -left : line; /* of x and the deviations */

		if ((!step || (i >= PART_LEAST && count - i >= PART_LEAST)) && product < 0 &&
		    product * product / spread > most) {
			most = product * product / spread;
			best = (struct fall){step ? i : 0, product / spread, spread};
		}
		if (step) {
			left += value[i] - mean;
			line += (i - (count - 1) / 2.0) * (value[i] - mean);
		}
	}
	return best;
}

/* Subtract F from COUNT values. */
static void subtract_fall(const struct fall *f, double *value, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		value[i] -= f->slope * (f->at ? i >= f->at : i);
}

/* The correlation time of the windows of A's host cells, or of the ratios of all others. */
static double correlation_time(const struct ratio_attr *a, enum course of)
{
	double *room = a->scratch, mean, variance;
	struct series_part part[GDR_CELLS_MAX];
	size_t parts = 0, n;

	for (unsigned i = 0; i < a->results; i++) {
		const struct gdr_result *r = &a->result[i];

		if ((r == r->host) != (of == OF_HOST))
			continue;
		n = ratio_windows(r, room, a->scratch + (size_t)r->turns * (1 + a->results));
		if (of == WITHOUT_FALLS) {
			struct fall f = best_fall(room, n);

			subtract_fall(&f, room, n);
		}
		mean = series_mean(room, n);
		variance = n > 1 ? series_variance(room, n, mean) : 0;
		if (!(variance > ROUNDING * ROUNDING * mean * mean)) /* errors of rounding */
			continue;
		for (size_t k = 0; k < n; k++)
			room[k] /= sqrt(variance); /* each cell has the same weight */
		part[parts++] = (struct series_part){room, n};
		room += r->turns;
	}
	return series_correlation_time(part, parts);
}

/*
 * The interval of the mean of COUNT values. The lower end has half of the error; of the upper end's
 * half each of TOGETHER cells has a part: that all cells are above a limit is wrong only if the
 * worst one is, but one of many is soon below it.
 */
static struct range range_of(const double *value, unsigned count, double time, unsigned together)
{
	double least = fmin(time, count / WORTH_LEAST);
	struct interval low = interval_of_time(value, count, least, 100 - ERROR_OF_LOOK);
	struct interval high =
		interval_of_time(value, count, least, 100 - ERROR_OF_LOOK / together);

	return (struct range){low.mean, fmax(low.mean - low.half, 0), high.mean + high.half, count};
}

/*
 * Set what is known of the fall of C from its COUNT ratios VALUE, which are lost, and GPU memory's
 * own rates, which must fall as well: Student's t of the slope, at all places where it may be, each
 * with a part of the error. What is left without the fall looks less lasting than it is, in a
 * correlation TIME half as long again; degrees of freedom are those of interval_of_run().
 */
static void find_fall(struct ratio *c, double *value, const double *own, double time,
		      const struct limits *limits)
{
	unsigned count = c->of_host.count;
	struct fall f = best_fall(value, count);
	unsigned cut = f.at ? f.at : count / 2;
	double worth = count / (FIT_HIDES * time), error;
	double freedom = fmin(worth, worth * worth / (4 * sqrt(count))) - 2;
	double middle = f.at ? (double)(count - f.at) / count : (count - 1) / 2.0;
	double end = c->of_host.mean + f.slope * ((f.at ? 1 : count - 1) - middle);

	if (freedom < 1 || !(end < limits->floor) ||
	    !(series_mean(own + cut, count - cut) < limits->floor * series_mean(own, cut)))
		return;
	subtract_fall(&f, value, count);
	error = sqrt(series_variance(value, count, series_mean(value, count)) / f.spread *
		     (count / worth));
	if (-f.slope < error * interval_t(100 - ERROR_OF_LOOK / limits->together / count, freedom))
		return;
	c->fell_from = f.at + 1;
	c->fell_to = end;
	c->sank = !f.at;
}

static enum verdict_level ratio_level(double ratio, double within)
{
	if (ratio >= 1 - within - ROUNDING)
		return VERDICT_PASS;
	return ratio >= RATIO_WARN - ROUNDING ? VERDICT_WARN : VERDICT_FAIL;
}

static enum verdict_level worse(enum verdict_level a, enum verdict_level b)
{
	return a > b ? a : b;
}

static void set_levels(struct ratio *c, double within)
{
	double floor =
		c->result->host->expected_gbps * (1 - fmax(within, RATIO_HOST_LOW) - ROUNDING);
	enum verdict_level best = ratio_level(c->of_host.high, within);
	enum verdict_level worst = ratio_level(c->of_host.low, within);
	enum verdict_level host = c->host.low < floor ? VERDICT_WARN : VERDICT_PASS;

	if (c->fell_from)
		best = worst = worse(best, VERDICT_WARN);
	c->host_low = c->host.high < floor;
	c->best = worse(best, c->host_low ? VERDICT_WARN : VERDICT_PASS);
	c->worst = worse(worst, host);
	c->by_host = c->best != VERDICT_PASS || c->worst == VERDICT_PASS ? best < c->best
									 : worst < c->worst;
}

static void evaluate_cell(struct ratio *c, const struct ratio_attr *a, const struct limits *limits)
{
	const struct gdr_result *r = c->result;
	double *value = a->scratch, *base = value + r->turns, *own = base + r->turns;
	unsigned n = pair_windows(r, own, base);

	c->gpu_gbps = series_mean(own, n);
	c->host = range_of(base, n, limits->time[OF_HOST], limits->together);
	ratio_windows(r, value, base);
	c->of_host = range_of(value, n, limits->time[OF_RATIOS], limits->together);
	find_fall(c, value, own, limits->time[WITHOUT_FALLS], limits);
	set_levels(c, a->within);
}

/* Choose the cell that decides ALL or keeps it open; of several, the slowest relative to host. */
static void choose_deciding(struct ratios *all)
{
	bool by_worst = all->best == VERDICT_PASS && all->worst != VERDICT_PASS;

	for (unsigned i = 0; i < all->cells; i++) {
		const struct ratio *c = &all->cell[i];

		if (by_worst ? c->worst != all->worst : c->best != all->best)
			continue;
		if (!all->deciding || c->of_host.mean < all->deciding->of_host.mean)
			all->deciding = c;
	}
}

void ratio_evaluate(struct ratios *all, const struct ratio_attr *a)
{
	struct limits limits = {.floor = 1 - a->within, .together = HOSTS};

	memset(all, 0, sizeof(*all));
	for (unsigned i = 0; i < a->results; i++)
		limits.together += gdr_cell_is_direct(&a->result[i].cell);
	for (enum course of = OF_RATIOS; of <= WITHOUT_FALLS; of++)
		limits.time[of] = correlation_time(a, of);
	all->confidence = 100 - (ERROR_OF_LOOK + ERROR_OF_LOOK / limits.together) / 2;
	for (unsigned i = 0; i < a->results; i++) {
		const struct gdr_result *r = &a->result[i];
		struct ratio *c = &all->cell[all->cells];

		if (!gdr_cell_is_direct(&r->cell) || !r->windows || !r->host->windows)
			continue;
		c->result = r;
		evaluate_cell(c, a, &limits);
		all->cells++;
		all->best = worse(all->best, c->best);
		all->worst = worse(all->worst, c->worst);
	}
	choose_deciding(all);
}
