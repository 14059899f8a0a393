// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/tickets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

/* Count WRONG for the operation or counter NAME, whose value is IS and not SHOULD. The first
 * finding is kept with the first byte that differs. */
static void record_wrong_value(struct slots_tally *t, enum slots_wrong wrong,
			       struct pattern_name name, uint64_t is, uint64_t should)
{
	const uint8_t *bytes = (const uint8_t *)&is, *right = (const uint8_t *)&should;
	unsigned byte = 0;

	t->wrong[wrong]++;
	if (t->found)
		return;
	while (byte < sizeof(is) - 1 && bytes[byte] == right[byte])
		byte++;
	t->found = true;
	t->first = (struct slots_finding){wrong, name, byte, bytes[byte], right[byte]};
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

bool tickets_are_right(const struct slots *counters, unsigned count, bool swaps)
{
	for (unsigned qp = 0; qp < counters->qps; qp++)
		if (read_value(counters, qp, 0) != expected_counter(counters, qp, count, swaps))
			return false;
	return true;
}

void tickets_check_counters(const struct slots *counters, unsigned count, bool swaps,
			    struct slots_tally *t)
{
	uint64_t first = tickets_first(counters->window), all = (uint64_t)count * counters->qps;

	for (unsigned qp = 0; qp < counters->qps; qp++) {
		uint64_t is = read_value(counters, qp, 0);
		uint64_t should = expected_counter(counters, qp, count, swaps);

		t->messages++;
		t->bytes += sizeof(is);
		if (is != should)
			record_wrong_value(t,
					   is - first < should - first ? SLOTS_LOST
					   : is - should <= all        ? SLOTS_DUPLICATE
								       : SLOTS_CORRUPT,
					   slots_name(counters, qp, 0), is, should);
	}
}

/* The class of a VALUE that no operation of this window can have returned. */
static enum slots_wrong classify_value(const struct slots *s, unsigned qp, unsigned n,
				       uint64_t value)
{
	uint64_t all = (uint64_t)s->count * s->qps, poison;

	pattern_poison(&poison, sizeof(poison), slots_seed(s, qp, n), 0);
	if (value == poison)
		return SLOTS_LOST;
	return value - tickets_first(s->window - 1) <= all ? SLOTS_STALE : SLOTS_CORRUPT;
}

/* Swap N of a QP must have returned the Nth value of its counter. */
static void check_returned_swaps(const struct slots *s, struct slots_tally *t)
{
	uint64_t first = tickets_first(s->window);

	for (unsigned qp = 0; qp < s->qps; qp++)
		for (unsigned n = 0; n < s->count; n++) {
			uint64_t is = read_value(s, qp, n), should = first + n;

			if (is != should)
				record_wrong_value(t,
						   is - first < n ? SLOTS_REORDERED
						   : is - first <= s->count
							   ? SLOTS_DUPLICATE
							   : classify_value(s, qp, n, is),
						   slots_name(s, qp, n), is, should);
		}
}

/* The adds of all QPs together must have returned each value once, in any order. Returns 0 or
 * -ENOMEM. */
static int check_returned_adds(const struct slots *s, struct slots_tally *t)
{
	uint64_t first = tickets_first(s->window), all = (uint64_t)s->count * s->qps;
	uint64_t missing = 0;
	uint32_t *times = calloc(all, sizeof(*times)); /* each value was returned */

	if (!times)
		return -ENOMEM;
	for (uint64_t i = 0; i < all; i++) {
		unsigned qp = (unsigned)(i / s->count), n = (unsigned)(i % s->count);
		uint64_t ticket = read_value(s, qp, n) - first;

		if (ticket < all)
			times[ticket]++;
	}
	while (missing < all && times[missing])
		missing++;
	for (uint64_t i = 0; i < all; i++) {
		unsigned qp = (unsigned)(i / s->count), n = (unsigned)(i % s->count);
		uint64_t is = read_value(s, qp, n), ticket = is - first;

		if (ticket < all && times[ticket] == 1)
			continue;
		/* A value just beyond the last: some add was done twice. */
		record_wrong_value(
			t, ticket < 2 * all ? SLOTS_DUPLICATE : classify_value(s, qp, n, is),
			slots_name(s, qp, n), is, first + missing);
		if (ticket < all)
			times[ticket]--;
	}
	free(times);
	return 0;
}

int tickets_check(const struct slots *returned, bool swaps, struct slots_tally *t)
{
	uint64_t all = (uint64_t)returned->count * returned->qps;

	t->messages += all;
	t->bytes += all * sizeof(uint64_t);
	if (!swaps)
		return check_returned_adds(returned, t);
	check_returned_swaps(returned, t);
	return 0;
}
