// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Raises faults that explain why rdma_cm does not connect. */
#include "verbs/cm.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "host/devnode.h"
#include "finding/why.h"
#include "host/sysfs.h"
#include "verbs/hca.h"
#include "verbs/qp.h"
#include "verbs/transport.h"
#include "verbs/vfault.h"

#define NODE "infiniband/rdma_cm" /* below /dev */

/* InfiniBand specification 12.6.7.2: those reject reasons that a user can act on. */
#define REJECTED_NO_SERVICE 8
#define REJECTED_STALE      10
#define REJECTED_BY_PEER    28
/* 13.6.4: the status of an answer about datagrams */
#define SIDR_NO_SERVICE 1
#define SIDR_BY_PEER    2

const char *cm_or_omit(const struct hca_port *port)
{
	return port->fabric == FABRIC_IWARP ? "" : ", or omit -R";
}

int cm_check(struct fault *f)
{
	struct devnode n;
	char path[128];

	devnode_read(&n, NODE);
	if (!n.errnum)
		return 0;
	fault_raise(f, n.errnum == ENOENT ? FAULT_UNAVAILABLE : FAULT_LOCAL, n.errnum, "open %s",
		    n.path);
	if (n.there || n.errnum != ENOENT ||
	    sysfs_resolve(path, sizeof(path), "class/misc/rdma_cm") == 0)
		return devnode_explain(&n, "rdma_cm", f);
	return EXPLAIN(f, CM_NO_MODULE);
}

struct connection_text {
	char text[2 * CM_ADDRESS_SIZE + 96];
};

/* "on OWN" (server) or "to PEER from OWN" (client), with the IP addresses and this end's port. */
static struct connection_text format_connection(const struct cm *c)
{
	struct connection_text t;

	snprintf(t.text, sizeof(t.text), "%s%s%s%s (%s port %u)", c->listener ? "on " : "to ",
		 c->listener ? "" : c->peer_name, !c->listener && c->own_name[0] ? " from " : "",
		 c->own_name, c->device->device, c->device->port);
	return t;
}

static const char *netdev_name(const struct cm *c)
{
	return c->device->netdev[0] ? c->device->netdev : "its netdev";
}

static int explain_no_address(const struct cm *c, int err, struct fault *f)
{
	return why_explain(
		f, err == ENODEV || err == EADDRNOTAVAIL ? WHY_CM_OTHER_ROUTE : WHY_CM_NO_ROUTE,
		WHY_VALUES({"peer", c->peer_name}, {"device", c->device->device},
			   {"netdev", netdev_name(c)}));
}

/* Explain that rdma_cm found no path. Users often try the loopback interface first, so it has its
 * own text. */
static int explain_no_path(const struct cm *c, struct fault *f)
{
	return why_explain(f,
			   strcmp(c->device->netdev, "lo") == 0 ? WHY_CM_LOOPBACK : WHY_CM_NO_PATH,
			   WHY_VALUES({"device", c->device->device}, {"netdev", netdev_name(c)},
				      {"or_omit", cm_or_omit(c->device)}));
}

int cm_route_fault(const struct cm *c, int errnum, struct fault *f)
{
	fault_raise(f, FAULT_LOCAL, errnum, "rdma_resolve_route %s", format_connection(c).text);
	return explain_no_path(c, f);
}

static int explain_rejection(const struct cm *c, int reason, struct fault *f)
{
	if (c->over->addressed && reason == SIDR_BY_PEER)
		reason = REJECTED_BY_PEER;
	else if (c->over->addressed && reason == SIDR_NO_SERVICE)
		reason = REJECTED_NO_SERVICE;
	switch (reason) {
	case REJECTED_BY_PEER:
		return EXPLAIN(f, CM_REFUSED);
	case REJECTED_NO_SERVICE:
	case -ECONNREFUSED:
		return EXPLAIN(f, CM_NOBODY);
	case REJECTED_STALE:
		return EXPLAIN(f, CM_STALE);
	default:
		return EXPLAIN(f, CM_REASON, {"peer", c->peer_name},
			       FINDING_NUMBER("reason", reason, ""));
	}
}

int cm_event_fault(const struct cm *c, const struct rdma_cm_event *e, struct fault *f)
{
	int err = e->status < 0 ? -e->status : 0;
	/* an answer about datagrams, which no timeout is */
	bool refused = e->event == RDMA_CM_EVENT_UNREACHABLE && e->status > 0;
	enum fault_code code = FAULT_LOCAL;

	if (e->event == RDMA_CM_EVENT_UNREACHABLE && !refused)
		code = FAULT_DEADLINE;
	else if (refused || e->event == RDMA_CM_EVENT_REJECTED ||
		 e->event == RDMA_CM_EVENT_DISCONNECTED)
		code = FAULT_PEER;
	fault_raise(f, code, err, "%s %s", rdma_event_str(e->event), format_connection(c).text);
	switch (refused ? RDMA_CM_EVENT_REJECTED : e->event) {
	case RDMA_CM_EVENT_ADDR_ERROR:
		return explain_no_address(c, err, f);
	case RDMA_CM_EVENT_ROUTE_ERROR:
		return explain_no_path(c, f);
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_CONNECT_ERROR:
		if (hca_explain_namespace(c->device, f))
			return -1;
		return EXPLAIN(f, CM_NO_ANSWER, {"way", vfault_words(hca_link(c->device))->way});
	case RDMA_CM_EVENT_REJECTED:
		return explain_rejection(c, e->status, f);
	case RDMA_CM_EVENT_DISCONNECTED:
		return EXPLAIN(f, CM_PEER_GONE);
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		return EXPLAIN(f, CM_REMOVED, {"device", c->device->device});
	default:
		return -1;
	}
}

int cm_late(const struct cm *c, struct fault *f)
{
	fault_raise(f, FAULT_DEADLINE, ETIMEDOUT, "%u of %u QPs connected %s", c->up, c->qps->count,
		    format_connection(c).text);
	return EXPLAIN(f, CM_LATE, {"way", vfault_words(hca_link(c->device))->way});
}
