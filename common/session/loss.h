/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * loss: of what one end sent, how much the other did not get: counted by who received, told to who
 * sent, and so in the records of both. Round trips that gave no sample are known to their end.
 */
#ifndef RDMARK_SESSION_LOSS_H
#define RDMARK_SESSION_LOSS_H

#include <jansson.h>

#include "session/state.h"

/* This end's loops have received what came; DONE is the peer's and says how much it sent. */
void loss_count(struct session *s, const struct session_round *sr, const json_t *done);

/* What this end has counted, strand by strand, into the message M, as "lost". */
void loss_describe(const struct session *s, json_t *m);

/* This end's records of what it sent: with what the peer's message M says of it. */
int loss_take(struct session *s, struct session_round *sr, const json_t *m);

/*
 * This end's record of what came: it is not quicker than the sender's, or a receiver that began to
 * look late, when all that its queue holds was there, would seem to be the faster one.
 */
void loss_slow_down(const struct session *s, struct session_round *sr);

/* The peer's records of what it sent: with what this end has counted. */
void loss_put(const struct session *s, struct session_round *sr);

/* A line on stderr, if anything was lost. */
void loss_note(const struct session *s, const struct session_round *sr);

#endif
