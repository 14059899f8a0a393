// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The server: waits for a client, adopts its experiment, follows its rounds. */
#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "base/phase.h"
#include "base/units.h"
#include "session/program.h"

/* The client's hello is well-formed and fits: adopt the experiment. Usage faults are final. */
static int adopt_client(struct session *s, const json_t *m)
{
	struct program *p = s->program;
	struct link *l = &s->link;
	const struct offer *o = hello_wanted(p, m);
	struct hello *h = &s->hello;

	fault_phase(&p->fault, PHASE_AGREE_CLIENT);
	/* what is said of one that is refused is of its test, not of that before it */
	p->test = s->ep.test = s->ms.test = o->test;
	p->asked = p->options = o->asked;
	p->repeat.latency = o->test->latency;
	report_serve(&p->report, o->test);
	if (message_is(m, "error")) { /* the client itself found that it cannot run */
		message_raise(m, &p->fault);
		p->fault.code = FAULT_PEER;
		return -1;
	}
	if (hello_read(o, m, h, &p->fault))
		return -1;
	p->report.trial = h->trial;
	hello_read_given(&p->options, m);
	if (hello_read_sweep(&p->options.sweep, m, &p->fault) || handshake_read_timeout(l, m))
		return -1;
	p->options.experiment = h->experiment;
	s->ep.default_depth = h->default_depth;
	s->ep.sizes = h->sizes;
	memcpy(s->ep.size, h->size, sizeof(s->ep.size));
	link_bound(l, &h->experiment, json_array_size(json_object_get(m, "rails")));
	if (p->options.local.max_duration_ns != EXPERIMENT_AUTO && !l->oob.until_ns)
		oob_limit(&l->oob, p->options.local.max_duration_ns);
	return 0;
}

/* True if --wait has expired: without a connection only that raises FAULT_DEADLINE. */
static bool wait_expired(const struct session *s)
{
	return s->program->fault.code == FAULT_DEADLINE && s->link.oob.fd < 0;
}

/* Wait for a client with a valid hello; other connections are dropped. */
static int await_client(struct session *s, json_t **hello)
{
	struct program *p = s->program;
	uint64_t wait_ns = p->options.local.wait_ns;
	uint64_t until_ns = wait_ns ? clock_now_ns() + wait_ns : 0;
	char line[1024];

	for (;;) {
		p->listener.until_ns = until_ns;
		if (listener_wait(&p->listener, &s->link.oob, hello, &p->fault)) {
			if (!wait_expired(s))
				return -1;
			fault_cause(&p->fault, "The --wait of %s%s has passed",
				    units_ns(wait_ns).text,
				    options_given(&p->options, "wait")
					    ? ""
					    : ", the default where stdin is no terminal,");
			return fault_fix(&p->fault,
					 "check why no client connected to port %u of this host, "
					 "or give a longer --wait (0: forever)",
					 p->listener.port);
		}
		if (adopt_client(s, *hello) == 0)
			break;
		if (!p->fault.from_peer)
			message_send_fault(&s->link.oob, &p->fault, link_deadline(&s->link));
		json_decref(*hello);
		*hello = NULL;
		if (p->fault.code != FAULT_PEER || p->fault.from_peer)
			return -1;
		fault_format(&p->fault, line, sizeof(line));
		report_log(&p->report, "dropped %s: %s", s->link.oob.peer, line);
		fault_clear(&p->fault);
		oob_release(&s->link.oob);
	}
	oob_local_address(&s->link.oob, &s->ep.local);
	return listener_guard(&p->listener, s->link.oob.peer, &p->fault);
}

/* Rounds until the client says hello again, for its next experiment, or bye: that is *LAST. */
static int follow_client(struct session *s, json_t **last)
{
	struct measure *ms = &s->ms;
	struct link *l = ms->link;

	for (;;) {
		struct message_wait wait = message_wait(l->timeout_ns);
		json_t *m = NULL;
		bool measures;
		int rc;

		fault_phase(ms->fault, PHASE_AWAIT_ROUND);
		if (report_check_room(ms->report, ms->fault) ||
		    message_next(&l->oob, &wait, &m, ms->fault))
			return -1;
		measures = message_is(m, "round") || message_is(m, "task");
		if (measures)
			s->stage = SESSION_MEASURING;
		if (message_is(m, "hello") || message_is(m, "bye")) {
			*last = m;
			return 0;
		}
		if (measures && l->stop->signal)
			rc = stop_raise(l->stop, ms->fault); /* which came while this end measured */
		else if (message_is(m, "round"))
			rc = measure_one_round(ms, m);
		else if (message_is(m, "loopback") && s->program->report.trial)
			rc = session_answer_loopback(s);
		else if (message_is(m, "task"))
			rc = measure_answer_task(ms, m);
		else if (message_is(m, "error"))
			rc = message_raise(m, ms->fault);
		else
			rc = fault_raise(ms->fault, FAULT_PEER, 0,
					 "the client sent an unexpected message instead of a "
					 "round");
		json_decref(m);
		if (rc)
			return -1;
	}
}

