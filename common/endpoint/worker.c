// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The QPs, memory and receives of one measuring thread. */
#include <errno.h>
#include <ifaddrs.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/phase.h"
#include "base/text.h"
#include "endpoint/rail.h"
#include "endpoint/worker.h"
#include "plan/plan.h"
#include "plan/test.h"
#include "verbs/transports.h"


bool endpoint_receives(const struct endpoint *ep)
{
	return test_receives(ep->test) || ep->immediate;
}

/* True if the peer's messages consume receives of this end. */
static bool worker_receives(const struct endpoint *ep)
{
	return endpoint_receives(ep) &&
	       (ep->test->latency || ep->options->experiment.bidirectional || !endpoint_leads(ep));
}

static struct plan_qp worker_plan(const struct worker *t)
{
	const struct endpoint *ep = t->ep;
	const struct ibv_device_attr *d = &t->rail->hca.info.attr;
	const struct experiment *e = &ep->options->experiment;
	const struct transport *over = experiment_transport(e);

	return (struct plan_qp){
		.latency = ep->test->latency,
		.pingpong = ep->test->latency && !operation_fetches(&ep->test->operation) &&
			    !ep->test->calls,
		.receives = worker_receives(ep),
		.no_rnr_retry = rail_is_iwarp(t->rail) || hca_lacks_rnr_retry(&t->rail->hca.info),
		.max_cqe = (unsigned)d->max_cqe,
		.max_wr = (unsigned)(e->use_srq || over->receiver ? d->max_srq_wr : d->max_qp_wr),
		.max_send_wr = (unsigned)d->max_qp_wr,
	};
}

/* A latency test has no stream, and other programs have rounds of several kinds. */
static bool has_choice(const struct endpoint *ep)
{
	return !ep->test->latency && !ep->test->kinds;
}

/* True if it is left to this end, or told, to post by ibv_wr_*. Lists cost less by ibv_post_send. */
static bool sends_extended(const struct endpoint *ep)
{
	const struct experiment *e = &ep->options->experiment;
	bool alone = experiment_transport(e)->rdma_by_calls && ep->test->operation.peer_allows;

	return e->post_api == POST_API_WR ||
	       (e->post_api == POST_API_AUTO && (e->post_list == 1 || alone));
}

/*
 * Soft-RoCE's ibv_wr_* calls do what its ibv_post_send does, and its extended CQs are broken. A
 * receiver's ibv_poll_cq costs less than ibv_start_poll everywhere.
 */
static bool wants_extended(const struct worker *t)
{
	uint64_t api = t->ep->options->experiment.post_api;
	bool sends = endpoint_sends(t->ep);
	bool best = sends && api == POST_API_AUTO && !hca_is_soft_roce(&t->rail->hca.info);

	if (!has_choice(t->ep) || (sends && !sends_extended(t->ep)))
		return false;
	return best || api == POST_API_WR;
}

bool worker_is_extended(const struct worker *t)
{
	if (endpoint_sends(t->ep))
		return t->qps.extended && sends_extended(t->ep);
	return t->qps.recv.extended && !t->ep->options->experiment.events;
}

const char *endpoint_calls(const struct endpoint *ep)
{
	bool extended = worker_is_extended(&ep->worker[0]);

	if (!has_choice(ep))
		return NULL;
	if (endpoint_sends(ep))
		return extended ? "ibv_wr" : "ibv_post_send";
	return extended ? "ibv_start_poll" : "ibv_poll_cq";
}

const char *endpoint_calls_why(const struct endpoint *ep)
{
	const struct worker *t = &ep->worker[0];
	const struct experiment *e = &ep->options->experiment;

	if (worker_is_extended(t))
		return ", which the device has";
	if (e->post_api == POST_API_SEND)
		return ", as --post-api says";
	if (!endpoint_sends(ep) && e->post_api == POST_API_AUTO)
		return ", which costs less";
	if (hca_is_soft_roce(&t->rail->hca.info))
		return ", as always on soft-RoCE";
	if (endpoint_sends(ep) && e->post_list > 1)
		return ", as all lists are";
	return e->events && !endpoint_sends(ep) ? ", as always with --events"
						: ": the device has no other calls";
}

