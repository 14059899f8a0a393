// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What stands in the slots, beside what should, and what that means. */
#include <string.h>

#include "base/slots.h"

#define WORD_BYTES    8
#define STRANGE_WORDS 64 /* so many are asked whose they are */

/* What stands in one place, beside what should. */
struct look {
	const struct slots *s;
	const uint8_t *p;
	unsigned lane;
	uint64_t seed;   /* of the message that should be there */
	uint64_t poison; /* that was there */
};

static struct look look_at(const struct slots *s, unsigned lane, unsigned n, unsigned number)
{
	return (struct look){
		.s = s,
		.p = slots_payload(s, lane, n),
		.lane = lane,
		.seed = slots_seed(s, lane, number),
		.poison = slots_seed(s, lane, n),
	};
}

/* Offset of the first byte of the guard that is no poison any more, or PATTERN_OK. */
static uint64_t guard_broken(const struct look *l)
{
	uint64_t size = l->s->message_bytes, from = size / WORD_BYTES * WORD_BYTES;
	uint8_t right[3 * SLOTS_GUARD_BYTES];

	pattern_poison(right, slots_area_bytes(l->s) - from, l->poison, from);
	for (uint64_t i = size; i < slots_area_bytes(l->s); i++)
		if (l->p[i] != right[i - from])
			return i;
	return PATTERN_OK;
}

static bool is_right(const struct look *l)
{
	return pattern_check(l->p, l->s->message_bytes, l->seed, 0, NULL) == PATTERN_OK &&
	       guard_broken(l) == PATTERN_OK;
}

/* The whole payload is message NUMBER of the lane. */
static bool holds(const struct look *l, unsigned number)
{
	uint64_t seed = slots_seed(l->s, l->lane, number);

	return pattern_check(l->p, l->s->message_bytes, seed, 0, NULL) == PATTERN_OK;
}

/* All bytes of the payload that are not right are poison. */
static bool only_poison(const struct look *l)
{
	for (uint64_t at = 0; at < l->s->message_bytes; at += WORD_BYTES) {
		uint64_t left = l->s->message_bytes - at;
		uint8_t right[WORD_BYTES], poison[WORD_BYTES];

		pattern_fill(right, sizeof(right), l->seed, at);
		pattern_poison(poison, sizeof(poison), l->poison, at);
		for (uint64_t k = 0; k < WORD_BYTES && k < left; k++)
			if (l->p[at + k] != right[k] && l->p[at + k] != poison[k])
				return false;
	}
	return guard_broken(l) == PATTERN_OK;
}

/* Word I is neither what should be there nor what was. */
static bool is_strange(const struct look *l, uint64_t i)
{
	uint8_t right[WORD_BYTES], poison[WORD_BYTES];
	uint64_t at = i * WORD_BYTES, size = l->s->message_bytes;

	pattern_fill(right, sizeof(right), l->seed, at);
	pattern_poison(poison, sizeof(poison), l->poison, at);
	for (uint64_t k = 0; k < WORD_BYTES; k++)
		if (at + k >= size)
			right[k] = poison[k]; /* the guard's */
	return memcmp(l->p + at, poison, WORD_BYTES) != 0 &&
	       memcmp(l->p + at, right, WORD_BYTES) != 0;
}

static bool is_possible(const struct slots *s, const struct pattern_name *name)
{
	return name->lane < s->all_lanes && name->number < s->count && name->window <= s->window;
}

/* What was found to stand there. */
enum kind {
	NOTHING, /* poison, at least in part */
	SHIFTED, /* this message's bytes, elsewhere */
	NAMED,   /* another message */
	UNKNOWN
};

/* Too short for a word: one of those that it could be. */
static enum kind try_names(const struct look *l, struct pattern_name *name)
{
	const struct slots *s = l->s;

	for (unsigned number = 0; number < s->count; number++) {
		*name = slots_name(s, l->lane, number);
		if (holds(l, number))
			return NAMED;
	}
	for (unsigned back = 1; back <= s->window && back <= STRANGE_WORDS; back++)
		for (unsigned number = 0; number < s->count; number++) {
			*name = slots_name(s, l->lane, number);
			name->window -= back;
			if (pattern_check(l->p, s->message_bytes, pattern_named_seed(name), 0,
					  NULL) == PATTERN_OK)
				return NAMED;
		}
	return UNKNOWN;
}

static enum kind identify(const struct look *l, struct pattern_name *name)
{
	uint64_t words = slots_area_bytes(l->s) / WORD_BYTES, asked = 0;

	if (only_poison(l))
		return NOTHING;
	if (l->s->message_bytes < WORD_BYTES && guard_broken(l) == PATTERN_OK)
		return try_names(l, name);
	for (uint64_t i = 0; i < words && asked < STRANGE_WORDS; i++) {
		if (!is_strange(l, i))
			continue;
		asked++;
		if (pattern_read_index(l->p + i * WORD_BYTES, l->seed) < words)
			return SHIFTED;
		*name = pattern_read_name(l->p + i * WORD_BYTES, i);
		if (is_possible(l->s, name))
			return NAMED;
	}
	return UNKNOWN;
}

/* Where message NUMBER should be, something is WRONG; the first of all is kept. */
static void report(struct slots_tally *t, const struct look *l, unsigned number,
		   enum slots_wrong wrong)
{
	struct slots_finding *f = &t->first;
	uint64_t byte, bytes = l->s->message_bytes;
	uint8_t right[WORD_BYTES];

