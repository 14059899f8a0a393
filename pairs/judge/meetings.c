// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "meetings.h"

#include <math.h>
#include <stdlib.h>

float meetings_y(float figure, bool latency)
{
	return latency ? -logf(figure) : logf(figure);
}

/* The try of the cell C, which may be NULL, in the slot of T; or NULL. */
static const struct body_try *same_slot(const struct matrix_cell *c, const struct body_try *tries,
					const struct body_try *t)
{
	for (uint32_t i = 0; c && i < c->tries; i++) {
		const struct body_try *other = &tries[c->first + i];

		if (other->run == t->run && other->round == t->round)
			return other;
	}
	return NULL;
}

/* The figure of T, which may be NULL. */
static float y_of(const struct body_try *t, bool latency)
{
	return t && t->cause == BODY_MEASURED ? meetings_y(t->value, latency) : NAN;
}

/* What has not failed by the launcher, a clock or the other end's absence. */
static bool is_failure(const struct body_try *t)
{
	return t && t->cause != BODY_MEASURED && t->cause != BODY_MISSED &&
	       t->cause != BODY_ABSENT && t->cause != BODY_CLOCK && !t->mirrored;
}

static int by_partner(const void *a, const void *b)
{
	const struct meeting *x = a, *y = b;

	if (x->with != y->with)
		return x->with < y->with ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

/* Put those of PLAYER to TO. Returns the end. */
static struct meeting *add_player(struct meeting *to, const struct matrix *m, uint32_t player,
				  const struct body_try *tries, bool latency, bool alone)
{
	struct meeting *first = to;

	for (struct matrix_walk w = {.m = m, .player = player}; matrix_next(&w);) {
		const struct matrix_cell *c = w.cell;
		const struct matrix_cell *back = matrix_find(m, c->to, c->from);

		for (uint32_t i = c->first; i < c->first + c->tries; i++) {
			const struct body_try *t = &tries[i], *other = same_slot(back, tries, t);
			bool sends = w.way == MATRIX_SEND;

			if (t->alone != alone || (!sends && other)) /* added with what it sent */
				continue;
			*to++ = (struct meeting){
				.with = w.with,
				.at = (uint32_t)t->run << 16 | t->round,
				.sends = y_of(sends ? t : NULL, latency),
				.receives = y_of(sends ? other : t, latency),
				.failed = is_failure(t) || is_failure(other),
			};
		}
	}
	if (to > first)
		qsort(first, (size_t)(to - first), sizeof(*first), by_partner);
	return to;
}

int meetings_init(struct meetings *l, const struct matrix *m, const struct body_try *tries,
		  bool latency, bool alone)
{
	size_t most = 1;
	struct meeting *end;

	for (uint32_t i = 0; i < m->cells; i++)
		most += 2 * (size_t)m->cell[i].tries;
	*l = (struct meetings){.of = malloc(most * sizeof(*l->of)),
			       .start = calloc((size_t)m->players + 1, sizeof(*l->start))};
	end = l->of;
	for (uint32_t i = 0; i < m->players && l->of && l->start; i++) {
		end = add_player(end, m, i, tries, latency, alone);
		l->start[i + 1] = (uint32_t)(end - l->of);
	}
	return l->of && l->start ? 0 : -1;
}

void meetings_release(struct meetings *l)
{
	free(l->of);
	free(l->start);
	*l = (struct meetings){0};
}
