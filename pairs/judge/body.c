// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Keeps what lines say: players, tries, notes and runs. When all are read, drops what is not used,
 * counts what the notes say, and puts the rest in order.
 */
#include "body.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "limits.h"
#include "pairs/grow.h"
#include "proto/json_memory.h"

#define HOST_MAX 253
#define RAIL_MAX 64

void body_init(struct body *b)
{
	*b = (struct body){0};
	names_init(&b->hosts, BODY_PLAYERS_MAX);
	names_init(&b->names, BODY_PLAYERS_MAX);
	names_init(&b->runs, BODY_RUNS_MAX);
	names_init(&b->texts, BODY_TEXTS_MAX);
	names_init(&b->whats, BODY_WHATS_MAX);
}

uint32_t body_player(struct body *b, const char *host, const char *rail)
{
	uint32_t known = b->names.count, at;
	bool railed = rail && *rail;
	char name[HOST_MAX + 1 + RAIL_MAX + 1];
	struct body_player *more;

	/* Nothing in a host's or a device's name that a shell or a table takes otherwise. */
	if (!host || !hosts_is_name(host) ||
	    (railed && (!hosts_is_name(rail) || strlen(rail) > RAIL_MAX)))
		return BODY_NONE;
	more = grow(b->player, known, sizeof(*more));
	if (!more) {
		json_memory_lacked();
		return BODY_NONE;
	}
	b->player = more;
	if (railed)
		snprintf(name, sizeof(name), "%s/%s", host, rail);
	at = names_put(&b->names, railed ? name : host);
	if (at == NAMES_NONE || at < known)
		return at;
	b->player[at] = (struct body_player){.host = names_put(&b->hosts, host)};
	return at;
}

/* Add ONE of SIZE bytes to a list of COUNT, MOST at most. LIST: where its address is. */
static int add(struct body *b, void *list, uint32_t *count, uint32_t most, const void *one,
	       size_t size)
{
	char *of;

	if (*count == most) {
		b->counts.beyond++;
		return 0;
	}
	memcpy(&of, list, sizeof(of));
	of = grow(of, *count, size);
	if (!of) {
		json_memory_lacked();
		return -1;
	}
	memcpy(list, &of, sizeof(of));
	memcpy(of + size * (*count)++, one, size);
	return 0;
}

int body_add(struct body *b, const struct body_try *t)
{
	return add(b, &b->tries, &b->count, BODY_TRIES_MAX, t, sizeof(*t));
}

int body_add_note(struct body *b, const struct body_note *n)
{
	return add(b, &b->notes, &b->notes_n, BODY_NOTES_MAX, n, sizeof(*n));
}

uint32_t body_run(struct body *b, const char *name)
{
	uint32_t known = b->runs.count, at = names_put(&b->runs, name);

	if (at != NAMES_NONE && at == known)
		b->run[at] = (struct body_run){.what = BODY_NO_WHAT};
	return at;
}

/* The numbers of players in the order of their hosts, then of their rails. */
static int by_name(const void *a, const void *b, void *of)
{
	const struct body *body = of;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint32_t host_x = body->player[x].host, host_y = body->player[y].host;

	if (host_x != host_y)
		return strverscmp(body->hosts.text[host_x], body->hosts.text[host_y]);
	return strverscmp(body->names.text[x], body->names.text[y]);
}

/* Mark the players that a try or a note is about in PLACE. Their numbers go to ORDER, by name. */
static uint32_t order_players(struct body *b, uint32_t *place, uint32_t *order)
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < b->count; i++)
		place[b->tries[i].from] = place[b->tries[i].to] = 1;
	for (uint32_t i = 0; i < b->notes_n; i++)
		place[b->notes[i].player] = 1;
	for (uint32_t i = 0; i < b->names.count; i++)
		if (place[i])
			order[used++] = i;
	qsort_r(order, used, sizeof(*order), by_name, b);
	return used;
}

