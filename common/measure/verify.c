// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The verification of a round (--verify): its steps, each agreed on with the peer. */
#include "measure/verify.h"

#include <string.h>

#include "endpoint/worker.h"
#include "measure/meter.h"
#include "plan/test.h"
#include "proto/verified.h"

#define EMPTY_TRIES 10 /* unreliable transports may lose empty messages, too */

/* A step of the verification that each worker does. */
struct step {
	struct measure *ms;
	int (*part)(struct meter *t);
};

static int step_job(void *arg, unsigned i)
{
	struct step *step = arg;
	struct meter *t = &step->ms->meter[i];
	int rc;

	rc = meter_turns(t) ? -1 : step->part(t);
	turns_end(&t->turns);
	if (rc == 0)
		return 0;
	return endpoint_abort(step->ms->ep); /* the others must not wait for this one */
}

/*
 * Run PART in all workers. A completion may have failed for a fault of the peer: then that is the
 * one that counts.
 */
static int run_in_workers(struct measure *ms, int (*part)(struct meter *t))
{
	struct step step = {.ms = ms, .part = part};
	struct fault told = {0};
	int rc;

	link_alive_start(ms->link);
	rc = endpoint_each(ms->ep, step_job, &step);
	link_alive_stop(ms->link);
	if (fault_is(ms->fault) && !ms->fault->errnum)
		link_await_peer_error(ms->link, &told);
	if (fault_is(&told))
		*ms->fault = told;
	return rc;
}

static int verify_send_step(struct measure *ms, const char *step, json_t *mine)
{
	json_t *m = message_new("verify");

	json_object_set_new(m, "step", json_string(step));
	json_object_update(m, mine);
	return link_send(ms->link, m);
}

static int verify_recv_step(struct measure *ms, const char *step, json_t **theirs)
{
	char name[32];

	if (link_expect(ms->link, "verify", theirs))
		return -1;
	if (message_text(*theirs, "step", name, sizeof(name), ms->fault))
		return -1;
	return message_has(*theirs, "step", strcmp(name, step) == 0, ms->fault);
}

/*
 * Tell the peer that this end has done STEP, with the members of MINE (stolen; may be NULL), and
 * wait for the same message from the peer: THEIRS, if not NULL. The client sends first: a message
 * of the server could still reach the watch of the client's round.
 */
static int verify_exchange(struct measure *ms, const char *step, json_t *mine, json_t **theirs)
{
	bool server = ms->ep->server;
	json_t *answer = NULL;
	int rc;

	rc = server ? verify_recv_step(ms, step, &answer) || verify_send_step(ms, step, mine)
		    : verify_send_step(ms, step, mine) || verify_recv_step(ms, step, &answer);
	json_decref(mine);
	if (rc || !theirs)
		json_decref(answer);
	else
		*theirs = answer;
	return rc ? -1 : 0;
}

/*
 * The next window, as this end sees it: GO if it wants one, and for each worker its slots, and how
 * many receives of each QP are posted where SENDs arrive. *LEFT is increased by these.
 */
static json_t *describe_window(const struct measure *ms, uint64_t bytes, bool go, uint64_t *left)
{
	json_t *workers = json_array();

	for (unsigned i = 0; i < ms->ep->workers; i++) {
		const struct meter *t = &ms->meter[i];
		const struct verify *v = t->verify;
		uint64_t at = operation_pulls(&ms->test->operation) ? 0 : v->out_bytes;
		json_t *receives = json_array();

		for (unsigned q = 0; v->opcode == IBV_WR_SEND && q < t->worker->qps.count; q++) {
			json_array_append_new(receives, json_integer(v->qp[q].waiting));
			*left += v->qp[q].waiting;
		}
		json_array_append_new(workers, json_pack("{s:I, s:I, s:I, s:o}", "addr",
							 (json_int_t)(v->mem.memory.addr + at),
							 "rkey", (json_int_t)v->mem.rkey, "slots",
							 (json_int_t)verify_room(t, bytes),
							 "receives", receives));
	}
	return json_pack("{s:o, s:b}", "workers", workers, "go", (int)go);
}

/* Read WORKER, what the peer says of T's: for each receive that it has, an empty message is due. */
static int read_worker(struct meter *t, const json_t *worker, unsigned *count, uint64_t *left,
		       struct fault *f)
{
	const json_t *receives = json_object_get(worker, "receives");
	struct verify *v = t->verify;
	uint64_t rkey, slots;

