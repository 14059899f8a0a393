// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Keeps what lines say. When all are read, puts it in order and takes what the notes say. */
#include "evidence.h"

#include <stdlib.h>
#include <string.h>

#include "pairs/grow.h"
#include "proto/json_memory.h"

#define HOST_MAX  253
#define RAIL_MAX  64
#define WHATS_MAX 64

void evidence_init(struct evidence *e)
{
	*e = (struct evidence){0};
	names_init(&e->hosts, EVIDENCE_PLAYERS);
	names_init(&e->names, EVIDENCE_PLAYERS);
	names_init(&e->runs, EVIDENCE_RUNS);
	names_init(&e->texts, EVIDENCE_TEXTS);
	names_init(&e->whats, WHATS_MAX);
}

/* Names letter by letter, and not their first labels: "ALL" is every node to scontrol. */
static bool is_known(const struct evidence *e, const char *host)
{
	uint32_t at = e->known && e->known->n ? hosts_find(e->known, host) : HOSTS_NONE;

	if (!e->known || !e->known->n)
		return hosts_is_name(host);
	return at != HOSTS_NONE && strcmp(e->known->host[at].name, host) == 0;
}

uint32_t evidence_player(struct evidence *e, const char *host, const char *rail)
{
	uint32_t known = e->names.count, at;
	bool railed = rail && *rail;
	char name[HOST_MAX + 1 + RAIL_MAX + 1];
	struct player *more;

	if (!host || strlen(host) > HOST_MAX || (railed && strlen(rail) > RAIL_MAX))
		return NAMES_NONE;
	strcpy(name, host);
	if (railed)
		strcat(strcat(name, "/"), rail);
	at = names_find(&e->names, name);
	/* Nothing in a host's or a device's name that a shell or a table takes otherwise. */
	if (at != NAMES_NONE || !is_known(e, host) || (railed && !hosts_is_name(rail)))
		return at;
	more = grow(e->player, known, sizeof(*more));
	if (!more)
		json_memory_lacked();
	else
		e->player = more;
	at = more ? names_put(&e->names, name) : NAMES_NONE;
	if (at != NAMES_NONE)
		e->player[at] = (struct player){.host = names_put(&e->hosts, host),
						.server_said = NAMES_NONE};
	return at;
}

uint32_t evidence_run(struct evidence *e, const char *name)
{
	uint32_t known = e->runs.count, at;

	/* nearly always that of the line before */
	at = known && strcmp(e->runs.text[known - 1], name) == 0 ? known - 1
								 : names_put(&e->runs, name);
	if (at != NAMES_NONE && at == known)
		e->run[at] = (struct run){.what = NAMES_NONE};
	return at;
}

void evidence_add(struct evidence *e, const struct observation *o)
{
	struct observation *more = NULL;

	if (e->count == EVIDENCE_MOST)
		e->counts[COUNT_BEYOND]++;
	else if (!(more = grow(e->of, e->count, sizeof(*more))))
		json_memory_lacked();
	if (!more)
		return;
	e->of = more;
	e->of[e->count++] = *o;
}

void evidence_came(struct evidence *e, uint32_t player, uint32_t run)
{
	struct player *p = &e->player[player];

	if (!p->came || p->done) /* the first one that it does not end */
		p->run = run;
	p->came = true;
	p->done = false;
}

void evidence_done(struct evidence *e, uint32_t player, uint32_t run, uint32_t rounds,
		   uint32_t missed)
{
	struct player *p = &e->player[player];

	e->run[run].done++;
	if (rounds > e->run[run].played)
		e->run[run].played = rounds;
	p->done |= run == p->run;
	p->rounds = rounds;
	p->missed += missed;
}

bool walk_next(struct walk *w)
{
	const struct evidence *e = w->e;

	for (uint32_t i = e->start[w->player] + w->next; i < e->start[w->player + 1]; i++) {
		bool sends = e->of[e->at[i]].from == w->player;

		w->is = &e->of[e->at[i]];
		w->with = sends ? w->is->to : w->is->from;
		w->next++;
		if (w->parts >> w->is->part & 1 &&
		    (e->latency || w->way == WAYS || sends == (w->way == SENDS)))
			return true;
	}
	return false;
}

/* The numbers of players in the order of their hosts, then of their rails. */
static int by_name(const void *a, const void *b, void *of)
{
	const struct evidence *e = of;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (e->player[x].host != e->player[y].host)
		return strverscmp(evidence_host(e, x), evidence_host(e, y));
	return strverscmp(e->names.text[x], e->names.text[y]);
}

