// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The client: finds the server, proposes the experiment, leads the rounds. */
#include "session/state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "session/parts.h"
#include "session/plan.h"

#define BUSY_RETRY_NS UINT64_C(50000000)

/* What rail R can do. */
static json_t *offer(struct session *s, const struct rail *r)
{
	enum gid_kind kinds[GID_KINDS];
	size_t n = rail_kinds(s, r, kinds);
	json_t *to = json_object(), *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, json_integer(kinds[i]));
	json_object_set_new(to, "ethernet", json_boolean(r->hca.info.is_ethernet));
	json_object_set_new(to, "gid_kinds", list);
	json_object_set_new(to, "mtu_bytes", json_integer(rail_mtu(s, r)));
	return to;
}

static json_t *hello(struct session *s)
{
	json_t *m = message_new("hello"), *rails = json_array();

	for (unsigned i = 0; i < s->rails; i++)
		json_array_append_new(rails, offer(s, &s->rail[i]));
	json_object_set_new(m, "protocol", json_integer(MESSAGE_PROTOCOL));
	json_object_set_new(m, "version", json_string(RDMARK_VERSION));
	json_object_set_new(m, "test", json_string(s->test->name));
	json_object_set_new(m, "experiment",
			    experiment_to_json(&s->options.experiment, s->test->name));
	json_object_set_new(m, "rails", rails);
	json_object_set_new(m, "timeout_ns", json_integer((json_int_t)s->options.local.timeout_ns));
	if (s->gpu_memory)
		json_object_set_new(m, "gpu_memory", json_true());
	return m;
}

/* What the server has chosen from the offer of rail R. */
static int take_choice(struct session *s, struct rail *r, const json_t *choice)
{
	uint64_t kind, mtu;

	if (message_u64(choice, "gid_kind", GID_KINDS - 1, &kind, &s->fault) ||
	    message_u64(choice, "mtu_bytes", 4096, &mtu, &s->fault))
		return -1;
	if (!hca_mtu_enum((unsigned)mtu) || mtu > rail_mtu(s, r))
		return fault_raise(&s->fault, FAULT_PEER, 0, "the server proposes an MTU of %u",
				   (unsigned)mtu);
	r->route.mtu_bytes = (unsigned)mtu;
	return rail_use_gid(s, r, (enum gid_kind)kind);
}

static int take_welcome(struct session *s, const json_t *m)
{
	const json_t *rails = json_object_get(m, "rails");
	uint64_t protocol;

	if (message_u64(m, "protocol", UINT32_MAX, &protocol, &s->fault) ||
	    message_has(m, "protocol", protocol == MESSAGE_PROTOCOL, &s->fault) ||
	    message_has(m, "rails", json_array_size(rails) == s->rails, &s->fault) ||
	    session_read_timeout(s, m) || session_read_memory(s, m))
		return -1;
	for (unsigned i = 0; i < s->rails; i++)
		if (take_choice(s, &s->rail[i], json_array_get(rails, i)))
			return -1;
	endpoint_agreed(s);
	return 0;
}

static int busy(struct session *s, const json_t *m, uint64_t deadline_ns, bool *told)
{
	char with[80] = "another client", t[32];

	if (json_is_string(json_object_get(m, "with")))
		message_text(m, "with", with, sizeof(with), &s->fault);
	if (!*told)
		report_note(&s->report, "the server is busy with %s; waiting", with);
	*told = true;
	if (clock_now_ns() < deadline_ns) {
		stop_wait(&s->stop, -1, 0, clock_now_ns() + BUSY_RETRY_NS, &s->fault);
		return fault_is(&s->fault) ? -1 : 1;
	}
	fault_raise(&s->fault, FAULT_DEADLINE, EBUSY, "the server serves %s, tried for %s", with,
		    units_format_ns(s->options.local.connect_timeout_ns, t, sizeof(t)));
	return fault_fix(&s->fault, "wait until that run is over; --connect-timeout waits longer");
}

/* The server's first word, but for that it is alive. */
static int hear_answer(struct session *s, json_t **m)
{
	for (;;) {
		if (oob_recv(&s->oob, m, session_deadline(s), &s->fault))
			return -1;
		if (!message_is(*m, "alive"))
			return 0;
		json_decref(*m);
	}
}

