// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The client: finds the server, proposes the experiment, leads the rounds. */
#include "session/state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "session/parts.h"
#include "session/plan.h"
#include "session/verify.h"

#define LOST_RETRY_NS UINT64_C(50000000)
#define FULL_RETRY_NS UINT64_C(250000000)

/* What rail R can do. */
static json_t *offer(struct session *s, const struct rail *r)
{
	enum gid_kind kinds[GID_KINDS];
	size_t n = rail_kinds(s, r, kinds);
	json_t *to = json_object(), *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, json_integer(kinds[i]));
	rail_tell_pkey(s, r, to);
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
	    message_u64(choice, "mtu_bytes", 4096, &mtu, &s->fault) ||
	    rail_agree_on_pkey(s, r, choice))
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
	return endpoint_cm_aim(s, m);
}

/* What is to be known from one attempt to be served to the next. */
struct queue {
	uint64_t deadline_ns; /* --connect-timeout is over */
	unsigned place;       /* in line, as it was shown; 0: not in line */
	bool full;            /* that the line is full was shown */
	char with[80];        /* whom the server serves */
	struct fault lost;    /* a server was there, and went */
};

/* "1st", "2nd", "11th", "23rd". */
static const char *ordinal(unsigned n, char *buf, size_t size)
{
	static const char *const ending[] = {"th", "st", "nd", "rd"};
	bool teen = n / 10 % 10 == 1;

	snprintf(buf, size, "%u%s", n, ending[teen || n % 10 > 3 ? 0 : n % 10]);
	return buf;
}

/* The server serves another client: 0 wait here, 1 the line is full, -1. */
static int busy(struct session *s, const json_t *m, struct queue *q)
{
	char nth[16];
	uint64_t place;

	if (message_text(m, "with", q->with, sizeof(q->with), &s->fault) ||
	    message_u64_if(m, "place", UINT16_MAX, &place, &s->fault))
		return -1;
	if (!place && !q->full)
		report_note(&s->report, "the server is busy with %s, and the line is full; waiting",
			    q->with);
	else if (place && place != q->place)
		report_note(&s->report, "the server is busy with %s; %s in line", q->with,
			    ordinal((unsigned)place, nth, sizeof(nth)));
	q->place = (unsigned)place;
	q->full = !place;
	return q->full;
}

/* --connect-timeout is over. */
static int out_of_patience(struct session *s, const struct queue *q)
{
	char t[32], nth[16];

	fault_raise(&s->fault, FAULT_DEADLINE, EBUSY, "the server serves %s, %s%s, tried for %s",
		    q->with, q->place ? ordinal(q->place, nth, sizeof(nth)) : "the line is full",
		    q->place ? " in line" : "",
		    units_format_ns(s->options.local.connect_timeout_ns, t, sizeof(t)));
	return fault_fix(&s->fault,
			 "wait until those runs are over; --connect-timeout waits longer");
}

/* The next message while this client waits in line, which it does no longer than it said. */
static int hear_in_line(struct session *s, json_t **m, const struct queue *q)
{
	uint64_t deadline_ns = session_deadline(s), least_ns = clock_now_ns() + 4 * LINE_REPEAT_NS;
	struct fault late = {0};

	fault_phase(&late, s->fault.phase);
	if (deadline_ns < least_ns)
		deadline_ns = least_ns;
	if (deadline_ns > q->deadline_ns)
		deadline_ns = q->deadline_ns;
	if (oob_recv(&s->oob, m, deadline_ns, &late) == 0)
		return 0;
	if (late.code == FAULT_DEADLINE && clock_now_ns() >= q->deadline_ns)
		return out_of_patience(s, q);
	s->fault = late;
	return -1;
}

/* The server's answer; before it that it is alive, and which place in line this client has. */
static int hear_answer(struct session *s, json_t **m, struct queue *q)
{
	q->place = 0;
	for (;;) {
		int rc = q->place ? hear_in_line(s, m, q)
				  : oob_recv(&s->oob, m, session_deadline(s), &s->fault);

		if (rc)
			return -1;
		if (message_is(*m, "alive"))
			q->place = 0; /* its turn has come */
		else if (!message_is(*m, "busy"))
			return 0;
		else
			rc = busy(s, *m, q);
		if (rc > 0)
			return 0;
		json_decref(*m);
		if (rc)
			return -1;
	}
}

/* Try again after PAUSE_NS: 1, or -1 if it is too late for that, or a signal came. */
static int again(struct session *s, uint64_t pause_ns, const struct queue *q)
{
	uint64_t until_ns = clock_now_ns() + pause_ns;

	if (clock_now_ns() >= q->deadline_ns)
		return fault_is(&s->fault) ? -1 : out_of_patience(s, q);
	fault_clear(&s->fault);
	if (until_ns > q->deadline_ns)
		until_ns = q->deadline_ns;
	return stop_wait(&s->stop, -1, 0, until_ns, &s->fault) < 0 ? -1 : 1;
}

