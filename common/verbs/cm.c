// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "verbs/cm.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/phase.h"
#include "verbs/hca.h"
#include "verbs/qp.h"
#include "verbs/transport.h"
#include "verbs/vfault.h"

#define CONNECTING_MAX   128 /* QPs that connect at once: a NIC's management queue holds as many */
#define QP_REQUEST_MAGIC 0x52444d4bu
#define REDIALS_MAX      64

/* The private data of the client's connection request for each QP, in network order. */
struct qp_request {
	uint32_t magic;
	uint32_t index; /* of the QP */
	uint64_t token;
};

int cm_init(struct cm *c, const struct hca_port *port, const struct sockaddr_storage *own,
	    uint64_t timeout_ns, struct fault *f)
{
	memset(c, 0, sizeof(*c));
	fault_phase(f, PHASE_RDMA_CM);
	if (cm_check(f)) {
		if (port->fabric == FABRIC_IWARP && f->errnum == ENOENT) {
			f->fix[0] = '\0'; /* not "omit -R": iWARP needs rdma_cm */
			fault_fix(f, "modprobe rdma_ucm; in a container, pass "
				     "/dev/infiniband/rdma_cm through: iWARP needs rdma_cm to "
				     "connect");
		}
		return -1;
	}
	c->device = port;
	c->own = *own;
	c->timeout_ms = timeout_ns / 1000000 < INT32_MAX ? (int)(timeout_ns / 1000000) : INT32_MAX;
	if (own->ss_family)
		cm_address_format((const struct sockaddr *)own, c->own_name, sizeof(c->own_name));
	c->channel = rdma_create_event_channel();
	if (!c->channel)
		return vfault_raise(f, errno, 0, "rdma_create_event_channel");
	if (fcntl(c->channel->fd, F_SETFL, O_NONBLOCK) ||
	    fcntl(c->channel->fd, F_SETFD, FD_CLOEXEC))
		return fault_raise(f, FAULT_LOCAL, errno, "fcntl(rdma_cm's channel)");
	return 0;
}

/* Check that rdma_cm uses this end's device and port for ID, and not those of another address. */
static int check_device(const struct cm *c, const struct rdma_cm_id *id, struct fault *f)
{
	const char *name = id->verbs ? ibv_get_device_name(id->verbs->device) : NULL;

	if (!name || (strcmp(name, c->device->device) == 0 && id->port_num == c->device->port))
		return 0;
	fault_raise(f, FAULT_USAGE, 0, "rdma_cm uses %s port %u for %s, not %s port %u", name,
		    id->port_num, c->own_name[0] ? c->own_name : c->peer_name, c->device->device,
		    c->device->port);
	return fault_fix(f, "use -d %s, or give %s an IP address of its own", name,
			 c->device->netdev[0] ? c->device->netdev : c->device->device);
}

static int raise_listen_failed(const struct cm *c, const char *call, struct fault *f)
{
	int err = errno;

	vfault_raise(f, err, 0, "%s(%s)", call, c->own_name);
	if (err == ENODEV || err == EADDRNOTAVAIL) {
		fault_cause(f, "rdma_cm knows no RDMA device with that address");
		fault_fix(f, "check `rdma link` and `ip address`%s", cm_or_omit(c->device));
	}
	return -1;
}

static enum rdma_port_space port_space(const struct cm *c)
{
	return c->over->addressed ? RDMA_PS_UDP : RDMA_PS_TCP;
}

int cm_listen(struct cm *c, unsigned count, uint16_t *tcp_port, struct fault *f)
{
	if (rdma_create_id(c->channel, &c->listener, NULL, port_space(c)))
		return vfault_raise(f, errno, 0, "rdma_create_id");
	if (rdma_bind_addr(c->listener, (struct sockaddr *)&c->own))
		return raise_listen_failed(c, "rdma_bind_addr", f);
	if (check_device(c, c->listener, f))
		return -1;
	if (rdma_listen(c->listener, (int)count))
		return raise_listen_failed(c, "rdma_listen", f);
	*tcp_port = ntohs(rdma_get_src_port(c->listener));
	if (getrandom(&c->token, sizeof(c->token), 0) != (ssize_t)sizeof(c->token))
		return fault_raise(f, FAULT_LOCAL, errno, "a random token");
	c->token &= INT64_MAX; /* a JSON integer has a sign */
	return 0;
}

