// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Keeps what lines say. When all are read, drops what is not used, takes what the notes say, and
 * puts the rest in order.
 */
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

uint32_t evidence_player(struct evidence *e, const char *host, const char *rail)
{
	uint32_t known = e->names.count, at;
	bool railed = rail && *rail;
	char name[HOST_MAX + 1 + RAIL_MAX + 1];
	struct player *more;

	if (!host || strlen(host) > HOST_MAX || (railed && strlen(rail) > RAIL_MAX))
		return EVIDENCE_NONE;
	strcpy(name, host);
	if (railed)
		strcat(strcat(name, "/"), rail);
	at = names_find(&e->names, name);
	if (at != NAMES_NONE)
		return at;
	/* Nothing in a host's or a device's name that a shell or a table takes otherwise. */
	if (!hosts_is_name(host) || (railed && !hosts_is_name(rail)))
		return EVIDENCE_NONE;
	more = grow(e->player, known, sizeof(*more));
	if (!more) {
		json_memory_lacked();
		return EVIDENCE_NONE;
	}
	e->player = more;
	at = names_put(&e->names, name);
	if (at != NAMES_NONE)
		e->player[at] = (struct player){.host = names_put(&e->hosts, host),
						.server_said = EVIDENCE_NONE};
	return at;
}

uint32_t evidence_run(struct evidence *e, const char *name)
{
	uint32_t known = e->runs.count, at;

	/* nearly always that of the line before */
	at = known && strcmp(e->runs.text[known - 1], name) == 0 ? known - 1
								 : names_put(&e->runs, name);
	if (at != NAMES_NONE && at == known)
		e->run[at] = (struct run){.what = EVIDENCE_NONE};
	return at;
}

/* Room for one more of SIZE bytes in the list at LIST of COUNT, MOST at most. NULL: there is none.
 */
static void *room_for(struct evidence *e, void *list, uint32_t count, uint32_t most, size_t size)
{
	void *of, *more;

	memcpy(&of, list, sizeof(of));
	e->counts.beyond += count == most;
	more = count == most ? NULL : grow(of, count, size);
	if (!more && count != most)
		json_memory_lacked();
	if (more)
		memcpy(list, &more, sizeof(more));
	return more ? (char *)more + size * count : NULL;
}

void evidence_add(struct evidence *e, const struct observation *o)
{
	struct observation *to = room_for(e, &e->of, e->count, EVIDENCE_MOST, sizeof(*to));

	if (!to)
		return;
	*to = *o;
	e->count++;
}

void evidence_add_note(struct evidence *e, const struct note *n)
{
	struct note *to = room_for(e, &e->notes, e->notes_n, EVIDENCE_NOTES, sizeof(*to));

	if (!to)
		return;
	*to = *n;
	e->notes_n++;
}

/* True if RUN measured something else than the first run did. */
static bool is_other(const struct evidence *e, uint32_t run)
{
	return e->run[run].what != EVIDENCE_NONE && e->run[run].what != 0;
}

/*
 * Drop observations and notes of other runs. A first run of few pairs at a time is a screen, and
 * none that measures again.
 */
static void drop_others(struct evidence *e)
{
	uint32_t kept = 0, notes = 0;
	bool loaded = false;

	for (uint32_t i = 0; i < e->count; i++)
		if (!is_other(e, e->of[i].run)) {
			e->of[kept] = e->of[i];
			loaded |= e->of[kept++].part == PART_LOADED;
		}
	for (uint32_t i = 0; i < e->notes_n; i++)
		if (!is_other(e, e->notes[i].run))
			e->notes[notes++] = e->notes[i];
	for (uint32_t i = 0; i < e->runs.count; i++)
		if (is_other(e, i))
			e->run[i] = (struct run){.what = e->run[i].what};
	e->counts.other_unit += e->count - kept;
	e->count = kept;
	e->notes_n = notes;
	for (uint32_t i = 0; i < kept; i++)
		if (e->of[i].part == PART_AGAIN && !loaded && !e->of[i].run)
			e->of[i].part = PART_SCREEN;
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

/* Mark the players that a line is about in PLACE. Their numbers go to ORDER, by name. */
static uint32_t order_players(struct evidence *e, uint32_t *place, uint32_t *order)
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < e->count; i++)
		place[e->of[i].from] = place[e->of[i].to] = 1;
	for (uint32_t i = 0; i < e->notes_n; i++)
		place[e->notes[i].player] = 1;
	for (uint32_t i = 0; i < e->names.count; i++)
		if (place[i])
			order[used++] = i;
	qsort_r(order, used, sizeof(*order), by_name, e);
	return used;
}