static int take_answer(struct session *s, const json_t *m, struct queue *q)
{
	if (message_is(m, "welcome"))
		return take_welcome(s, m);
	if (message_is(m, "busy"))
		return again(s, FULL_RETRY_NS, q);
	if (message_is(m, "error"))
		return message_raise(m, &s->fault);
	if (!message_is(m, "ended"))
		return fault_raise(&s->fault, FAULT_PEER, 0,
				   "the server gave an answer that is none");
	fault_raise(&s->fault, FAULT_PEER, 0, "the server ended while this client waited in line");
	fault_cause(&s->fault, "It served one client, or was told to end");
	fault_fix(&s->fault, "start it with --persistent, and it serves one client after another");
	q->lost = s->fault;
	report_note(&s->report, "the server ended; looking for the next one");
	return again(s, LOST_RETRY_NS, q);
}

/* One attempt to be served: 0 welcome, 1 try again, -1. */
static int greet(struct session *s, struct queue *q)
{
	const struct local_options *l = &s->options.local;
	struct oob_dial whom = {
		.host = l->host,
		.port = (uint16_t)l->port,
		.from = l->source_ip,
		.ipv6 = l->ipv6_addr,
		.carrier = l->comm_rdma_cm ? carrier_rdma_cm() : carrier_tcp(),
	};
	json_t *m = NULL;
	int rc;

	fault_phase(&s->fault, "connecting to the server");
	oob_release(&s->oob);
	if (oob_connect(&s->oob, &s->stop, &whom, q->deadline_ns, &s->fault))
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
	if (oob_send(&s->oob, m, session_deadline(s), &s->fault) || hear_answer(s, &m, q)) {
		/* A server that ended just now had us in its queue: look whether there is a next
		 * one. */
		if (s->fault.code != FAULT_PEER)
			return -1;
		q->lost = s->fault;
		return again(s, LOST_RETRY_NS, q);
	}
	rc = take_answer(s, m, q);
	json_decref(m);
	return rc;
}

/* QPs here and there; both make theirs at the same time. */
static int connect_qps(struct session *s)
{
	json_t *m;
	int rc;

	if (endpoint_make(s) || endpoint_cm_connect(s, NULL))
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

/* RUN of this size, from 1; 0: it is not repeated. */
static int one_run(struct session *s, uint64_t size, uint64_t run)
{
	const struct experiment *e = &s->options.experiment;
	struct session_round sr = {
		.message_bytes = size,
		.target = experiment_endless(e) ? ROUND_ENDLESS : e->iters,
		.duration_ns = e->run_infinitely ? 0 : e->duration_ns,
		.reverse = e->reversed,
		.both = e->bidirectional,
		.run = run,
	};
	int rc = round_client(s, &sr);

	if (rc == 0)
		rc = verify_round(s, &sr);
	round_show(s, &sr);
	round_release(&sr);
	return rc;
}

static int all_runs(struct session *s, uint64_t size)
{
	json_t *m;

	repeat_start(&s->repeat, clock_now_ns());
	do {
		if (one_run(s, size, ++s->repeat.number) || fault_is(&s->fault)) {
			round_repeated(s);
			return -1;
		}
	} while (!s->interrupted && repeat_goes_on(&s->repeat, clock_now_ns()));
	round_repeated(s);
	m = message_new("repeated");
	if (s->repeat.until_ppm)
		json_object_set_new(m, "until_ppm", json_integer((json_int_t)s->repeat.until_ppm));
	return oob_send(&s->oob, m, session_deadline(s), &s->fault);
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
	return s->repeat.most ? all_runs(s, size) : one_run(s, size, 0);
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
	struct queue q = {.deadline_ns = clock_now_ns() + s->options.local.connect_timeout_ns};
	json_t *bye;
	int rc;

	endpoint_gpu_start(s);
	while ((rc = greet(s, &q)) > 0)
		;
	/* That somebody answered and died says more than that nobody listens any more. */
	if (rc && fault_is(&q.lost) && s->fault.code == FAULT_DEADLINE)
		s->fault = q.lost;
	if (rc || connect_qps(s))
		return -1;
	session_show_ends(s);
	if (s->test->schedule ? s->test->schedule(s) : session_sizes(s))
		return -1;
	fault_phase(&s->fault, "taking leave");
	bye = message_new("bye");
	counting_stop(s, bye);
	if (oob_send(&s->oob, bye, session_deadline(s), &s->fault) ||
	    message_expect(&s->oob, "bye", &bye, s->options.local.timeout_ns, &s->fault))
		return -1;
	rc = counting_hear(s, bye);
	json_decref(bye);
	if (rc)
		return -1;
	oob_release(&s->oob); /* the server has gone: what follows is no matter of it */
	if (verify_verdict(s))
		return -1;
	return s->test->judge ? s->test->judge(s) : 0;
}
