// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Connecting the QPs through rdma_cm: what the ends tell each other, and the wait until all are up.
 */
#include <errno.h>
#include <ifaddrs.h>
#include <stdio.h>
#include <string.h>

#include "session/state.h"

#define ALIVE_NS UINT64_C(1000000000)

/* Begin at this end. FAMILY: of the server's address. */
static int begin(struct session *s, int family)
{
	const struct sockaddr *local =
		s->local.ss_family ? (const struct sockaddr *)&s->local : NULL;
	const struct hca_port *p = &s->hca.info;
	struct sockaddr_storage own;
	struct ifaddrs *list = NULL;
	bool found;

	fault_phase(&s->fault, "preparing rdma_cm");
	if (getifaddrs(&list))
		return fault_raise(&s->fault, FAULT_LOCAL, errno, "getifaddrs");
	found = cm_address(p, &s->mine.gid, local, family, list, &own);
	freeifaddrs(list);
	if (cm_init(&s->cm, p, &own, s->options.local.timeout_ns, &s->fault))
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
	uint16_t port;

	if (!s->options.experiment.rdma_cm)
		return 0;
	if (begin(s, AF_UNSPEC) ||
	    cm_listen(&s->cm, (unsigned)s->options.experiment.qps, &port, &s->fault))
		return -1;
	json_object_set_new(welcome, "rdma_cm",
			    json_pack("{s:s, s:i, s:I}", "address", s->cm.own_name, "port",
				      (int)port, "token", (json_int_t)s->cm.token));
	return 0;
}

int endpoint_cm_aim(struct session *s, const json_t *welcome)
{
	const json_t *m = json_object_get(welcome, "rdma_cm");
	char address[CM_ADDRESS_SIZE], *scope;
	uint64_t port, token;

	if (!s->options.experiment.rdma_cm)
		return 0;
	if (message_has(welcome, "rdma_cm", json_is_object(m), &s->fault) ||
	    message_text(m, "address", address, sizeof(address), &s->fault) ||
	    message_u64(m, "port", UINT16_MAX, &port, &s->fault) ||
	    message_u64(m, "token", INT64_MAX, &token, &s->fault))
		return -1;
	scope = strchr(address, '%'); /* the server's, no business of this end */
	if (scope)
		*scope = '\0';
	return begin(s, strchr(address, ':') ? AF_INET6 : AF_INET) ||
			       cm_aim(&s->cm, address, (uint16_t)port, token, &s->fault)
		       ? -1
		       : 0;
}

/* The peer said something: it failed, it lives, or, to the server, it is done. */
static int hear(struct session *s, json_t **qps, uint64_t *deadline_ns)
{
	json_t *m = NULL;
	int rc = oob_poll(&s->oob, &m, &s->fault);

	if (rc <= 0)
		return rc;
	if (message_is(m, "qps") && qps && !*qps) {
		*qps = m;
		return 0;
	}
	if (message_is(m, "error"))
		message_raise(m, &s->fault);
	else if (!message_is(m, "alive"))
		fault_raise(&s->fault, FAULT_PEER, 0,
			    "the peer broke the protocol while the QPs were connected");
	else if (qps) /* the client decides when it has tried long enough */
		*deadline_ns = session_deadline(s);
	json_decref(m);
	return fault_is(&s->fault) ? -1 : 0;
}

/* Something to do, or the time has come: 1, 0, -1. *SAID_NS: when the peer last heard of us. */
static int wait_for_news(struct session *s, uint64_t deadline_ns, uint64_t *said_ns, bool *heard)
{
	struct pollfd p[3] = {[2] = {.fd = cm_fd(&s->cm), .events = POLLIN}};
	uint64_t say_ns = *said_ns + ALIVE_NS;
	int rc = oob_wait(&s->oob, p, 1, say_ns < deadline_ns ? say_ns : deadline_ns, &s->fault);

	*heard = rc > 0 && p[1].revents;
	if (rc || clock_now_ns() >= deadline_ns)
		return rc;
	*said_ns = clock_now_ns();
	return oob_send(&s->oob, message_new("alive"), deadline_ns, &s->fault) ? -1 : 1;
}

/* What rdma_cm chose is what both ends shall know. */
static int take_over(struct session *s)
{
	const struct hca_port *p = &s->hca.info;

	memcpy(s->mine.psn, s->qps.psn, s->qps.count * sizeof(*s->mine.psn));
	for (size_t i = 0; i < p->gid_count; i++) {
		const struct gid *g = &p->gids[i];

		if (g->index != s->route.gid_index || g->index == s->my_end.gid_index)
			continue;
		s->mine.gid = g->raw;
		s->my_end.gid_index = g->index;
		gid_format(&g->raw, s->my_end.gid, sizeof(s->my_end.gid));
		snprintf(s->my_end.gid_type, sizeof(s->my_end.gid_type), "%s",
			 gid_kind_name(g->kind));
		snprintf(s->my_end.gid_chosen, sizeof(s->my_end.gid_chosen), "rdma_cm's choice");
	}
	return 0;
}

int endpoint_cm_connect(struct session *s, json_t **qps)
{
	uint64_t said_ns = clock_now_ns(), deadline_ns = session_deadline(s);
	unsigned up = 0;
	int rc;

	if (!s->options.experiment.rdma_cm)
		return 0;
	if (cm_start(&s->cm, &s->qps, &s->route, &s->fault))
		return -1;
	while ((rc = cm_step(&s->cm, &s->fault)) == 0) {
		bool heard = false;

		if (s->cm.up != up)
			deadline_ns = session_deadline(s);
		up = s->cm.up;
		rc = wait_for_news(s, deadline_ns, &said_ns, &heard);
		if (rc == 0)
			return cm_late(&s->cm, &s->fault);
		if (rc < 0 || (heard && hear(s, qps, &deadline_ns)))
			return -1;
	}
	return rc < 0 ? -1 : take_over(s);
}
