/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cm: connecting the QPs of one end through rdma_cm (librdmacm), by IP address, over RoCE,
 * InfiniBand and iWARP.
 *
 * The QPs stay the caller's: each gets an rdma_cm_id of its own, which carries its number to the
 * peer and says what to modify it to. The server listens on an address of its device
 * (cm_listen()), tells that, the port and a token in its own way, and both ends then call cm_step()
 * whenever cm_fd() is readable, until all QPs are in RTS. QP i is connected to the peer's QP i;
 * whoever does not know the token is rejected.
 *
 * Nothing here waits: deadlines, signals and the peer's own words are the caller's to watch. Used
 * by one thread. CM_NONE is valid, a zeroed object is, too. It must go before the QPs go.
 */
#ifndef RDMARK_VERBS_CM_H
#define RDMARK_VERBS_CM_H

#include <ifaddrs.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/fault.h"
#include "verbs/hca.h"
#include "verbs/qp.h"

#define CM_ADDRESS_SIZE 64 /* "fe80::1%eth0" */

struct cm {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;    /* server */
	struct sockaddr_storage own;    /* where this end's device is reached; family 0: unknown */
	struct sockaddr_storage peer;   /* client: where the server listens */
	char own_name[CM_ADDRESS_SIZE]; /* the same as text */
	char peer_name[CM_ADDRESS_SIZE];
	const struct hca_port *device; /* this end's; the caller keeps it */
	struct qp_set *qps;            /* the caller keeps them */
	struct qp_route *route;        /* the same; what rdma_cm chose is written into it */
	uint64_t token;                /* of this session */
	int timeout_ms;                /* for address and route */
	struct rdma_cm_id **id;        /* of each QP; NULL: none yet; owned */
	bool *is_up;                   /* owned */
	unsigned started, up;          /* QPs: under way or done, done */
	unsigned rejected;             /* strangers */
};

/*
 * Can rdma_cm be used on this host? Raises FAULT_UNAVAILABLE, with what is missing, or FAULT_LOCAL
 * if this user may not.
 */
int cm_look(struct fault *f);

/*
 * The address by which rdma_cm finds PORT: GID's if that is an IP address of this host, else LOCAL
 * (may be NULL) if it is one of PORT's netdev, else the first of that netdev, routable ones first.
 * Only of FAMILY unless that is AF_UNSPEC. LIST is getifaddrs()' answer. False if there is none.
 */
bool cm_address(const struct hca_port *port, const union ibv_gid *gid, const struct sockaddr *local,
		int family, const struct ifaddrs *list, struct sockaddr_storage *address);

/* ADDRESS as text without a port. Returns BUF. */
const char *cm_address_format(const struct sockaddr *address, char *buf, size_t size);

/*
 * Begin, on PORT, whose address by cm_address() is OWN (family 0: the kernel chooses). Address and
 * route may take TIMEOUT_NS.
 */
int cm_init(struct cm *c, const struct hca_port *port, const struct sockaddr_storage *own,
	    uint64_t timeout_ns, struct fault *f);

/* Server: listen on the own address for COUNT QPs. *TCP_PORT is where; the token is made. */
int cm_listen(struct cm *c, unsigned count, uint16_t *tcp_port, struct fault *f);

/* Client: the server listens on ADDRESS and TCP_PORT, and knows TOKEN. */
int cm_aim(struct cm *c, const char *address, uint16_t tcp_port, uint64_t token, struct fault *f);

/*
 * Connect QPS, which are in INIT; with ROUTE's sl, tos, qp_timeout and at most its mtu_bytes.
 * mtu_bytes and gid_index become what rdma_cm chose. The client's first packets leave.
 */
int cm_start(struct cm *c, struct qp_set *qps, struct qp_route *route, struct fault *f);

/* Readable when cm_step() has something to do. */
int cm_fd(const struct cm *c);

/* Do what is to be done now: 1 when all QPs are up, 0 when there is more to come, -1. */
int cm_step(struct cm *c, struct fault *f);

/* No QP came up for the caller's patience: raises FAULT_DEADLINE with how far it got. */
int cm_late(const struct cm *c, struct fault *f);

/* Destroy all. The QPs stay as they are. */
void cm_release(struct cm *c);

/*
 * cm_fault.c: EVENT, which came while QPs were connected, is the end of that; rdma_resolve_route()
 * failed at once with ERRNUM. Raise it.
 */
int cm_event_fault(const struct cm *c, const struct rdma_cm_event *event, struct fault *f);
int cm_route_fault(const struct cm *c, int errnum, struct fault *f);

#endif
