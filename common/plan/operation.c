// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "plan/operation.h"

#include <stdio.h>

#include "cli/options.h"
#include "plan/test.h"
#include "verbs/hca.h"
#include "verbs/transport.h"

#define DEPTH_MAX 255 /* the largest value in QP and rdma_cm attributes */

unsigned operation_traits(const struct test *t)
{
	const struct operation *o = &t->operation;

	if (t->calls)
		return t->calls;
	return (t->latency ? TRAIT_LATENCY : TRAIT_BANDWIDTH) |
	       (operation_writes(o) ? TRAIT_WRITES : 0) | (operation_pulls(o) ? TRAIT_READS : 0) |
	       (operation_is_atomic(o) ? TRAIT_ATOMICS : 0) |
	       (test_receives(t) ? TRAIT_RECEIVES : 0) |
	       (t->schedule ? TRAIT_CELLS : 0);
}

enum ibv_wr_opcode operation_opcode(const struct operation *o, const struct experiment *e,
				    bool immediate)
{
	return immediate || e->send_with_imm ||
			       (operation_is_atomic(o) && e->atomic_type == ATOMIC_FETCH_AND_ADD)
		       ? o->another
		       : o->opcode;
}

uint64_t operation_send_ops(const struct operation *o)
{
	_Static_assert(IBV_QP_EX_WITH_RDMA_WRITE == 1 << IBV_WR_RDMA_WRITE &&
			       IBV_QP_EX_WITH_SEND == 1 << IBV_WR_SEND &&
			       IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD == 1 << IBV_WR_ATOMIC_FETCH_AND_ADD,
		       "a bit for each opcode");
	return UINT64_C(1) << o->opcode | UINT64_C(1) << o->another;
}

double operation_latency_us(const struct operation *o, double trip_ns)
{
	return trip_ns / (o->halved ? 2 : 1) / 1000;
}

static const char *kind_of_test(const struct test *t)
{
	return t->latency ? "lat" : "bw";
}

/* READs and atomics need a transport with responses; a datagram carries no address to write to. */
static int check_connection(const struct test *t, const struct experiment *e, struct fault *f)
{
	const struct transport *over = experiment_transport(e);
	const struct operation *o = &t->operation;

	if (t->calls && over->receiver)
		return fault_usage(f, "use RC, UC or UD", "-c/--connection %s cannot be used with %s",
				   over->name, t->name);
	if (!(o->peer_allows & ~over->peer_allows))
		return 0;
	fault_raise(f, FAULT_USAGE, 0, "-c/--connection %s cannot be used with %s", over->name,
		    t->name);
	if (over->efa) {
		fault_cause(f, "An EFA does not support %s", o->name);
		return fault_fix(f, "name a RoCE or InfiniBand device with -d on both ends");
	}
	if (operation_writes(o))
		return fault_fix(f,
				 "use send_%s, or -c UC: a datagram cannot write into the peer's "
				 "memory",
				 kind_of_test(t));
	fault_cause(f, "The peer's NIC must answer %s, which only reliable connections support",
		    o->name);
	return fault_fix(f, "omit -c, or use RC");
}

/* gdr_bw without --plain loses no message and polls: refuse other options. */
static int check_cells(const struct experiment *e, struct fault *f)
{
	const struct transport *over = experiment_transport(e);
	bool fits = over->reliable && !over->rdma_by_calls; /* the client alone has these calls */
	const char *what = !fits        ? "-c/--connection "
			   : e->events  ? "-e/--events"
			   : e->own_cqs ? "--own-cqs"
					: NULL;

	if (!what)
		return 0;
	return fault_usage(f, "add --plain for a single row, or omit it",
			   "%s%s cannot be used without --plain", what, fits ? "" : over->name);
}

/* SRD's READs and WRITEs have one way to be posted. */
static int check_calls(const struct test *t, const struct experiment *e, struct fault *f)
{
	bool inlined = e->inline_bytes && e->inline_bytes != EXPERIMENT_AUTO;

	if (!experiment_transport(e)->rdma_by_calls || !t->operation.peer_allows ||
	    (!inlined && e->post_api != POST_API_SEND))
		return 0;
	fault_raise(f, FAULT_USAGE, 0, "%s cannot be used with %s over %s",
		    inlined ? "-I/--inline_size" : "--post-api send", t->name,
		    experiment_transport(e)->name);
	fault_cause(f, "READs and WRITEs are posted by the ibv_wr_* calls there, and not inline");
	return fault_fix(f, "omit it, or use send_%s", kind_of_test(t));
}

int operation_check(const struct test *t, const struct experiment *e, struct fault *f)
{
	const struct operation *o = &t->operation;

	if (check_connection(t, e, f) || check_calls(t, e, f))
		return -1;
	if (e->use_srq && !test_receives(t) && !e->write_with_imm) {
		fault_raise(f, FAULT_USAGE, 0, "--use-srq cannot be used with %s", t->name);
		return fault_fix(f, "use send_%s, or omit it: a WRITE consumes no receive request",
				 kind_of_test(t));
	}
	if (o->fixed_bytes && e->align_bytes % o->fixed_bytes) {
		fault_raise(f, FAULT_USAGE, 0, "--align %u cannot be used with %s",
			    (unsigned)e->align_bytes, t->name);
		return fault_fix(f, "use a multiple of %u: %s needs aligned addresses",
				 o->fixed_bytes, o->name);
	}
	return t->schedule && !e->plain ? check_cells(e, f) : 0;
}

