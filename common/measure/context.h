/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * context: what a program with a schedule of its own may use during a measurement: the
 * resources of this end (ms->ep), rounds that it requests one by one, and tasks at either end.
 */
#pragma once

#include "measure/measure.h"

/*
 * Client: run one round of the kind ATTR->kind. With a target of 0 it ends after its duration. REC
 * receives the leader's record, all zero for a warm-up. Returns 0, or -1 with the fault raised; REC
 * then has what was measured so far.
 */
int measure_window(struct measure *ms, const struct round_attr *attr, struct record *rec);

/*
 * Client: run test->task with WHAT (stolen) here, or at the server. The caller releases *RESULT,
 * which is set only on success; RESULT may be NULL. The other end receives "alive" messages
 * meanwhile.
 */
int measure_task(struct measure *ms, bool at_server, json_t *what, json_t **result);

/* Server: run the task in the client's message M, and answer. */
int measure_answer_task(struct measure *ms, const json_t *m);

/* True after a signal at either end: finish with the results so far. */
bool measure_interrupted(const struct measure *ms);

/* Which end was interrupted: "" this one, " by the server", " by the client". Static storage. */
const char *measure_interrupted_by(const struct measure *ms);

/* Tell that there is a result, so that an interruption is no failure any more. */
void measure_done(struct measure *ms);
