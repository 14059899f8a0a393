// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A list of suspects and its order. */
#include "suspect.h"

#include <math.h>
#include <stdlib.h>

#include "pairs/grow.h"

int suspects_add(struct suspects *l, const struct suspect *s)
{
	struct suspect *more = grow(l->of, l->count, sizeof(*more));

	if (!more)
		return -1;
	l->of = more;
	l->of[l->count++] = *s;
	return 0;
}

bool suspect_is_lost(enum finding_code kind)
{
	return kind <= SUSPECT_BROKE && kind != SUSPECT_CLOCK;
}

double suspect_part(const struct suspect *s)
{
	double part = s->value / s->normal;

	if (isnan(part))
		return 0;
	return part > 1 ? 1 / part : part;
}

static int by_rank(const void *x, const void *y)
{
	const struct suspect *a = x, *b = y;
	const double key[][2] = {
		{a->kind, b->kind},
		{a->proof == SUSPECT_LOAD, b->proof == SUSPECT_LOAD},
		{a->few_partners, b->few_partners},
		{suspect_part(a), suspect_part(b)},
		{a->a, b->a},
		{a->b, b->b},
	};

	for (size_t i = 0; i < sizeof(key) / sizeof(key[0]); i++)
		if (key[i][0] != key[i][1])
			return key[i][0] < key[i][1] ? -1 : 1;
	return 0;
}

void suspects_sort(struct suspects *l)
{
	if (l->count)
		qsort(l->of, l->count, sizeof(*l->of), by_rank);
}

void suspects_release(struct suspects *l)
{
	free(l->of);
	*l = (struct suspects){0};
}
