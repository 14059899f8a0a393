// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Compares the content of each slot with the message that belongs there, and classifies what is
 * wrong. */
#include <string.h>

#include "base/slots.h"

#define WORD_BYTES    8
#define UNEXPECTED_WORDS_MAX 64 /* maximum number of positions that identify_content() tries */

/* A slot, and the seeds of what belongs there. */
struct slot_view {
	const struct slots *s;
	const uint8_t *p;
	unsigned qp;
	uint64_t seed;   /* of the message that belongs there */
	uint64_t poison; /* seed of the poison that was there before */
};

/* Slot N of QP, where message NUMBER belongs. */
static struct slot_view view_slot(const struct slots *s, unsigned qp, unsigned n, unsigned number)
{
	return (struct slot_view){
		.s = s,
		.p = slots_payload(s, qp, n),
		.qp = qp,
		.seed = slots_seed(s, qp, number),
		.poison = slots_seed(s, qp, n),
	};
}

/* Offset of the first byte of the guard that was overwritten, or PATTERN_OK. */
static uint64_t find_broken_guard(const struct slot_view *view)
{
	uint64_t size = view->s->message_bytes, from = size / WORD_BYTES * WORD_BYTES;
	uint8_t right[3 * SLOTS_GUARD_BYTES];

	pattern_poison(right, slots_area_bytes(view->s) - from, view->poison, from);
	for (uint64_t i = size; i < slots_area_bytes(view->s); i++)
		if (view->p[i] != right[i - from])
			return i;
	return PATTERN_OK;
}

/* Offset of the first wrong byte of payload and guard, or PATTERN_OK. */
static uint64_t first_wrong_byte(const struct slot_view *view)
{
	uint64_t at = pattern_check(view->p, view->s->message_bytes, view->seed, 0);

	return at == PATTERN_OK ? find_broken_guard(view) : at;
}

static bool is_right(const struct slot_view *view)
{
	return first_wrong_byte(view) == PATTERN_OK;
}

/* True if the whole payload is that of message NAME. */
static bool holds_pattern(const struct slot_view *view, struct pattern_name name)
{
	return pattern_check(view->p, view->s->message_bytes, pattern_named_seed(&name), 0) ==
	       PATTERN_OK;
}

/* Fill RIGHT with the expected word I and POISON with the poison there; in the guard both are
 * equal. */
static void fill_expected_word(const struct slot_view *view, uint64_t i, uint8_t right[WORD_BYTES],
			       uint8_t poison[WORD_BYTES])
{
	uint64_t at = i * WORD_BYTES;

	pattern_fill(right, WORD_BYTES, view->seed, at);
	pattern_poison(poison, WORD_BYTES, view->poison, at);
	for (uint64_t k = 0; k < WORD_BYTES; k++)
		if (at + k >= view->s->message_bytes)
			right[k] = poison[k];
}

/* True if all wrong bytes are poison. */
static bool is_partly_poison(const struct slot_view *view)
{
	uint8_t right[WORD_BYTES], poison[WORD_BYTES];

	for (uint64_t at = 0; at < slots_area_bytes(view->s); at++) {
		if (at % WORD_BYTES == 0)
			fill_expected_word(view, at / WORD_BYTES, right, poison);
		if (view->p[at] != right[at % WORD_BYTES] && view->p[at] != poison[at % WORD_BYTES])
			return false;
	}
	return true;
}

/* True if word I is neither the expected word nor the poison. */
static bool is_unexpected_word(const struct slot_view *view, uint64_t i)
{
	uint8_t right[WORD_BYTES], poison[WORD_BYTES];

	fill_expected_word(view, i, right, poison);
	return memcmp(view->p + i * WORD_BYTES, poison, WORD_BYTES) != 0 &&
	       memcmp(view->p + i * WORD_BYTES, right, WORD_BYTES) != 0;
}

/* True if NAME, read from memory, may be a message of this window or an earlier one. */
static bool is_plausible_name(const struct slots *s, const struct pattern_name *name)
{
	return name->qp < s->all_qps && name->number < s->count && name->window <= s->window;
}

