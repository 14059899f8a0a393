// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What players say of themselves: how far each run came, and which of them were gone before. And
 * the walk over what was tried with one. */
#include <stdlib.h>

#include "evidence.h"

bool walk_next(struct walk *w)
{
	const struct evidence *e = w->e;
	uint32_t sends = e->sends[w->player + 1] - e->sends[w->player];
	uint32_t receives = e->receives[w->player + 1] - e->receives[w->player];
	uint32_t skip = e->latency || w->way != RECEIVES ? 0 : sends;
	uint32_t end = e->latency || w->way != SENDS ? sends + receives : sends;

	for (uint32_t i = w->next > skip ? w->next : skip; i < end; i++) {
		w->is = &e->of[i < sends ? e->sends[w->player] + i
					 : e->by_to[e->receives[w->player] + i - sends]];
		w->with = i < sends ? w->is->to : w->is->from;
		w->next = i + 1;
		if (w->parts >> w->is->part & 1)
			return true;
	}
	return false;
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
	bool came = false, done = false;

	for (; n < end; n++) {
		came |= n->kind == NOTE_CAME;
		if (!(p->port_gbps > 0))
			p->port_gbps = n->port_gbps;
		if (n->kind == NOTE_SERVER) {
			p->no_device |= n->no_device;
			p->server_said = n->text == EVIDENCE_NONE ? p->server_said : n->text;
		}
		if (n->kind != NOTE_DONE || done)
			continue;
		done = true;
		p->missed += n->missed;
		p->slots += n->rounds;
		/* where a signal ended a run, one may have played a round more than another */
		p->ended_early |= n->rounds + (run->played < run->planned) < run->played;
	}
	p->came |= came;
	if (came && !done && run->done && is_gone_from(e, end[-1].player, end[-1].run)) {
		p->ended_early |= !e->counts.broken;
		p->unended |= e->counts.broken > 0;
	}
}

/* How far each run came; then what each player says. */
void evidence_take_notes(struct evidence *e)
{
	for (uint32_t i = 0; i < e->notes_n; i++) {
		const struct note *n = &e->notes[i];
		struct run *run = &e->run[n->run];

		run->came += n->kind == NOTE_CAME;
		run->done += n->kind == NOTE_DONE;
		if (n->kind == NOTE_DONE && n->rounds > run->played)
			run->played = n->rounds;
	}
	for (uint32_t i = 0; i < e->count; i++)
		if (e->of[i].slot >= e->run[e->of[i].run].seen)
			e->run[e->of[i].run].seen = e->of[i].slot + 1u;
	for (uint32_t i = 0; i < e->runs.count; i++) {
		e->slot_s = fmax(e->slot_s, e->run[i].slot_s);
		e->plans += e->run[i].is_plan;
	}
	if (e->notes_n)
		qsort(e->notes, e->notes_n, sizeof(*e->notes), by_player);
	for (uint32_t i = 0, end; i < e->notes_n; i = end) {
		for (end = i + 1; end < e->notes_n && e->notes[end].player == e->notes[i].player &&
				  e->notes[end].run == e->notes[i].run;)
			end++;
		take_notes_of(e, &e->notes[i], &e->notes[end]);
	}
}
