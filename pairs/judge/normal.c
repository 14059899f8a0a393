// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is normal for a pair: what each kind of player reaches, and each distance. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "fit.h"
#include "limits.h"

#define KINDS_MAX 64

float fit_y(const struct fit *f, uint32_t cell)
{
	const struct matrix_cell *c = &f->m->cell[cell];

	return meetings_y(f->alone ? c->alone : c->loaded, f->body->latency);
}

uint32_t fit_distance(const struct fit *f, uint32_t a, uint32_t b)
{
	const uint32_t *group = f->group;

	return (group && group[a] != group[b] ? FIT_GROUPS : 0) |
	       (f->rack[a] != f->rack[b] ? FIT_RACKS : 0);
}

double fit_normal(const struct fit *f, uint32_t a, uint32_t b)
{
	return fmin(f->kind[f->kinds.of[a]], f->kind[f->kinds.of[b]]) +
	       f->distance[fit_distance(f, a, b)];
}

bool fit_skips(const struct fit *f, uint32_t a, uint32_t b)
{
	const uint32_t *g = f->group;

	if (f->lost[a] || f->lost[b])
		return true;
	return f->bad_pair && g[a] != NAMES_NONE && g[b] != NAMES_NONE &&
	       (f->bad_pair[g[a] * f->groups + g[b]] || f->bad_pair[g[b] * f->groups + g[a]]);
}

bool fit_is_slower(const struct fit *f, uint32_t player, uint32_t than)
{
	return f->kind[f->kinds.of[player]] < f->kind[f->kinds.of[than]] - FIT_SAME;
}

bool fit_is_aside(const struct fit *f, uint32_t player)
{
	return f->aside[MATRIX_SEND][player] || f->aside[MATRIX_RECEIVE][player];
}

static uint32_t kind_of(struct fit *f, uint32_t player)
{
	const char *host = f->body->hosts.text[f->body->player[player].host];
	const char *name = f->body->names.text[player] + strlen(host);
	double rate = f->kinds.rates_known ? (double)f->body->player[player].port_gbps : 0;
	char text[160] = "";

	text_copy(text, sizeof(text), name + (*name == '/'));
	if (rate > 0)
		text_add(text, sizeof(text), "%s%g", *text ? " " : "", rate);
	return names_put(&f->kinds.names, text);
}

int kinds_find(struct fit *f)
{
	struct kinds *k = &f->kinds;
	uint32_t last = UINT32_MAX;

	names_init(&k->names, KINDS_MAX);
	k->of = calloc((size_t)f->m->players + 1, sizeof(*k->of));
	k->rate = calloc(KINDS_MAX, sizeof(*k->rate));
	k->hosts = calloc(KINDS_MAX, sizeof(*k->hosts));
	f->kind = calloc(KINDS_MAX, sizeof(*f->kind));
	if (!k->of || !k->rate || !k->hosts || !f->kind)
		return -1;
	k->rates_known = !f->body->latency;
	for (uint32_t i = 0; i < f->m->players; i++)
		k->rates_known &= f->body->player[i].port_gbps > 0;
	for (uint32_t i = 0; i < f->m->players; i++) {
		uint32_t kind = kind_of(f, i);

		k->of[i] = kind == NAMES_NONE ? KINDS_MAX - 1 : kind;
		k->hosts[k->of[i]] += f->m->host[i] != last || k->names.count > 1;
		last = f->m->host[i];
		if (k->rates_known)
			k->rate[k->of[i]] = log((double)f->body->player[i].port_gbps);
	}
	k->count = k->names.count;
	memcpy(f->kind, k->rate, KINDS_MAX * sizeof(*f->kind));
	return k->names.no_memory ? -1 : 0;
}

void kinds_release(struct fit *f)
{
	names_release(&f->kinds.names);
	free(f->kinds.of);
	free(f->kinds.rate);
	free(f->kinds.hosts);
	free(f->kind);
}

/*
 * Collect the figures of good players at distances from FIRST to before END: those of KIND with
 * kinds that are as fast, less what the distance takes; or of all, KINDS_MAX, less what kinds
 * reach.
 */
static size_t collect(const struct fit *f, uint32_t kind, uint32_t first, uint32_t end)
{
	size_t n = 0;

	for (uint32_t i = 0; i < f->m->players; i++)
		for (const struct meeting *t = meetings_of(&f->slots, i);
		     t < meetings_end(&f->slots, i); t++) {
			uint32_t from = f->kinds.of[i], to = f->kinds.of[t->with];
			uint32_t d = fit_distance(f, i, t->with);

			if (isnan(t->sends) || d < first || d >= end || fit_skips(f, i, t->with) ||
			    f->aside[MATRIX_SEND][i] || f->aside[MATRIX_RECEIVE][t->with])
				continue;
			if (kind == KINDS_MAX)
				f->some[n++] = t->sends - (float)fmin(f->kind[from], f->kind[to]);
			else if ((from == kind && !fit_is_slower(f, t->with, i)) ||
				 (to == kind && !fit_is_slower(f, i, t->with)))
				f->some[n++] = t->sends - (float)f->distance[d];
		}
	return n;
}

static double fit_kind(const struct fit *f, uint32_t k, double at)
{
	bool few = f->kinds.hosts[k] < KIND_HOSTS_OWN && f->kinds.count > 1;
	size_t n = collect(f, k, FIT_NEAR, FIT_NEAR + 1);

	if (n < KIND_CELLS_LEAST)
		n = collect(f, k, FIT_NEAR, FIT_DISTANCES);
	return matrix_quantile(f->some, n, few ? KIND_OWN_BEST : at);
}

/* Compare kinds of few hosts with the most common one, by their ports' rates. */
static void check_few(struct fit *f)
{
	const struct kinds *k = &f->kinds;
	uint32_t most = 0;

	for (uint32_t i = 1; i < k->count; i++)
		if (k->hosts[i] > k->hosts[most])
			most = i;
	for (uint32_t i = 0; i < k->count; i++) {
		double by_rate = f->kind[most] + k->rate[i] - k->rate[most];

		if (isnan(f->kind[i]) || (k->rates_known && k->hosts[i] < KIND_HOSTS_OWN &&
					  f->kind[i] < by_rate - KIND_FAR_BELOW))
			f->kind[i] = by_rate;
	}
}

void kinds_fit(struct fit *f, double at)
{
	double is[KINDS_MAX];

	for (uint32_t k = 0; k < f->kinds.count; k++)
		is[k] = fit_kind(f, k, at);
	memcpy(f->kind, is, f->kinds.count * sizeof(*is));
	check_few(f);
	for (uint32_t d = FIT_NEAR + 1; d < FIT_DISTANCES; d++) {
		double far = matrix_median(f->some, collect(f, KINDS_MAX, d, d + 1));

		f->distance[d] = isnan(far) ? 0 : far;
	}
}