static struct rdma_conn_param connection_parameters(const struct cm *c, unsigned i,
						    const struct qp_request *request)
{
	return (struct rdma_conn_param){
		.private_data = request,
		.private_data_len = request ? sizeof(*request) : 0,
		.responder_resources = (uint8_t)c->route->reads_answered,
		.initiator_depth = (uint8_t)c->route->reads_sent,
		.flow_control = 1,
		.retry_count = (uint8_t)c->route->retry_count,
		.rnr_retry_count = QP_RNR_RETRY,
		.qp_num = c->qps->qp[i]->qp_num,
	};
}

static int set_connection_tos(const struct cm *c, struct rdma_cm_id *id, struct fault *f)
{
	uint8_t tos = (uint8_t)c->route->tos;

	if (tos && rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof(tos)))
		return vfault_raise(f, errno, 0, "rdma_set_option(TOS %u)", tos);
	return 0;
}

/* Client: create the rdma_cm_id of QP I and resolve the server's address. */
static int start_connection(struct cm *c, unsigned i, struct fault *f)
{
	struct sockaddr *own = c->own.ss_family ? (struct sockaddr *)&c->own : NULL;
	void *context = (void *)(uintptr_t)i;

	if (rdma_create_id(c->channel, &c->id[i], context, port_space(c)))
		return vfault_raise(f, errno, 0, "rdma_create_id(%u of %u)", i + 1, c->qps->count);
	c->started++;
	if (set_connection_tos(c, c->id[i], f))
		return -1;
	if (rdma_resolve_addr(c->id[i], own, (struct sockaddr *)&c->peer, c->timeout_ms))
		return vfault_raise(f, errno, 0, "rdma_resolve_addr(%s)", c->peer_name);
	return 0;
}

/* Client: start connecting more QPs, while fewer than CONNECTING_MAX are connecting. */
static int start_connections(struct cm *c, struct fault *f)
{
	while (c->started < c->qps->count && c->started - c->up < CONNECTING_MAX)
		if (start_connection(c, c->started, f))
			return -1;
	return 0;
}

int cm_start(struct cm *c, struct qp_set *qps, struct qp_route *route, struct fault *f)
{
	fault_phase(f, PHASE_CONNECT_CM);
	c->qps = qps;
	c->route = route;
	c->id = calloc(qps->count, sizeof(struct rdma_cm_id *));
	c->is_up = calloc(qps->count, sizeof(*c->is_up));
	if (!c->id || !c->is_up)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "allocating connections of %u QPs",
				   qps->count);
	return c->listener ? set_connection_tos(c, c->listener, f) : start_connections(c, f);
}

/*
 * A has what rdma_cm chose for the next state of QP I: replace it by ROUTE's values, also by their
 * defaults (the SL only if it is not 0). ROUTE's MTU becomes rdma_cm's if that is lower; its GID
 * index and the PSN are rdma_cm's, for the report.
 */
static void fill_qp_attr(struct cm *c, unsigned i, struct ibv_qp_attr *a, int mask)
{
	struct qp_route *r = c->route;

	if (mask & IBV_QP_PATH_MTU) {
		if (hca_mtu_bytes(a->path_mtu) < r->mtu_bytes)
			r->mtu_bytes = hca_mtu_bytes(a->path_mtu);
		a->path_mtu = hca_mtu_enum(r->mtu_bytes);
	}
	if (mask & IBV_QP_AV) {
		if (a->ah_attr.is_global) {
			r->gid_index = a->ah_attr.grh.sgid_index;
			a->ah_attr.grh.traffic_class = (uint8_t)r->tos;
			a->ah_attr.grh.hop_limit = (uint8_t)r->hop_limit;
			a->ah_attr.grh.flow_label = qp_flow_label(c->qps, r, i);
		}
		if (r->sl)
			a->ah_attr.sl = (uint8_t)r->sl;
	}
	qp_fill_attr(r, a);
	if (mask & IBV_QP_SQ_PSN)
		c->qps->psn[i] = a->sq_psn;
}