int operation_check_events(const struct test *t, const struct experiment *e, bool immediate,
			   struct fault *f)
{
	if (!e->events || !t->latency || !operation_writes(&t->operation) || immediate)
		return 0;
	fault_raise(f, FAULT_USAGE, 0, "-e/--events cannot be used with %s in host memory",
		    t->name);
	fault_cause(f, "The test detects messages by polling memory, and a WRITE causes no event");
	return fault_fix(f, "use send_lat, or omit -e");
}

int operation_check_fabric(const struct experiment *e, const struct hca_port *p, const char *fix,
			   struct fault *f)
{
	const struct transport *over = experiment_transport(e);
	bool efa = p->fabric == FABRIC_EFA;

	if (over->efa == efa)
		return efa ? efa_check(p->device, f) : 0;
	fault_raise(f, FAULT_UNAVAILABLE, 0,
		    "transport %s is not supported on %s, which is %s", over->name, p->device,
		    fabric_row(p->fabric)->name);
	fault_cause(f, "%s",
		    efa ? "An Elastic Fabric Adapter has no connections: its transport is SRD"
			: "SRD is the transport of Amazon's Elastic Fabric Adapters (EFA)");
	return fault_fix(f, "%s", fix);
}

int operation_check_iwarp(const struct operation *o, const struct experiment *e, const char *device,
			  bool ipv6, bool immediate, struct fault *f)
{
	const struct transport *over = experiment_transport(e);
	char connection[24];
	const struct {
		bool asked;
		const char *option, *cause, *fix;
	} all[] = {
		{operation_is_atomic(o), o->name, "iWARP has no atomic operations",
		 "name a RoCE or InfiniBand device with -d on both ends"},
		{!over->reliable, connection, "iWARP has only reliable connections", "omit -c"},
		{e->write_with_imm, "--write_with_imm", "An iWARP WRITE carries no immediate data",
		 "omit it, or use send_bw or send_lat, whose receiver also gets a completion"},
		{e->send_with_imm, "--send_with_imm", "An iWARP SEND carries no immediate data",
		 "omit it"},
		{ipv6, "--ipv6", "An iWARP GID is a MAC address, neither IPv4 nor IPv6",
		 "omit it, and name the server by its IPv6 address"},
		{immediate, "write_lat with GPU memory",
		 "The CPU cannot poll GPU memory, and an iWARP WRITE carries no immediate data to "
		 "announce it",
		 "use send_lat, or host memory on both ends"},
	};

	snprintf(connection, sizeof(connection), "-c/--connection %s", over->name);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (!all[i].asked)
			continue;
		fault_raise(f, FAULT_UNAVAILABLE, 0, "%s is not supported on %s, which is iWARP",
			    all[i].option, device);
		fault_cause(f, "%s", all[i].cause);
		return fault_fix(f, "%s", all[i].fix);
	}
	return 0;
}

int operation_check_device(const struct operation *o, const struct hca_port *p, bool sends,
			   bool answers, struct fault *f)
{
	bool none = operation_is_atomic(o) && p->attr.atomic_cap == IBV_ATOMIC_NONE;
	unsigned needs = operation_pulls(o) ? EFA_READ : operation_writes(o) ? EFA_WRITE : 0;

	if (p->fabric == FABRIC_EFA) {
		if (!(needs & ~p->efa.device_caps))
			return 0;
		fault_raise(f, FAULT_UNAVAILABLE, 0, "%s does not support %s", p->device, o->name);
		fault_cause(f, "The device's capabilities (0x%x, efadv_query_device) lack it",
			    p->efa.device_caps);
		return fault_fix(f, "use send_lat or send_bw, or an instance of a newer type");
	}
	answers = operation_fetches(o) && answers && p->attr.max_qp_rd_atom < 1;
	sends = operation_fetches(o) && sends && p->attr.max_qp_init_rd_atom < 1;
	if (!none && !answers && !sends)
		return 0;
	fault_raise(f, FAULT_UNAVAILABLE, 0, "%s does not support %s", p->device, o->name);
	fault_cause(f, "%s",
		    none      ? "The device's atomic_cap is NONE"
		    : answers ? "The device's max_qp_rd_atom, the number of requests that it "
				"answers at a time on a QP, is 0"
			      : "The device's max_qp_init_rd_atom, the number of requests that a "
				"QP may have outstanding, is 0");
	return fault_fix(f, "name another device with -d; `ibv_devinfo -v` shows what each "
			    "supports");
}

static unsigned outstanding_limit(int attr, unsigned most)
{
	return attr < 1 ? 0 : (unsigned)attr > most ? most : (unsigned)attr;
}

struct operation_depth operation_depth(const struct operation *o, const struct experiment *e,
				       const struct ibv_device_attr *attr)
{
	unsigned most = operation_fetches(o) ? DEPTH_MAX : 1;
	struct operation_depth d = {
		.sent = outstanding_limit(attr->max_qp_init_rd_atom, most),
		.answered = outstanding_limit(attr->max_qp_rd_atom, most),
	};

	if (operation_fetches(o) && e->outs < d.sent)
		d.sent = (unsigned)e->outs;
	return d;
}

struct operation_depth operation_agree(const struct operation_depth *mine,
				       const struct operation_depth *theirs)
{
	return (struct operation_depth){
		.sent = mine->sent < theirs->answered ? mine->sent : theirs->answered,
		.answered = theirs->sent < mine->answered ? theirs->sent : mine->answered,
	};
}

uint64_t operation_message_max(const struct operation *o, const struct hca_port *p)
{
	return p->fabric == FABRIC_EFA && o->peer_allows ? p->efa.max_rdma_size
							 : p->port_attr.max_msg_sz;
}
