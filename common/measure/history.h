/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * history: what the rounds of a connection have shown, for the fault that ends it. A connection
 * that has carried a message has a route, so neither the firewall nor the GIDs are to blame any
 * more.
 */
#pragma once

#include <stdint.h>

struct measurement;

/* Zeroed: nothing was shown yet. */
struct history {
	uint64_t messages;                /* that arrived, as completions prove */
	uint64_t passed_bytes;            /* size of the largest of these */
	uint64_t least_bytes, most_bytes; /* the sizes whose timed rounds ended well; 0: none */
	/* the round in which most was sent again: how much, of how many messages or packets, in %
	 */
	double resent, resent_of, resent_percent;
	uint64_t resent_bytes; /* its message size */
};

/*
 * The round MEAS is over: add what it showed to H, of its connection. If it failed for want of
 * a completion, or by a failed one, say in its fault what came before.
 */
void history_round(struct history *h, const struct measurement *meas);
