/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * clocks: whose clock is wrong. A run compares those of its two ends; it is the other hosts that
 * tell which one is wrong: the median of two partners, one of which is off, is off by half of that.
 */
#pragma once

#include "judgement.h"

/* The clock of a player, compared with those of its partners. */
struct clock_of {
	uint32_t hosts, off; /* hosts it was compared with, and those from which it is off */
	uint32_t last;       /* a player of one of them */
	double off_s;        /* the median of what it is ahead of the latter ones; NaN: none */
};

/* Fill OF, one of each player. Returns -1 if there is no memory. */
int clocks_compare(const struct judgement *j, struct clock_of *of);

/*
 * True if PLAYER's clock is off from those of more than half of its partners: of two or more, or of
 * the only one, whose clock others say is right.
 */
bool clocks_wrong(const struct clock_of *of, uint32_t player);

/* True if PLAYER was compared with one host only, that one with no other, and they differ. */
bool clocks_apart(const struct clock_of *of, uint32_t player);