	t->wrong[wrong]++;
	if (t->found || (wrong == SLOTS_LOST && l->s->lossy))
		return;
	t->found = true;
	byte = pattern_check(l->p, bytes, l->seed, 0, NULL);
	if (byte == PATTERN_OK)
		byte = guard_broken(l);
	if (byte == PATTERN_OK)
		byte = 0;
	pattern_fill(right, sizeof(right), l->seed, byte / WORD_BYTES * WORD_BYTES);
	if (byte >= bytes)
		pattern_poison(right, sizeof(right), l->poison, byte / WORD_BYTES * WORD_BYTES);
	*f = (struct slots_finding){
		.wrong = wrong,
		.name = slots_name(l->s, l->lane, number),
		.byte = byte,
		.is = l->p[byte],
		.should_be = right[byte % WORD_BYTES],
	};
}

/* What stands there is of another lane or window, or of none. */
static enum slots_wrong class_of(const struct look *l, enum kind kind,
				 const struct pattern_name *name)
{
	if (kind == NOTHING)
		return SLOTS_LOST;
	if (kind == UNKNOWN)
		return SLOTS_CORRUPT;
	if (kind == SHIFTED || name->lane != l->s->first_lane + l->lane ||
	    name->from_server != l->s->from_server)
		return SLOTS_MISPLACED;
	return name->window == l->s->window ? SLOTS_CORRUPT : SLOTS_STALE;
}

static bool is_of_lane(const struct look *l, enum kind kind, const struct pattern_name *name)
{
	return kind == NAMED && name->window == l->s->window &&
	       name->lane == l->s->first_lane + l->lane && name->from_server == l->s->from_server;
}

/* A WRITE's own place. */
static void judge_place(const struct slots *s, struct slots_tally *t, unsigned lane, unsigned k)
{
	struct look l = look_at(s, lane, k, k), other;
	struct pattern_name name = {0};
	enum slots_wrong wrong;
	enum kind kind;

	if (is_right(&l))
		return;
	kind = identify(&l, &name);
	wrong = class_of(&l, kind, &name);
	if (is_of_lane(&l, kind, &name) && name.number != k && holds(&l, name.number)) {
		other = look_at(s, lane, name.number, name.number);
		wrong = is_right(&other)   ? SLOTS_DUPLICATE
			: holds(&other, k) ? SLOTS_REORDERED
					   : SLOTS_MISPLACED;
	}
	report(t, &l, k, wrong);
}

/* Message NUMBER is elsewhere, and where it belongs nothing was written. */
static bool place_is_empty(const struct slots *s, unsigned lane, unsigned number)
{
	struct look own = look_at(s, lane, number, number);
	struct pattern_name name;

	return number < s->arrived[lane] && !is_right(&own) && identify(&own, &name) == NOTHING;
}

/* The Nth arrival of L's lane is message NUMBER, in part. */
static void report_corrupt(struct slots_tally *t, const struct look *l, unsigned n, unsigned number)
{
	struct look own = look_at(l->s, l->lane, n, number);

	report(t, &own, number, SLOTS_CORRUPT);
}

/*
 * The Nth arrival of a lane, where message *NEXT is due. Returns whether it is not known which one
 * it was to be.
 */
static bool judge_arrival(const struct slots *s, struct slots_tally *t, unsigned lane, unsigned n,
			  unsigned *next)
{
	struct look l = look_at(s, lane, n, *next);
	struct pattern_name name = {0};
	unsigned number = *next;
	enum kind kind;

	if (*next < s->count && is_right(&l)) {
		s->seen[(*next)++] = true;
		return false;
	}
	kind = identify(&l, &name);
	if (!is_of_lane(&l, kind, &name)) {
		report(t, &l, number, class_of(&l, kind, &name));
		return true;
	}
	if (s->seen[name.number])
		report(t, &l, number, SLOTS_DUPLICATE);
	else if (!holds(&l, name.number))
		report_corrupt(t, &l, n, name.number);
	else if (name.number < *next)
		report(t, &l, number, SLOTS_REORDERED);
	else if (name.number != n && place_is_empty(s, lane, name.number))
		report(t, &l, number, SLOTS_MISPLACED);
	s->seen[name.number] = true;
	if (name.number >= *next) /* those between are late, or lost */
		*next = name.number + 1;
	return false;
}

static void judge_arrivals(const struct slots *s, struct slots_tally *t, unsigned lane)
{
	unsigned next = 0, unknown = 0;

	memset(s->seen, 0, s->count * sizeof(*s->seen));
	for (unsigned n = 0; n < s->arrived[lane] && n < s->per_lane; n++)
		unknown += judge_arrival(s, t, lane, n, &next);
	/* Those that did not come, but for as many as came in a form that hides which they are. */
	for (unsigned n = 0; n < s->count; n++) {
		struct look l = look_at(s, lane, n, n);

		if (!s->seen[n] && unknown)
			unknown--;
		else if (!s->seen[n])
			report(t, &l, n, SLOTS_LOST);
	}
}

void slots_check(const struct slots *s, struct slots_tally *t)
{
	uint64_t messages = (uint64_t)s->lanes * s->count;

	t->messages += messages;
	t->bytes += messages * s->message_bytes;
	for (unsigned lane = 0; lane < s->lanes; lane++) {
		if (!s->in_place)
			judge_arrivals(s, t, lane);
		for (unsigned k = 0; s->in_place && k < s->count; k++)
			judge_place(s, t, lane, k);
	}
}

bool slots_are_right(const struct slots *s)
{
	struct slots_tally t = {0};

	slots_check(s, &t);
	for (unsigned i = 0; i < SLOTS_CLASSES; i++)
		if (t.wrong[i])
			return false;
	return true;
}
