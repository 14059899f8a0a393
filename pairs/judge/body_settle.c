// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Drops what is not used of a body, counts what its notes say, and puts the rest in order. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "body.h"

/* The numbers of players in the order of their names; one body at a time is put in order. */
static int by_name(const void *a, const void *b, void *of)
{
	const struct body *body = of;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint32_t host_x = body->player[x].host, host_y = body->player[y].host;

	if (host_x != host_y)
		return strverscmp(body->hosts.text[host_x], body->hosts.text[host_y]);
	return strverscmp(body->names.text[x], body->names.text[y]);
}

/*
 * Keep the COUNT players of ORDER, and their hosts, in this order. PLACE, of each player's old
 * number: its new one.
 */
static int renumber(struct body *b, const uint32_t *order, uint32_t count, uint32_t *place)
{
	struct body_player *player = calloc((size_t)count + 1, sizeof(*player));
	struct names names, hosts;
	int failed = player ? 0 : -1;

	names_init(&names, b->names.limit);
	names_init(&hosts, b->hosts.limit);
	for (uint32_t i = 0; i < count && !failed; i++) {
		const char *name = b->names.text[order[i]];
		const char *host = b->hosts.text[b->player[order[i]].host];

		place[order[i]] = i;
		player[i] = b->player[order[i]];
		player[i].host = names_put(&hosts, host);
		if (names_put(&names, name) != i || player[i].host == NAMES_NONE)
			failed = -1;
	}
	if (failed) {
		free(player);
		names_release(&names);
		names_release(&hosts);
		return -1;
	}
	free(b->player);
	b->player = player;
	names_release(&b->names);
	names_release(&b->hosts);
	b->names = names;
	b->hosts = hosts;
	return 0;
}

/* Sort the tries by TO or FROM, keeping the order of equal ones, into a new array. */
static struct body_try *sort_tries(const struct body *b, bool by_from)
{
	uint32_t *start = calloc((size_t)b->names.count + 1, sizeof(*start));
	struct body_try *to = malloc((b->count + 1) * sizeof(*to));

	if (!start || !to) {
		free(start);
		free(to);
		return NULL;
	}
	for (uint32_t i = 0; i < b->count; i++)
		start[(by_from ? b->tries[i].from : b->tries[i].to) + 1]++;
	for (uint32_t i = 0; i < b->names.count; i++)
		start[i + 1] += start[i];
	for (uint32_t i = 0; i < b->count; i++)
		to[start[by_from ? b->tries[i].from : b->tries[i].to]++] = b->tries[i];
	free(start);
	return to;
}

/* True if A and B, next to each other in the sorted list, are the same line twice. */
static bool is_repeated(const struct body_try *a, const struct body_try *b)
{
	return a->from == b->from && a->to == b->to && a->run == b->run && a->round == b->round &&
	       a->cause == b->cause && a->mirrored == b->mirrored &&
	       a->client_is_from == b->client_is_from &&
	       (a->value == b->value || a->value != a->value);
}

static void drop_repeated(struct body *b)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < b->count; i++) {
		bool again = false;

		for (uint32_t back = kept; back && kept - back < 4 && !again; back--)
			again = is_repeated(&b->tries[back - 1], &b->tries[i]);
		if (again)
			b->counts.repeated += !b->tries[i].mirrored;
		else
			b->tries[kept++] = b->tries[i];
	}
	b->count = kept;
}

/* True if a client has a line of the same run and round as T, one of the tries FIRST to END. */
static bool has_line(const struct body_try *first, const struct body_try *end,
		     const struct body_try *t)
{
	for (; first < end; first++)
		if (first->cause != BODY_ABSENT && first->run == t->run && first->round == t->round)
			return true;
	return false;
}

/* Drop what a server says of a client that has written a line of its own. */
static void drop_answered(struct body *b)
{
	struct body_try *t = b->tries;
	uint32_t kept = 0;

	for (uint32_t first = 0, end; first < b->count; first = end) {
		for (end = first;
		     end < b->count && t[end].from == t[first].from && t[end].to == t[first].to;)
			end++;
		for (uint32_t i = first; i < end; i++)
			if (t[i].cause != BODY_ABSENT || !has_line(t + first, t + end, &t[i]))
				t[kept++] = t[i];
	}
	b->count = kept;
}

/* Add a try in the other direction of each latency. */
static int mirror(struct body *b)
{
	uint32_t count = b->count;

	for (uint32_t i = 0; i < count && b->latency; i++) {
		struct body_try t = b->tries[i];

		t.from = b->tries[i].to;
		t.to = b->tries[i].from;
		t.client_is_from = !t.client_is_from;
		t.blame = t.blame ? 3 - t.blame : 0;
		t.mirrored = true;
		if (body_add(b, &t))
			return -1;
	}
	return 0;
}

