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

static int compare_numbers(double a, double b)
{
	return (a > b) - (a < b);
}

static int by_rank(const void *x, const void *y)
{
	const struct suspect *a = x, *b = y;
	int order = compare_numbers(a->kind, b->kind);

	if (!order)
		order = compare_numbers(a->proof == SUSPECT_LOAD, b->proof == SUSPECT_LOAD);
	if (!order)
		order = compare_numbers(a->few_partners, b->few_partners);
	if (!order)
		order = compare_numbers(suspect_part(a), suspect_part(b));
	if (!order)
		order = compare_numbers(a->a, b->a);
	return order ? order : compare_numbers(a->b, b->b);
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