	if (message_u64(worker, "addr", INT64_MAX, &v->remote.addr, f) ||
	    message_u64(worker, "rkey", UINT32_MAX, &rkey, f) ||
	    message_u64(worker, "slots", UINT16_MAX, &slots, f) ||
	    message_has(worker, "slots", slots > 0, f))
		return -1;
	v->remote.key = (uint32_t)rkey;
	*count = slots < *count ? (unsigned)slots : *count;
	for (unsigned q = 0; v->opcode == IBV_WR_SEND && q < t->worker->qps.count; q++) {
		const json_t *n = json_array_get(receives, q);

		if (message_has(worker, "receives", json_is_integer(n), f) ||
		    message_has(worker, "receives", json_integer_value(n) >= 0, f) ||
		    message_has(worker, "receives", json_integer_value(n) <= 65536, f))
			return -1;
		v->qp[q].todo = (unsigned)json_integer_value(n);
		*left += v->qp[q].todo;
	}
	v->empty = true;
	return 0;
}

/* The state of a verification of messages of `bytes`. */
struct pass {
	uint64_t bytes;
	uint64_t until_ns; /* the client wants windows until then, */
	uint64_t messages; /* or so many messages of each QP; 0: until then */
	uint64_t done;     /* of them */
	unsigned count;    /* in a window */
	bool go;           /* both ends want the next one */
};

static bool wants_window(const struct measure *ms, const struct pass *p)
{
	if (ms->link->interrupted)
		return false;
	return ms->ep->server || !p->done ||
	       (p->messages ? p->done < p->messages : clock_now_ns() < p->until_ns);
}

/* Agree with the peer on the next window. *LEFT becomes the receives of both that are posted. */
static int agree_on_window(struct measure *ms, struct pass *p, uint64_t *left)
{
	bool go = wants_window(ms, p);
	const json_t *workers;
	json_t *theirs;
	int rc = 0;

	*left = 0;
	if (verify_exchange(ms, "window", describe_window(ms, p->bytes, go, left), &theirs))
		return -1;
	p->go = go && json_is_true(json_object_get(theirs, "go"));
	p->count = UINT16_MAX;
	workers = json_object_get(theirs, "workers");
	if (message_has(theirs, "workers", json_array_size(workers) == ms->ep->workers, ms->fault))
		rc = -1;
	for (unsigned i = 0; i < ms->ep->workers && rc == 0; i++) {
		unsigned room = verify_room(&ms->meter[i], p->bytes);

		p->count = room < p->count ? room : p->count;
		rc = read_worker(&ms->meter[i], json_array_get(workers, i), &p->count, left,
				 ms->fault);
	}
	json_decref(theirs);
	return rc;
}

/*
 * Begin a window, if both ends want it. A QP consumes its receives in order, so before SENDs empty
 * messages consume all that are posted, of the timed part or because messages were lost.
 */
static int begin_window(struct measure *ms, struct pass *p)
{
	bool loses = experiment_loses(&ms->options->experiment);
	uint64_t left;

	for (unsigned tries = 0;; tries++) {
		if (agree_on_window(ms, p, &left))
			return -1;
		if (!left || (!p->go && !p->done))
			return 0;
		if (tries == EMPTY_TRIES)
			break;
		if (run_in_workers(ms, verify_send) || verify_exchange(ms, "emptied", NULL, NULL) ||
		    run_in_workers(ms, verify_await))
			return -1;
	}
	fault_raise(ms->fault, loses ? FAULT_UNAVAILABLE : FAULT_DATA, 0,
		    "receive requests are left, although %d times as many messages were sent",
		    EMPTY_TRIES);
	return fault_cause(ms->fault, loses ? "Too many messages are lost to verify any"
					    : "Messages were acknowledged, but never arrived");
}

/* A window of up to 1024 messages per QP: fill the slots, send all of them, check what arrived. */
static int run_window(struct measure *ms, struct pass *p)
{
	for (unsigned i = 0; !p->done && i < ms->ep->workers; i++)
		if (verify_begin(&ms->meter[i], p->bytes, p->count)) {
			endpoint_fetch_fault(ms->ep);
			return -1;
		}
	p->done += p->count;
	return run_in_workers(ms, verify_prepare) || verify_exchange(ms, "armed", NULL, NULL) ||
			       run_in_workers(ms, verify_send) ||
			       verify_exchange(ms, "sent", NULL, NULL) ||
			       run_in_workers(ms, verify_collect)
		       ? -1
		       : 0;
}

