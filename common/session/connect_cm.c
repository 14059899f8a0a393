// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Connecting the QPs through rdma_cm. */
#include "base/phase.h"
#include "endpoint/rail.h"
#include "endpoint/worker.h"
#include "proto/fields.h"
#include "session/program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ALIVE_NS UINT64_C(1000000000)

int connect_cm_listen(struct endpoint *ep, json_t *welcome)
{
	json_t *all = json_array();

	for (unsigned i = 0; ep->options->experiment.rdma_cm && i < ep->workers_made; i++) {
		struct cm *c = &ep->worker[i].cm;
		uint16_t port;

		if (worker_cm_open(&ep->worker[i], AF_UNSPEC) ||
		    cm_listen(c, (unsigned)ep->options->experiment.qps, &port, ep->fault)) {
			json_decref(all);
			return -1;
		}
		json_array_append_new(all,
				      json_pack("{s:s, s:i, s:I}", "address", c->own_name, "port",
						(int)port, "token", (json_int_t)c->token));
	}
	json_add_parts(welcome, "rdma_cm", all, 1);
	return 0;
}

static int set_peer_address(struct worker *t, const json_t *m)
{
	struct fault *f = t->ep->fault;
	char address[CM_ADDRESS_SIZE], *scope;
	uint64_t port, token;

	if (message_text(m, "address", address, sizeof(address), f) ||
	    message_u64(m, "port", UINT16_MAX, &port, f) ||
	    message_u64(m, "token", INT64_MAX, &token, f))
		return -1;
	scope = strchr(address, '%'); /* the server's interface name does not exist at this end */
	if (scope)
		*scope = '\0';
	if (worker_cm_open(t, strchr(address, ':') ? AF_INET6 : AF_INET))
		return -1;
	return cm_aim(&t->cm, address, (uint16_t)port, token, f);
}

int connect_cm_aim(struct endpoint *ep, const json_t *welcome)
{
	const json_t *all = json_object_get(welcome, "rdma_cm");

	if (!ep->options->experiment.rdma_cm)
		return 0;
	if (message_has(welcome, "rdma_cm", json_array_size(all) == ep->workers_made, ep->fault))
		return -1;
	for (unsigned i = 0; i < ep->workers_made; i++)
		if (set_peer_address(&ep->worker[i], json_array_get(all, i)))
			return -1;
	return 0;
}

/* The state while rdma_cm connects the QPs of all workers. */
struct cm_progress {
	struct endpoint *ep;
	struct link *link;
	const char *next; /* the type of the peer's next message, which may come early */
	json_t **early;   /* and where it goes; NULL: it cannot */
	struct pollfd *p; /* for the signals, the peer, and each worker */
	uint64_t said_ns; /* time of the last message to the peer */
	uint64_t deadline_ns, latest_ns; /* without progress; of all */
	unsigned up;                     /* QPs, of all workers */
};

static void extend_deadline(struct cm_progress *u)
{
	uint64_t ns = link_deadline(u->link);

	u->deadline_ns = ns < u->latest_ns ? ns : u->latest_ns;
}

/* Handle a message of the peer: an error, "alive", or the next one when it is connected. */
static int handle_peer(struct cm_progress *u)
{
	struct endpoint *ep = u->ep;
	json_t *m = NULL;
	int rc = oob_poll(&u->link->oob, &m, ep->fault);

	if (rc <= 0)
		return rc;
	if (u->early && !*u->early && message_is(m, u->next)) {
		*u->early = m;
		return 0;
	}
	if (message_is(m, "error"))
		message_raise(m, ep->fault);
	else if (!message_is(m, "alive"))
		fault_raise(ep->fault, FAULT_PEER, 0,
			    "the peer broke the protocol while the QPs were connected");
	else if (ep->server &&
		 !u->link->stop->signal) /* the client decides how long to try: wait on */
		extend_deadline(u);
	json_decref(m);
	return fault_is(ep->fault) ? -1 : 0;
}

/* Process all pending events. Returns 1 when all QPs of all workers are connected. */
static int connect_step(struct cm_progress *u)
{
	struct endpoint *ep = u->ep;
	unsigned up = 0, done = 0;

	fault_phase(ep->fault, PHASE_CONNECT_CM);
	for (unsigned i = 0; i < ep->workers_made; i++) {
		struct cm *c = &ep->worker[i].cm;
		int rc = cm_step(c, ep->fault);

		if (rc < 0)
			return -1;
		up += c->up;
		done += (unsigned)rc;
		u->p[i + 2] = (struct pollfd){.fd = rc ? -1 : cm_fd(c), .events = POLLIN};
	}
	if (up != u->up)
		extend_deadline(u);
	u->up = up;
	return done == ep->workers_made;
}

/*
 * Wait for an event, and tell the peer meanwhile that this end is alive. What fails with messages
 * is no failure of the QPs.
 */
static int wait_for_event(struct cm_progress *u)
{
	struct endpoint *ep = u->ep;
	uint64_t say_ns = u->said_ns + ALIVE_NS;
	const struct worker *late = ep->worker;
	int rc = oob_wait(&u->link->oob, u->p, ep->workers_made,
			  say_ns < u->deadline_ns ? say_ns : u->deadline_ns, ep->fault);

	if (rc < 0 || oob_check_limit(&u->link->oob, ep->fault))
		return -1;
	if (!rc && clock_now_ns() >= u->deadline_ns) {
		while (late->cm.up == late->qps.count)
			late++;
		return cm_late(&late->cm, ep->fault);
	}
	fault_phase(ep->fault, PHASE_EXCHANGE_QPS);
	if (rc)
		return u->p[1].revents ? handle_peer(u) : 0;
	u->said_ns = clock_now_ns();
	return message_send(&u->link->oob, message_new("alive"), u->deadline_ns, ep->fault);
}

static int connect_all_qps(struct cm_progress *u)
{
	struct endpoint *ep = u->ep;
	int rc;

	for (unsigned i = 0; i < ep->workers_made; i++)
		if (cm_start(&ep->worker[i].cm, &ep->worker[i].qps, &ep->worker[i].rail->route,
			     ep->fault))
			return -1;
	while ((rc = connect_step(u)) == 0)
		if (wait_for_event(u))
			return -1;
	for (unsigned i = 0; rc > 0 && i < ep->workers_made; i++)
		worker_cm_describe(&ep->worker[i]);
	return rc > 0 ? 0 : -1;
}

int connect_cm(struct endpoint *ep, struct link *l, const char *next, json_t **early)
{
	struct cm_progress u = {
		.ep = ep,
		.link = l,
		.next = next,
		.early = early,
		.said_ns = clock_now_ns(),
		.deadline_ns = link_deadline(l),
		.latest_ns = clock_now_ns() + MESSAGE_ALIVE_ONLY_NS,
	};
	int rc;

	if (!ep->options->experiment.rdma_cm)
		return 0;
	u.p = calloc(ep->workers_made + 2, sizeof(*u.p));
	if (!u.p)
		return fault_raise(ep->fault, FAULT_LOCAL, ENOMEM, "waiting for rdma_cm");
	rc = connect_all_qps(&u);
	free(u.p);
	return rc;
}