static int move_qp_to_state(struct cm *c, unsigned i, enum ibv_qp_state state, struct fault *f)
{
	struct ibv_qp_attr a = {.qp_state = state};
	int mask = 0;

	if (rdma_init_qp_attr(c->id[i], &a, &mask))
		return vfault_raise(f, errno, 0, "rdma_init_qp_attr(%s)", qp_state_name(state));
	if (state == IBV_QPS_INIT) { /* it is in INIT; rdma_cm may have chosen another P_Key */
		mask &= IBV_QP_QKEY |
			(a.pkey_index != c->route->pkey_index ? IBV_QP_PKEY_INDEX : 0);
		mask |= mask ? IBV_QP_STATE : 0;
		c->qps->qkey = a.qkey;
	} else if (c->over->addressed) { /* they have no peer */
		mask = IBV_QP_STATE | (state == IBV_QPS_RTS ? IBV_QP_SQ_PSN : 0);
		a.sq_psn = c->qps->psn[i];
	}
	if (!mask)
		return 0; /* iWARP: the kernel moves the QP along with the TCP connection */
	fill_qp_attr(c, i, &a, mask);
	return qp_modify(c->qps->qp[i], &a, mask, f);
}

static int move_qp_to_rts(struct cm *c, unsigned i, struct fault *f)
{
	return move_qp_to_state(c, i, IBV_QPS_INIT, f) || move_qp_to_state(c, i, IBV_QPS_RTR, f) ||
			       move_qp_to_state(c, i, IBV_QPS_RTS, f)
		       ? -1
		       : 0;
}

/* QP I is connected: count it once, and let the client start more. */
static int count_connected(struct cm *c, unsigned i, struct fault *f)
{
	if (c->is_up[i])
		return 0;
	c->is_up[i] = true;
	c->up++;
	if (!c->own_name[0]) /* the kernel has chosen it */
		cm_address_format(rdma_get_local_addr(c->id[i]), c->own_name, sizeof(c->own_name));
	return c->listener ? 0 : start_connections(c, f);
}

/* Server: the index of the QP that a connection request is for, or -1 if its private data are not
 * those of this session's client, or that QP already has a connection. */
static int64_t identify_request(const struct cm *c, const struct rdma_conn_param *p)
{
	struct qp_request request;
	uint32_t i;

	if (!p->private_data || p->private_data_len < sizeof(request))
		return -1;
	memcpy(&request, p->private_data, sizeof(request));
	i = ntohl(request.index);
	if (ntohl(request.magic) != QP_REQUEST_MAGIC || be64toh(request.token) != c->token ||
	    i >= c->qps->count || c->id[i])
		return -1;
	return i;
}

/* Server: accept a connection request for one of our QPs. Returns 0, -1 on a fault, or 1 if it was
 * rejected: the caller then destroys the id. */
static int accept_or_reject(struct cm *c, struct rdma_cm_event *e, struct fault *f)
{
	int64_t index = identify_request(c, &e->param.conn); /* begins as param.ud does */
	unsigned i = (unsigned)index;
	struct rdma_conn_param p;

	if (index < 0) {
		rdma_reject(e->id, NULL, 0);
		return 1;
	}
	c->id[i] = e->id;
	e->id->context = (void *)(uintptr_t)i;
	c->started++;
	p = connection_parameters(c, i, NULL);
	if (check_device(c, e->id, f) || move_qp_to_rts(c, i, f))
		return -1;
	if (rdma_accept(e->id, &p))
		return vfault_raise(f, errno, 0, "rdma_accept");
	return c->over->addressed ? count_connected(c, i, f) : 0; /* no other event comes */
}

