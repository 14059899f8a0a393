// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A verification, step by step with the other end. */
#include "session/verify.h"

#include <errno.h>
#include <string.h>

#include "wire/verified.h"

#define PHASE       "verifying the data"
#define WINDOWS     4  /* so that slots are used again */
#define EMPTY_TRIES 10 /* empty messages may be lost, too, on some transports */

/* What every strand does. */
struct step {
	struct session *s;
	int (*part)(struct strand *t);
};

static int step_job(void *arg, unsigned i)
{
	struct step *step = arg;
	struct strand *t = &step->s->strand[i];

	if (t->is_load || step->part(t) == 0)
		return 0;
	for (unsigned k = 0; k < step->s->strands; k++) /* the others need not wait */
		atomic_store(&step->s->control[k].quit, true);
	return -1;
}

/* A completion may have failed for what the peer did. */
static void settle(struct session *s)
{
	struct fault told = {0};

	for (unsigned i = 0; i < s->strands && !fault_is(&s->fault); i++)
		if (fault_is(&s->strand[i].fault))
			s->fault = s->strand[i].fault;
	if (fault_is(&s->fault) && !s->fault.errnum)
		pass_ask_peer(s, &told);
	if (fault_is(&told))
		s->fault = told;
}

/* PART in all strands, one after the other where a GPU's memory is looked at. */
static int every(struct session *s, int (*part)(struct strand *t), bool looks)
{
	struct step step = {.s = s, .part = part};
	struct watch w;
	int rc = 0;

	for (unsigned i = 0; i < s->strands; i++)
		fault_phase(&s->strand[i].fault, PHASE);
	session_alive_start(s, &w);
	if (looks && s->gpu)
		for (unsigned i = 0; i < s->strands && rc == 0; i++)
			rc = step_job(&step, i);
	else
		rc = crew_run(&s->crew, step_job, &step);
	session_alive_stop(s, &w);
	if (rc)
		settle(s);
	return rc;
}

static int say(struct session *s, const char *step, json_t *mine)
{
	json_t *m = message_new("verify");

	json_object_set_new(m, "step", json_string(step));
	json_object_update(m, mine);
	return oob_send(&s->oob, m, session_deadline(s), &s->fault);
}

static int hear(struct session *s, const char *step, json_t **theirs)
{
	char name[32];

	if (message_expect(&s->oob, "verify", theirs, s->options.local.timeout_ns, &s->fault))
		return -1;
	if (message_text(*theirs, "step", name, sizeof(name), &s->fault))
		return -1;
	return message_has(*theirs, "step", strcmp(name, step) == 0, &s->fault);
}

/*
 * Say that this end has done STEP, with what MINE (stolen, NULL: nothing) has; hear the same. The
 * client says it first: the server may have come out of a round while the client's watch listens.
 */
static int exchange(struct session *s, const char *step, json_t *mine, json_t **theirs)
{
	bool server = s->report.about.server;
	json_t *heard = NULL;
	int rc;

	rc = server ? hear(s, step, &heard) || say(s, step, mine)
		    : say(s, step, mine) || hear(s, step, &heard);
	json_decref(mine);
	if (rc || !theirs)
		json_decref(heard);
	else
		*theirs = heard;
	return rc ? -1 : 0;
}

static json_t *my_places(const struct session *s, uint64_t message_bytes)
{
	json_t *places = json_array();

	for (unsigned i = 0; i < s->strands; i++) {
		const struct strand *t = &s->strand[i];
		const struct verify *v = t->verify;

		json_array_append_new(places, json_pack("{s:I, s:I, s:I}", "addr",
							(json_int_t)(v->mem.addr + v->out_bytes),
							"rkey", (json_int_t)v->mem.rkey, "slots",
							(json_int_t)verify_room(t, message_bytes)));
	}
	return json_pack("{s:o, s:b}", "places", places, "skip", (int)s->interrupted);
}

