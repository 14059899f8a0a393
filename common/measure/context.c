// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What a program with a schedule of its own may use. */
#include <errno.h>
#include <string.h>

#include "measure/measure.h"
#include "proto/json_memory.h"

int measure_window(struct measure *ms, const struct round_attr *attr, struct record *rec)
{
	struct measurement meas = {.ms = ms, .attr = *attr};
	const struct found *leader = attr->reverse ? &meas.theirs : &meas.mine;
	int rc;

	if (!attr->target)
		meas.attr.target = ROUND_ENDLESS;
	rc = round_client(&meas);
	memset(rec, 0, sizeof(*rec));
	if (leader->measured)
		*rec = leader->record;
	return rc;
}

/* Run a task at this end. It may take long, so tell the peer meanwhile that this end is alive. */
static int run_task_here(struct measure *ms, const json_t *what, json_t *result)
{
	bool whole = !json_memory_failed(); /* WHAT is; and then RESULT */
	int rc = 0;

	link_alive_start(ms->link);
	if (whole)
		rc = ms->test->task(ms, what, result);
	link_alive_stop(ms->link);
	if (!rc && (json_memory_failed() || !whole))
		rc = fault_raise(ms->fault, FAULT_LOCAL, ENOMEM, "running a task");
	return rc;
}

static int run_task_at_server(struct link *l, json_t *what, json_t **result)
{
	json_t *m = message_new("task");

	json_object_update(m, what);
	return link_send(l, m) ? -1 : link_expect(l, "result", result);
}

int measure_task(struct measure *ms, bool at_server, json_t *what, json_t **result)
{
	json_t *r = at_server ? NULL : json_object();
	int rc = at_server ? run_task_at_server(ms->link, what, &r) : run_task_here(ms, what, r);

	json_decref(what);
	if (rc || !result)
		json_decref(r);
	else
		*result = r;
	return rc;
}

int measure_answer_task(struct measure *ms, const json_t *m)
{
	json_t *result;

	if (!ms->test->task)
		return fault_raise(ms->fault, FAULT_PEER, 0,
				   "the client requested a task, but %s has none", ms->test->name);
	result = message_new("result");
	if (run_task_here(ms, m, result)) {
		json_decref(result);
		return -1;
	}
	return link_send(ms->link, result);
}