/* Run the experiment in *HELLO, which becomes what the client says after it. */
static int server_experiment(struct session *s, json_t **hello)
{
	struct program *p = s->program;
	int rc = session_open(s) || handshake_welcome(&s->ms, *hello, s->hello.decided);

	json_decref(*hello);
	*hello = NULL;
	if (rc || handshake_connect(&s->ms))
		return -1;
	if (!p->report.trial)
		session_show_ends(&s->ms);
	rc = follow_client(s, hello);
	measure_repeated(&s->ms);
	return rc;
}

static int serve_client(struct session *s)
{
	json_t *m = NULL; /* of the client: hello, and when all is measured bye */
	int rc;

	if (await_client(s, &m))
		return -1;
	while ((rc = server_experiment(s, &m)) == 0 && message_is(m, "hello")) {
		session_unmake(s);
		if ((rc = adopt_client(s, m)))
			break;
	}
	if (!rc) {
		listener_over(&s->program->listener);
		rc = link_send(&s->link, message_new("bye"));
	}
	json_decref(m);
	measure_set_point(&s->ms);
	return rc || measure_verdict(&s->ms) ? -1 : 0;
}

/* Write one line to the log: time, client, test and outcome. */
static void log_client(struct session *s, const char *peer)
{
	struct program *p = s->program;
	char line[1536], now[CLOCK_UTC_BYTES];

	if (fault_is(&p->fault))
		fault_format(&p->fault, line, sizeof(line));
	else
		report_outcome(&p->report, line, sizeof(line));
	/* A client that failed before its hello has not named a test. */
	report_log(&p->report, "%s %s %s: %s%s", clock_utc(now), peer,
		   s->stage == SESSION_GREETING ? "-" : p->test->name,
		   s->link.limit_ns      ? "ended at --max-duration, "
		   : s->link.interrupted ? "interrupted, "
					 : "",
		   line);
}

/* Release all that belongs to a client, before the next one. */
static void forget_client(struct session *s)
{
	struct program *p = s->program;

	session_release(s);
	fault_clear(&p->fault);
	listener_unguard(&p->listener);
	p->options = p->asked;
	repeat_release(&p->repeat);
	malloc_trim(0); /* what one client needed is not kept for the next one */
	session_init(s, p);
}

/*
 * Send the outcome to the client, and write it to the log. There is no client if a signal came
 * while the server waited for one.
 */
static void end_client(struct session *s)
{
	struct program *p = s->program;
	bool signalled = p->stop.signal && p->fault.code == FAULT_INTERRUPTED;
	bool connected = s->link.oob.fd >= 0;
	struct fault writing = {0};
	char line[1536];

	if (fault_is(&p->fault))
		link_tell_peer(&s->link);
	session_name_reporter(s);
	if (connected || (fault_is(&p->fault) && !signalled))
		log_client(s, connected ? s->link.oob.peer : p->listener.busy_with);
	if (signalled) /* that is how the server ends well */
		fault_clear(&p->fault);
	if (report_next(&p->report, &p->fault, s->link.interrupted, &writing)) {
		fault_format(&writing, line, sizeof(line));
		report_log(&p->report, "%s", line);
	}
	forget_client(s);
}

/*
 * Serve clients until a signal comes. What became of a client is in the log and in its document,
 * and is no failure of the server, also if a signal came.
 */
static int serve_all(struct session *s)
{
	struct program *p = s->program;

	do {
		serve_client(s);
		if (wait_expired(s))
			return -1;
		end_client(s);
	} while (!p->stop.signal);
	report_log(&p->report, "%s: the server stops", stop_signal_name(p->stop.signal));
	return 0;
}

/*
 * True if the server waits for another client: nothing was measured, and this client failed, left,
 * does not fit or requests more than is available. After a failure of this host the server ends; so
 * it does after a client that could use its file (--mmap), which is for one client only.
 */
static bool may_serve_another(const struct session *s)
{
	const struct fault *f = &s->program->fault;

	if (!fault_is(f) || s->program->stop.signal || s->stage == SESSION_MEASURING ||
	    wait_expired(s) || (s->link.told_keys && s->ep.options->local.mmap_file))
		return false;
	if (f->from_peer || f->code == FAULT_PEER || f->code == FAULT_DEADLINE)
		return true;
	if (s->stage == SESSION_OPENING)
		return false;
	return f->code == FAULT_USAGE || f->code == FAULT_UNAVAILABLE || f->errnum == ENOMEM ||
	       f->errnum == EINVAL;
}

/*
 * A client was not served: tell it why, print why, and release all that belongs to it.
 */
static void reject_client(struct session *s)
{
	struct program *p = s->program;
	char who[256];

	link_tell_peer(&s->link);
	snprintf(who, sizeof(who), "%s: client %s not served, still waiting%s", p->name,
		 s->link.oob.peer, p->fault.from_peer ? "; it says" : "");
	p->fault.from_peer = false;
	fault_print(&p->fault, who, stderr);
	report_discard(&p->report);
	forget_client(s);
}

int session_server(struct session *s)
{
	struct program *p = s->program;
	int rc;

	if (listen_open(s))
		return -1;
	if (p->options.local.persistent)
		rc = serve_all(s);
	else /* clients that cannot be served do not count */
		while ((rc = serve_client(s)) && may_serve_another(s))
			reject_client(s);
	listener_over(&p->listener);
	return rc;
}
