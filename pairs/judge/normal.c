// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What is normal for a pair: what each kind of player reaches, and each distance; and what a player
 * reaches of that.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "fit.h"
#include "limits.h"

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
	return g && g[a] != NAMES_NONE && g[b] != NAMES_NONE &&
	       (f->bad_pair[g[a] * f->groups + g[b]] || f->bad_pair[g[b] * f->groups + g[a]]);
}

/* True if PLAYER is of a slower kind THAN another one. */
static bool is_slower(const struct fit *f, uint32_t player, uint32_t than)
{
	return f->kind[f->kinds.of[player]] < f->kind[f->kinds.of[than]] - FIT_SAME;
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

	names_init(&k->names, FIT_KINDS_MAX);
	k->of = calloc((size_t)f->m->players + 1, sizeof(*k->of));
	if (!k->of)
		return -1;
	k->rates_known = !f->body->latency;
	for (uint32_t i = 0; i < f->m->players; i++)
		k->rates_known &= f->body->player[i].port_gbps > 0;
	for (uint32_t i = 0; i < f->m->players; i++) {
		uint32_t kind = kind_of(f, i);

		k->of[i] = kind == NAMES_NONE ? FIT_KINDS_MAX - 1 : kind;
		k->hosts[k->of[i]] += f->m->host[i] != last || k->names.count > 1;
		last = f->m->host[i];
		if (k->rates_known)
			k->rate[k->of[i]] = log((double)f->body->player[i].port_gbps);
	}
	k->count = k->names.count;
	memcpy(f->kind, k->rate, sizeof(f->kind));
	return 0;
}

/*
 * Collect the figures of good players at distances from FIRST to before END: those of KIND with
 * kinds that are as fast, less what the distance takes; or of all, FIT_KINDS_MAX, less what kinds
 * reach.
 */
static size_t collect(const struct fit *f, uint32_t kind, uint32_t first, uint32_t end)
{
	size_t n = 0;

	for (const struct meeting *t = f->slots.of; t < f->slots.end; t++) {
		uint32_t from = f->kinds.of[t->player], to = f->kinds.of[t->with];
		uint32_t d = fit_distance(f, t->player, t->with);

		if (isnan(t->sends) || d < first || d >= end || fit_skips(f, t->player, t->with) ||
		    f->aside[MATRIX_SEND][t->player] || f->aside[MATRIX_RECEIVE][t->with])
			continue;
		if (kind == FIT_KINDS_MAX)
			f->some[n++] = t->sends - (float)fmin(f->kind[from], f->kind[to]);
		else if ((from == kind && !is_slower(f, t->with, t->player)) ||
			 (to == kind && !is_slower(f, t->player, t->with)))
			f->some[n++] = t->sends - (float)f->distance[d];
	}
	return n;
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
	double is[FIT_KINDS_MAX];

	for (uint32_t k = 0; k < f->kinds.count; k++) {
		bool few = f->kinds.hosts[k] < KIND_HOSTS_OWN && f->kinds.count > 1;
		size_t n = collect(f, k, FIT_NEAR, FIT_NEAR + 1);

		if (n < KIND_CELLS_LEAST)
			n = collect(f, k, FIT_NEAR, FIT_DISTANCES);
		is[k] = matrix_quantile(f->some, n, few ? KIND_OWN_BEST : at);
	}
	memcpy(f->kind, is, f->kinds.count * sizeof(*is));
	check_few(f);
	for (uint32_t d = FIT_NEAR + 1; d < FIT_DISTANCES; d++) {
		double far = matrix_median(f->some, collect(f, FIT_KINDS_MAX, d, d + 1));

		f->distance[d] = isnan(far) ? 0 : far;
	}
}

float fit_part(const struct fit *f, const struct meeting *t, enum fit_way way)
{
	float y = way == FIT_WORSE   ? fminf(t->sends, t->receives)
		  : way == FIT_SENDS ? t->sends
				     : t->receives;

	return y - (float)fit_normal(f, t->player, t->with);
}

uint32_t figures_of(const struct fit *f, uint32_t player, enum fit_way way, bool all,
		    uint32_t *hosts)
{
	const struct meeting *t = meetings_of(&f->slots, player);
	uint32_t count = f->slots.start[player + 1] - f->slots.start[player], n = 0;
	uint32_t last = UINT32_MAX, step = count / FIGURES_ENOUGH + 1;

	*hosts = 0;
	for (uint32_t i = 0; i < count; i += step) {
		uint32_t to = t[i].with;
		struct fit_figure *is = &f->figure[n];
		bool aside = way < FIT_WORSE ? f->aside[!way][to] : fit_is_aside(f, to);

		*is = (struct fit_figure){.distance = fit_distance(f, player, to), .at = t[i].at};
		is->part = fit_part(f, &t[i], way);
		/* one of a slower kind hides what it reaches, but if it has too few others */
		if (isnan(is->part) || (aside && !all) || fit_skips(f, player, to) ||
		    (f->of[player].has_equals && is_slower(f, to, player)))
			continue;
		n++;
		*hosts += f->m->host[to] != last;
		last = f->m->host[to];
	}
	return n;
}

double figures_quantile(const struct fit *f, uint32_t n, double at)
{
	for (uint32_t i = 0; i < n; i++)
		f->some[i] = f->figure[i].part;
	return matrix_quantile(f->some, n, at);
}
