// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Connecting the QPs through rdma_cm: what the ends tell each other, and the wait until all are up.
 */
#include <errno.h>
#include <ifaddrs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/state.h"

#define ALIVE_NS UINT64_C(1000000000)

/* Begin with T. FAMILY: of the server's address. */
static int begin(struct strand *t, int family)
{
	struct session *s = t->session;
	const struct sockaddr *local =
		s->local.ss_family ? (const struct sockaddr *)&s->local : NULL;
	const struct hca_port *p = &t->rail->hca.info;
	struct sockaddr_storage own;
	struct ifaddrs *list = NULL;
	bool found;

	fault_phase(&s->fault, "preparing rdma_cm");
	if (getifaddrs(&list))
		return fault_raise(&s->fault, FAULT_LOCAL, errno, "getifaddrs");
	found = cm_address(p, &t->rail->gid, local, family, list, &own);
	freeifaddrs(list);
	if (cm_init(&t->cm, p, &own, s->options.local.timeout_ns, &s->fault))
		return -1;
	if (found || family != AF_UNSPEC)
		return 0;
	fault_raise(&s->fault, FAULT_UNAVAILABLE, 0, "%s port %u has no IP address for rdma_cm",
		    p->device, p->port);
	return fault_fix(&s->fault, "give its netdev%s%s an address, or leave -R out",
			 p->netdev[0] ? " " : "", p->netdev);
}

int endpoint_cm_listen(struct session *s, json_t *welcome)
{
	json_t *all = json_array();

	for (unsigned i = 0; s->options.experiment.rdma_cm && i < s->strands; i++) {
		struct cm *c = &s->strand[i].cm;
		uint16_t port;

		if (begin(&s->strand[i], AF_UNSPEC) ||
		    cm_listen(c, (unsigned)s->options.experiment.qps, &port, &s->fault)) {
			json_decref(all);
			return -1;
		}
		json_array_append_new(all,
				      json_pack("{s:s, s:i, s:I}", "address", c->own_name, "port",
						(int)port, "token", (json_int_t)c->token));
	}
	if (s->options.experiment.rdma_cm)
		json_object_set(welcome, "rdma_cm", all);
	json_decref(all);
	return 0;
}

static int aim(struct strand *t, const json_t *m)
{
	struct fault *f = &t->session->fault;
	char address[CM_ADDRESS_SIZE], *scope;
	uint64_t port, token;

	if (message_text(m, "address", address, sizeof(address), f) ||
	    message_u64(m, "port", UINT16_MAX, &port, f) ||
	    message_u64(m, "token", INT64_MAX, &token, f))
		return -1;
	scope = strchr(address, '%'); /* the server's, no business of this end */
	if (scope)
		*scope = '\0';
	if (begin(t, strchr(address, ':') ? AF_INET6 : AF_INET))
		return -1;
	return cm_aim(&t->cm, address, (uint16_t)port, token, f);
}

int endpoint_cm_aim(struct session *s, const json_t *welcome)
{
	const json_t *all = json_object_get(welcome, "rdma_cm");

	if (!s->options.experiment.rdma_cm)
		return 0;
	if (message_has(welcome, "rdma_cm", json_array_size(all) == s->strands, &s->fault))
		return -1;
	for (unsigned i = 0; i < s->strands; i++)
		if (aim(&s->strand[i], json_array_get(all, i)))
			return -1;
	return 0;
}

/* While the QPs are connected. */
struct pursuit {
	struct session *s;
	json_t **qps;     /* the server's: where the client's "qps" goes; NULL: the client */
	struct pollfd *p; /* for the signals, the peer, and each strand */
	uint64_t said_ns; /* when the peer last heard of this end */
	uint64_t deadline_ns;
	unsigned up; /* QPs, of all strands */
};

