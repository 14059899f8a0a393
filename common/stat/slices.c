// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "stat/slices.h"

#include "stat/interval.h"

void slices_start(struct slices *s, uint64_t ticks, uint64_t messages)
{
	s->mark[0] = (struct slices_mark){ticks, messages};
	s->count = 1;
	s->stride = 1;
	s->next = messages + 1;
}

/* Keep every second mark, starting with the first, and double the messages between marks. */
static void drop_every_second_mark(struct slices *s)
{
	s->count = (s->count + 1) / 2;
	for (unsigned i = 1; i < s->count; i++)
		s->mark[i] = s->mark[2 * i];
	s->stride *= 2;
}

void slices_add(struct slices *s, uint64_t ticks, uint64_t messages)
{
	if (s->count == SLICES_MARKS)
		drop_every_second_mark(s);
	s->mark[s->count++] = (struct slices_mark){ticks, messages};
	s->next = messages + s->stride;
}

void slices_end(struct slices *s, uint64_t ticks, uint64_t messages)
{
	while (s->count > 1 && s->mark[s->count - 1].ticks >= ticks)
		s->count--;
	if (s->count == SLICES_MARKS)
		s->count--;
	s->mark[s->count++] = (struct slices_mark){ticks, messages};
	s->next = UINT64_MAX;
}

/* Interpolates between the two marks around TICKS. */
double slices_messages_at(const struct slices *s, uint64_t ticks)
{
	unsigned low = 0, high = s->count;
	const struct slices_mark *a, *b;

	/* mark[low] is the last one that is not after TICKS */
	while (high - low > 1) {
		unsigned middle = (low + high) / 2;

		if (s->mark[middle].ticks <= ticks)
			low = middle;
		else
			high = middle;
	}
	a = &s->mark[low];
	if (ticks <= a->ticks || low + 1 == s->count)
		return (double)a->messages;
	b = a + 1;
	return (double)a->messages + (double)(b->messages - a->messages) *
					     (double)(ticks - a->ticks) /
					     (double)(b->ticks - a->ticks);
}

/* The number of marks of S after SPAN[0] and up to SPAN[1]. */
static unsigned count_marks_in(const struct slices *s, const uint64_t span[2])
{
	unsigned n = 0;

	for (unsigned i = 0; i < s->count; i++)
		n += s->mark[i].ticks > span[0] && s->mark[i].ticks <= span[1];
	return n;
}

/* The number of slices for MARKS: two marks for each slice, so that most of its messages are known
 * to belong to it; one mark for each if there are few. */
static unsigned choose_slices(unsigned marks)
{
	unsigned n = marks / 2;

	if (n < INTERVAL_MIN_VALUES)
		n = marks < INTERVAL_MIN_VALUES ? marks : INTERVAL_MIN_VALUES;
	return n < SLICES_MAX ? n : SLICES_MAX;
}

struct interval slices_confidence(const struct slices *const *s, unsigned count,
				  const uint64_t span[2], double confidence)
{
	unsigned marks = SLICES_MARKS, n;
	double value[SLICES_MAX], before = 0, step, done;

	for (unsigned i = 0; i < count; i++) {
		unsigned in = count_marks_in(s[i], span);

		marks = in < marks ? in : marks;
		before += slices_messages_at(s[i], span[0]);
	}
	n = choose_slices(marks);
	step = n ? (double)(span[1] - span[0]) / n : 0;
	for (unsigned k = 0; k < n; k++) {
		done = 0;
		for (unsigned i = 0; i < count; i++)
			done += slices_messages_at(s[i], span[0] + (uint64_t)(step * (k + 1)));
		value[k] = (done - before) / step;
		before = done;
	}
	return interval_of_run(value, n, confidence);
}