/* The first thread that posts through what others post through, too; NULL: none. */
static const struct worker *find_sharer(const struct endpoint *ep)
{
	for (unsigned i = 0; i < ep->workers; i++)
		if (!ep->worker[i].qps.td)
			return &ep->worker[i];
	return NULL;
}

const char *endpoint_share(const struct endpoint *ep)
{
	if (ep->options->experiment.threads < 2)
		return NULL;
	return find_sharer(ep) ? "context" : "none";
}

const char *endpoint_share_why(const struct endpoint *ep, char *buf, size_t size)
{
	const struct worker *t = find_sharer(ep);

	if (!t)
		snprintf(buf, size, "each thread posts by a thread domain of its own");
	else if (!t->qps.no_td)
		snprintf(buf, size, "the threads share a context, as --share says");
	else if (t->qps.no_td == EOPNOTSUPP)
		snprintf(buf, size, "the threads share a context: %s has no thread domains",
			 t->rail->hca.info.device);
	else
		snprintf(buf, size, "threads share a context: no thread domain for thread %u: %s",
			 t->index + 1, strerror(t->qps.no_td));
	return buf;
}

/* --post-api wr: check that the QP has the ibv_wr_*() functions, and that lists can be so posted. */
static int check_post_api(struct worker *t)
{
	const struct endpoint *ep = t->ep;
	const struct experiment *e = &ep->options->experiment;
	bool broken = e->post_list > 1 && hca_loses_headers(&t->rail->hca.info);

	if (e->post_api != POST_API_WR || !endpoint_sends(ep) || !has_choice(ep) ||
	    (t->qps.extended && !broken))
		return 0;
	if (broken) {
		fault_raise(&t->fault, FAULT_UNAVAILABLE, 0,
			    "--post-api wr with -l %u: not on %s, a Broadcom adapter",
			    (unsigned)e->post_list, t->rail->hca.info.device);
		fault_cause(&t->fault, "Of a list by ibv_wr_* rdma-core's bnxt_re writes the last "
				       "request's header alone");
		return fault_fix(&t->fault, "omit --post-api: lists are then posted by ibv_post_send");
	}
	fault_raise(&t->fault, FAULT_UNAVAILABLE, 0,
		    "--post-api wr: %s does not support the ibv_wr_* calls",
		    t->rail->hca.info.device);
	return fault_fix(&t->fault, "omit it, or use --post-api send");
}

static void add_cut(struct endpoint *ep, const char *what, unsigned has, unsigned wanted)
{
	if (has < wanted)
		text_add(ep->cuts, sizeof(ep->cuts), "%s%s %u (default %u)",
			 ep->cuts[0] ? ", " : "", what, has, wanted);
}

/* Note which defaults are more than the device has: those of PLAN and W. */
static void note_cuts(const struct worker *t, struct plan_qp plan, const struct qp_attr *w)
{
	const struct experiment *e = &t->ep->options->experiment;
	unsigned depth;

	plan.max_cqe = plan.max_wr = plan.max_send_wr = UINT_MAX;
	depth = plan_tx_depth(e, &plan);
	add_cut(t->ep, "send queue", t->qps.tx_depth,
		t->ep->default_depth > depth ? t->ep->default_depth : depth);
	add_cut(t->ep, "receive queue", t->qps.rx_depth, plan_rx_depth(e, &plan));
	if (w->inline_bytes == QP_INLINE_BEST_EFFORT)
		add_cut(t->ep, "bytes inline", t->qps.inline_bytes, w->inline_wanted);
}