/* The content of a wrong slot. */
enum content {
	CONTENT_POISON,  /* at least in part; all else is right */
	CONTENT_SHIFTED, /* bytes of this message at another position */
	CONTENT_OTHER_MESSAGE,
	CONTENT_UNKNOWN
};

/* The message is shorter than the word that tells its name: try the names of this QP, this window's
 * first. */
static enum content guess_short_message(const struct slot_view *view, struct pattern_name *name)
{
	const struct slots *s = view->s;

	for (unsigned back = 0; back <= s->window && back <= UNEXPECTED_WORDS_MAX; back++)
		for (unsigned number = 0; number < s->count; number++) {
			*name = slots_name(s, view->qp, number);
			name->window -= back;
			if (holds_pattern(view, *name))
				return CONTENT_OTHER_MESSAGE;
		}
	return CONTENT_UNKNOWN;
}

/* Find out what a wrong slot holds; NAME is filled in for CONTENT_OTHER_MESSAGE. */
static enum content identify_content(const struct slot_view *view, struct pattern_name *name)
{
	uint64_t words = slots_area_bytes(view->s) / WORD_BYTES, tried = 0;

	if (is_partly_poison(view))
		return CONTENT_POISON;
	if (view->s->message_bytes < WORD_BYTES && find_broken_guard(view) == PATTERN_OK)
		return guess_short_message(view, name);
	for (uint64_t i = 0; i < words && tried < UNEXPECTED_WORDS_MAX; i++) {
		if (!is_unexpected_word(view, i))
			continue;
		tried++;
		if (pattern_read_index(view->p + i * WORD_BYTES, view->seed) < words)
			return CONTENT_SHIFTED;
		*name = pattern_read_name(view->p + i * WORD_BYTES, i);
		if (is_plausible_name(view->s, name))
			return CONTENT_OTHER_MESSAGE;
	}
	return CONTENT_UNKNOWN;
}

/*
 * Count WRONG for the slot where message NUMBER belongs (s->count: a message more than were sent).
 * The first finding is kept with its first wrong byte, unless it is a loss that the transport
 * permits.
 */
static void record_wrong(struct slots_tally *t, const struct slot_view *view, unsigned number,
			 enum slots_wrong wrong)
{
	uint8_t right[WORD_BYTES], poison[WORD_BYTES];
	uint64_t byte;

	t->wrong[wrong]++;
	if (t->found || (wrong == SLOTS_LOST && view->s->unreliable))
		return;
	byte = first_wrong_byte(view);
	if (byte == PATTERN_OK)
		byte = 0; /* lost, but in memory: its receive request did not complete */
	fill_expected_word(view, byte / WORD_BYTES, right, poison);
	t->found = true;
	t->first = (struct slots_finding){
		.wrong = wrong,
		.name = slots_name(view->s, view->qp, number),
		.byte = byte,
		.is = view->p[byte],
		.should_be = right[byte % WORD_BYTES],
	};
}

/* The class of a slot whose content is not a message of this QP and window, or is damaged. */
static enum slots_wrong slot_class(const struct slot_view *view, enum content content,
				   const struct pattern_name *name)
{
	if (content == CONTENT_POISON)
		return SLOTS_LOST;
	if (content == CONTENT_UNKNOWN)
		return SLOTS_CORRUPT;
	if (content == CONTENT_SHIFTED || name->qp != view->s->first_qp + view->qp ||
	    name->from_server != view->s->from_server)
		return SLOTS_MISPLACED;
	return name->window == view->s->window ? SLOTS_CORRUPT : SLOTS_STALE;
}

/* True if the content is a message of this QP and window. */
static bool is_message_of_qp(const struct slot_view *view, enum content content,
			     const struct pattern_name *name)
{
	return content == CONTENT_OTHER_MESSAGE && name->window == view->s->window &&
	       name->qp == view->s->first_qp + view->qp &&
	       name->from_server == view->s->from_server;
}

