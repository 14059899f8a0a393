/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cm: connects the QPs of one end through rdma_cm (librdmacm), by IP address, over RoCE, InfiniBand
 * and iWARP.
 *
 * The caller owns the QPs. Each gets an rdma_cm_id, which sends its number to the peer and provides
 * the attributes for ibv_modify_qp(). The server listens on an address of its device (cm_listen()),
 * and sends that address, the port and a token to the client out of band. Both ends then call
 * cm_step() whenever cm_fd() is readable, until all QPs are in RTS. QP i is connected to the peer's
 * QP i. A connection request without the token is rejected.
 *
 * Datagrams have no connection: rdma_cm tells the client of the server's QPs (SIDR), chooses GID,
 * SL and Q_Key; where to is for qp_set_address().
 *
 * No function waits: the caller watches deadlines, signals and out-of-band messages. One thread
 * uses an object. A zeroed one is valid. Release it before the QPs.
 */
#pragma once

#include <ifaddrs.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/fault.h"

struct qp_route;
struct qp_set;
struct hca_port;

#define CM_ADDRESS_SIZE 64 /* "fe80::1%eth0" */

struct cm {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;    /* server */
	struct sockaddr_storage own;    /* address of this end's device; family 0: unknown */
	struct sockaddr_storage peer;   /* client: address of the server */
	char own_name[CM_ADDRESS_SIZE]; /* as text; "" unknown */
	char peer_name[CM_ADDRESS_SIZE];
	const struct hca_port *device; /* of this end; lent by the caller */
	const struct transport *over;  /* set by the caller after cm_init() */
	struct qp_set *qps;            /* lent by the caller */
	struct qp_route *route;        /* lent, too; receives what rdma_cm chose */
	uint64_t token;                /* of the session */
	int timeout_ms;                /* for resolving address and route */
	struct rdma_cm_id **id;        /* one per QP; NULL: none yet; owned */
	bool *is_up;                   /* owned */
	unsigned started, up;          /* QPs whose connection has started; that have one */
	unsigned redialled;            /* tried again, because another socket had the port */
};

/*
 * Check that rdma_cm can be used on this host. Returns 0, or -1 with FAULT_UNAVAILABLE and what is
 * missing, or with FAULT_LOCAL if this user may not use it.
 */
int cm_check(struct fault *f);

/*
 * Find the IP address by which rdma_cm finds PORT: GID's, if that is an IP address of this host;
 * otherwise LOCAL (may be NULL), if it belongs to PORT's netdev; otherwise the first address of
 * that netdev, routable ones first. For an iWARP port without a known netdev it is LOCAL. Only
 * addresses of FAMILY count, unless that is AF_UNSPEC. LIST is the result of getifaddrs(). Returns
 * false if there is none.
 */
bool cm_address(const struct hca_port *port, const union ibv_gid *gid, const struct sockaddr *local,
		int family, const struct ifaddrs *list, struct sockaddr_storage *address);

/* Write ADDRESS as text without a port. Returns BUF. */
const char *cm_address_format(const struct sockaddr *address, char *buf, size_t size);

/*
 * Initialize C for PORT. OWN is its address from cm_address() (family 0: the kernel chooses).
 * Resolving address and route may take TIMEOUT_NS.
 */
int cm_init(struct cm *c, const struct hca_port *port, const struct sockaddr_storage *own,
	    uint64_t timeout_ns, struct fault *f);

/* Server: listen on the own address for COUNT QPs, and create the token. *TCP_PORT is the port. */
int cm_listen(struct cm *c, unsigned count, uint16_t *tcp_port, struct fault *f);

/* Client: set the server's ADDRESS, TCP_PORT and TOKEN. */
int cm_aim(struct cm *c, const char *address, uint16_t tcp_port, uint64_t token, struct fault *f);

/*
 * Start connecting QPS, which are in INIT, with what ROUTE says of the path, retries and depths of
 * READs, and at most its mtu_bytes. mtu_bytes and gid_index are set to what rdma_cm chose. The
 * client sends its first packets.
 */
int cm_start(struct cm *c, struct qp_set *qps, struct qp_route *route, struct fault *f);

/* A descriptor that is readable when cm_step() has something to do. */
int cm_fd(const struct cm *c);

/*
 * Process pending events. Returns 1 when all QPs are up, 0 if more is to come, -1 with the fault
 * raised.
 */
int cm_step(struct cm *c, struct fault *f);

/* Raise FAULT_DEADLINE with the progress so far, after the caller's time limit. Returns -1. */
int cm_late(const struct cm *c, struct fault *f);

/* The end of a fix: ", or omit -R", but "" if only rdma_cm connects QPs of PORT. */
const char *cm_or_omit(const struct hca_port *port);

/* Destroy everything except the QPs, whose state does not change. */
void cm_release(struct cm *c);

/*
 * cm_fault.c: raise the fault for EVENT, which ended the connection attempt; or for
 * rdma_resolve_route(), which failed at once with ERRNUM. Return -1.
 */
int cm_event_fault(const struct cm *c, const struct rdma_cm_event *event, struct fault *f);
int cm_route_fault(const struct cm *c, int errnum, struct fault *f);