/* Keep those players, and renumber them, in their order. */
static int number_players(struct body *b)
{
	size_t all = (size_t)b->names.count + 1;
	uint32_t *place = calloc(3 * all, sizeof(*place)), used, hosts = 0;
	struct body_player *player = malloc(all * sizeof(*player));
	uint32_t *order, *host;
	int failed = -1;

	if (!place || !player)
		goto out;
	order = place + all;
	host = order + all;
	used = order_players(b, place, order);
	for (uint32_t i = 0; i < used; i++) {
		player[i] = b->player[order[i]];
		if (!hosts || host[hosts - 1] != player[i].host)
			host[hosts++] = player[i].host;
		player[i].host = hosts - 1;
		place[order[i]] = i;
	}
	names_keep(&b->names, order, used);
	names_keep(&b->hosts, host, hosts);
	if (b->names.count < used || b->hosts.count < hosts)
		goto out;
	if (used)
		memcpy(b->player, player, used * sizeof(*player));
	for (uint32_t i = 0; i < b->count; i++) {
		b->tries[i].from = place[b->tries[i].from];
		b->tries[i].to = place[b->tries[i].to];
	}
	failed = 0;
out:
	free(place);
	free(player);
	return failed;
}

/* Sort the tries by FROM, or by TO, keeping the order of equal ones. */
static int sort_tries(struct body *b, bool by_from)
{
	uint32_t *start = calloc((size_t)b->names.count + 1, sizeof(*start));
	struct body_try *to = malloc((b->count + 1) * sizeof(*to));
	int failed = start && to ? 0 : -1;

	for (uint32_t i = 0; i < b->count && !failed; i++)
		start[(by_from ? b->tries[i].from : b->tries[i].to) + 1]++;
	for (uint32_t i = 0; i < b->names.count && !failed; i++)
		start[i + 1] += start[i];
	for (uint32_t i = 0; i < b->count && !failed; i++)
		to[start[by_from ? b->tries[i].from : b->tries[i].to]++] = b->tries[i];
	free(start);
	free(failed ? to : b->tries);
	if (!failed)
		b->tries = to;
	return failed;
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
		t.lacked[0] = b->tries[i].lacked[1];
		t.lacked[1] = b->tries[i].lacked[0];
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

	for (uint32_t i = 0; i < b->count; i++)
		if (!body_is_other(b, b->tries[i].run))
			b->tries[kept++] = b->tries[i];
	for (uint32_t i = 0; i < b->notes_n; i++)
		if (!body_is_other(b, b->notes[i].run))
			b->notes[notes++] = b->notes[i];
	b->counts.other_unit += b->count - kept;
	b->count = kept;
	b->notes_n = notes;
}

/* Count what the note N says of its player. */
static void take_note(struct body *b, const struct body_note *n)
{
	struct body_player *p = &b->player[n->player];
	struct body_run *run = &b->run[n->run];
	bool new;

	switch (n->kind) {
	case BODY_CAME:
		if (n->port_gbps > 0)
			p->port_gbps = n->port_gbps;
		new = p->came_run != n->run + 1u && p->came < UINT16_MAX;
		p->came += new;
		run->came += new;
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
	for (uint32_t i = 0; i < b->notes_n; i++) {
		const struct body_note *n = &b->notes[i];
		const struct body_run *run = &b->run[n->run];
		uint32_t apart = run->played < run->planned;

		if (n->kind == BODY_DONE && n->rounds + apart < run->played)
			b->player[n->player].stopped = true;
	}
	for (uint32_t i = 0; i < b->count; i++) {
		struct body_run *run = &b->run[b->tries[i].run];

		if (b->tries[i].round >= run->seen)
			run->seen = b->tries[i].round + 1u;
	}
	for (uint32_t i = 0; i < b->runs.count; i++) {
		if (body_is_other(b, i))
			b->run[i] = (struct body_run){.what = b->run[i].what};
		if (b->run[i].players > b->expected)
			b->expected = b->run[i].players;
		b->slot_s = fmax(b->slot_s, b->run[i].slot_s);
	}
	if (b->known && b->known->n && b->hosts.count) { /* only lines of these are used */
		uint32_t rails = (b->names.count + b->hosts.count - 1) / b->hosts.count;

		if (b->expected / rails > b->known->n)
			b->expected = (uint32_t)b->known->n * rails;
	}
}

int body_complete(struct body *b)
{
	drop_others(b);
	take_notes(b);
	if (mirror(b) || number_players(b) || sort_tries(b, false) || sort_tries(b, true))
		return -1;
	drop_repeated(b);
	return 0;
}

void body_release(struct body *b)
{
	names_release(&b->hosts);
	names_release(&b->names);
	names_release(&b->runs);
	names_release(&b->texts);
	names_release(&b->whats);
	free(b->player);
	free(b->tries);
	free(b->notes);
	*b = (struct body){0};
}
