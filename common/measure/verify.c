// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The verification of a round (--verify): its steps, each agreed on with the peer. */
#include "measure/verify.h"

#include <string.h>

#include "proto/verified.h"

#define PHASE       "verifying the data"
#define WINDOWS     4  /* more than one, so that slots are reused */
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

	/* the pool also runs the load workers, numbered after the others */
	if (t->worker->is_load || step->part(t) == 0)
		return 0;
	return endpoint_abort(step->ms->ep); /* the others must not wait for this one */
}

/* Set ms->fault. A completion may have failed for a fault of the peer: then keep the peer's. */
static void find_verify_cause(struct measure *ms)
{
	struct fault told = {0};

	endpoint_fetch_fault(ms->ep);
	if (fault_is(ms->fault) && !ms->fault->errnum)
		link_await_peer_error(ms->link, &told);
	if (fault_is(&told))
		*ms->fault = told;
}

/*
 * Run PART in all workers at once; if it USES_GPU memory, and there is a GPU, for one worker after
 * the other in the calling thread, because one thread at a time may use a GPU.
 */
static int run_in_workers(struct measure *ms, int (*part)(struct meter *t), bool uses_gpu)
{
	struct step step = {.ms = ms, .part = part};
	int rc = 0;

	for (unsigned i = 0; i < ms->ep->workers; i++)
		fault_phase(&ms->ep->worker[i].fault, PHASE);
	link_alive_start(ms->link);
	if (uses_gpu && ms->ep->gpu)
		for (unsigned i = 0; i < ms->ep->workers && rc == 0; i++)
			rc = step_job(&step, i);
	else
		rc = pool_run(&ms->ep->pool, step_job, &step);
	link_alive_stop(ms->link);
	if (rc)
		find_verify_cause(ms);
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

/* Address, rkey and number of slots of each worker's verification buffer. */
static json_t *describe_buffers(const struct measure *ms, uint64_t message_bytes)
{
	json_t *places = json_array();

	for (unsigned i = 0; i < ms->ep->workers; i++) {
		const struct meter *t = &ms->meter[i];
		const struct verify *v = t->verify;
		uint64_t at = operation_pulls(&ms->test->operation) ? 0 : v->out_bytes;

		json_array_append_new(places, json_pack("{s:I, s:I, s:I}", "addr",
							(json_int_t)(v->mem.memory.addr + at), "rkey",
							(json_int_t)v->mem.rkey, "slots",
							(json_int_t)verify_room(t, message_bytes)));
	}
	return json_pack("{s:o, s:b}", "places", places, "skip", (int)ms->link->interrupted);
}

/* Store where the peer's buffers are, and how many messages fit into those of both ends. */
static int read_buffers(struct measure *ms, const json_t *m, uint64_t message_bytes)
{
	const json_t *places = json_object_get(m, "places");
	unsigned count = UINT32_MAX;

	if (message_has(m, "places", json_array_size(places) == ms->ep->workers, ms->fault))
		return -1;
	for (unsigned i = 0; i < ms->ep->workers; i++) {
		const json_t *place = json_array_get(places, i);
		struct verify *v = ms->meter[i].verify;
		unsigned room = verify_room(&ms->meter[i], message_bytes);
		uint64_t rkey, slots;

		if (message_u64(place, "addr", INT64_MAX, &v->remote.addr, ms->fault) ||
		    message_u64(place, "rkey", UINT32_MAX, &rkey, ms->fault) ||
		    message_u64(place, "slots", UINT16_MAX, &slots, ms->fault) ||
		    message_has(place, "slots", slots > 0, ms->fault))
			return -1;
		v->remote.key = (uint32_t)rkey;
		room = slots < room ? (unsigned)slots : room;
		count = room < count ? room : count;
	}
	for (unsigned i = 0; i < ms->ep->workers; i++) {
		ms->meter[i].verify->count = count;
		ms->meter[i].verify->message_bytes = message_bytes;
	}
	return 0;
}

/* The number of receives posted on each QP of this end. Adds them to *SUM. */
static json_t *describe_receives(const struct measure *ms, uint64_t *sum)
{
	json_t *receives = json_array();

	for (unsigned i = 0; i < ms->ep->workers; i++)
		for (unsigned q = 0; q < ms->ep->worker[i].qps.count; q++) {
			unsigned n = verify_waiting(ms->meter[i].verify, q);

			*sum += n;
			json_array_append_new(receives, json_integer(n));
		}
	return json_pack("{s:o}", "receives", receives);
}

/* For each receive that the peer has posted an empty message is due. Adds them to *SUM. */
static int read_receives(struct measure *ms, const json_t *m, uint64_t *sum)
{
	const json_t *receives = json_object_get(m, "receives");
	size_t at = 0;

	for (unsigned i = 0; i < ms->ep->workers; i++)
		for (unsigned q = 0; q < ms->ep->worker[i].qps.count; q++) {
			const json_t *v = json_array_get(receives, at++);
			json_int_t n = json_integer_value(v);

			if (message_has(m, "receives", json_is_integer(v) && n >= 0 && n <= 65536,
					ms->fault))
				return -1;
			ms->meter[i].verify->qp[q].todo = (unsigned)n;
			*sum += (uint64_t)n;
		}
	return message_has(m, "receives", json_array_size(receives) == at, ms->fault);
}

/*
 * Consume all posted receives of both ends with empty messages, so that the caller can post others
 * in place of them.
 */
static int empty_receives(struct measure *ms)
{
	for (unsigned tries = 0; tries < EMPTY_TRIES; tries++) {
		uint64_t left = 0;
		json_t *theirs;
		int rc;

		if (verify_exchange(ms, "empty", describe_receives(ms, &left), &theirs))
			return -1;
		rc = read_receives(ms, theirs, &left);
		json_decref(theirs);
		if (rc || !left)
			return rc;
		if (run_in_workers(ms, verify_empty, false) ||
		    verify_exchange(ms, "emptied", NULL, NULL) ||
		    run_in_workers(ms, verify_await_empty, false))
			return -1;
	}
	fault_raise(ms->fault, FAULT_DATA, 0,
		    "receive requests are left, although %d times as many messages were sent",
		    EMPTY_TRIES);
	return fault_cause(ms->fault, "Messages were acknowledged, but never arrived");
}

/*
 * Run all windows: prepare the slots at both ends, send a message into each, and check what
 * arrived. A window is up to 1024 messages per QP, one per slot. A QP consumes its receives in
 * order, so before SENDs empty messages consume the posted receives of the timed part, and receives
 * into the slots are posted. Afterwards empty messages consume the receives into the slots, and the
 * timed receives are posted again.
 */
static int verify_all_windows(struct measure *ms)
{
	bool sends = ms->meter[0].verify->opcode == IBV_WR_SEND;

	if (sends && empty_receives(ms))
		return -1;
	for (unsigned i = 0; i < WINDOWS; i++)
		if (run_in_workers(ms, verify_prepare, true) ||
		    verify_exchange(ms, "armed", NULL, NULL) ||
		    run_in_workers(ms, verify_send, false) ||
		    verify_exchange(ms, "sent", NULL, NULL) ||
		    run_in_workers(ms, verify_collect, true))
			return -1;
	return sends && (empty_receives(ms) || run_in_workers(ms, verify_refill, false)) ? -1 : 0;
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

/* Find and exchange what is wrong. The first of the run is kept, to be raised at its end. */
static int verify_pass(struct measure *ms, struct measurement *meas)
{
	struct slots_tally sum;

	if (run_in_workers(ms, verify_begin, false) || verify_all_windows(ms) ||
	    exchange_findings(ms, meas))
		return -1;
	meas->is_verified = true;
	sum = verify_tally(meas, RESULT_BOTH_WAYS);
	if (sum.errors && !fault_is(&ms->wrong_data)) {
		fault_phase(&ms->wrong_data, PHASE);
		verified_raise(&sum, &ms->wrong_data);
	}
	return 0;
}

int verify_round(struct measurement *meas)
{
	struct measure *ms = meas->ms;
	bool skip = ms->link->interrupted;
	json_t *theirs;
	int rc;

	fault_phase(ms->fault, PHASE);
	if (verify_exchange(ms, "begin", describe_buffers(ms, meas->attr.message_bytes), &theirs))
		return -1;
	rc = read_buffers(ms, theirs, meas->attr.message_bytes);
	skip |= json_is_true(json_object_get(theirs, "skip"));
	json_decref(theirs);
	if (rc || skip) /* the run was interrupted: do not verify */
		return rc;
	return verify_pass(ms, meas);
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
