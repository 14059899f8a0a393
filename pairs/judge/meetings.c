// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "meetings.h"

#include <math.h>
#include <stdlib.h>

float meetings_y(float figure, bool latency)
{
	return latency ? -logf(figure) : logf(figure);
}

const struct body_try *meetings_same_slot(const struct matrix_cell *cell,
					  const struct body_try *tries, const struct body_try *t)
{
	for (uint32_t i = 0; cell && i < cell->tries; i++) {
		const struct body_try *other = &tries[cell->first + i];

		if (other->run == t->run && other->round == t->round)
			return other;
	}
	return NULL;
}

/* Add the meetings of the cell C. BACK: the cell of the other direction, or NULL. */
static void add_cell(struct meetings *l, const struct matrix_cell *c,
		     const struct matrix_cell *back, const struct body_try *tries, bool latency,
		     bool alone)
{
	bool forward = c->from < c->to;

	for (uint32_t i = 0; i < c->tries; i++) {
		const struct body_try *t = &tries[c->first + i], *other;
		struct meeting *to = &l->of[l->count];
		float y, back_y;

		if (t->cause != BODY_MEASURED || t->alone != alone)
			continue;
		other = meetings_same_slot(back, tries, t);
		if (other && other->cause != BODY_MEASURED)
			other = NULL;
		if (other && !forward) /* the other cell has added it */
			continue;
		y = meetings_y(t->value, latency);
		back_y = other ? meetings_y(other->value, latency) : y;
		*to = (struct meeting){.a = forward ? c->from : c->to,
				       .b = forward ? c->to : c->from,
				       .at = (uint32_t)t->run << 16 | t->round,
				       .better = fmaxf(y, back_y),
				       .worse = fminf(y, back_y)};
		l->count++;
	}
}

/* By A, then B, whichever direction was measured. */
static int by_players(const void *a, const void *b)
{
	const struct meeting *x = a, *y = b;

	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	if (x->b != y->b)
		return x->b < y->b ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

/* Put the meetings of each player into a list of its own. */
static void index_players(struct meetings *l, uint32_t players)
{
	for (uint32_t i = 0; i < l->count; i++) {
		l->start[l->of[i].a + 1]++;
		l->start[l->of[i].b + 1]++;
	}
	for (uint32_t i = 0; i < players; i++)
		l->start[i + 1] += l->start[i];
	for (uint32_t i = 0; i < l->count; i++) {
		l->by_player[l->start[l->of[i].a]++] = i;
		l->by_player[l->start[l->of[i].b]++] = i;
	}
	for (uint32_t i = players; i; i--)
		l->start[i] = l->start[i - 1];
	l->start[0] = 0;
}

int meetings_init(struct meetings *l, const struct matrix *m, const struct body_try *tries,
		  bool latency, bool alone)
{
	size_t most = 1;

	for (uint32_t i = 0; i < m->cells; i++)
		most += m->cell[i].measured;
	*l = (struct meetings){.of = malloc(most * sizeof(*l->of)),
			       .start = calloc((size_t)m->players + 2, sizeof(*l->start)),
			       .by_player = malloc(2 * most * sizeof(*l->by_player))};
	if (!l->of || !l->start || !l->by_player)
		return -1;
	for (uint32_t i = 0; i < m->cells; i++)
		add_cell(l, &m->cell[i], matrix_find(m, m->cell[i].to, m->cell[i].from), tries,
			 latency, alone);
	qsort(l->of, l->count, sizeof(*l->of), by_players);
	index_players(l, m->players);
	return 0;
}

void meetings_release(struct meetings *l)
{
	free(l->of);
	free(l->start);
	free(l->by_player);
	*l = (struct meetings){0};
}
