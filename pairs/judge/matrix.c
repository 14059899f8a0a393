// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Makes cells and meetings of tries, and finds medians. */
#include "matrix.h"
#include "limits.h"

#include <math.h>
#include <stdlib.h>

#define EXPLAIN_SWEEPS 200
#define SD_PER_MAD     1.4826 /* of normal numbers */
#define TRIES_KEPT     64     /* of one cell that its median is of */

/* Put the Kth smallest of COUNT numbers to its place, and smaller ones before it (Wirth). */
static float select_kth(float *v, size_t count, size_t k)
{
	ptrdiff_t low = 0, high = (ptrdiff_t)count - 1, at = (ptrdiff_t)k;

	while (low < high) {
		ptrdiff_t i = low, j = high;
		float pivot = v[at];

		do {
			while (v[i] < pivot)
				i++;
			while (v[j] > pivot)
				j--;
			if (i <= j) {
				float other = v[i];

				v[i++] = v[j];
				v[j--] = other;
			}
		} while (i <= j);
		if (j < at)
			low = i;
		if (at < i)
			high = j;
	}
	return v[at];
}

double matrix_quantile(float *v, size_t count, double where)
{
	double at = ((double)count - 1) * where, high;
	size_t k = (size_t)(at + .5);

	if (!count)
		return NAN;
	high = select_kth(v, count, k);
	/* in the middle of two: their mean */
	return k && (double)k - at >= .5 ? (high + select_kth(v, k, k - 1)) / 2 : high;
}

double matrix_deviation(float *v, size_t count, double *median)
{
	*median = matrix_median(v, count);
	for (size_t i = 0; i < count; i++)
		v[i] = fabsf(v[i] - (float)*median);
	return count ? SD_PER_MAD * matrix_median(v, count) : 0;
}

/* The figures of a cell. */
struct figures {
	float value[TRIES_KEPT];
	size_t n;
};

static void take(struct figures *f, float value)
{
	if (!isnan(value))
		f->value[f->n++] = value;
}

/* Fill CELL with what its tries say: medians. */
static void fill_cell(struct matrix_cell *cell, const struct body_try *t)
{
	struct figures loaded = {.n = 0}, alone = {.n = 0}, tail = {.n = 0};

	for (uint32_t i = 0; i < cell->tries && i < TRIES_KEPT; i++) {
		bool measured = t[i].cause == BODY_MEASURED;

		take(t[i].alone ? &alone : &loaded, measured ? t[i].value : NAN);
		take(&tail, measured ? t[i].p99 / t[i].value : NAN);
		cell->measured += measured;
		cell->failed += !measured;
		cell->lacked |= body_lacked(&t[i]);
	}
	cell->loaded = (float)matrix_median(loaded.value, loaded.n);
	cell->alone = (float)matrix_median(alone.value, alone.n);
	cell->tail = (float)matrix_median(tail.value, tail.n);
}

/* Make a cell of each group of tries between the same two. */
static void fill_cells(struct matrix *m, const struct body_try *tries, uint32_t count)
{
	for (uint32_t i = 0; i < count;) {
		struct matrix_cell *cell = &m->cell[m->cells++];

		*cell = (struct matrix_cell){.from = tries[i].from, .to = tries[i].to, .first = i};
		while (i < count && tries[i].from == cell->from && tries[i].to == cell->to)
			i++;
		cell->tries = i - cell->first;
		fill_cell(cell, &tries[cell->first]);
		m->row[cell->from + 1]++;
		m->col[cell->to + 1]++;
	}
}

int matrix_init(struct matrix *m, const struct body *body)
{
	uint32_t players = body->names.count, count = body->count;

	*m = (struct matrix){.body = body, .players = players};
	m->host = malloc(((size_t)players + 1) * sizeof(*m->host));
	m->first = calloc((size_t)body->hosts.count + 1, sizeof(*m->first));
	m->cell = malloc(((size_t)count + 1) * sizeof(*m->cell));
	m->row = calloc((size_t)players + 1, sizeof(*m->row));
	m->col = calloc((size_t)players + 2, sizeof(*m->col));
	m->by_to = malloc(((size_t)count + 1) * sizeof(*m->by_to));
	m->part = malloc(MATRIX_WAYS * ((size_t)players + 1) * sizeof(*m->part));
	if (!m->host || !m->first || !m->cell || !m->row || !m->col || !m->by_to || !m->part)
		return -1;
	fill_cells(m, body->tries, count);
	for (uint32_t i = 0; i < players; i++) {
		m->host[i] = body->player[i].host;
		m->first[m->host[i] + 1] = i + 1;
		m->row[i + 1] += m->row[i];
		m->col[i + 1] += m->col[i];
	}
	for (uint32_t i = 0; i < m->cells; i++) /* COL is one place ahead while it is filled */
		m->by_to[m->col[m->cell[i].to]++] = i;
	for (uint32_t i = players; i; i--)
		m->col[i] = m->col[i - 1];
	m->col[0] = 0;
	return 0;
}

static int by_to(const void *to, const void *cell)
{
	uint32_t x = *(const uint32_t *)to, y = ((const struct matrix_cell *)cell)->to;

	return (x > y) - (x < y);
}

const struct matrix_cell *matrix_find(const struct matrix *m, uint32_t from, uint32_t to)
{
	return bsearch(&to, &m->cell[m->row[from]], matrix_count(m, MATRIX_SEND, from),
		       sizeof(*m->cell), by_to);
}

uint32_t matrix_count(const struct matrix *m, enum matrix_way way, uint32_t player)
{
	const uint32_t *start = way == MATRIX_SEND ? m->row : m->col;

	return start[player + 1] - start[player];
}

