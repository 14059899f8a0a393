// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "timetable.h"

#include <math.h>

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

double timetable_ahead_s(int64_t theirs_ns, int64_t here_ns, int64_t earliest_ns)
{
	if (theirs_ns >= earliest_ns && theirs_ns <= here_ns)
		return 0;
	return (double)(theirs_ns - here_ns) / 1e9;
}
