// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * connect_lat: how long it takes to connect a QP to the other host, step by step, and how many
 * connections a second several threads make.
 *
 * Posted and polled: nothing. Each thread has one QP. It destroys it, makes it again and moves it to
 * INIT; the peer does the same when it is told the QPs' numbers of all threads, and connects its own;
 * with what it answers the QP goes to RTR and RTS. With -R the peer listens instead, and rdma_cm
 * connects them. Timed: each step, and all of them.
 */
#include "base/phase.h"
#include "endpoint/rail.h"
#include "endpoint/worker.h"
#include "session/calls.h"
#include "session/program.h"

/* The steps, with the places that both ways share; the last two are at the end of either. */
enum {
	CREATE,
	INIT,
	EXCHANGE,
	PEER,
	OWN /* the first of the way */
};
static const enum record_step by_tcp[] = {RECORD_CREATE, RECORD_INIT, RECORD_EXCHANGE,
					  RECORD_PEER,   RECORD_RTR,  RECORD_RTS,
					  RECORD_DESTROY, RECORD_CONNECTION};
static const enum record_step by_cm[] = {RECORD_CREATE, RECORD_INIT,    RECORD_EXCHANGE,
					 RECORD_PEER,   RECORD_RDMA_CM, RECORD_DESTROY,
					 RECORD_CONNECTION};

struct round_of {
	struct calls calls; /* the server has no samples */
	struct endpoint *ep;
	uint64_t begun, sent, answered, peer; /* ticks: of all threads; how long the peer worked */
};

static void note(struct round_of *r, unsigned i, unsigned step, uint64_t begin, uint64_t end)
{
	if (r->calls.hist)
		calls_add(&r->calls, i, step, begin, end);
}

/* Worker I's QP is destroyed, and there is another one, in INIT. */
static int remake(void *arg, unsigned i)
{
	struct round_of *r = arg;
	struct worker *t = &r->ep->worker[i];
	const struct clock *clock = r->ep->clock;
	const struct qp_attr attr = worker_qp_attr(t);
	uint64_t begin = clock_ticks(clock), destroyed, created;

	cm_release(&t->cm);
	if (t->qps.count)
		qp_set_remove(&t->qps);
	destroyed = clock_ticks(clock);
	if (qp_set_add(&t->qps, &attr, &t->fault))
		return -1;
	created = clock_ticks(clock);
	if (qp_state_init(&t->qps, 0, &attr, &t->fault))
		return -1;
	note(r, i, r->calls.steps - 2, begin, destroyed);
	note(r, i, CREATE, destroyed, created);
	note(r, i, INIT, created, clock_ticks(clock));
	t->mine.qpn[0] = t->qps.qp[0]->qp_num;
	return 0;
}

/* What all threads have in common, and all of worker I's steps. */
static void note_all(struct round_of *r, unsigned i)
{
	note(r, i, EXCHANGE, r->sent, r->answered - r->peer);
	note(r, i, PEER, 0, r->peer);
	note(r, i, r->calls.steps - 1, r->begun, clock_ticks(r->ep->clock));
}

/* Worker I's QP is connected to the one that the peer has told of. */
static int finish(void *arg, unsigned i)
{
	struct round_of *r = arg;
	struct worker *t = &r->ep->worker[i];
	const struct clock *clock = r->ep->clock;
	uint64_t begin = clock_ticks(clock), ready;

	if (qp_state_rtr(&t->qps, 0, &t->rail->route, &t->theirs, &t->fault))
		return -1;
	ready = clock_ticks(clock);
	if (qp_state_rts(&t->qps, 0, &t->rail->route, &t->fault))
		return -1;
	note(r, i, OWN, begin, ready);
	note(r, i, OWN + 1, ready, clock_ticks(clock));
	note_all(r, i);
	return 0;
}

static void write_qpns(const struct endpoint *ep, json_t *to)
{
	json_t *all = json_array();

	for (unsigned i = 0; i < ep->workers; i++)
		json_array_append_new(all, json_integer(ep->worker[i].mine.qpn[0]));
	json_object_set_new(to, "qpn", all);
}

static int read_qpns(struct endpoint *ep, const json_t *from)
{
	const json_t *all = json_object_get(from, "qpn");

	if (message_numbers(from, "qpn", ep->workers, 0xffffff, ep->fault))
		return -1;
	for (unsigned i = 0; i < ep->workers; i++)
		ep->worker[i].theirs.qpn[0] =
			(uint32_t)json_integer_value(json_array_get(all, i));
	return 0;
}