/* Add the peer's tally, KEY of its message M, to SUM, if there is one. */
static int read_findings(struct measure *ms, const json_t *m, const char *key,
			 struct slots_tally *sum)
{
	const json_t *found = json_object_get(m, key);
	struct slots_tally theirs;

	if (!found)
		return 0;
	if (verified_from_json(&theirs, found, ms->fault))
		return -1;
	slots_add(sum, &theirs);
	return 0;
}

/*
 * Exchange with the peer what each end found in the messages that it received. The values that
 * atomics returned count for the direction of their requests.
 */
static int exchange_findings(struct measure *ms, struct measurement *meas)
{
	struct slots_tally *to_me = &meas->verified[!ms->ep->server];
	struct slots_tally *to_peer = &meas->verified[ms->ep->server];
	json_t *m = json_object(), *theirs;
	int rc;

	for (unsigned i = 0; i < ms->ep->workers; i++) {
		slots_add(to_me, &ms->meter[i].verify->tally);
		slots_add(to_peer, &ms->meter[i].verify->returned);
	}
	if (ms->meter[0].verify->receives)
		json_object_set_new(m, "found", verified_to_json(to_me));
	if (to_peer->messages)
		json_object_set_new(m, "returned", verified_to_json(to_peer));
	if (verify_exchange(ms, "found", m, &theirs))
		return -1;
	rc = read_findings(ms, theirs, "found", to_peer) ||
	     read_findings(ms, theirs, "returned", to_me);
	json_decref(theirs);
	return rc ? -1 : 0;
}

/* Start with no messages found, and the timed receives posted. */
static void reset_worker(struct meter *t)
{
	struct verify *v = t->verify;

	memset(&v->tally, 0, sizeof(v->tally));
	memset(&v->returned, 0, sizeof(v->returned));
	for (unsigned q = 0; q < t->worker->qps.count; q++) {
		v->qp[q] = (struct verify_qp){.room = 1};
		if (v->receives && v->opcode == IBV_WR_SEND)
			v->qp[q].waiting = recv_queue_posted(t->round.receives, q);
	}
}

int verify_round(struct measurement *meas)
{
	struct measure *ms = meas->ms;
	uint64_t now_ns = clock_now_ns(), took_ns = now_ns - meas->start_ns;
	uint64_t asked = ms->options->experiment.verify;
	struct slots_tally sum;
	struct pass p = {
		.bytes = meas->attr.message_bytes,
		.until_ns = now_ns + (took_ns > PLAN_VERIFY_NS ? took_ns : PLAN_VERIFY_NS),
		.messages = asked > 1 ? asked : 0,
	};

	fault_phase(ms->fault, PHASE_VERIFY);
	for (unsigned i = 0; i < ms->ep->workers; i++)
		reset_worker(&ms->meter[i]);
	if (begin_window(ms, &p))
		return -1;
	if (!p.go) /* the run was interrupted: do not verify */
		return 0;
	while (p.go)
		if (run_window(ms, &p) || begin_window(ms, &p))
			return -1;
	if (run_in_workers(ms, verify_refill) || exchange_findings(ms, meas))
		return -1;
	meas->is_verified = true;
	sum = verify_tally(meas, RESULT_BOTH_WAYS);
	if (sum.errors && !fault_is(&ms->wrong_data)) {
		fault_phase(&ms->wrong_data, PHASE_VERIFY);
		verified_raise(&sum, &ms->wrong_data);
	}
	return 0;
}

int verify_verdict(struct measure *ms)
{
	if (!fault_is(&ms->wrong_data))
		return 0;
	*ms->fault = ms->wrong_data;
	memset(&ms->wrong_data, 0, sizeof(ms->wrong_data));
	return -1;
}

struct slots_tally verify_tally(const struct measurement *meas, enum result_direction direction)
{
	struct slots_tally sum = meas->verified[direction == RESULT_BACKWARD];

	if (direction != RESULT_FORWARD && direction != RESULT_BACKWARD)
		slots_add(&sum, &meas->verified[1]);
	return sum;
}
