// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "session/parts.h"

#include <string.h>

#include "session/state.h"

struct session_parts session_parts(struct session *s)
{
	return (struct session_parts){
		.server = s->report.about.server,
		.options = &s->options,
		.hca = &s->rail[0].hca,
		.pin = &s->strand[0].pin,
		.qps = &s->strand[0].qps,
		.gpu = s->gpu,
		.gpu_absent = &s->gpu_absent,
		.memory = {s->strand[0].mine.addr, s->strand[0].mine.stride, s->strand[0].mem.lkey},
		.memory_rkey = s->strand[0].mem.rkey,
		.message_max = s->message_max,
		.my_end = &s->rail[0].mine,
		.their_end = &s->rail[0].theirs,
		.report = &s->report,
		.fault = &s->fault,
		.own = s->own,
	};
}

int session_window(struct session *s, const struct session_window *w, struct record *rec)
{
	struct session_round sr = {
		.message_bytes = w->message_bytes,
		.target = w->target ? w->target : ROUND_ENDLESS,
		.duration_ns = w->duration_ns,
		.way = w->way,
		.warmup = w->warmup,
		.reverse = w->reverse,
	};
	int rc = round_client(s, &sr);

	memset(rec, 0, sizeof(*rec));
	if (w->reverse && sr.theirs_measured)
		*rec = sr.theirs;
	else if (!w->reverse && sr.measured)
		*rec = sr.mine;
	round_release(&sr);
	return rc;
}

/* At this end; the other one hears that it is alive, since it may take long. */
static int do_task(struct session *s, const json_t *what, json_t *result)
{
	struct watch w;
	int rc;

	session_alive_start(s, &w);
	rc = s->test->task(s, what, result);
	session_alive_stop(s, &w);
	return rc;
}

static int ask_server(struct session *s, json_t *what, json_t **result)
{
	json_t *m = message_new("task");

	json_object_update(m, what);
	if (oob_send(&s->oob, m, session_deadline(s), &s->fault) ||
	    message_expect(&s->oob, "result", result, s->options.local.timeout_ns, &s->fault))
		return -1;
	return 0;
}

int session_task(struct session *s, bool at_server, json_t *what, json_t **result)
{
	int rc;

	*result = NULL;
	if (at_server) {
		rc = ask_server(s, what, result);
	} else {
		*result = json_object();
		rc = do_task(s, what, *result);
	}
	json_decref(what);
	if (rc) {
		json_decref(*result);
		*result = NULL;
	}
	return rc;
}

int session_answer_task(struct session *s, const json_t *m)
{
	json_t *result;

	if (!s->test->task)
		return fault_raise(&s->fault, FAULT_PEER, 0,
				   "the client asked for a task, which %s does not have",
				   s->test->name);
	result = message_new("result");
	if (do_task(s, m, result)) {
		json_decref(result);
		return -1;
	}
	return oob_send(&s->oob, result, session_deadline(s), &s->fault);
}

bool session_interrupted(const struct session *s)
{
	return s->interrupted;
}

void session_measured(struct session *s)
{
	s->measured = true;
}
