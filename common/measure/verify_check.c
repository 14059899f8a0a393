// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The memory of a verification: what is written before a window, and what must be there after it.
 */
#include <string.h>

#include "base/pattern.h"
#include "measure/verify.h"
#include "plan/test.h"

#define FIRST_WORD UINT64_C(0x0123456789ffffc0) /* counting on carries into the next byte */

uint64_t verify_word(const struct verify *v)
{
	return FIRST_WORD + ((uint64_t)v->window << 40);
}

/* Where this end can read and write the PLACE of QP in its source, or its sink. */
static uint8_t *bytes_at(const struct verify *v, uint64_t area, unsigned qp, unsigned place)
{
	const struct memory *m = &v->t->mem.memory;
	uint64_t offset = area + qp * v->t->mine.stride + verify_offset(v, place) - m->addr;

	return (v->image ? v->image : (uint8_t *)m->host) + offset;
}

/* The place of message NUMBER of QP in the sink; if SENDs have no gap and are in order. */
static unsigned place_of(const struct verify *v, unsigned qp, unsigned number)
{
	return v->in_place ? number : (v->qp[qp].first + number) % v->room;
}

/* Of message NUMBER of QP: its number in the run, and the seed of its pattern. */
static unsigned qp_of_run(const struct verify *v, unsigned qp)
{
	return (v->t->index - v->t->ep->workers) * v->t->qps.count + qp;
}

static uint64_t seed_of(const struct verify *v, bool from_server, unsigned qp, unsigned number)
{
	return pattern_seed((uint64_t)v->window << 1 | from_server,
			    (uint64_t)qp_of_run(v, qp) << 32 | number);
}

void verify_fill(struct verify *v, unsigned qp)
{
	bool server = v->t->ep->server;
	uint64_t bytes = v->round.size_bytes, word = verify_word(v);

	for (unsigned n = 0; n < v->room; n++) {
		unsigned place = place_of(v, qp, n);
		uint8_t *into = bytes_at(v, v->sink, qp, place);

		if (v->sends)
			pattern_fill(bytes_at(v, v->source, qp, n), bytes,
				     seed_of(v, server, qp, n), 0);
		if (!v->arrives)
			continue;
		pattern_poison(into, bytes, seed_of(v, !server, qp, n), 0);
		pattern_fill(into + bytes, PLAN_GUARD_BYTES, ~seed_of(v, !server, qp, place), 0);
	}
	if (v->arrives && v->atomic)
		memcpy(bytes_at(v, v->sink, qp, 0), &word, sizeof(word));
}

/* Count ERROR in a message of QP; the first one is kept. */
static void note_error(struct verify *v, unsigned qp, struct verified_finding error)
{
	v->now.errors++;
	if (v->now.found)
		return;
	error.from_server = !v->t->ep->server;
	error.qp = qp_of_run(v, qp);
	error.window = v->window;
	v->now.first = error;
	v->now.found = true;
}

/* Check PLACE of QP, where message NUMBER is expected. CAME: its completion did. */
static void check_place(struct verify *v, unsigned qp, unsigned place, unsigned number, bool came)
{
	const uint8_t *p = bytes_at(v, v->sink, qp, place);
	uint64_t size = v->round.size_bytes, seed = seed_of(v, !v->t->ep->server, qp, number);
	uint64_t guard_seed = ~seed_of(v, !v->t->ep->server, qp, place);
	uint64_t wrong = pattern_check(p, size, seed, 0);
	uint64_t beyond = pattern_check(p + size, PLAN_GUARD_BYTES, guard_seed, 0);
	bool after = wrong == PATTERN_OK && beyond != PATTERN_OK, lost;
	uint64_t byte = after ? size + beyond : wrong == PATTERN_OK ? 0 : wrong;

	if (came && wrong == PATTERN_OK && !after)
		return;
	lost = !came || (v->in_place && beyond == PATTERN_OK && pattern_lacks(p, size, seed));
	v->now.lost += lost;
	if (!lost || !v->round.unreliable)
		note_error(v, qp,
			   (struct verified_finding){
				   .number = number,
				   .byte = byte,
				   .is = p[byte],
				   .should_be = after ? pattern_byte(guard_seed, beyond)
						      : pattern_byte(seed, byte),
			   });
}

/* What came to QP belongs where it is, and all came. */
static void check_messages(struct verify *v, unsigned qp)
{
	const uint16_t *number = v->qp[qp].number;

	memset(v->seen, 0, sizeof(v->seen));
	for (unsigned n = 0; n < v->room && !v->in_place; n++) {
		unsigned place = place_of(v, qp, n);

		if (number[place] >= v->count || v->seen[number[place]])
			continue;
		v->seen[number[place]] = true;
		check_place(v, qp, place, number[place], true);
	}
	for (unsigned n = 0; n < v->count; n++)
		if (!v->seen[n])
			check_place(v, qp, place_of(v, qp, n), n, v->in_place);
}

/* The word on which the operations of QP, or of all, count has the right value. */
static void check_word(struct verify *v, unsigned qp)
{
	uint64_t all = !v->adds ? v->count : qp ? 0 : (uint64_t)v->count * v->t->qps.count;
	uint64_t should = verify_word(v) + all, is, missing;
	const uint8_t *bytes = (const uint8_t *)&is, *right = (const uint8_t *)&should;
	unsigned byte = 0;

	memcpy(&is, bytes_at(v, v->sink, qp, 0), sizeof(is));
	missing = should - is <= all ? should - is : 0;
	if (is == should)
		return;
	while (bytes[byte] == right[byte])
		byte++;
	v->now.lost += missing;
	note_error(v, qp,
		   (struct verified_finding){
			   .number = v->adds || !missing ? 0 : (unsigned)(all - missing),
			   .byte = byte,
			   .is = bytes[byte],
			   .should_be = right[byte],
		   });
}

int verify_check(struct verify *v)
{
	const struct worker *t = v->t;
	struct gpu *gpu = t->ep->gpu;
	uint64_t messages = (uint64_t)t->qps.count * v->count;

	if (v->image &&
	    (gpu_flush(gpu, t->mem.gpu_mr.data_direct, v->round.fault) ||
	     gpu_copy_out(gpu, v->image, t->mem.memory.addr, t->mem.memory.bytes, v->round.fault)))
		return -1;
	v->now = (struct verified){.messages = messages, .bytes = messages * v->round.size_bytes};
	for (unsigned i = 0; i < t->qps.count; i++)
		if (v->atomic)
			check_word(v, i);
		else
			check_messages(v, i);
	return 0;
}