/* One attempt to be served: 0 welcome, 1 try again, -1. */
static int greet(struct session *s, uint64_t deadline_ns, bool *told, struct fault *lost)
{
	uint16_t port = (uint16_t)s->options.local.port;
	json_t *m = NULL;
	int rc = -1;

	fault_phase(&s->fault, "connecting to the server");
	oob_release(&s->oob);
	if (oob_connect(&s->oob, &s->stop, s->options.local.host, port, deadline_ns, &s->fault))
		return -1;
	oob_local_address(&s->oob, &s->local);
	if (!s->rails && endpoint_open(s))
		return -1;
	fault_phase(&s->fault, "agreeing with the server");
	m = hello(s);
	if (fault_is(&s->fault)) {
		json_decref(m);
		return -1;
	}
	if (oob_send(&s->oob, m, session_deadline(s), &s->fault) || hear_answer(s, &m)) {
		/* A server that ended just now had us in its queue: look whether there is a next
		 * one. */
		if (s->fault.code != FAULT_PEER || clock_now_ns() >= deadline_ns)
			return -1;
		*lost = s->fault;
		fault_clear(&s->fault);
		return stop_wait(&s->stop, -1, 0, clock_now_ns() + BUSY_RETRY_NS, &s->fault) < 0
			       ? -1
			       : 1;
	}
	if (message_is(m, "welcome"))
		rc = take_welcome(s, m);
	else if (message_is(m, "busy"))
		rc = busy(s, m, deadline_ns, told);
	else if (message_is(m, "error"))
		rc = message_raise(m, &s->fault);
	else
		rc = fault_raise(&s->fault, FAULT_PEER, 0,
				 "the server gave an answer that is none");
	json_decref(m);
	return rc;
}

/* QPs here and there; both make theirs at the same time. */
static int connect_qps(struct session *s)
{
	json_t *m;
	int rc;

	if (endpoint_make(s))
		return -1;
	fault_phase(&s->fault, "exchanging QP details");
	if (oob_send(&s->oob, endpoint_describe(s), session_deadline(s), &s->fault) ||
	    message_expect(&s->oob, "qps", &m, s->options.local.timeout_ns, &s->fault))
		return -1;
	rc = endpoint_read_peer(s, m) || endpoint_connect(s) ? -1 : 0;
	json_decref(m);
	return rc;
}

/* A signal came, here or to the server. */
static int interrupted(struct session *s)
{
	fault_phase(&s->fault, "warming up");
	if (s->stop.signal)
		return stop_raise(&s->stop, &s->fault);
	fault_raise(&s->fault, FAULT_INTERRUPTED, 0, "the server was interrupted");
	s->fault.from_peer = true;
	return -1;
}

static int one_size(struct session *s, uint64_t size)
{
	const struct experiment *e = &s->options.experiment;
	struct session_round sr = {
		.message_bytes = size,
		.target = plan_warmup(e, size, s->test->latency),
		.warmup = true,
		.reverse = e->reversed,
		.both = e->bidirectional,
	};
	int rc;

	rc = sr.target ? round_client(s, &sr) : 0;
	round_release(&sr);
	if (rc)
		return -1;
	if (s->interrupted) /* while warming up: this size is not measured */
		return s->measured ? 0 : interrupted(s);
	sr = (struct session_round){
		.message_bytes = size,
		.target = e->duration_ns ? ROUND_ENDLESS : e->iters,
		.duration_ns = e->duration_ns,
		.reverse = e->reversed,
		.both = e->bidirectional,
	};
	rc = round_client(s, &sr);
	round_show(s, &sr);
	round_release(&sr);
	return rc;
}

int session_sizes(struct session *s)
{
	const struct experiment *e = &s->options.experiment;

	for (uint64_t size = plan_first_size(e); size <= s->largest_bytes && !s->interrupted;
	     size *= 2)
		if (one_size(s, size))
			return -1;
	return 0;
}

int session_client(struct session *s)
{
	uint64_t deadline_ns = clock_now_ns() + s->options.local.connect_timeout_ns;
	struct fault lost = {0};
	bool told = false;
	json_t *bye = NULL;
	int rc;

	endpoint_gpu_start(s);
	while ((rc = greet(s, deadline_ns, &told, &lost)) > 0)
		;
	/* That somebody answered and died says more than that nobody listens any more. */
	if (rc && fault_is(&lost) && s->fault.code == FAULT_DEADLINE)
		s->fault = lost;
	if (rc || connect_qps(s))
		return -1;
	session_show_ends(s);
	if (s->test->schedule ? s->test->schedule(s) : session_sizes(s))
		return -1;
	fault_phase(&s->fault, "taking leave");
	if (oob_send(&s->oob, message_new("bye"), session_deadline(s), &s->fault) ||
	    message_expect(&s->oob, "bye", &bye, s->options.local.timeout_ns, &s->fault))
		return -1;
	json_decref(bye);
	oob_release(&s->oob); /* the server has gone: what follows is no matter of it */
	return s->test->judge ? s->test->judge(s) : 0;
}
