// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* This end's device, and the QPs, memory and receives that stand on it. */
#include "session/state.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "session/plan.h"

#define PAGE_BYTES       4096 /* alignment of a slice, and the headroom before the first */
#define STAMP_ROOM_BYTES 64   /* unused behind every slice */
#define STAGED_BATCH     32   /* receives are given back so many at a time */
#define LATENCY_TX_DEPTH 64   /* so that one send in many is signalled */

static struct hca_wish wish_of(const struct session *s)
{
	const struct local_options *l = &s->options.local;

	return (struct hca_wish){
		.device = l->device,
		.port = l->ib_port == EXPERIMENT_AUTO ? 0 : (int)l->ib_port,
		.local = s->local.ss_family ? (const struct sockaddr *)&s->local : NULL,
	};
}

int endpoint_look(struct session *s, struct hca_list *list)
{
	struct hca_wish wish = wish_of(s);
	char reason[160];

	if (hca_scan(list, s->options.local.device, &s->fault))
		return -1;
	return hca_choose(list, &wish, reason, sizeof(reason), &s->fault) ? 0 : -1;
}

/* Fill in what is known of the device. */
static void describe_device(struct session *s)
{
	const struct hca_port *p = &s->hca.info;
	struct end *e = &s->my_end;

	if (gethostname(e->host, sizeof(e->host) - 1))
		snprintf(e->host, sizeof(e->host), "?");
	snprintf(e->device, sizeof(e->device), "%s", p->device);
	snprintf(e->device_chosen, sizeof(e->device_chosen), "%s", s->hca.chosen);
	e->port = p->port;
	snprintf(e->link_layer, sizeof(e->link_layer), "%s",
		 p->is_ethernet ? "Ethernet" : "InfiniBand");
	e->rate_gbps = hca_rate_gbps(p);
	e->gid_index = -1;
	e->lid = p->port_attr.lid;
	e->active_mtu_bytes = hca_mtu_bytes(p->port_attr.active_mtu);
	snprintf(e->netdev, sizeof(e->netdev), "%s", p->netdev);
	snprintf(e->pci, sizeof(e->pci), "%s", p->place.pci);
	topo_format_link(&p->place, e->pcie_link, sizeof(e->pcie_link));
	e->numa_node = p->place.numa_node;
	snprintf(e->memory, sizeof(e->memory), "host");
	snprintf(e->clock, sizeof(e->clock), "%s", s->clock.source);
	snprintf(e->firmware, sizeof(e->firmware), "%s", p->attr.fw_ver);
	snprintf(e->version, sizeof(e->version), "%s", RDMARK_VERSION);
}

static int check_size(struct session *s)
{
	const struct experiment *e = &s->options.experiment;
	uint64_t max = s->hca.info.port_attr.max_msg_sz;
	char have[32], want[32];

	fault_phase(&s->fault, "choosing the message sizes");
	s->largest_bytes = s->message_max = plan_last_size(e, max);
	if (s->matrix && s->message_max < e->staged_chunk_bytes)
		s->message_max = e->staged_chunk_bytes;
	if (s->message_max <= max)
		return 0;
	fault_raise(&s->fault, FAULT_USAGE, 0, "messages of %s: %s port %u takes at most %s",
		    units_format_size(s->message_max, want, sizeof(want)), s->hca.info.device,
		    s->hca.info.port, units_format_size(max, have, sizeof(have)));
	return fault_fix(&s->fault, "use a smaller %s",
			 s->largest_bytes > max ? "-s" : "--staged-chunk");
}

int endpoint_open(struct session *s)
{
	struct hca_wish wish = wish_of(s);
	struct hca_list list;
	const struct hca_port *port;
	int rc = -1;

	endpoint_gpu_before_open(s);
	if (hca_scan(&list, s->options.local.device, &s->fault))
		return -1;
	port = hca_choose(&list, &wish, s->hca.chosen, sizeof(s->hca.chosen), &s->fault);
	if (port) {
		char chosen[sizeof(s->hca.chosen)];

		memcpy(chosen, s->hca.chosen, sizeof(chosen));
		rc = hca_open(&s->hca, port, &s->fault);
		memcpy(s->hca.chosen, chosen, sizeof(chosen));
	}
	hca_list_free(&list);
	if (rc)
		return -1;
	fault_phase(&s->fault, "pinning the thread");
	if (pin_thread(&s->pin, (int)(int64_t)s->options.local.numa, s->hca.info.place.numa_node,
		       &s->fault))
		return -1;
	describe_device(s);
	if (endpoint_gpu_open(s))
		return -1;
	s->my_end.thread_node = s->pin.node;
	snprintf(s->my_end.cpus, sizeof(s->my_end.cpus), "%s", s->pin.cpus);
	snprintf(s->my_end.pinned, sizeof(s->my_end.pinned), "%s", s->pin.reason);
	return check_size(s);
}

unsigned endpoint_mtu(const struct session *s)
{
	unsigned active = hca_mtu_bytes(s->hca.info.port_attr.active_mtu);
	uint64_t wish = s->options.experiment.mtu_bytes;

	return wish < active ? (unsigned)wish : active;
}