/* Client: tell the server, and read its answer. */
static int exchange(struct round_of *r)
{
	struct endpoint *ep = r->ep;
	json_t *what = json_object(), *m;
	uint64_t worked_ns = 0;
	int rc;

	write_qpns(ep, what);
	r->sent = clock_ticks(ep->clock);
	if (measure_task(r->calls.ms, what, &m))
		return -1;
	r->answered = clock_ticks(ep->clock);
	rc = message_u64(m, "worked_ns", INT64_MAX, &worked_ns, ep->fault) || read_qpns(ep, m) ||
	     connect_cm_aim(ep, m);
	json_decref(m);
	r->peer = (uint64_t)((double)worked_ns / ep->clock->ns_per_tick);
	if (r->peer > r->answered - r->sent)
		r->peer = r->answered - r->sent;
	return rc ? -1 : 0;
}

/* Client: rdma_cm connects the QPs of all threads. */
static int connect_by_cm(struct round_of *r)
{
	struct endpoint *ep = r->ep;
	struct link *l = r->calls.ms->link;
	json_t *m = message_new("task"), *result = NULL;
	uint64_t begin = clock_ticks(ep->clock);
	int rc;

	json_object_set_new(m, "join", json_true());
	rc = link_send(l, m) || connect_cm(ep, l, "result", &result) ||
	     (!result && link_expect(l, "result", &result));
	json_decref(result);
	if (rc)
		return -1;
	for (unsigned i = 0; i < ep->workers; i++) {
		note(r, i, OWN, begin, clock_ticks(ep->clock));
		note_all(r, i);
	}
	return 0;
}

static int connect_all(struct calls *c, unsigned i)
{
	struct round_of *r = (struct round_of *)c;

	(void)i;
	r->begun = clock_ticks(r->ep->clock);
	if (endpoint_each(r->ep, remake, r) || exchange(r))
		return -1;
	if (r->ep->options->experiment.rdma_cm)
		return connect_by_cm(r);
	return endpoint_each(r->ep, finish, r);
}

static int schedule(struct measure *ms)
{
	bool cm = ms->options->experiment.rdma_cm;
	struct round_of r = {.calls = {.ms = ms,
				       .job = connect_all,
				       .led = true,
				       .step = cm ? by_cm : by_tcp,
				       .steps = cm ? sizeof(by_cm) / sizeof(by_cm[0])
						   : sizeof(by_tcp) / sizeof(by_tcp[0])},
			     .ep = ms->ep};

	return calls_run(&r.calls, 0);
}

/* Server: rdma_cm connects the QPs. Meanwhile it is connect_cm() that tells the client of this end. */
static int join(struct measure *ms)
{
	const struct cm *cm = &ms->ep->worker[0].cm;
	int rc;

	if (!cm->listener || cm->qps)
		return fault_raise(ms->fault, FAULT_PEER, 0,
				   "the client connects where nothing listens");
	link_alive_stop(ms->link);
	rc = connect_cm(ms->ep, ms->link, NULL, NULL);
	link_alive_start(ms->link);
	return rc;
}

/* Server: make this end's QPs; connect them, or listen. */
static int task(struct measure *ms, const json_t *what, json_t *result)
{
	struct endpoint *ep = ms->ep;
	struct round_of r = {.calls = {.ms = ms}, .ep = ep};
	uint64_t begin_ns = clock_raw_ns();
	int rc;

	fault_phase(ms->fault, PHASE_CONNECT_QPS);
	ms->measured = true;
	if (json_object_get(what, "join"))
		return join(ms);
	if (read_qpns(ep, what) || endpoint_each(ep, remake, &r))
		return -1;
	rc = ep->options->experiment.rdma_cm ? connect_cm_listen(ep, result)
					     : endpoint_each(ep, finish, &r);
	write_qpns(ep, result);
	json_object_set_new(result, "worked_ns",
			    json_integer((json_int_t)(clock_raw_ns() - begin_ns)));
	return rc;
}

const struct test connect_lat = {
	.name = "connect_lat",
	.summary = "latency of connecting a QP, step by step",
	.title = "Connection Latency Test",
	.defaults = {EXPERIMENT_DEFAULTS, .size_bytes = 1, .iters = 1000, .tx_depth = 1, .plain = 1},
	.operation = {.name = "connection", .opcode = IBV_WR_SEND, .another = IBV_WR_SEND_WITH_IMM},
	.latency = true,
	.calls = TRAIT_CONNECTS,
	.schedule = schedule,
	.task = task,
};

SESSION_MAIN(connect_lat)