/* Give players and hosts new numbers, in the order of their names. */
static int number_players(struct evidence *e)
{
	size_t all = (size_t)e->names.count + 1;
	struct player *player = malloc(all * sizeof(*player));
	uint32_t *order = malloc(2 * all * sizeof(*order)), *place = order + all;

	e->first = malloc(all * sizeof(*e->first));
	if (!order || !player || !e->first)
		goto out;
	for (uint32_t i = 0; i < e->names.count; i++)
		order[i] = i;
	qsort_r(order, e->names.count, sizeof(*order), by_name, e);
	for (uint32_t i = 0, host = NAMES_NONE, hosts = 0; i < e->names.count; i++) {
		player[i] = e->player[order[i]];
		if (player[i].host != host) {
			host = player[i].host;
			place[hosts] = host;
			e->first[hosts++] = i;
		}
		player[i].host = hosts - 1;
		e->first[hosts] = i + 1;
	}
	names_sort(&e->hosts, place);
	names_sort(&e->names, order);
	for (uint32_t i = 0; i < e->names.count; i++)
		place[order[i]] = i;
	for (uint32_t i = 0; i < e->count; i++) {
		e->of[i].from = place[e->of[i].from];
		e->of[i].to = place[e->of[i].to];
	}
	free(e->player);
	e->player = player;
	player = NULL;
out:
	free(order);
	free(player);
	return order && e->first && !player ? 0 : -1;
}

/* By time; those of one receiver are together. */
static int by_slot(const void *a, const void *b)
{
	const struct observation *x = a, *y = b;
	const uint32_t key[][2] = {
		{x->run, y->run}, {x->slot, y->slot}, {x->to, y->to}, {x->from, y->from}};

	for (size_t i = 0; i < sizeof(key) / sizeof(key[0]); i++)
		if (key[i][0] != key[i][1])
			return key[i][0] < key[i][1] ? -1 : 1;
	return memcmp(&x->value, &y->value, sizeof(x->value));
}

/* Put them in order, and drop lines that are there twice. */
static void drop_repeated(struct evidence *e)
{
	uint32_t kept = 0;

	if (e->count)
		qsort(e->of, e->count, sizeof(*e->of), by_slot);
	for (uint32_t i = 0; i < e->count; i++) {
		bool again = kept && !by_slot(&e->of[kept - 1], &e->of[i]);

		e->counts[COUNT_REPEATED] += again;
		if (!again)
			e->of[kept++] = e->of[i];
	}
	e->count = kept;
}

/* Which observations each player is in. */
static int make_index(struct evidence *e)
{
	e->start = calloc((size_t)e->names.count + 1, sizeof(*e->start));
	e->at = malloc((2 * (size_t)e->count + 1) * sizeof(*e->at));
	if (!e->start || !e->at)
		return -1;
	for (uint32_t i = 0; i < e->count; i++) {
		e->start[e->of[i].from]++;
		e->start[e->of[i].to]++;
	}
	for (uint32_t i = 0, sum = 0; i <= e->names.count; i++)
		e->start[i] = sum += e->start[i];
	for (uint32_t i = e->count; i--;) {
		e->at[--e->start[e->of[i].to]] = i;
		e->at[--e->start[e->of[i].from]] = i;
	}
	return 0;
}

/*
 * True if PLAYER was gone before RUN was over. In a loaded round each player has a line, but for
 * one of an odd number; elsewhere only some have, and who is gone is seen by runs that fail.
 */
static bool is_gone_from(const struct evidence *e, uint32_t player, uint32_t run)
{
	uint32_t last = 0, failed = 0;

	for (struct walk w = walk_all(e, player, ~0U); walk_next(&w);) {
		bool from = w.is->from == player;
		bool writes = from == ((w.is->marks & MARK_FROM_CLIENT) > 0); /* the client does */
		bool blamed = w.is->marks & (from ? MARK_TO_BLAMED : MARK_FROM_BLAMED); /* the other */

		if (w.is->run != run)
			continue;
		if (!w.is->cause || writes)
			last = w.is->slot + 1u;
		failed = w.is->cause ? failed + !blamed : 0;
	}
	return (failed > 1 && last < e->run[run].seen) ||
	       (e->run[run].parts == 1U << PART_LOADED && last + 1 < e->run[run].seen);
}

/* Whether PLAYER ended the last run that it took part in, unless that ended for all. */
static void find_end(struct evidence *e, uint32_t player)
{
	struct player *p = &e->player[player];
	const struct run *run = &e->run[p->run];
	bool gone;

	if (p->done) { /* after a signal one may have played a round more than another */
		p->ended_early = p->rounds + (run->played < run->planned) < run->played;
	} else if (p->came && run->done) {
		gone = is_gone_from(e, player, p->run);
		p->ended_early = gone && !e->counts[COUNT_BROKEN];
		/* of a plan nobody knows whether it had more to do */
		p->unended = gone ? e->counts[COUNT_BROKEN] > 0 : run->is_plan;
	}
}

int evidence_complete(struct evidence *e)
{
	if (number_players(e))
		return -1;
	drop_repeated(e);
	if (make_index(e))
		return -1;
	for (uint32_t i = 0; i < e->count; i++) {
		struct run *run = &e->run[e->of[i].run];

		run->parts |= 1U << e->of[i].part;
		run->seen = e->of[i].slot + 1u;
	}
	for (uint32_t i = 0; i < e->runs.count; i++)
		e->plans += e->run[i].is_plan;
	for (uint32_t i = 0; i < e->names.count; i++)
		find_end(e, i);
	return 0;
}

void evidence_release(struct evidence *e)
{
	struct names *const names[] = {&e->hosts, &e->names, &e->runs, &e->texts, &e->whats};
	void *const lists[] = {e->player, e->of, e->first, e->start, e->at};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		names_release(names[i]);
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		free(lists[i]);
	*e = (struct evidence){0};
}
