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
	/* Nothing in a host's or a device's name that a shell or a table takes otherwise. */
	if (at != NAMES_NONE || !hosts_is_name(host) || (railed && !hosts_is_name(rail)))
		return at;
	more = grow(e->player, known, sizeof(*more));
	if (!more)
		json_memory_lacked();
	else
		e->player = more;
	at = more ? names_put(&e->names, name) : NAMES_NONE;
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
	e->counts[COUNT_BEYOND] += count == most;
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
	for (uint32_t i = 0; i < e->notes_n; i++)
		e->notes[i].player = place[e->notes[i].player];
	free(e->player);
	e->player = player;
	player = NULL;
out:
	free(order);
	free(player);
	return order && e->first && !player ? 0 : -1;
}

/* A number of what O is, the same for the same line. */
static uint64_t number_of(const struct observation *o)
{
	const uint64_t part[] = {(uint64_t)o->from << 32 | o->to,
				 (uint64_t)o->run << 32 | (uint32_t)o->slot << 16 | o->cause,
				 o->marks & MARK_FROM_CLIENT};
	uint32_t value;
	uint64_t z;

	memcpy(&value, &o->value, sizeof(value));
	z = value;
	for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++) {
		z = (z ^ part[i]) * UINT64_C(0x9e3779b97f4a7c15);
		z = (z ^ z >> 32) * UINT64_C(0x94d049bb133111eb);
	}
	return z | 1;
}

/* Drop lines that are there twice. */
static int drop_repeated(struct evidence *e)
{
	uint32_t kept = 0, room = 2;
	uint64_t *seen;

	while (room < 2 * e->count)
		room *= 2;
	seen = calloc(room, sizeof(*seen));
	if (!seen)
		return -1;
	for (uint32_t i = 0; i < e->count; i++) {
		uint64_t number = number_of(&e->of[i]);
		uint32_t at = (uint32_t)(number >> 32) & (room - 1);

		while (seen[at] && seen[at] != number)
			at = (at + 1) & (room - 1);
		e->counts[COUNT_REPEATED] += seen[at] == number;
		e->of[kept] = e->of[i];
		kept += seen[at] != number;
		seen[at] = number;
	}
	e->count = kept;
	free(seen);
	return 0;
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
	for (uint32_t i = e->count; i--;)
		e->at[--e->start[e->of[i].to]] = i;
	for (uint32_t i = e->count; i--;) /* which come first */
		e->at[--e->start[e->of[i].from]] = i;
	return 0;
}

/*
 * True if PLAYER was gone before RUN was over. In a round of a schedule each player has a line, but
 * for one; in a plan only some have, and who is gone is seen by runs that fail.
 */
static bool is_gone_from(const struct evidence *e, uint32_t player, uint32_t run)
{
	uint32_t last = 0, failed = 0;

	for (int pass = 0; pass < 2; pass++)
		for (struct walk w = walk_all(e, player, ~0U); walk_next(&w);) {
			bool own = !(w.is->marks &
				     (w.is->from == player ? MARK_TO_BLAMED : MARK_FROM_BLAMED));

			if (w.is->run != run)
				continue;
			if (!pass && !w.is->cause && w.is->slot + 1u > last)
				last = w.is->slot + 1u;
			failed += pass && w.is->slot >= last && own;
		}
	return (failed > 1 && last < e->run[run].seen) ||
	       (!e->run[run].is_plan && last + 2 < e->run[run].seen);
}

static int by_player(const void *a, const void *b)
{
	const struct note *x = a, *y = b;

	if (x->player != y->player)
		return x->player < y->player ? -1 : 1;
	if (x->run != y->run)
		return x->run < y->run ? -1 : 1;
	return (x->kind > y->kind) - (x->kind < y->kind);
}

/* Take what the notes of one player in one run say: those from N to END. */
static void take_notes_of(struct evidence *e, const struct note *n, const struct note *end)
{
	struct player *p = &e->player[n->player];
	struct run *run = &e->run[n->run];
	bool came = n->kind == NOTE_CAME, done = end[-1].kind == NOTE_DONE;

	p->came |= came;
	if (done) {
		p->missed += end[-1].missed;
		p->slots += end[-1].rounds;
		/* where a signal ended a run, one may have played a round more than another */
		p->ended_early |= end[-1].rounds + (run->played < run->planned) < run->played;
	} else if (run->done) {
		bool gone = is_gone_from(e, n->player, n->run);

		p->ended_early |= gone && !e->counts[COUNT_BROKEN];
		/* of a plan nobody knows whether it had more to do */
		p->unended |= gone ? e->counts[COUNT_BROKEN] > 0 : run->is_plan;
	}
}

/* How far each run came; then what each player says. */
static void take_notes(struct evidence *e)
{
	for (uint32_t i = 0; i < e->notes_n; i++) {
		const struct note *n = &e->notes[i];
		struct run *run = &e->run[n->run];

		run->came += n->kind == NOTE_CAME;
		run->done += n->kind == NOTE_DONE;
		if (n->kind == NOTE_DONE && n->rounds > run->played)
			run->played = n->rounds;
	}
	for (uint32_t i = 0; i < e->count; i++) {
		struct run *run = &e->run[e->of[i].run];

		run->parts |= 1U << e->of[i].part;
		run->seen = e->of[i].slot >= run->seen ? e->of[i].slot + 1u : run->seen;
	}
	for (uint32_t i = 0; i < e->runs.count; i++)
		e->plans += e->run[i].is_plan;
	if (e->notes_n)
		qsort(e->notes, e->notes_n, sizeof(*e->notes), by_player);
	for (uint32_t i = 0, end; i < e->notes_n; i = end) {
		for (end = i + 1; end < e->notes_n && e->notes[end].player == e->notes[i].player &&
				  e->notes[end].run == e->notes[i].run;)
			end++;
		take_notes_of(e, &e->notes[i], &e->notes[end]);
	}
}

int evidence_complete(struct evidence *e)
{
	uint32_t rails;
	bool loaded = false;

	for (uint32_t i = 0; i < e->count; i++)
		loaded |= e->of[i].part == PART_LOADED;
	for (uint32_t i = 0; i < e->count && !loaded; i++)
		if (e->of[i].part == PART_AGAIN && !e->of[i].run) /* a first run is a screen */
			e->of[i].part = PART_SCREEN;
	if (number_players(e) || drop_repeated(e) || make_index(e))
		return -1;
	take_notes(e);
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
	void *const lists[] = {e->player, e->of, e->notes, e->first, e->start, e->at};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		names_release(names[i]);
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		free(lists[i]);
	*e = (struct evidence){0};
}
