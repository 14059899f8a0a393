/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * slots_world: a sender's slots, a receiver's, and messages carried from one to the other, rightly
 * or not. Include it after <cmocka.h>.
 */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "base/slots.h"

#define LANES 3
#define COUNT 16
#define LANE  1 /* where things go wrong */

/* A sender's slots and a receiver's, and what stands for the network. */
struct world {
	struct slots out, in;
	uint8_t *wire; /* one message */
};

static struct slots make(uint64_t bytes, bool in_place)
{
	struct slots s = {
		.message_bytes = bytes,
		.qps = LANES,
		.first_qp = LANES,
		.count = COUNT,
		.in_place = in_place,
	};

	s.data = malloc(slots_bytes(&s));
	assert_non_null(s.data);
	assert_int_equal(slots_init(&s), 0);
	return s;
}

static void next_window(struct world *w)
{
	w->out.window++;
	w->in.window++;
	slots_fill(&w->out);
	slots_poison(&w->in);
}

static void make_world(struct world *w, uint64_t bytes, bool in_place)
{
	w->out = make(bytes, in_place);
	w->in = make(bytes, in_place);
	w->wire = malloc(bytes);
	next_window(w);
}

static void free_world(struct world *w)
{
	free(w->out.data);
	free(w->in.data);
	free(w->wire);
	slots_release(&w->out);
	slots_release(&w->in);
}

/* Message NUMBER of QP FROM goes where message PLACE of QP TO belongs, or as the next there. */
static void carry_to(struct world *w, unsigned from, unsigned number, unsigned to, unsigned place)
{
	unsigned n = w->in.in_place ? place : w->in.arrived[to];

	if (n < COUNT)
		memcpy(slots_payload(&w->in, to, n), slots_payload(&w->out, from, number),
		       w->in.message_bytes);
	slots_arrived(&w->in, to, number);
}

static void carry(struct world *w, unsigned number, unsigned place)
{
	carry_to(w, LANE, number, LANE, place);
}

/* All of QPs other than LANE, and of it messages FIRST to LAST. */
static void carry_range(struct world *w, unsigned first, unsigned last)
{
	for (unsigned n = first; n <= last; n++)
		carry(w, n, n);
}

static void carry_others(struct world *w)
{
	for (unsigned qp = 0; qp < LANES; qp++)
		for (unsigned n = 0; qp != LANE && n < COUNT; n++)
			carry_to(w, qp, n, qp, n);
}

/* ERRORS are found, of which LOST never came. */
static void expect(struct world *w, unsigned errors, unsigned lost)
{
	struct slots_tally t = {0};

	slots_check(&w->in, &t);
	assert_int_equal(t.messages, LANES * COUNT);
	assert_int_equal(t.bytes, LANES * COUNT * w->in.message_bytes);
	assert_int_equal(t.errors, errors);
	assert_int_equal(t.lost, lost);
	assert_int_equal(t.found, errors != 0);
	if (!t.found)
		return;
	assert_int_equal(t.first.name.qp, LANES + LANE);
	assert_int_equal(t.first.name.window, w->in.window);
	assert_int_not_equal(t.first.is, t.first.should_be);
}