/* The entry that -x names, or NULL with the fault if it is empty. */
static const struct gid *explicit_gid(struct session *s)
{
	const struct hca_port *p = &s->hca.info;
	uint64_t index = s->options.local.gid_index;

	for (size_t i = 0; i < p->gid_count; i++)
		if ((uint64_t)p->gids[i].index == index)
			return &p->gids[i];
	fault_phase(&s->fault, "choosing the GID");
	if (index >= (uint64_t)p->port_attr.gid_tbl_len) {
		fault_raise(&s->fault, FAULT_USAGE, 0, "-x/--gid-index %u: %s port %u has %d GIDs",
			    (unsigned)index, p->device, p->port, p->port_attr.gid_tbl_len);
		fault_fix(&s->fault, "use 0 to %d, or leave -x out", p->port_attr.gid_tbl_len - 1);
	} else {
		fault_raise(&s->fault, FAULT_USAGE, 0,
			    "-x/--gid-index %u: the GID of %s port %u at that index is empty",
			    (unsigned)index, p->device, p->port);
		fault_fix(&s->fault, "--list shows the ones there are; or leave -x out");
	}
	return NULL;
}

size_t endpoint_kinds(struct session *s, enum gid_kind kinds[GID_KINDS])
{
	const struct hca_port *p = &s->hca.info;
	const struct gid *one;

	if (s->options.local.gid_index == EXPERIMENT_AUTO)
		return gid_kinds(p->gids, p->gid_count, (const struct sockaddr *)&s->local, kinds);
	one = explicit_gid(s);
	if (!one)
		return 0;
	kinds[0] = one->kind;
	return 1;
}

int endpoint_use_gid(struct session *s, enum gid_kind kind)
{
	const struct hca_port *p = &s->hca.info;
	bool chosen = s->options.local.gid_index != EXPERIMENT_AUTO;
	bool grh = (p->port_attr.flags & IBV_QPF_GRH_REQUIRED) != 0;
	const struct gid *g =
		chosen ? explicit_gid(s)
		       : gid_pick(p->gids, p->gid_count, kind, (const struct sockaddr *)&s->local);

	if (fault_is(&s->fault))
		return -1;
	s->route.global = p->is_ethernet || chosen || grh;
	if (!g && s->route.global) {
		fault_raise(&s->fault, FAULT_LOCAL, 0, "%s port %u has no GID of the kind %s",
			    p->device, p->port, gid_kind_name(kind));
		return fault_fix(&s->fault, "give the netdev%s%s an address",
				 p->netdev[0] ? " " : "", p->netdev);
	}
	if (g) {
		s->mine.gid = g->raw;
		s->route.gid_index = g->index;
	}
	if (s->route.global) {
		s->my_end.gid_index = g->index;
		gid_format(&g->raw, s->my_end.gid, sizeof(s->my_end.gid));
		snprintf(s->my_end.gid_chosen, sizeof(s->my_end.gid_chosen), "%s",
			 chosen ? "named with -x" : "the best kind that both ends have");
		snprintf(s->my_end.gid_type, sizeof(s->my_end.gid_type), "%s",
			 gid_kind_name(g->kind));
	}
	return 0;
}

static int make_qps(struct session *s)
{
	const struct test *t = s->test;
	const struct experiment *e = &s->options.experiment;
	const struct ibv_device_attr *d = &s->hca.info.attr;
	bool receives = t->receives == RECEIVES_BOTH || s->immediate ||
			(t->receives == RECEIVES_SERVER && s->report.about.server);
	struct qp_wish w = {
		.count = (unsigned)e->qps,
		.tx_depth = (unsigned)e->tx_depth,
		.rx_depth = receives ? plan_rx_depth(e, t->latency, (unsigned)d->max_cqe,
						     (unsigned)d->max_qp_wr)
				     : 0,
		.inline_bytes = e->inline_bytes == EXPERIMENT_AUTO ? QP_INLINE_BEST_EFFORT
								   : (unsigned)e->inline_bytes,
		.inline_wish = t->inline_wish,
		.access = t->written ? IBV_ACCESS_REMOTE_WRITE : 0,
	};

	if (s->gpu_memory) /* the CPU cannot copy from there */
		w.inline_bytes = 0;
	if (t->latency && w.tx_depth < LATENCY_TX_DEPTH)
		w.tx_depth = LATENCY_TX_DEPTH;
	return qp_set_init(&s->qps, &s->hca, &w, &s->fault);
}

/* One buffer: headroom, then the slices; a latency test sends from one and receives into another.
 */