static int resolve_route(struct cm *c, unsigned i, struct fault *f)
{
	if (check_device(c, c->id[i], f))
		return -1;
	return rdma_resolve_route(c->id[i], c->timeout_ms) ? cm_route_fault(c, errno, f) : 0;
}

/* Client: send the connection request of QP I. Returns 0, -1 on a fault, or 1 if another id has
 * replaced this one: the caller then destroys it. */
static int request_connection(struct cm *c, unsigned i, struct fault *f)
{
	struct qp_request request = {htonl(QP_REQUEST_MAGIC), htonl(i), htobe64(c->token)};
	struct rdma_conn_param p = connection_parameters(c, i, &request);

	if (rdma_connect(c->id[i], &p) == 0)
		return 0;
	/* rdma_cm chose a TCP port, and soft-iWARP binds a socket to it: retry if it is in use. */
	if (errno != EADDRINUSE || c->device->fabric != FABRIC_IWARP || c->redialled >= REDIALS_MAX)
		return vfault_raise(f, errno, 0, "rdma_connect(%s)", c->peer_name);
	c->redialled++;
	c->started--;
	c->id[i] = NULL; /* the caller destroys it after it has acknowledged the event */
	return start_connection(c, i, f) ? -1 : 1;
}

/* Client: the server has accepted: move QP I to RTS and confirm. */
static int confirm_connection(struct cm *c, unsigned i, struct fault *f)
{
	if (move_qp_to_rts(c, i, f))
		return -1;
	if (rdma_establish(c->id[i]))
		return vfault_raise(f, errno, 0, "rdma_establish");
	return count_connected(c, i, f);
}

/* Client: E tells of the server's QP for datagrams, and the path to it. */
static int take_answer(struct cm *c, unsigned i, const struct rdma_cm_event *e, struct fault *f)
{
	const struct ibv_ah_attr *path = &e->param.ud.ah_attr;

	if (path->is_global)
		c->route->gid_index = path->grh.sgid_index;
	if (!c->route->sl)
		c->route->sl = path->sl;
	if (move_qp_to_rts(c, i, f))
		return -1;
	c->qps->qkey = e->param.ud.qkey;
	return count_connected(c, i, f);
}

/* Handle one event. Returns 0, -1 on a fault, or 1 if the caller must destroy the event's id: it
 * was rejected or replaced. */
static int handle_cm_event(struct cm *c, struct rdma_cm_event *e, struct fault *f)
{
	unsigned i = (unsigned)(uintptr_t)e->id->context;

	switch (e->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return accept_or_reject(c, e, f);
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		return resolve_route(c, i, f);
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		return request_connection(c, i, f);
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		return confirm_connection(c, i, f);
	case RDMA_CM_EVENT_ESTABLISHED:
		return c->over->addressed ? take_answer(c, i, e, f) : count_connected(c, i, f);
	case RDMA_CM_EVENT_ADDR_CHANGE:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		return 0;
	default:
		return cm_event_fault(c, e, f);
	}
}

int cm_fd(const struct cm *c)
{
	return c->channel ? c->channel->fd : -1;
}

int cm_step(struct cm *c, struct fault *f)
{
	struct rdma_cm_event *e;

	while (c->up < c->qps->count) {
		struct rdma_cm_id *id;
		int rc;

		if (rdma_get_cm_event(c->channel, &e))
			return errno == EAGAIN ? 0 : vfault_raise(f, errno, 0, "rdma_get_cm_event");
		id = e->id;
		rc = handle_cm_event(c, e, f);
		rdma_ack_cm_event(e);
		if (rc > 0)
			rdma_destroy_id(id);
		if (rc < 0)
			return -1;
	}
	return 1;
}

void cm_release(struct cm *c)
{
	for (unsigned i = 0; c->id && i < c->qps->count; i++)
		if (c->id[i])
			rdma_destroy_id(c->id[i]);
	if (c->listener)
		rdma_destroy_id(c->listener);
	if (c->channel)
		rdma_destroy_event_channel(c->channel);
	free(c->id);
	free(c->is_up);
	memset(c, 0, sizeof(*c));
}
