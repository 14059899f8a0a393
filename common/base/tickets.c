// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/tickets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/pattern.h"

#define FIRST UINT64_C(0x0123456789ffffc0)

uint64_t tickets_first(uint32_t window)
{
	return FIRST + ((uint64_t)window << 40);
}

static uint64_t read_value(const struct slots *s, unsigned qp, unsigned n)
{
	uint64_t value;

	memcpy(&value, slots_payload(s, qp, n), sizeof(value));
	return value;
}

/* Check that the value of the operation or counter NAME, which IS this, is as it SHOULD be. */
static void check_value(struct slots_tally *t, struct slots_name name, uint64_t is, uint64_t should)
{
	const uint8_t *bytes = (const uint8_t *)&is, *right = (const uint8_t *)&should;
	unsigned byte = 0;

	while (byte < sizeof(is) && bytes[byte] == right[byte])
		byte++;
	if (byte < sizeof(is))
		slots_record(t, &(struct slots_finding){name, byte, bytes[byte], right[byte]});
}

void tickets_begin(const struct slots *counters)
{
	uint64_t first = tickets_first(counters->window);

	for (unsigned qp = 0; qp < counters->qps; qp++)
		memcpy(slots_payload(counters, qp, 0), &first, sizeof(first));
}

/* The value that the counter of QP must have after COUNT operations of each QP. Swaps use a counter
 * per QP; adds of all QPs use that of QP 0, and the others keep their first value. */
static uint64_t expected_counter(const struct slots *counters, unsigned qp, unsigned count,
				 bool swaps)
{
	uint64_t all = swaps ? count : qp == 0 ? (uint64_t)count * counters->qps : 0;

	return tickets_first(counters->window) + all;
}

void tickets_check_counters(const struct slots *counters, unsigned count, bool swaps,
			    struct slots_tally *t)
{
	for (unsigned qp = 0; qp < counters->qps; qp++) {
		t->messages++;
		t->bytes += sizeof(uint64_t);
		check_value(t, slots_name(counters, qp, 0), read_value(counters, qp, 0),
			    expected_counter(counters, qp, count, swaps));
	}
}

static void check_returned(const struct slots *s, struct slots_tally *t, unsigned qp, unsigned n,
			   uint64_t should)
{
	uint64_t is = read_value(s, qp, n), poison;

	pattern_poison(&poison, sizeof(poison), slots_seed(s, qp, n), 0);
	t->lost += is == poison;
	check_value(t, slots_name(s, qp, n), is, should);
}

/* Which of ALL consecutive values an add returned; ALL or more: none of them. */
static uint64_t ticket_of(const struct slots *s, uint64_t i)
{
	return read_value(s, (unsigned)(i / s->count), (unsigned)(i % s->count)) -
	       tickets_first(s->window);
}

/* The adds of all QPs together must have returned each value once, in any order. Returns 0 or
 * -ENOMEM. */
static int check_returned_adds(const struct slots *s, struct slots_tally *t)
{
	uint64_t all = (uint64_t)s->count * s->qps, missing = 0;
	bool *returned = calloc(all, sizeof(*returned));

	if (!returned)
		return -ENOMEM;
	for (uint64_t i = 0; i < all; i++)
		if (ticket_of(s, i) < all)
			returned[ticket_of(s, i)] = true;
	while (missing < all && returned[missing])
		missing++;
	for (uint64_t i = 0; i < all; i++) {
		uint64_t ticket = ticket_of(s, i);

		if (ticket < all && returned[ticket])
			returned[ticket] = false; /* another one with it is wrong */
		else
			check_returned(s, t, (unsigned)(i / s->count), (unsigned)(i % s->count),
				       tickets_first(s->window) + missing);
	}
	free(returned);
	return 0;
}

int tickets_check(const struct slots *returned, bool swaps, struct slots_tally *t)
{
	uint64_t all = (uint64_t)returned->count * returned->qps;

	t->messages += all;
	t->bytes += all * sizeof(uint64_t);
	if (!swaps)
		return check_returned_adds(returned, t);
	/* Swap N of a QP must have returned the Nth value of its counter. */
	for (unsigned qp = 0; qp < returned->qps; qp++)
		for (unsigned n = 0; n < returned->count; n++)
			check_returned(returned, t, qp, n, tickets_first(returned->window) + n);
	return 0;
}
