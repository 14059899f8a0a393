/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * parts: what a program with a schedule of its own may use of a running session: the things that
 * stand at this end, rounds that it asks for one by one, and tasks at either end.
 */
#ifndef RDMARK_SESSION_PARTS_H
#define RDMARK_SESSION_PARTS_H

#include <jansson.h>

#include "host/gpu.h"
#include "host/pin.h"
#include "loop/round.h"
#include "report/report.h"
#include "session/session.h"
#include "verbs/hca.h"
#include "verbs/qp.h"
#include "wire/record.h"

/* All borrowed from the session. */
struct session_parts {
	bool server;
	const struct options *options;
	const struct hca *hca;
	const struct pin *pin;
	struct qp_set *qps;
	struct gpu *gpu;                /* of this end; NULL: none */
	const struct fault *gpu_absent; /* why, if there is none */
	struct round_slice memory;      /* what the messages of a plain round come from and go to */
	uint32_t memory_rkey;
	uint64_t message_max;        /* no message of a round may be larger */
	struct end *my_end;          /* may be added to in test->open */
	const struct end *their_end; /* valid once connected */
	struct report *report;
	struct fault *fault;
	void *own;
};

struct session_parts session_parts(struct session *s);

/* One round of the program's kind WAY. */
struct session_window {
	unsigned way;
	bool reverse; /* the server leads */
	bool warmup;
	uint64_t message_bytes;
	uint64_t target;      /* messages of each QP; 0: until the duration is over */
	uint64_t duration_ns; /* with target 0 */
};

/*
 * Client: run it. REC is the leader's record, all zero for a warm-up. Returns 0, or -1 with the
 * fault raised; REC then is what was measured until then.
 */
int session_window(struct session *s, const struct session_window *w, struct record *rec);

/*
 * Client: have test->task do WHAT (stolen) here, or at the server. *RESULT is the caller's, NULL
 * after a failure. The other end is told meanwhile that this one is alive.
 */
int session_task(struct session *s, bool at_server, json_t *what, json_t **result);

/* Server: do the task that the client's message M asks for, and answer. */
int session_answer_task(struct session *s, const json_t *m);

/* Client: one round for each size, as programs without a schedule of their own have it. */
int session_sizes(struct session *s);

/* A signal came, here or there: finish with what there is. */
bool session_interrupted(const struct session *s);

/* There is a result: an interruption is no failure any more. */
void session_measured(struct session *s);

#endif
