// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/slots.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/pattern.h"

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
	return ((uint64_t)qp * s->count + k) * slots_stride(s);
}

uint8_t *slots_payload(const struct slots *s, unsigned qp, unsigned k)
{
	return s->data + slots_offset(s, qp, k) + s->before_bytes;
}

int slots_init(struct slots *s)
{
	s->arrived = calloc(s->qps, sizeof(*s->arrived));
	s->number = calloc((size_t)s->qps * s->count, sizeof(*s->number));
	return s->arrived && s->number ? 0 : -ENOMEM;
}

void slots_release(struct slots *s)
{
	free(s->arrived);
	free(s->number);
	memset(s, 0, sizeof(*s));
}

struct slots_name slots_name(const struct slots *s, unsigned qp, unsigned number)
{
	return (struct slots_name){
		.from_server = s->from_server,
		.qp = s->first_qp + qp,
		.number = number,
		.window = s->window,
	};
}

uint64_t slots_seed(const struct slots *s, unsigned qp, unsigned number)
{
	uint64_t in_window = (uint64_t)(s->first_qp + qp) << 32 | number;

	return pattern_seed((uint64_t)s->window << 1 | s->from_server, in_window);
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
	for (unsigned qp = 0; qp < s->qps; qp++) {
		s->arrived[qp] = 0;
		for (unsigned k = 0; k < s->count; k++)
			pattern_poison(slots_payload(s, qp, k), area_bytes(s), slots_seed(s, qp, k),
				       0);
	}
}

void slots_arrived(struct slots *s, unsigned qp, unsigned number)
{
	unsigned k = s->arrived[qp]++;

	if (k < s->count)
		s->number[(size_t)qp * s->count + k] = (uint16_t)(s->unreliable ? number : k);
}

/* A slot, and the seeds of what belongs there. */
struct slot_view {
	const struct slots *s;
	const uint8_t *p;
	uint64_t seed, poison; /* of the message, and of the poison that was there before */
};

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

/* Check slot K of QP, where message NUMBER belongs. CAME: its completion did. */
static void check_slot(const struct slots *s, struct slots_tally *t, unsigned qp, unsigned k,
		       unsigned number, bool came)
{
	struct slot_view view = {s, slots_payload(s, qp, k), slots_seed(s, qp, number),
				 slots_seed(s, qp, k)};
	uint64_t byte = first_wrong_byte(&view);
	uint8_t right[WORD_BYTES], poison[WORD_BYTES];
	bool lost;

	if (came && byte == PATTERN_OK)
		return;
	lost = !came || (s->in_place && find_wrong_byte(&view, 0, true) == PATTERN_OK);
	t->lost += lost;
	if (lost && s->unreliable)
		return;
	if (byte == PATTERN_OK)
		byte = 0;
	fill_expected_word(&view, byte / WORD_BYTES * WORD_BYTES, right, poison);
	slots_record(t, &(struct slots_finding){slots_name(s, qp, number), byte, view.p[byte],
						right[byte % WORD_BYTES]});
}

void slots_check(const struct slots *s, struct slots_tally *t)
{
	uint64_t messages = (uint64_t)s->qps * s->count;

	t->messages += messages;
	t->bytes += messages * s->message_bytes;
	for (unsigned qp = 0; qp < s->qps; qp++)
		for (unsigned k = 0; k < s->count; k++) {
			bool came = s->in_place || k < s->arrived[qp];
			unsigned number = k;

			if (came && !s->in_place)
				number = s->number[(size_t)qp * s->count + k];
			if (number == SLOTS_NO_NUMBER)
				t->lost++; /* one found no receive, since this took it */
			else
				check_slot(s, t, qp, k, number, came);
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