/* The peer said something: it failed, it lives, or, to the server, it is done. */
static int hear(struct pursuit *u)
{
	struct session *s = u->s;
	json_t *m = NULL;
	int rc = oob_poll(&s->oob, &m, &s->fault);

	if (rc <= 0)
		return rc;
	if (message_is(m, "qps") && u->qps && !*u->qps) {
		*u->qps = m;
		return 0;
	}
	if (message_is(m, "error"))
		message_raise(m, &s->fault);
	else if (!message_is(m, "alive"))
		fault_raise(&s->fault, FAULT_PEER, 0,
			    "the peer broke the protocol while the QPs were connected");
	else if (u->qps) /* the client decides when it has tried long enough */
		u->deadline_ns = session_deadline(s);
	json_decref(m);
	return fault_is(&s->fault) ? -1 : 0;
}

/* What is to be done now: 1 when all QPs of all strands are up. */
static int step(struct pursuit *u)
{
	struct session *s = u->s;
	unsigned up = 0, done = 0;

	for (unsigned i = 0; i < s->strands; i++) {
		struct cm *c = &s->strand[i].cm;
		int rc = cm_step(c, &s->fault);

		if (rc < 0)
			return -1;
		up += c->up;
		done += (unsigned)rc;
		u->p[i + 2] = (struct pollfd){.fd = rc ? -1 : cm_fd(c), .events = POLLIN};
	}
	if (up != u->up)
		u->deadline_ns = session_deadline(s);
	u->up = up;
	return done == s->strands;
}

static int late(struct session *s)
{
	unsigned i = 0;

	while (s->strand[i].cm.up == s->strand[i].qps.count)
		i++;
	return cm_late(&s->strand[i].cm, &s->fault);
}

/* Until there is something to do. The peer hears meanwhile that this end is alive. */
static int wait_for_news(struct pursuit *u)
{
	struct session *s = u->s;
	uint64_t say_ns = u->said_ns + ALIVE_NS;
	int rc = oob_wait(&s->oob, u->p, s->strands,
			  say_ns < u->deadline_ns ? say_ns : u->deadline_ns, &s->fault);

	if (rc < 0 || oob_check_limit(&s->oob, &s->fault))
		return -1;
	if (rc)
		return u->p[1].revents ? hear(u) : 0;
	if (clock_now_ns() >= u->deadline_ns)
		return late(s);
	u->said_ns = clock_now_ns();
	return oob_send(&s->oob, message_new("alive"), u->deadline_ns, &s->fault);
}

/* What rdma_cm chose is what both ends shall know. */
static void take_over(struct strand *t)
{
	const struct hca_port *p = &t->rail->hca.info;
	struct end *e = &t->rail->mine;

	memcpy(t->mine.psn, t->qps.psn, t->qps.count * sizeof(*t->mine.psn));
	for (size_t i = 0; i < p->gid_count; i++) {
		const struct gid *g = &p->gids[i];

		if (g->index != t->rail->route.gid_index)
			continue;
		t->mine.gid = g->raw;
		if (e->gid_index == g->index)
			continue;
		e->gid_index = g->index;
		gid_format(&g->raw, e->gid, sizeof(e->gid));
		snprintf(e->gid_type, sizeof(e->gid_type), "%s", gid_kind_name(g->kind));
		snprintf(e->gid_chosen, sizeof(e->gid_chosen), "rdma_cm's choice");
	}
}

static int pursue(struct pursuit *u)
{
	struct session *s = u->s;
	int rc;

	for (unsigned i = 0; i < s->strands; i++)
		if (cm_start(&s->strand[i].cm, &s->strand[i].qps, &s->strand[i].rail->route,
			     &s->fault))
			return -1;
	while ((rc = step(u)) == 0)
		if (wait_for_news(u))
			return -1;
	for (unsigned i = 0; rc > 0 && i < s->strands; i++)
		take_over(&s->strand[i]);
	return rc > 0 ? 0 : -1;
}

int endpoint_cm_connect(struct session *s, json_t **qps)
{
	struct pursuit u = {
		.s = s,
		.qps = qps,
		.said_ns = clock_now_ns(),
		.deadline_ns = session_deadline(s),
	};
	int rc;

	if (!s->options.experiment.rdma_cm)
		return 0;
	u.p = calloc(s->strands + 2, sizeof(*u.p));
	if (!u.p)
		return fault_raise(&s->fault, FAULT_LOCAL, ENOMEM, "waiting for rdma_cm");
	rc = pursue(&u);
	free(u.p);
	return rc;
}
