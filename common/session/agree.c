// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The client: the beginning and the end of an experiment, over a connection that there is. */
#include "base/phase.h"
#include "session/program.h"

json_t *session_hello(struct session *s)
{
	struct fault *f = &s->program->fault;
	json_t *m;

	fault_phase(f, PHASE_AGREE_SERVER);
	link_bound(&s->link, &s->program->options.experiment, s->ep.rails);
	m = handshake_hello(&s->ms);
	if (!fault_is(f))
		return m;
	json_decref(m);
	return NULL;
}

int session_leave(struct session *s, bool more)
{
	json_t *bye = message_new("bye");

	fault_phase(&s->program->fault, PHASE_LEAVE);
	if (more)
		json_object_set_new(bye, "more", json_true());
	if (link_send(&s->link, bye) || link_expect(&s->link, "bye", &bye))
		return -1;
	json_decref(bye);
	return 0;
}

int session_agree(struct session *s)
{
	json_t *m;
	int rc;

	if (session_open(s))
		return -1;
	m = session_hello(s);
	if (!m)
		return -1;
	if (link_send(&s->link, m) || link_expect(&s->link, "welcome", &m))
		return -1;
	rc = handshake_apply_welcome(&s->ms, m);
	json_decref(m);
	return rc;
}
