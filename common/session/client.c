// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The client: finds the server, proposes the experiment, leads the rounds. */
#include <errno.h>
#include <string.h>

#include "base/phase.h"
#include "base/units.h"
#include "cli/sweep.h"
#include "session/program.h"
#include "verbs/cm.h"

#define RETRY_FIRST_NS UINT64_C(20000000)
#define RETRY_MAX_NS   UINT64_C(250000000)

/* State of the client between attempts to be served. */
struct queue {
	struct session *s;
	uint64_t deadline_ns; /* when --connect-timeout expires */
	uint64_t pause_ns;    /* before the next attempt */
	char with[80];        /* the client that the server serves, as last shown */
	struct fault lost;    /* why a connection was lost, unless a busy server just ended */
};

/* Pause before the next attempt. Returns 1, or -1 after --connect-timeout or a signal. */
static int try_again(struct queue *q)
{
	struct program *p = q->s->program;
	uint64_t now_ns = clock_now_ns(), until_ns = now_ns + q->pause_ns;

	if (now_ns >= q->deadline_ns && fault_is(&p->fault))
		return -1;
	if (now_ns >= q->deadline_ns) {
		fault_raise(&p->fault, FAULT_DEADLINE, EBUSY,
			    "the server is busy with %s; waited for %s", q->with,
			    units_ns(p->options.local.connect_timeout_ns).text);
		return fault_fix(&p->fault,
				 "wait until these runs end, or use a longer --connect-timeout");
	}
	fault_clear(&p->fault);
	q->pause_ns = q->pause_ns * 2 < RETRY_MAX_NS ? q->pause_ns * 2 : RETRY_MAX_NS;
	if (until_ns > q->deadline_ns)
		until_ns = q->deadline_ns;
	return stop_wait(&p->stop, -1, 0, until_ns, &p->fault) < 0 ? -1 : 1;
}

/* The server serves another client, and M is its "busy". */
static int server_busy(struct queue *q, const json_t *m)
{
	struct program *p = q->s->program;
	char with[sizeof(q->with)];

	if (message_text(m, "with", with, sizeof(with), &p->fault))
		return -1;
	memset(&q->lost, 0, sizeof(q->lost)); /* it lives */
	if (strcmp(with, q->with) != 0)
		report_note(&p->report, "the server is busy with %s; waiting", with);
	snprintf(q->with, sizeof(q->with), "%s", with);
	return try_again(q);
}

static int handle_answer(struct queue *q, const json_t *m)
{
	struct session *s = q->s;

	if (message_is(m, "welcome"))
		return handshake_apply_welcome(&s->ms, m);
	if (message_is(m, "busy"))
		return server_busy(q, m);
	if (message_is(m, "error"))
		return message_raise(m, &s->program->fault);
	return fault_raise(&s->program->fault, FAULT_PEER, 0,
			   "the server sent an unexpected message");
}

/* Note that the client keeps trying: the server may not be started yet. */
static void print_waiting(void *session, uint64_t left_ns)
{
	struct session *s = session;
	const struct local_options *l = &s->program->options.local;

	report_note(&s->program->report, "waiting for a server on %s:%llu, up to %s", l->host,
		    (unsigned long long)l->port, units_about_ns((double)left_ns).text);
}

/*
 * List the sizes of the experiments from the current one on that differ from it in their size only.
 */
static void plan_sizes(struct session *s)
{
	const struct program *p = s->program;
	const struct experiment *first = &p->options.experiment;
	struct endpoint *ep = &s->ep;
	struct experiment e = *first;
	bool alone = first->sweep || first->verify || p->test->schedule ||
		     sweep_axis(&p->options.sweep, options_find("gpu")) ||
		     first->size_bytes > PLAN_SWEEP_LAST;

	ep->sizes = 0;
	do {
		ep->size[ep->sizes++] = e.size_bytes;
		if (alone || ep->sizes == SWEEP_VALUES_MAX ||
		    p->point + ep->sizes >= sweep_points(&p->options.sweep))
			return;
		e = command_line_options(p, p->point + ep->sizes).experiment;
	} while (experiment_same_qps(first, &e) && e.size_bytes <= PLAN_SWEEP_LAST);
}