/* Drop the tries and notes of other runs. */
static void drop_others(struct body *b)
{
	uint32_t kept = 0, notes = 0;

	for (uint32_t i = 0; i < b->count; i++) {
		if (body_is_other(b, b->tries[i].run))
			b->counts.other_unit++;
		else
			b->tries[kept++] = b->tries[i];
	}
	for (uint32_t i = 0; i < b->notes_n; i++)
		if (!body_is_other(b, b->notes[i].run))
			b->notes[notes++] = b->notes[i];
	b->count = kept;
	b->notes_n = notes;
}

/* Count what the note N says of its player. */
static void take_note(struct body *b, const struct body_note *n)
{
	struct body_player *p = &b->player[n->player];
	struct body_run *run = &b->run[n->run];
	bool again;

	switch (n->kind) {
	case BODY_CAME:
		if (n->port_gbps > 0)
			p->port_gbps = n->port_gbps;
		again = p->came_run == n->run + 1u || p->came == UINT16_MAX;
		p->came += !again;
		run->came += !again;
		p->came_run = n->run + 1u;
		b->counts.players++;
		return;
	case BODY_DONE:
		b->counts.done++;
		if (p->done_run == n->run + 1u || p->done == UINT16_MAX)
			return;
		p->done++;
		run->done++;
		p->done_run = n->run + 1u;
		p->missed += n->missed;
		p->rounds += n->rounds;
		if (n->rounds > run->played)
			run->played = n->rounds;
		return;
	case BODY_SERVER:
		p->no_device |= n->no_device;
		if (n->text != BODY_NONE && !p->server_said)
			p->server_said = n->text + 1;
		return;
	}
}

/*
 * Count the notes. Find how far each run came, and who ended before: where a signal ended a run,
 * one player may have played a round more than another.
 */
static void take_notes(struct body *b)
{
	for (uint32_t i = 0; i < b->notes_n; i++)
		take_note(b, &b->notes[i]);
	for (uint32_t i = 0; i < b->count; i++) {
		struct body_run *run = &b->run[b->tries[i].run];

		if (b->tries[i].round >= run->seen)
			run->seen = b->tries[i].round + 1u;
	}
	for (uint32_t i = 0; i < b->notes_n; i++) {
		const struct body_note *n = &b->notes[i];
		const struct body_run *run = &b->run[n->run];
		uint32_t apart = run->played < run->planned;

		if (n->kind == BODY_DONE && n->rounds + apart < run->played)
			b->player[n->player].stopped = true;
	}
	for (uint32_t i = 0; i < b->runs.count; i++) {
		if (body_is_other(b, i))
			b->run[i] = (struct body_run){.what = b->run[i].what};
		if (b->run[i].players > b->expected)
			b->expected = b->run[i].players;
		b->slot_s = fmax(b->slot_s, b->run[i].slot_s);
	}
}

/* Fill ORDER with the players that a try or a note is about. Returns how many there are. */
static uint32_t used_players(const struct body *b, uint32_t *order)
{
	uint32_t n = 0;

	memset(order, 0, b->names.count * sizeof(*order));
	for (uint32_t i = 0; i < b->count; i++)
		order[b->tries[i].from] = order[b->tries[i].to] = 1;
	for (uint32_t i = 0; i < b->notes_n; i++)
		order[b->notes[i].player] = 1;
	for (uint32_t i = 0; i < b->names.count; i++)
		if (order[i])
			order[n++] = i;
	return n;
}

int body_settle(struct body *b)
{
	uint32_t *order = malloc(((size_t)b->names.count + 1) * sizeof(*order));
	uint32_t *place = malloc(((size_t)b->names.count + 1) * sizeof(*place));
	int failed = order && place ? 0 : -1;

	drop_others(b);
	take_notes(b);
	failed = failed || mirror(b) ? -1 : 0;
	if (!failed) {
		uint32_t used = used_players(b, order);

		qsort_r(order, used, sizeof(*order), by_name, b);
		failed = renumber(b, order, used, place);
	}
	for (uint32_t i = 0; i < b->count && !failed; i++) {
		b->tries[i].from = place[b->tries[i].from];
		b->tries[i].to = place[b->tries[i].to];
	}
	for (int by_from = 0; by_from < 2 && !failed; by_from++) {
		struct body_try *sorted = sort_tries(b, by_from);

		failed = sorted ? 0 : -1;
		if (sorted) {
			free(b->tries);
			b->tries = sorted;
		}
	}
	if (!failed) {
		drop_repeated(b);
		drop_answered(b);
	}
	free(order);
	free(place);
	return failed;
}
