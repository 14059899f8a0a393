// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The verification of a round (--verify): its steps, each agreed on with the peer. */
#include "measure/verify.h"

#include <string.h>

#include "base/phase.h"
#include "base/turns.h"
#include "proto/message.h"
#include "proto/verified.h"


/* The state of a verification. */
struct pass {
	struct measure *ms;
	uint64_t until_ns;      /* the client wants windows until then, */
	uint64_t messages;      /* or so many messages of each QP; 0: until then */
	uint64_t done;          /* of them */
	unsigned count;         /* in a window */
	bool go;                /* both ends want the next one */
	struct verified theirs; /* what the peer has found */
	int (*step)(struct verify *v);
};

static int step_job(void *arg, unsigned i)
{
	const struct pass *p = arg;
	struct verify *v = &p->ms->verify[i];
	struct turns turns = {0};
	int rc;

	rc = turns_begin(&turns, &v->t->control->progress, 0, &v->t->fault) ? -1 : p->step(v);
	turns_end(&turns);
	if (rc == 0)
		return 0;
	return endpoint_abort(p->ms->ep); /* the others must not wait for this one */
}

/*
 * Run STEP in all workers. A completion may have failed for a fault of the peer: then that is the
 * one that counts.
 */
static int run_in_workers(struct pass *p, int (*step)(struct verify *v))
{
	struct measure *ms = p->ms;
	struct fault told = {0};
	int rc;

	p->step = step;
	link_alive_start(ms->link);
	rc = endpoint_each(ms->ep, step_job, p);
	link_alive_stop(ms->link);
	if (fault_is(ms->fault) && !ms->fault->errnum)
		link_await_peer_error(ms->link, &told);
	if (fault_is(&told))
		*ms->fault = told;
	return rc;
}

static bool wants_window(const struct pass *p)
{
	if (p->ms->link->interrupted)
		return false;
	return p->ms->ep->server || !p->done ||
	       (p->messages ? p->done < p->messages : clock_now_ns() < p->until_ns);
}

/* The sum of what the workers have found. */
static struct verified found_here(const struct measure *ms)
{
	struct verified sum = {0};

	for (unsigned i = 0; i < ms->ep->workers; i++)
		verified_add(&sum, &ms->verify[i].found);
	return sum;
}

/* What this end says after a step: whether it wants a window, its room, and what it has found. */
static int tell(struct pass *p)
{
	struct verified mine = found_here(p->ms);
	json_t *m = message_new("verify");

	json_object_set_new(m, "go", json_boolean(p->go));
	json_object_set_new(m, "room", json_integer(p->count));
	json_object_set_new(m, "found", verified_to_json(&mine));
	return link_send(p->ms->link, m);
}

static int hear(struct pass *p)
{
	struct fault *f = p->ms->fault;
	uint64_t room;
	json_t *m;
	bool go;
	int rc;

	if (link_expect(p->ms->link, "verify", &m))
		return -1;
	rc = message_flag(m, "go", &go, f) || message_u64(m, "room", UINT16_MAX, &room, f) ||
	     message_has(m, "room", room > 0, f) ||
	     verified_from_json(&p->theirs, json_object_get(m, "found"), f);
	json_decref(m);
	if (rc)
		return -1;
	p->go = p->go && go;
	p->count = room < p->count ? (unsigned)room : p->count;
	return 0;
}

/*
 * Both ends have done a step: agree on the next window. The client tells first: a message of the
 * server could still reach the watch of the client's round.
 */
static int meet(struct pass *p)
{
	const struct measure *ms = p->ms;

	p->go = wants_window(p);
	p->count = UINT16_MAX;
	for (unsigned i = 0; i < ms->ep->workers; i++)
		if (ms->verify[i].room < p->count)
			p->count = ms->verify[i].room;
	if (ms->ep->server ? hear(p) || tell(p) : tell(p) || hear(p))
		return -1;
	for (unsigned i = 0; i < ms->ep->workers; i++)
		ms->verify[i].count = p->count;
	return 0;
}

/* Windows, as long as both ends want another one. */
static int run_windows(struct pass *p)
{
	for (;;) {
		if (run_in_workers(p, verify_prepare) || meet(p))
			return -1;
		if (!p->go)
			return 0;
		if (run_in_workers(p, verify_send) || meet(p) || run_in_workers(p, verify_collect))
			return -1;
		p->done += p->count;
	}
}

int verify_round(struct measurement *meas)
{
	struct measure *ms = meas->ms;
	uint64_t now_ns = clock_now_ns(), took_ns = now_ns - meas->start_ns;
	uint64_t asked = ms->options->experiment.verify;
	struct verified sum;
	struct pass p = {
		.ms = ms,
		.until_ns = now_ns + (took_ns > PLAN_VERIFY_NS ? took_ns : PLAN_VERIFY_NS),
		.messages = asked > 1 ? asked : 0,
	};

	fault_phase(ms->fault, PHASE_VERIFY);
	for (unsigned i = 0; i < ms->ep->workers; i++)
		verify_begin(&ms->verify[i], meas->attr.message_bytes, ms->history.messages);
	if (run_windows(&p)) {
		history_explain(&ms->history, meas);
		return -1;
	}
	if (!p.done) /* the run was interrupted: do not verify */
		return 0;
	meas->verified[!ms->ep->server] = found_here(ms);
	meas->verified[ms->ep->server] = p.theirs;
	sum = verify_tally(meas, RESULT_BOTH_WAYS);
	if (sum.errors && !fault_is(&ms->verdict)) {
		fault_phase(&ms->verdict, PHASE_VERIFY);
		verified_raise(&sum, &ms->verdict);
	}
	return 0;
}

struct verified verify_tally(const struct measurement *meas, enum result_direction direction)
{
	struct verified sum = meas->verified[direction == RESULT_BACKWARD];

	if (direction != RESULT_FORWARD && direction != RESULT_BACKWARD)
		verified_add(&sum, &meas->verified[1]);
	return sum;
}
