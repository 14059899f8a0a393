// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What happened at both ends' ports while the windows of all cells ran. The findings are those of
 * the other tests (explain/during.h), in the same words; their shares are of the whole time, with
 * all cells and both directions.
 */
#include "base/clock.h"
#include "explain/during.h"
#include "gdr.h"
#include "measure/conditions.h"
#include "plan/transport.h"
#include "proto/snapshot.h"

int gdr_ports_task(struct measure *ms, struct gdr *g, const json_t *what, json_t *result)
{
	struct port_snapshot s = {0};

	if (!json_is_true(json_object_get(what, "stop"))) {
		conditions_ports_start(ms);
		g->ports_count = true;
		return 0;
	}
	if (!g->ports_count)
		return fault_raise(g->run.fault, FAULT_PEER, 0,
				   "the client asked what the ports counted before they did");
	conditions_ports_stop(ms, &s);
	json_object_set_new(result, "snapshot", snapshot_to_json(&s));
	return 0;
}

static json_t *task(bool stop)
{
	return json_pack("{s:s, s:b}", "task", "ports", "stop", stop);
}

int gdr_ports_start(struct measure *ms, struct gdr *g)
{
	if (measure_interrupted(ms))
		return 0;
	if (measure_task(ms, true, task(false), NULL) || measure_task(ms, false, task(false), NULL))
		return -1;
	g->ports_started_ns = clock_now_ns();
	return 0;
}

static int read_snapshot(struct measure *ms, bool theirs, struct port_snapshot *s)
{
	json_t *result;
	int rc;

	if (measure_task(ms, theirs, task(true), &result))
		return -1;
	rc = snapshot_from_json(s, json_object_get(result, "snapshot"), ms->fault);
	json_decref(result);
	return rc;
}

int gdr_ports_stop(struct measure *ms, struct gdr *g)
{
	uint64_t ns = clock_now_ns() - g->ports_started_ns;

	if (!g->ports_started_ns || measure_interrupted(ms))
		return 0;
	if (read_snapshot(ms, false, &g->ports[RESULT_CLIENT]) ||
	    read_snapshot(ms, true, &g->ports[RESULT_SERVER]))
		return -1;
	g->observed_ns = ns;
	return 0;
}

void gdr_explain(struct gdr *g)
{
	const struct experiment *e = &g->run.options->experiment;
	struct run_end client, server;
	struct run_facts r = {
		.seconds = (double)g->observed_ns / 1e9,
		.qps = (unsigned)e->qps,
		.reliable = !transport_loses(e),
		.ack_timeout_ns = transport_ack_timeout_ns(e),
		.sender = &client,
		.receiver = &server,
		.source = &client,
		.sink = &server,
	};

	g->events.count = 0;
	if (!g->observed_ns)
		return;
	run_end_unknown(&client, "client");
	run_end_unknown(&server, "server");
	run_end_count(&client, &g->ports[RESULT_CLIENT], &g->ports[RESULT_SERVER]);
	run_end_count(&server, &g->ports[RESULT_SERVER], &g->ports[RESULT_CLIENT]);
	explain_both_ways(&r, &g->events);
}
