// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/slots.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ALIGN_BYTES SLOTS_GUARD_BYTES
#define WORD_BYTES  8

uint64_t slots_stride(const struct slots *s)
{
	uint64_t used = s->before_bytes + s->message_bytes + ALIGN_BYTES;

	return (used + ALIGN_BYTES - 1) / ALIGN_BYTES * ALIGN_BYTES;
}

uint64_t slots_bytes(const struct slots *s)
{
	return slots_offset(s, s->qps, 0);
}

uint64_t slots_offset(const struct slots *s, unsigned qp, unsigned k)
{
	return ((uint64_t)qp * s->per_qp + k) * slots_stride(s);
}

int slots_init(struct slots *s)
{
	s->head = calloc(s->qps, sizeof(*s->head));
	s->arrived = calloc(s->qps, sizeof(*s->arrived));
	return s->head && s->arrived ? 0 : -ENOMEM;
}

void slots_release(struct slots *s)
{
	free(s->head);
	free(s->arrived);
	memset(s, 0, sizeof(*s));
}

struct pattern_name slots_name(const struct slots *s, unsigned qp, unsigned number)
{
	return (struct pattern_name){
		.from_server = s->from_server,
		.qp = s->first_qp + qp,
		.number = number,
		.window = s->window,
	};
}

uint64_t slots_seed(const struct slots *s, unsigned qp, unsigned number)
{
	struct pattern_name name = slots_name(s, qp, number);

	return pattern_named_seed(&name);
}

uint8_t *slots_payload(const struct slots *s, unsigned qp, unsigned n)
{
	unsigned k = (s->head[qp] + n) % s->per_qp;

	return s->data + slots_offset(s, qp, k) + s->before_bytes;
}

/* Bytes of a payload and its guard. */
static uint64_t area_bytes(const struct slots *s)
{
	return slots_stride(s) - s->before_bytes;
}

void slots_fill(struct slots *s)
{
	for (unsigned qp = 0; qp < s->qps; qp++)
		for (unsigned k = 0; k < s->count; k++)
			pattern_fill(slots_payload(s, qp, k), s->message_bytes,
				     slots_seed(s, qp, k), 0);
}

void slots_poison(struct slots *s)
{
	for (unsigned qp = 0; qp < s->qps; qp++)
		for (unsigned n = 0; n < s->per_qp; n++)
			pattern_poison(slots_payload(s, qp, n), area_bytes(s), slots_seed(s, qp, n),
				       0);
}

/* A slot, and the seeds of what belongs there. */
struct slot_view {
	const struct slots *s;
	const uint8_t *p;
	struct pattern_name name; /* of the message that belongs there */
	uint64_t seed, poison;    /* of that message, and of the poison that was there before */
};

/* Slot N of QP, where message NUMBER belongs. */
static struct slot_view view_slot(const struct slots *s, unsigned qp, unsigned n, unsigned number)
{
	return (struct slot_view){
		.s = s,
		.p = slots_payload(s, qp, n),
		.name = slots_name(s, qp, number),
		.seed = slots_seed(s, qp, number),
		.poison = slots_seed(s, qp, n),
	};
}

/* Fill RIGHT with the expected word at AT, and POISON with the poison there; in the guard both are
 * equal. */
static void fill_expected_word(const struct slot_view *view, uint64_t at, uint8_t right[WORD_BYTES],
			       uint8_t poison[WORD_BYTES])
{
	pattern_fill(right, WORD_BYTES, view->seed, at);
	pattern_poison(poison, WORD_BYTES, view->poison, at);
	for (uint64_t k = 0; k < WORD_BYTES; k++)
		if (at + k >= view->s->message_bytes)
			right[k] = poison[k];
}

/*
 * Offset of the first wrong byte of payload and guard from FROM on, a multiple of a word, or
 * PATTERN_OK. MAY_LACK: a byte that was not written is not wrong.
 */
static uint64_t find_wrong_byte(const struct slot_view *view, uint64_t from, bool may_lack)
{
	uint8_t right[WORD_BYTES], poison[WORD_BYTES];

	for (uint64_t at = from; at < area_bytes(view->s); at++) {
		unsigned k = at % WORD_BYTES;

		if (k == 0)
			fill_expected_word(view, at, right, poison);
		if (view->p[at] != right[k] && !(may_lack && view->p[at] == poison[k]))
			return at;
	}
	return PATTERN_OK;
}

