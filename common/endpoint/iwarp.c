// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Restrictions and differences of an iWARP device at this end. */
#include <errno.h>

#include "base/phase.h"
#include "base/stop.h"
#include "endpoint/rail.h"
#include "endpoint/worker.h"
#include "plan/test.h"
#include "verbs/vfault.h"

#define LOOK_NS UINT64_C(50000) /* between two looks whether a message has been sent */

const struct hca_port *endpoint_iwarp(const struct endpoint *ep)
{
	for (unsigned i = 0; i < ep->rails; i++)
		if (rail_is_iwarp(&ep->rail[i]))
			return &ep->rail[i].hca.info;
	return NULL;
}

int endpoint_iwarp_check(struct endpoint *ep)
{
	const struct hca_port *p = endpoint_iwarp(ep);
	struct experiment *e = &ep->options->experiment;

	if (!p)
		return 0;
	fault_phase(ep->fault, PHASE_DEVICE);
	if (operation_check_iwarp(&ep->test->operation, e, p->device, ep->options->local.ipv6,
				  false, ep->fault))
		return -1;
	e->rdma_cm = 1;
	return 0;
}

/*
 * Soft-iWARP's QP that has more READs posted than may be outstanding no longer answers those of its
 * peer: where both ends READ, each waits for the other.
 */
void endpoint_iwarp_fit_reads(struct endpoint *ep)
{
	struct experiment *e = &ep->options->experiment;

	if (!endpoint_iwarp(ep) || !operation_fetches(&ep->test->operation) || !e->bidirectional)
		return;
	for (unsigned i = 0; i < ep->rails; i++)
		if (ep->rail[i].route.reads_sent < e->tx_depth)
			e->tx_depth = ep->rail[i].route.reads_sent;
	if (e->tx_depth < e->post_list)
		e->tx_depth = e->post_list;
}

/*
 * The end that accepted the connection may send nothing before it has received a message from the
 * end that connected (RFC 5044, 7.1). A WRITE of 0 bytes is enough (RFC 6581, 9). It needs no
 * receive at the peer and touches no memory. (A READ of 0 bytes should be answered, but soft-iWARP
 * of Linux 6.1 does not always answer it.)
 */
static int post_first(const struct worker *t, struct fault *f)
{
	struct ibv_sge no_bytes = {.addr = t->out, .lkey = t->mem.lkey};
	struct ibv_send_wr wr = {
		.sg_list = &no_bytes,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
	};

	fault_phase(f, PHASE_FIRST_MESSAGE);
	for (unsigned i = 0; i < t->qps.count; i++) {
		int rc = post_chain(t->qps.qp[i], &wr);

		if (rc)
			return vfault_raise(f, rc, 0, "ibv_post_send(QP 0x%06x)",
					    t->qps.qp[i]->qp_num);
	}
	return 0;
}

/* Add the number of completed ones to *SENT. Returns 1 if all are, 0 if not, -1. */
static int poll_first(const struct worker *t, unsigned *sent, struct fault *f)
{
	for (unsigned i = 0; i < t->qps.send.count; i++) {
		struct ibv_wc wc;
		int n = ibv_poll_cq(t->qps.send.link[i].cq, 1, &wc);

		if (n < 0)
			return vfault_raise(f, n, 0, "ibv_poll_cq");
		if (!n)
			continue;
		if (wc.status != IBV_WC_SUCCESS)
			return vfault_completion(f, t->qps.link, &wc, "WRITE of 0 bytes");
		++*sent;
	}
	return *sent == t->qps.count;
}

static int await_first(const struct worker *t, uint64_t deadline_ns, struct stop *stop)
{
	struct fault *f = t->ep->fault;
	unsigned sent = 0;
	int rc = 0;

	while (!rc) {
		rc = poll_first(t, &sent, f);
		if (!rc && clock_now_ns() > deadline_ns) {
			fault_raise(f, FAULT_DEADLINE, ETIMEDOUT,
				    "waiting for a WRITE of 0 bytes to complete");
			return fault_fix(f, "check %s", vfault_words(t->qps.link)->way);
		}
		if (!rc) /* in a real-time class the kernel's own threads need the CPU */
			rc = stop_wait(stop, -1, 0, clock_now_ns() + LOOK_NS, f);
	}
	return rc < 0 ? -1 : 0;
}

int endpoint_iwarp_first(struct endpoint *ep, struct stop *stop)
{
	uint64_t deadline_ns = clock_now_ns() + ep->options->local.timeout_ns;

	for (unsigned i = 0; i < ep->workers_made; i++)
		if (rail_is_iwarp(ep->worker[i].rail) && post_first(&ep->worker[i], ep->fault))
			return -1;
	for (unsigned i = 0; i < ep->workers_made; i++)
		if (rail_is_iwarp(ep->worker[i].rail) &&
		    await_first(&ep->worker[i], deadline_ns, stop))
			return -1;
	return 0;
}