/* Keep those players, and renumber them, in their order. */
static int number_players(struct evidence *e)
{
	size_t all = (size_t)e->names.count + 1;
	uint32_t *place = calloc(3 * all, sizeof(*place)), used, hosts = 0;
	struct player *player = malloc(all * sizeof(*player));
	uint32_t *order = place + all, *host = order + all;
	int failed = -1;

	e->first = malloc(all * sizeof(*e->first));
	if (!place || !player || !e->first)
		goto out;
	used = order_players(e, place, order);
	for (uint32_t i = 0; i < used; i++) {
		player[i] = e->player[order[i]];
		if (!hosts || host[hosts - 1] != player[i].host) {
			e->first[hosts] = i;
			host[hosts++] = player[i].host;
		}
		player[i].host = hosts - 1;
		place[order[i]] = i;
	}
	e->first[hosts] = used;
	names_keep(&e->names, order, used);
	names_keep(&e->hosts, host, hosts);
	if (e->names.count < used || e->hosts.count < hosts)
		goto out;
	free(e->player);
	e->player = player;
	player = NULL;
	for (uint32_t i = 0; i < e->count; i++) {
		e->of[i].from = place[e->of[i].from];
		e->of[i].to = place[e->of[i].to];
	}
	for (uint32_t i = 0; i < e->notes_n; i++)
		e->notes[i].player = place[e->notes[i].player];
	failed = 0;
out:
	free(place);
	free(player);
	return failed;
}

/* By time, then by what else makes the same line twice neighbours. */
static int by_time(const void *a, const void *b, void *of)
{
	const struct observation *x = (const struct observation *)of + *(const uint32_t *)a;
	const struct observation *y = (const struct observation *)of + *(const uint32_t *)b;
	uint64_t at_x = (uint64_t)x->run << 16 | x->slot, at_y = (uint64_t)y->run << 16 | y->slot;
	uint32_t way_x = x->to << 1 | !!(x->marks & MARK_FROM_CLIENT);
	uint32_t way_y = y->to << 1 | !!(y->marks & MARK_FROM_CLIENT);

	if (at_x != at_y)
		return at_x < at_y ? -1 : 1;
	if (way_x != way_y)
		return way_x < way_y ? -1 : 1;
	return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

/* Fill START (players + 1) and ORDER (numbers of observations) by sender, or by receiver. */
static void count_sort(const struct evidence *e, bool by_from, uint32_t *start, uint32_t *order)
{
	uint32_t players = e->names.count;

	memset(start, 0, (players + 1) * sizeof(*start));
	for (uint32_t i = 0; i < e->count; i++)
		start[by_from ? e->of[i].from : e->of[i].to]++;
	for (uint32_t i = 0, sum = 0; i <= players; i++) {
		sum += start[i];
		start[i] = sum;
	}
	for (uint32_t i = e->count; i--;)
		order[--start[by_from ? e->of[i].from : e->of[i].to]] = i;
}

/* Bring the observations into ORDER, which is used up: cycle by cycle, in place. */
static void permute(struct evidence *e, uint32_t *order)
{
	for (uint32_t i = 0; i < e->count; i++) {
		struct observation first = e->of[i];
		uint32_t at = i;

		while (order[at] != i) {
			uint32_t from = order[at];

			e->of[at] = e->of[from];
			order[at] = at;
			at = from;
		}
		e->of[at] = first;
		order[at] = at;
	}
}

/* Drop lines that are there twice, as they are next to each other. */
static void drop_repeated(struct evidence *e)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < e->count; i++) {
		const struct observation *is = &e->of[i], *was = kept ? &e->of[kept - 1] : NULL;

		if (was && is->from == was->from && is->to == was->to && is->run == was->run &&
		    is->slot == was->slot && is->cause == was->cause &&
		    !((is->marks ^ was->marks) & MARK_FROM_CLIENT) &&
		    (is->value == was->value || is->value != is->value))
			e->counts.repeated++;
		else
			e->of[kept++] = *is;
	}
	e->count = kept;
}

static int make_indexes(struct evidence *e)
{
	size_t starts = ((size_t)e->names.count + 1) * sizeof(uint32_t);

	e->sends = malloc(starts);
	e->receives = malloc(starts);
	e->by_to = malloc(((size_t)e->count + 1) * sizeof(*e->by_to));
	if (!e->sends || !e->receives || !e->by_to)
		return -1;
	count_sort(e, true, e->sends, e->by_to);
	for (uint32_t i = 0; i < e->names.count; i++)
		qsort_r(&e->by_to[e->sends[i]], e->sends[i + 1] - e->sends[i], sizeof(*e->by_to),
			by_time, e->of);
	permute(e, e->by_to);
	drop_repeated(e);
	count_sort(e, true, e->sends, e->by_to); /* some may be gone; the order stays */
	count_sort(e, false, e->receives, e->by_to);
	return 0;
}

int evidence_complete(struct evidence *e)
{
	uint32_t rails;

	drop_others(e);
	if (number_players(e) || make_indexes(e))
		return -1;
	evidence_take_notes(e);
	if (e->known && e->known->n && e->hosts.count) { /* only lines of these are used */
		rails = (e->names.count + e->hosts.count - 1) / e->hosts.count;
		if (e->expected / rails > e->known->n)
			e->expected = (uint32_t)e->known->n * rails;
	}
	return 0;
}

void evidence_release(struct evidence *e)
{
	struct names *const names[] = {&e->hosts, &e->names, &e->runs, &e->texts, &e->whats};
	void *const lists[] = {e->player, e->of,       e->notes, e->sends,
			       e->first,  e->receives, e->by_to};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		names_release(names[i]);
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		free(lists[i]);
	*e = (struct evidence){0};
}