/* Where the other end's slots are, and for how many messages there is room at both. */
static int read_places(struct session *s, const json_t *m, uint64_t message_bytes)
{
	const json_t *places = json_object_get(m, "places");
	unsigned count = UINT32_MAX;

	if (message_has(m, "places", json_array_size(places) == s->strands, &s->fault))
		return -1;
	for (unsigned i = 0; i < s->strands; i++) {
		const json_t *place = json_array_get(places, i);
		struct verify *v = s->strand[i].verify;
		unsigned room = verify_room(&s->strand[i], message_bytes);
		uint64_t rkey, slots;

		if (message_u64(place, "addr", INT64_MAX, &v->peer_addr, &s->fault) ||
		    message_u64(place, "rkey", UINT32_MAX, &rkey, &s->fault) ||
		    message_u64(place, "slots", UINT16_MAX, &slots, &s->fault) ||
		    message_has(place, "slots", slots > 0, &s->fault))
			return -1;
		v->peer_rkey = (uint32_t)rkey;
		room = slots < room ? (unsigned)slots : room;
		count = room < count ? room : count;
	}
	for (unsigned i = 0; i < s->strands; i++)
		s->strand[i].verify->count = count;
	return 0;
}

/* The receives of this end's QPs, as many as there are. */
static json_t *my_receives(const struct session *s, uint64_t *sum)
{
	json_t *strands = json_array();

	for (unsigned i = 0; i < s->strands; i++) {
		json_t *lanes = json_array();

		for (unsigned q = 0; q < s->strand[i].qps.count; q++) {
			unsigned n = volley_waiting(&s->strand[i].verify->volley, q);

			*sum += n;
			json_array_append_new(lanes, json_integer(n));
		}
		json_array_append_new(strands, lanes);
	}
	return json_pack("{s:o}", "receives", strands);
}

static int read_receives(struct session *s, const json_t *m, uint64_t *sum)
{
	const json_t *strands = json_object_get(m, "receives"), *lanes, *v;
	size_t i, q;

	if (message_has(m, "receives", json_array_size(strands) == s->strands, &s->fault))
		return -1;
	json_array_foreach (strands, i, lanes) {
		struct strand *t = &s->strand[i];

		if (message_has(m, "receives", json_array_size(lanes) == t->qps.count, &s->fault))
			return -1;
		json_array_foreach (lanes, q, v) {
			json_int_t n = json_integer_value(v);

			if (message_has(m, "receives", json_is_integer(v) && n >= 0 && n <= 65536,
					&s->fault))
				return -1;
			t->verify->waiting[q] = (unsigned)n;
			*sum += (uint64_t)n;
		}
	}
	return 0;
}

/* No receive of the kind WHICH is left at either end. */
static int empty_receives(struct session *s, enum volley_receives which)
{
	for (unsigned i = 0; i < s->strands; i++)
		if (verify_receives(s))
			s->strand[i].verify->volley.receives = which;
	for (unsigned tries = 0; tries < EMPTY_TRIES; tries++) {
		uint64_t left = 0;
		json_t *theirs;
		int rc;

		if (exchange(s, "empty", my_receives(s, &left), &theirs))
			return -1;
		rc = read_receives(s, theirs, &left);
		json_decref(theirs);
		if (rc || !left)
			return rc;
		if (every(s, verify_empty, false) || exchange(s, "emptied", NULL, NULL) ||
		    every(s, verify_await_empty, false))
			return -1;
	}
	fault_raise(&s->fault, FAULT_DATA, 0, "receives are left after %d times as many messages",
		    EMPTY_TRIES);
	return fault_cause(&s->fault, "Messages were acknowledged and did not come");
}

static int window(struct session *s)
{
	if (every(s, verify_prepare, true) || exchange(s, "armed", NULL, NULL) ||
	    every(s, verify_send, false) || exchange(s, "sent", NULL, NULL))
		return -1;
	return every(s, verify_collect, true);
}