bool matrix_next(struct matrix_walk *w)
{
	const struct matrix *m = w->m;
	uint32_t at = m->row[w->player] + w->next++;

	w->way = at < m->row[w->player + 1] ? MATRIX_SEND : MATRIX_RECEIVE;
	if (w->way == MATRIX_RECEIVE) {
		at += m->col[w->player] - m->row[w->player + 1];
		if (at >= m->col[w->player + 1])
			return false;
		at = m->by_to[at];
	}
	w->cell = &m->cell[at];
	w->with = w->way == MATRIX_SEND ? w->cell->to : w->cell->from;
	return true;
}

/*
 * The part of PLAYER's cells in WAY, with partners that are not ASIDE, that is BAD. 0: these are of
 * fewer than LEAST hosts.
 */
static double part_bad(const struct matrix *m, const signed char *bad, uint32_t player,
		       enum matrix_way way, bool *const aside[MATRIX_WAYS], uint32_t least)
{
	uint32_t hosts = 0, cells = 0, count = 0, last = UINT32_MAX;

	for (struct matrix_walk w = {.m = m, .player = player}; matrix_next(&w);) {
		signed char is = bad[w.cell - m->cell];

		if (w.way != way || is < 0 || aside[!way][w.with])
			continue;
		cells++;
		count += is > 0;
		hosts += m->host[w.with] != last;
		last = m->host[w.with];
	}
	return cells && hosts >= least ? (double)count / cells : 0;
}

bool matrix_explain(const struct matrix *m, const signed char *bad, double part, uint32_t least,
		    bool *const aside[MATRIX_WAYS])
{
	uint32_t both = m->players * MATRIX_WAYS, known = 0, good = 0;
	bool found = true, general;

	for (uint32_t i = 0; i < m->cells; i++) {
		known += bad[i] >= 0;
		good += !bad[i];
	}
	general = good < EXPLAIN_FEW_GOOD * known;
	for (int sweep = 0; found && sweep < (general ? 1 : EXPLAIN_SWEEPS); sweep++) {
		double worst = part;

		found = false;
		for (uint32_t i = 0; i < both; i++) {
			bool is = aside[i % 2][i / 2];

			m->part[i] = is ? 0 : part_bad(m, bad, i / 2, i % 2, aside, least);
			worst = fmax(worst, general ? part : m->part[i]);
		}
		for (uint32_t i = 0; i < both; i++)
			if (m->part[i] > part && m->part[i] >= worst * EXPLAIN_NEAR)
				found = aside[i % 2][i / 2] = true;
	}
	return general;
}

void matrix_release(struct matrix *m)
{
	free(m->host);
	free(m->first);
	free(m->cell);
	free(m->row);
	free(m->col);
	free(m->by_to);
	free(m->part);
	*m = (struct matrix){0};
}

float meetings_y(float figure, bool latency)
{
	return latency ? -logf(figure) : logf(figure);
}

/* The try of the cell C, which may be NULL, in the slot of T; or NULL. */
static const struct body_try *same_slot(const struct matrix *m, const struct matrix_cell *c,
					const struct body_try *t)
{
	for (uint32_t i = 0; c && i < c->tries; i++) {
		const struct body_try *other = &m->body->tries[c->first + i];

		if (other->run == t->run && other->round == t->round)
			return other;
	}
	return NULL;
}

/* The figure of T, which may be NULL, if it is one of those that are asked for. */
static float y_of(const struct body_try *t, bool latency, bool alone)
{
	return t && t->cause == BODY_MEASURED && t->alone == alone ? meetings_y(t->value, latency)
								   : NAN;
}

/* What has not failed by the launcher or a clock. */
static bool is_failure(const struct body_try *t)
{
	return t && t->cause != BODY_MEASURED && t->cause != BODY_MISSED &&
	       t->cause != BODY_CLOCK && !t->mirrored;
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
				  bool alone)
{
	bool latency = m->body->latency;
	struct meeting *first = to;

	for (struct matrix_walk w = {.m = m, .player = player}; matrix_next(&w);) {
		const struct matrix_cell *c = w.cell;
		const struct matrix_cell *back = matrix_find(m, c->to, c->from);

		for (uint32_t i = c->first; i < c->first + c->tries; i++) {
			const struct body_try *t = &m->body->tries[i];
			const struct body_try *other = same_slot(m, back, t);
			bool sends = w.way == MATRIX_SEND;
			const struct body_try *received = sends ? other : t;

			if (!sends && other) /* added with what it sent */
				continue;
			*to++ = (struct meeting){
				.player = player,
				.with = w.with,
				.at = (uint32_t)t->run << 16 | t->round,
				.sends = y_of(sends ? t : NULL, latency, alone),
				.receives = y_of(received, latency, alone),
				.failed = is_failure(t) || is_failure(other),
			};
		}
	}
	if (to > first)
		qsort(first, (size_t)(to - first), sizeof(*first), by_partner);
	return to;
}

int meetings_init(struct meetings *l, const struct matrix *m, bool alone)
{
	size_t most = 1;
	struct meeting *end;

	for (uint32_t i = 0; i < m->cells; i++)
		most += 2 * (size_t)m->cell[i].tries;
	*l = (struct meetings){.of = malloc(most * sizeof(*l->of)),
			       .start = calloc((size_t)m->players + 1, sizeof(*l->start))};
	end = l->of;
	for (uint32_t i = 0; i < m->players && l->of && l->start; i++) {
		end = add_player(end, m, i, alone);
		l->start[i + 1] = (uint32_t)(end - l->of);
	}
	l->end = end;
	return l->of && l->start ? 0 : -1;
}

void meetings_release(struct meetings *l)
{
	free(l->of);
	free(l->start);
	*l = (struct meetings){0};
}