static int make_memory(struct session *s)
{
	const struct experiment *e = &s->options.experiment;
	unsigned access = s->test->written ? IBV_ACCESS_REMOTE_WRITE : 0;
	uint64_t stride =
		(s->largest_bytes + STAMP_ROOM_BYTES + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	uint64_t slices = s->test->latency ? 2 : e->qps;
	uint64_t bytes = slices * stride;
	int rc;

	if (!e->strict_order)
		access |= IBV_ACCESS_RELAXED_ORDERING;
	if (bytes < s->message_max)
		bytes = s->message_max;
	bytes += PAGE_BYTES;
	rc = s->gpu_memory ? endpoint_gpu_memory(s, bytes, access)
			   : mem_init(&s->mem, s->qps.pd, &s->pin, bytes, access, &s->fault);
	if (rc)
		return -1;
	s->mine.addr = s->mem.addr + PAGE_BYTES + (s->test->latency ? stride : 0);
	s->mine.stride = stride;
	s->mine.rkey = s->mem.rkey;
	s->my_end.memory_pages = (int64_t)s->mem.pages_checked;
	s->my_end.memory_pages_on_node = (int64_t)s->mem.pages_on_node;
	return 0;
}

static int make_receives(struct session *s)
{
	struct round_slice into = {s->mine.addr, s->mine.stride, s->mem.lkey};
	unsigned depth = s->qps.rx_depth, batch = 1;

	if (!depth)
		return 0;
	if (s->matrix && depth < s->options.experiment.staged_slots + STAGED_BATCH) {
		fault_raise(&s->fault, FAULT_USAGE, 0,
			    "a receive queue of %u for --staged-slots %u: too short", depth,
			    (unsigned)s->options.experiment.staged_slots);
		return fault_fix(&s->fault, "it must be longer by %u: a larger -r, or fewer slots",
				 STAGED_BATCH);
	}
	/* A ping-pong gives each receive back at once, a stream in batches. */
	if (!s->test->latency)
		batch = depth >= 128 ? 32 : depth >= 4 ? depth / 4 : 1;
	return recv_queue_init(&s->receives, &s->qps, depth, batch, &into, s->largest_bytes,
			       &s->fault);
}

static int make_all(struct session *s)
{
	const struct experiment *e = &s->options.experiment;
	union ibv_gid gid = s->mine.gid;

	if (make_qps(s))
		return -1;
	if (qp_address_init(&s->mine, s->qps.count))
		return fault_raise(&s->fault, FAULT_LOCAL, ENOMEM, "details of %u QPs",
				   s->qps.count);
	s->mine.gid = gid;
	if (make_memory(s) || make_receives(s))
		return -1;
	s->mine.lid = s->hca.info.port_attr.lid;
	for (unsigned i = 0; i < s->qps.count; i++) {
		s->mine.qpn[i] = s->qps.qp[i]->qp_num;
		s->mine.psn[i] = s->qps.psn[i];
	}
	s->my_end.inline_bytes = s->qps.inline_bytes;
	s->route.sl = (unsigned)e->sl;
	s->route.tos = (unsigned)e->tos;
	s->route.qp_timeout = (unsigned)e->qp_timeout;
	if (s->test->open && s->test->open(s, &s->own))
		return -1;
	if (s->test->latency || s->report.about.server || s->options.output.no_peak)
		return 0;
	if (peak_init(&s->peak, e->tx_depth * e->qps))
		return fault_raise(&s->fault, FAULT_LOCAL, ENOMEM, "marks for the peak");
	s->peak_ready = true;
	return 0;
}

int endpoint_make(struct session *s)
{
	struct watch w;
	int rc;

	session_alive_start(s, &w);
	rc = make_all(s);
	session_alive_stop(s, &w);
	return rc;
}

int endpoint_connect(struct session *s)
{
	const struct experiment *e = &s->options.experiment;
	uint64_t first = plan_first_size(e);

	if (!e->rdma_cm && qp_set_connect(&s->qps, &s->route, &s->theirs, &s->fault))
		return -1;
	s->effective = (struct report_effective){
		.mtu_bytes = s->route.mtu_bytes,
		.tx_depth = s->qps.tx_depth,
		.rx_depth = s->qps.rx_depth,
		.inline_bytes = s->qps.inline_bytes,
		.cq_mod = plan_cq_mod(e, first, (unsigned)s->qps.send_cq->cqe),
		.warmup = plan_warmup(e, first, s->test->latency),
		.connected_by = e->rdma_cm ? carrier_rdma_cm.name : carrier_tcp.name,
		.exchanged_over = s->oob.carrier->name,
	};
	return 0;
}

void endpoint_release(struct session *s)
{
	/* The QPs go first: nothing may touch memory that is about to be deregistered. */
	recv_queue_release(&s->receives);
	qp_set_quiesce(&s->qps);
	cm_release(&s->cm);
	if (s->test->close)
		s->test->close(s->own);
	s->own = NULL;
	mem_release(&s->mem);
	qp_set_release(&s->qps);
	qp_address_release(&s->mine);
	qp_address_release(&s->theirs);
	peak_release(&s->peak);
	if (s->gpu_buffer)
		gpu_free(s->gpu, s->gpu_buffer);
	gpu_close(s->gpu);
	s->gpu_buffer = 0;
	s->gpu = NULL;
	s->gpu_memory = s->immediate = s->peak_ready = false;
	memset(&s->gpu_absent, 0, sizeof(s->gpu_absent));
	memset(&s->route, 0, sizeof(s->route));
	memset(&s->my_end, 0, sizeof(s->my_end));
	pin_undo(&s->pin);
	hca_release(&s->hca);
}