/* Offset of the first wrong byte of payload and guard, or PATTERN_OK. */
static uint64_t first_wrong_byte(const struct slot_view *view)
{
	uint64_t size = view->s->message_bytes, at = pattern_check(view->p, size, view->seed, 0);

	return at == PATTERN_OK ? find_wrong_byte(view, size / WORD_BYTES * WORD_BYTES, false) : at;
}

void slots_record(struct slots_tally *t, const struct slots_finding *error)
{
	t->errors++;
	if (!t->found)
		t->first = *error;
	t->found = true;
}

/* Count the message that belongs in the slot as LOST, which may be allowed, or as wrong. */
static void record_wrong(struct slots_tally *t, const struct slot_view *view, bool lost)
{
	uint8_t right[WORD_BYTES], poison[WORD_BYTES];
	uint64_t byte = first_wrong_byte(view);

	t->lost += lost;
	if (lost && view->s->unreliable)
		return;
	if (byte == PATTERN_OK)
		byte = 0; /* lost, but in memory: its receive request did not complete */
	fill_expected_word(view, byte / WORD_BYTES * WORD_BYTES, right, poison);
	slots_record(t, &(struct slots_finding){view->name, byte, view->p[byte],
						right[byte % WORD_BYTES]});
}

/* Check the slot; returns false if it is wrong, which is counted. */
static bool check_slot(struct slots_tally *t, const struct slot_view *view)
{
	if (first_wrong_byte(view) == PATTERN_OK)
		return true;
	record_wrong(t, view, find_wrong_byte(view, 0, true) == PATTERN_OK);
	return false;
}

/*
 * The number of messages from NEXT on, at most MISSING, that were lost before the Nth arrival: it
 * begins like the message behind them. 0 if it begins like none.
 */
static unsigned count_skipped(const struct slots *s, unsigned qp, unsigned n, unsigned next,
			      unsigned missing)
{
	uint64_t most = WORD_BYTES - 1; /* bytes that are equal */
	unsigned skipped = 0;

	for (unsigned k = 0; k <= missing && most != PATTERN_OK; k++) {
		struct slot_view view = view_slot(s, qp, n, next + k);
		uint64_t equal = first_wrong_byte(&view);

		if (equal > most) {
			most = equal;
			skipped = k;
		}
	}
	return skipped;
}

/*
 * Check what arrived on QP (SEND). If fewer arrived than were sent, so many may have been lost
 * before each of them; of those that arrived in excess, each stands where another one was expected.
 */
static void check_arrivals(const struct slots *s, struct slots_tally *t, unsigned qp)
{
	unsigned arrived = s->arrived[qp] < s->per_qp ? s->arrived[qp] : s->per_qp, next = 0;
	unsigned missing = arrived < s->count ? s->count - arrived : 0;
	unsigned excess = arrived > s->count ? arrived - s->count : 0;
	struct slot_view view;

	for (unsigned n = 0; n < arrived; n++) {
		unsigned skipped = count_skipped(s, qp, n, next, missing);

		for (missing -= skipped; skipped; skipped--) {
			view = view_slot(s, qp, n, next++);
			record_wrong(t, &view, true);
		}
		view = view_slot(s, qp, n, next);
		if (check_slot(t, &view) || !excess)
			next++;
		else
			excess--;
	}
	for (; next < s->count; next++) {
		view = view_slot(s, qp, arrived++, next);
		record_wrong(t, &view, true);
	}
}

void slots_check(const struct slots *s, struct slots_tally *t)
{
	uint64_t messages = (uint64_t)s->qps * s->count;

	t->messages += messages;
	t->bytes += messages * s->message_bytes;
	for (unsigned qp = 0; qp < s->qps; qp++) {
		if (!s->in_place)
			check_arrivals(s, t, qp);
		for (unsigned k = 0; s->in_place && k < s->count; k++) {
			struct slot_view view = view_slot(s, qp, k, k);

			check_slot(t, &view);
		}
	}
}

void slots_add(struct slots_tally *to, const struct slots_tally *from)
{
	to->messages += from->messages;
	to->bytes += from->bytes;
	to->errors += from->errors;
	to->lost += from->lost;
	if (!to->found && from->found) {
		to->found = true;
		to->first = from->first;
	}
}
