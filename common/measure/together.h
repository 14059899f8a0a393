/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * together: bidirectional rounds. The sum of the rates is taken over the time when both directions
 * ran.
 *
 * The clocks of both ends (CLOCK_MONOTONIC_RAW) are compared by messages in both directions, and the
 * round begins with the last one. Each end tells when it sent, since then; when both know, each
 * counts its own messages in the time that they share, and tells them. So both compute the same sum.
 */
#pragma once

#include "measure/measure.h"

/* The ends are ready: begin at both. Returns 0, or -1 with the fault raised. */
int together_begin(struct both_ways *b, struct link *l, const struct endpoint *ep);

/*
 * Add to the message M when the workers of this end sent, and what together_count() has found; and
 * read the peer's from there: 0, or -1 with the fault raised.
 */
void together_describe(struct both_ways *b, const struct meter *all, json_t *m);
int together_read(struct both_ways *b, const json_t *m, struct fault *f);

/* With both known: count this end's messages in the time when both sent. */
void together_count(struct both_ways *b, const struct meter *all);

/* That time as a percentage of the whole; NaN if a direction is unknown. */
double together_percent(const struct both_ways *b);

/*
 * Set the rates in SUM, which has the messages of both records, this end's first, and no rates, to
 * those of the time when both ran, unless they never did, or for less than one message.
 */
void together_sum(const struct both_ways *b, const struct record *const rec[2], struct record *sum);