static int windows(struct session *s)
{
	bool sends = verify_opcode(s) == IBV_WR_SEND;

	if (sends && (empty_receives(s, VOLLEY_TIMED) || every(s, verify_post_all, false)))
		return -1;
	for (unsigned i = 0; i < WINDOWS; i++)
		if (window(s))
			return -1;
	if (sends && (empty_receives(s, VOLLEY_SLOTS) || every(s, verify_refill, false)))
		return -1;
	return 0;
}

/* What this end has found in what came to it, and the other end in what came there. */
static int tell_findings(struct session *s, struct session_round *sr)
{
	bool server = s->report.about.server;
	struct slots_tally *mine = &sr->verified[server ? 0 : 1];
	struct slots_tally *other = &sr->verified[server ? 1 : 0];
	json_t *m = json_object(), *theirs;
	const json_t *found;
	int rc;

	for (unsigned i = 0; i < s->strands; i++)
		slots_add(mine, &s->strand[i].verify->tally);
	if (verify_receives(s))
		json_object_set_new(m, "found", verified_to_json(mine, verify_lossy(s)));
	if (exchange(s, "found", m, &theirs))
		return -1;
	found = json_object_get(theirs, "found");
	rc = found ? verified_from_json(other, found, &s->fault) : 0;
	json_decref(theirs);
	return rc;
}

/* Of both directions. */
static struct slots_tally total(const struct session_round *sr)
{
	struct slots_tally sum = sr->verified[0];

	slots_add(&sum, &sr->verified[1]);
	return sum;
}

static void conclude(struct session *s, const struct session_round *sr)
{
	struct slots_tally sum = total(sr);
	bool lossy = verify_lossy(s);
	char text[256];

	report_note(&s->report, "verified: %s", verified_format(&sum, lossy, text, sizeof(text)));
	if (!slots_errors(&sum, lossy) || fault_is(&s->wrong_data))
		return;
	fault_phase(&s->wrong_data, PHASE);
	verified_raise(&sum, lossy, &s->wrong_data);
}

static int begin_all(struct session *s, uint64_t message_bytes)
{
	for (unsigned i = 0; i < s->strands; i++)
		if (verify_begin(&s->strand[i], message_bytes)) {
			s->fault = s->strand[i].fault;
			return -1;
		}
	return 0;
}

static int run(struct session *s, struct session_round *sr)
{
	if (begin_all(s, sr->message_bytes) || windows(s) || tell_findings(s, sr))
		return -1;
	conclude(s, sr);
	return 0;
}

int verify_round(struct session *s, struct session_round *sr)
{
	json_t *theirs;
	bool skip = s->interrupted;
	int rc;

	if (!s->options.experiment.verify || s->matrix || sr->warmup)
		return 0;
	fault_phase(&s->fault, PHASE);
	if (exchange(s, "begin", my_places(s, sr->message_bytes), &theirs))
		return -1;
	rc = read_places(s, theirs, sr->message_bytes);
	skip |= json_is_true(json_object_get(theirs, "skip"));
	json_decref(theirs);
	if (rc || skip) /* one who has interrupted the run wants to see its end */
		return rc;
	rc = run(s, sr);
	for (unsigned i = 0; i < s->strands; i++)
		verify_end(&s->strand[i]);
	return rc;
}

int verify_verdict(struct session *s)
{
	if (!fault_is(&s->wrong_data))
		return 0;
	s->fault = s->wrong_data;
	memset(&s->wrong_data, 0, sizeof(s->wrong_data));
	return -1;
}

json_t *verify_json(const struct session_round *sr, enum report_direction direction)
{
	struct slots_tally t = total(sr);

	if (direction == REPORT_FORWARD || direction == REPORT_BACKWARD)
		t = sr->verified[direction == REPORT_BACKWARD];
	return t.messages ? verified_to_json(&t, verify_lossy(sr->session)) : NULL;
}