/* Check slot K of QP if each message has its own slot (WRITE). */
static void judge_in_place(const struct slots *s, struct slots_tally *t, unsigned qp, unsigned k)
{
	struct slot_view view = view_slot(s, qp, k, k), other;
	struct pattern_name name = {0};
	enum slots_wrong wrong;
	enum content content;

	if (is_right(&view))
		return;
	content = identify_content(&view, &name);
	wrong = slot_class(&view, content, &name);
	if (is_message_of_qp(&view, content, &name) && name.number != k &&
	    holds_pattern(&view, name)) {
		other = view_slot(s, qp, name.number, name.number);
		wrong = is_right(&other)                              ? SLOTS_DUPLICATE
			: holds_pattern(&other, slots_name(s, qp, k)) ? SLOTS_REORDERED
								      : SLOTS_MISPLACED;
	}
	record_wrong(t, &view, k, wrong);
}

/*
 * Message NUMBER is in another slot. True if its own slot was not written, although as many
 * messages arrived.
 */
static bool place_is_empty(const struct slots *s, unsigned qp, unsigned number)
{
	struct slot_view own = view_slot(s, qp, number, number);
	struct pattern_name name;

	return number < s->arrived[qp] && !is_right(&own) &&
	       identify_content(&own, &name) == CONTENT_POISON;
}

/*
 * Judge the Nth arrival of a QP, where message *NEXT is expected, and advance *NEXT. Returns true
 * if the slot does not tell which message it was meant to be.
 */
static bool judge_arrival(const struct slots *s, struct slots_tally *t, unsigned qp, unsigned n,
			  unsigned *next)
{
	struct slot_view view = view_slot(s, qp, n, *next), own;
	struct pattern_name name = {0};
	unsigned number = *next;
	enum content content;

	if (*next < s->count && is_right(&view)) {
		s->seen[(*next)++] = true;
		return false;
	}
	content = identify_content(&view, &name);
	if (!is_message_of_qp(&view, content, &name)) {
		record_wrong(t, &view, number, slot_class(&view, content, &name));
		return true;
	}
	own = view_slot(s, qp, n, name.number);
	if (s->seen[name.number])
		record_wrong(t, &view, number, SLOTS_DUPLICATE);
	else if (!holds_pattern(&view, name)) /* damaged, but some words name it */
		record_wrong(t, &own, name.number, SLOTS_CORRUPT);
	else if (name.number < *next)
		record_wrong(t, &view, number, SLOTS_REORDERED);
	else if (name.number != n && place_is_empty(s, qp, name.number))
		record_wrong(t, &view, number, SLOTS_MISPLACED);
	s->seen[name.number] = true;
	if (name.number >= *next) /* those in between are late or lost */
		*next = name.number + 1;
	return false;
}

/* Judge all that arrived on QP (SEND): which messages came, in which order, and which are lost. */
static void judge_arrivals(const struct slots *s, struct slots_tally *t, unsigned qp)
{
	unsigned next = 0, unknown = 0;

	memset(s->seen, 0, s->count * sizeof(*s->seen));
	for (unsigned n = 0; n < s->arrived[qp] && n < s->per_qp; n++)
		unknown += judge_arrival(s, t, qp, n, &next);
	/*
	 * Messages that were not identified are lost, except for those that arrived damaged beyond
	 * identification.
	 */
	for (unsigned n = 0; n < s->count; n++) {
		struct slot_view view = view_slot(s, qp, n, n);

		if (!s->seen[n] && unknown)
			unknown--;
		else if (!s->seen[n])
			record_wrong(t, &view, n, SLOTS_LOST);
	}
}

void slots_check(const struct slots *s, struct slots_tally *t)
{
	uint64_t messages = (uint64_t)s->qps * s->count;

	t->messages += messages;
	t->bytes += messages * s->message_bytes;
	for (unsigned qp = 0; qp < s->qps; qp++) {
		if (!s->in_place)
			judge_arrivals(s, t, qp);
		for (unsigned k = 0; s->in_place && k < s->count; k++)
			judge_in_place(s, t, qp, k);
	}
}

bool slots_are_right(const struct slots *s)
{
	struct slots_tally t = {0};

	slots_check(s, &t);
	return slots_errors(&t, false) == 0;
}