struct qp_attr worker_qp_attr(const struct worker *t)
{
	const struct endpoint *ep = t->ep;
	const struct test *test = ep->test;
	const struct experiment *e = &ep->options->experiment;
	const struct transport *over = experiment_transport(e);
	struct plan_qp plan = worker_plan(t);
	struct qp_attr w = {
		.transport = over,
		.count = (unsigned)e->qps,
		.tx_depth = plan_tx_depth(e, &plan),
		.rx_depth = plan_rx_depth(e, &plan),
		.use_srq = e->use_srq,
		.own_cqs = e->own_cqs,
		.own_doorbell = e->threads > 1 && e->share == SHARE_NONE,
		.events = e->events,
		.extended = wants_extended(t),
		.vector = (unsigned)ep->options->local.vector,
		.inline_bytes = e->inline_bytes == EXPERIMENT_AUTO ? QP_INLINE_BEST_EFFORT
								   : (unsigned)e->inline_bytes,
		.inline_wanted = test->inline_wanted < over->inline_most ? test->inline_wanted
									 : over->inline_most,
		.send_ops = operation_send_ops(&test->operation),
		.access = test->operation.peer_allows,
		.pkey_index = t->rail->route.pkey_index,
		.first = t->index * (unsigned)e->qps,
		.multicast = e->mcg,
	};

	if (!endpoint_sends(ep) && !test->latency && !ep->own_schedule &&
	    w.tx_depth > plan.max_send_wr)
		w.tx_depth = plan.max_send_wr; /* only the peer's queue must be that deep */
	if (rail_is_iwarp(t->rail))            /* the connecting side sends first: an empty WRITE */
		w.access |= IBV_ACCESS_REMOTE_WRITE;
	if (over->rdma_by_calls && test->operation.peer_allows)
		w.inline_bytes = 0;
	if (ep->gpu_memory) /* the CPU cannot copy inline data from GPU memory */
		w.inline_bytes = 0;
	return w;
}

static int make_qps(struct worker *t)
{
	const struct qp_attr w = worker_qp_attr(t);

	if (qp_set_init(&t->qps, &t->rail->hca, &w, &t->fault))
		return -1;
	if (!t->index)
		note_cuts(t, worker_plan(t), &w);
	if (check_post_api(t))
		return -1;
	if (w.events)
		t->control->wake_fd = t->qps.cq_wait.wake_fd;
	return 0;
}

/* Make the receive queue and post its receives, if this end has any. */
static int make_receives(struct worker *t)
{
	const struct endpoint *ep = t->ep;
	const struct round_memory memory = worker_buffers(t);
	unsigned depth = t->qps.rx_depth;
	unsigned batch = plan_recv_list(&ep->options->experiment, depth);

	if (!depth || worker_verifies(t))
		return 0;
	if (batch > depth)
		return fault_usage(&t->fault, "use a larger -r or a shorter list",
				   "--recv_post_list %u is more than the receive queue holds (%u)",
				   batch, depth);
	return recv_queue_init(&t->receives, &t->qps, depth, batch, &memory.into,
			       ep->largest_bytes, &t->fault);
}

int worker_pin(struct worker *t)
{
	const struct endpoint *ep = t->ep;
	struct end *e = &t->rail->mine;

	if (worker_verifies(t)) {
		t->pin = t[-(ptrdiff_t)ep->workers].pin;
		return 0;
	}
	fault_phase(&t->fault, PHASE_PIN);
	if (pin_thread(&t->pin, (int)(int64_t)ep->options->local.numa,
		       t->rail->hca.info.place.numa_node, &t->fault))
		return -1;
	/*
	 * Several threads have a CPU each. Workers alternate between rails, so the quotient is the
	 * worker's number on its rail.
	 */
	if (ep->workers > ep->rails)
		pin_core(&t->pin, t->index / ep->rails, ep->server);
	if (!worker_is_first(t))
		return 0;
	e->thread_node = t->pin.node;
	text_copy(e->cpus, sizeof(e->cpus), t->pin.cpus);
	text_copy(e->pinned, sizeof(e->pinned), t->pin.reason);
	return 0;
}

