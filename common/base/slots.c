// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/slots.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
	return ((uint64_t)qp * s->per_qp + k) * slots_stride(s);
}

/* s->seen has one entry per message: slots_check() uses it for one QP after the other. */
int slots_init(struct slots *s)
{
	s->head = calloc(s->qps, sizeof(*s->head));
	s->arrived = calloc(s->qps, sizeof(*s->arrived));
	s->seen = calloc(s->count, sizeof(*s->seen));
	return s->head && s->arrived && s->seen ? 0 : -ENOMEM;
}

void slots_release(struct slots *s)
{
	free(s->head);
	free(s->arrived);
	free(s->seen);
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

uint64_t slots_area_bytes(const struct slots *s)
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
			pattern_poison(slots_payload(s, qp, n), slots_area_bytes(s),
				       slots_seed(s, qp, n), 0);
}

uint64_t slots_errors(const struct slots_tally *t, bool unreliable)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < SLOTS_CLASSES; i++)
		if (i != SLOTS_LOST || !unreliable)
			sum += t->wrong[i];
	return sum;
}

void slots_add(struct slots_tally *to, const struct slots_tally *from)
{
	to->messages += from->messages;
	to->bytes += from->bytes;
	for (unsigned i = 0; i < SLOTS_CLASSES; i++)
		to->wrong[i] += from->wrong[i];
	if (!to->found && from->found) {
		to->found = true;
		to->first = from->first;
	}
}

const char *slots_wrong_name(enum slots_wrong wrong)
{
	static const char *const name[] = {"lost",      "stale",     "duplicate",
					   "reordered", "misplaced", "corrupt"};

	return name[wrong];
}