/* Try once to be served. Returns 0: welcome; 1: try again; -1. */
static int greet_server(struct queue *q)
{
	struct session *s = q->s;
	struct program *p = s->program;
	const struct local_options *l = &p->options.local;
	struct oob_connect_attr attr = {
		.host = l->host,
		.port = (uint16_t)l->port,
		.from = l->source_ip,
		.ipv6 = l->ipv6_addr,
		.waiting = print_waiting,
		.arg = s,
	};
	struct message_wait wait;
	json_t *m = NULL;
	bool sent;
	int rc;

	fault_phase(&p->fault, PHASE_CONNECT);
	oob_release(&s->link.oob);
	if (oob_connect(&s->link.oob, &p->stop, &attr, q->deadline_ns, &p->fault))
		return -1;
	oob_local_address(&s->link.oob, &s->ep.local);
	if (!s->ep.rails && session_open(s))
		return -1;
	m = handshake_hello(&s->ms);
	if (!m)
		return -1;
	/* With --auth both ends prove who they are first. */
	sent = (p->auth.file
			? auth_introduce(&p->auth, &s->link.oob, m, s->link.timeout_ns, &p->fault)
			: link_send(&s->link, m)) == 0;
	wait = message_wait(s->link.timeout_ns);
	if (!sent || message_next(&s->link.oob, &wait, &m, &p->fault)) {
		/* The server ended just now: is there a next one? Or too many come to it. */
		if (p->fault.code != FAULT_PEER ||
		    (!sent && s->link.oob.received && !s->link.oob.lost))
			return -1;
		/* A busy server that ends leaves who comes again unanswered. */
		if (s->link.oob.received || !q->with[0])
			q->lost = p->fault;
		return try_again(q);
	}
	rc = handle_answer(q, m);
	json_decref(m);
	return rc;
}

/* Connect until a server has welcomed the first experiment, or --connect-timeout expires. */
static int find_server(struct session *s)
{
	struct program *p = s->program;
	struct queue q = {
		.s = s,
		.deadline_ns = clock_now_ns() + p->options.local.connect_timeout_ns,
		.pause_ns = RETRY_FIRST_NS,
	};
	int rc;

	/* This end's devices, GPU and rdma_cm are looked at before a server is. */
	if (endpoint_find(&s->ep))
		return -1;
	if (s->ep.options->experiment.rdma_cm) {
		fault_phase(s->ep.fault, PHASE_RDMA_CM);
		if (cm_check(s->ep.fault))
			return -1;
	}
	endpoint_gpu_start(&s->ep);
	while ((rc = greet_server(&q)) > 0)
		;
	/* That a server took the connection and failed explains more than that none listens now. */
	if (rc && fault_is(&q.lost) && p->fault.code == FAULT_DEADLINE)
		p->fault = q.lost;
	return rc;
}

/* Make and measure an experiment in all its sizes: one that the server has welcomed, or ALONE. */
static int run_experiment(struct session *s, bool alone)
{
	const struct test *t = s->program->test;

	if (alone ? endpoint_gpu_find(&s->ep) || endpoint_open(&s->ep) : handshake_connect(&s->ms))
		return -1;
	if (!alone)
		session_show_ends(&s->ms);
	return t->schedule ? t->schedule(&s->ms) : measure_sizes(&s->ms);
}

/* All experiments that the command line asks for, from the first, which is agreed on, or ALONE. */
static int run_experiments(struct session *s, bool alone)
{
	struct program *p = s->program;

	while (run_experiment(s, alone) == 0) {
		p->point += s->ep.sizes;
		if (p->point >= sweep_points(&p->options.sweep) || s->link.interrupted)
			return alone                       ? 0
			       : p->options.output.prove_s ? session_prove(s)
							   : session_leave(s);
		session_unmake(s);
		if (command_line_point(p, p->point))
			return -1;
		plan_sizes(s);
		if (!alone && session_agree(s))
			return -1;
	}
	return -1;
}

int session_client(struct session *s)
{
	bool alone = s->program->test->calls & TRAIT_REGISTERS;
	int rc;

	plan_sizes(s);
	rc = !alone && find_server(s) ? -1 : run_experiments(s, alone);
	measure_set_point(&s->ms);
	if (rc)
		return -1;
	oob_release(&s->link.oob); /* the server has finished: what follows does not concern it */
	return measure_verdict(&s->ms);
}