int worker_make(struct worker *t)
{
	unsigned qps = (unsigned)t->ep->options->experiment.qps;

	if (qp_address_init(&t->mine, qps))
		return fault_raise(&t->fault, FAULT_LOCAL, ENOMEM, "allocating details of %u QPs",
				   qps);
	if (make_qps(t) || worker_memory(t) || make_receives(t))
		return -1;
	t->mine.gid = t->rail->gid;
	t->mine.lid = t->rail->hca.info.port_attr.lid;
	if (qp_set_describe(&t->qps, &t->mine, &t->fault))
		return -1;
	if (worker_is_first(t))
		t->rail->mine.inline_bytes = t->qps.inline_bytes;
	return worker_group_make(t);
}

int worker_connect(struct worker *t)
{
	const struct local_options *l = &t->ep->options->local;
	const struct experiment *e = &t->ep->options->experiment;
	const struct qp_route *r = &t->rail->route;

	if (l->dlid != EXPERIMENT_AUTO)
		t->theirs.lid = (uint16_t)l->dlid;
	if (worker_group_connect(t))
		return -1;
	if (!e->rdma_cm && qp_set_connect(&t->qps, r, &t->theirs, &t->fault))
		return -1;
	return experiment_transport(e)->addressed
		       ? qp_set_address(&t->qps, r, &t->theirs, &t->fault)
		       : 0;
}

void worker_quiesce(struct worker *t)
{
	recv_queue_release(&t->receives);
	qp_set_quiesce(&t->qps);
	cm_release(&t->cm);
}

void worker_release(struct worker *t)
{
	mem_release(&t->mem);
	qp_set_release(&t->qps);
	qp_address_release(&t->mine);
	qp_address_release(&t->theirs);
	if (!t->index) /* the other pins were of threads that have ended */
		pin_undo(&t->pin);
}

/*
 * A server (AF_UNSPEC) needs an address to listen on. A client (the family of the server's address)
 * may have none: OWN then has family 0, and the kernel chooses.
 */
int worker_cm_open(struct worker *t, int family)
{
	struct endpoint *ep = t->ep;
	const struct sockaddr *local =
		ep->local.ss_family ? (const struct sockaddr *)&ep->local : NULL;
	const struct hca_port *p = &t->rail->hca.info;
	struct sockaddr_storage own;
	struct ifaddrs *list = NULL;
	bool found;

	fault_phase(ep->fault, PHASE_RDMA_CM);
	if (getifaddrs(&list))
		return fault_raise(ep->fault, FAULT_LOCAL, errno, "getifaddrs");
	found = cm_address(p, &t->rail->gid, local, family, list, &own);
	freeifaddrs(list);
	if (cm_init(&t->cm, p, &own, ep->options->local.timeout_ns, ep->fault))
		return -1;
	t->cm.over = experiment_transport(&ep->options->experiment);
	if (found || family != AF_UNSPEC)
		return 0;
	fault_raise(ep->fault, FAULT_UNAVAILABLE, 0, "%s port %u has no IP address for rdma_cm",
		    p->device, p->port);
	return fault_fix(ep->fault, "give the netdev%s%s an IP address%s", p->netdev[0] ? " " : "",
			 p->netdev, cm_or_omit(p));
}

void worker_cm_describe(struct worker *t)
{
	const struct hca_port *p = &t->rail->hca.info;
	struct end *e = &t->rail->mine;

	snprintf(e->address, sizeof(e->address), "%s", t->cm.own_name);
	memcpy(t->mine.psn, t->qps.psn, t->qps.count * sizeof(*t->mine.psn));
	for (size_t i = 0; i < p->gid_count; i++) {
		const struct gid *g = &p->gids[i];

		if (g->index != t->rail->route.gid_index)
			continue;
		t->mine.gid = g->raw;
		if (e->gid_index != g->index)
			rail_describe_gid(t->rail, g, "rdma_cm's choice");
	}
}
