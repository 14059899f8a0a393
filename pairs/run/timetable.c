// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "timetable.h"

#include <math.h>
#include <stdlib.h>

#define OFF_SHARE 0.25 /* of a slot */
#define CUT_SHARE 0.88 /* of a part: what is left is for the run to end, and for its document */

int64_t timetable_round(const struct timetable *t, uint64_t now_ns)
{
	uint64_t round;

	if (now_ns < t->start_ns)
		return -1;
	round = (now_ns - t->start_ns) / t->slot_ns;
	return round < t->rounds ? (int64_t)round : (int64_t)t->rounds;
}

uint64_t timetable_part_ns(const struct timetable *t)
{
	return t->slot_ns / t->parts;
}

uint64_t timetable_cut_ns(const struct timetable *t)
{
	return (uint64_t)((double)timetable_part_ns(t) * CUT_SHARE);
}

uint64_t timetable_begin(const struct timetable *t, uint32_t round, unsigned part)
{
	return t->start_ns + round * t->slot_ns + part * timetable_part_ns(t);
}

bool timetable_off(const struct timetable *t, double ahead_s)
{
	return fabs(ahead_s) > OFF_SHARE * (double)t->slot_ns / 1e9;
}

static int compare_numbers(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* The median of the votes and of 0, this host's own; of an even number the one nearer to 0. */
static double median_s(const struct timetable *t)
{
	double v[TIMETABLE_VOTES + 1] = {0};
	unsigned n = t->votes + 1;

	for (unsigned i = 0; i < t->votes; i++)
		v[i + 1] = t->vote[i].ahead_s;
	qsort(v, n, sizeof(v[0]), compare_numbers);
	if (n % 2 || fabs(v[n / 2]) < fabs(v[n / 2 - 1]))
		return v[n / 2];
	return v[n / 2 - 1];
}

bool timetable_vote(struct timetable *t, const struct timetable_vote *v)
{
	double is_s = (double)t->correction_ns / 1e9, median;
	unsigned i = 0;

	for (; i < t->votes; i++) {
		const struct timetable_vote *old = &t->vote[i];

		if (old->peer == v->peer || old->or_peer == v->or_peer || old->peer == v->or_peer ||
		    old->or_peer == v->peer)
			break;
	}
	if (i == TIMETABLE_VOTES)
		i = v->peer % TIMETABLE_VOTES;
	else if (i == t->votes)
		t->votes++;
	t->vote[i] = *v;
	median = median_s(t);
	if (!timetable_off(t, median))
		median = 0;
	if (!timetable_off(t, median - is_s))
		return false;
	t->correction_ns = (int64_t)(median * 1e9);
	return true;
}

double timetable_ahead_s(int64_t theirs_ns, int64_t here_ns, int64_t earliest_ns)
{
	if (theirs_ns >= earliest_ns && theirs_ns <= here_ns)
		return 0;
	return (double)(theirs_ns - here_ns) / 1e9;
}
