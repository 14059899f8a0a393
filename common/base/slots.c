// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/slots.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/pattern.h"

#define ALIGN_BYTES SLOTS_GUARD_BYTES

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
	s->seen = calloc(s->count, sizeof(*s->seen));
	return s->arrived && s->number && s->seen ? 0 : -ENOMEM;
}

void slots_release(struct slots *s)
{
	free(s->arrived);
	free(s->number);
	free(s->seen);
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

/* After a payload: its guard, and the pattern that it has. */
static uint64_t guard_bytes(const struct slots *s)
{
	return slots_stride(s) - s->before_bytes - s->message_bytes;
}

static uint64_t guard_seed(const struct slots *s, unsigned qp, unsigned k)
{
	return ~slots_seed(s, qp, k);
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
		for (unsigned k = 0; k < s->count; k++) {
			uint8_t *p = slots_payload(s, qp, k);

			pattern_poison(p, s->message_bytes, slots_seed(s, qp, k), 0);
			pattern_fill(p + s->message_bytes, guard_bytes(s), guard_seed(s, qp, k), 0);
		}
	}
}

void slots_arrived(struct slots *s, unsigned qp, unsigned number)
{
	unsigned k = s->arrived[qp]++;

	if (k < s->count)
		s->number[(size_t)qp * s->count + k] = (uint16_t)(s->numbered ? number : k);
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
	const uint8_t *p = slots_payload(s, qp, k);
	uint64_t size = s->message_bytes, seed = slots_seed(s, qp, number);
	uint64_t wrong = pattern_check(p, size, seed, 0);
	uint64_t beyond = pattern_check(p + size, guard_bytes(s), guard_seed(s, qp, k), 0);
	struct slots_finding error = {.name = slots_name(s, qp, number)};
	bool lost;

	if (came && wrong == PATTERN_OK && beyond == PATTERN_OK)
		return;
	lost = !came || (s->in_place && beyond == PATTERN_OK && pattern_lacks(p, size, seed));
	t->lost += lost;
	if (lost && s->unreliable)
		return;
	if (wrong == PATTERN_OK && beyond != PATTERN_OK) {
		error.byte = size + beyond;
		error.should_be = pattern_byte(guard_seed(s, qp, k), beyond);
	} else {
		error.byte = wrong == PATTERN_OK ? 0 : wrong;
		error.should_be = pattern_byte(seed, error.byte);
	}
	error.is = p[error.byte];
	slots_record(t, &error);
}

/*
 * Where none may be lost each number comes once. A slot with one that came before, or is not
 * of the window, is that of a missing one, and so is a slot in which nothing came.
 */
static void find_missing(const struct slots *s, unsigned qp)
{
	uint16_t *number = s->number + (size_t)qp * s->count;
	unsigned missing = 0;

	memset(s->seen, 0, s->count * sizeof(*s->seen));
	for (unsigned k = 0; k < s->count; k++)
		if (k < s->arrived[qp] && number[k] < s->count && !s->seen[number[k]])
			s->seen[number[k]] = true;
		else
			number[k] = SLOTS_NO_NUMBER;
	for (unsigned k = 0; k < s->count; k++) {
		if (number[k] != SLOTS_NO_NUMBER)
			continue;
		while (s->seen[missing])
			missing++;
		number[k] = (uint16_t)missing++;
	}
}

void slots_check(const struct slots *s, struct slots_tally *t)
{
	uint64_t messages = (uint64_t)s->qps * s->count;

	t->messages += messages;
	t->bytes += messages * s->message_bytes;
	for (unsigned qp = 0; qp < s->qps; qp++) {
		bool once = s->numbered && !s->unreliable && !s->in_place;

		if (once)
			find_missing(s, qp);
		for (unsigned k = 0; k < s->count; k++) {
			bool came = s->in_place || k < s->arrived[qp];
			unsigned number = k;

			if (once || (came && !s->in_place))
				number = s->number[(size_t)qp * s->count + k];
			if (number == SLOTS_NO_NUMBER)
				t->lost++; /* one found no receive, since this took it */
			else
				check_slot(s, t, qp, k, number, came);
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
