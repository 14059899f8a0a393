// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "measure/measure.h"

#include <math.h>
#include <string.h>

#include "endpoint/rail.h"
#include "explain/during.h"
#include "explain/limit.h"
#include "plan/test.h"
#include "verbs/transport.h"

/* Bytes on the wire around the data of a packet, and once more for each message. */
#define ETHERNET_BYTES   38 /* preamble, header, FCS, gap */
#define IPV4_BYTES       20
#define IPV6_BYTES       40
#define UDP_BYTES        8
#define BTH_BYTES        16 /* with the ICRC */
#define INFINIBAND_BYTES 10 /* LRH, VCRC */
#define RETH_BYTES       16 /* address, rkey and length, of WRITE and READ */
#define ATOMIC_BYTES     28 /* the same with two operands */
#define IMMEDIATE_BYTES  4

/* Of a packet of EP's first rail; 0: unknown, as with iWARP, which TCP cuts as it likes. */
static double packet_header_bytes(const struct endpoint *ep)
{
	double base = experiment_transport(&ep->options->experiment)->wire_bytes + BTH_BYTES;
	const struct end *e = &ep->rail[0].mine;

	if (e->transport == FABRIC_INFINIBAND)
		return INFINIBAND_BYTES + base;
	if (e->transport != FABRIC_ROCE)
		return 0;
	if (e->gid_type == GID_V1)
		return ETHERNET_BYTES + IPV6_BYTES + base;
	return ETHERNET_BYTES + UDP_BYTES + base +
	       (e->gid_type == GID_V2_IPV4 ? IPV4_BYTES : IPV6_BYTES);
}

/* Once more for each message. */
static double message_header_bytes(const struct endpoint *ep)
{
	const struct experiment *e = &ep->options->experiment;
	const struct operation *o = &ep->test->operation;

	if (operation_is_atomic(o))
		return ATOMIC_BYTES - (double)o->fixed_bytes;
	return (o->peer_allows ? RETH_BYTES : 0) +
	       (e->write_with_imm || e->send_with_imm ? IMMEDIATE_BYTES : 0);
}

/* Payload that the adapters of this end carry together, of PCIe; each card once. NaN: unknown. */
static double sum_pcie(const struct endpoint *ep, bool mine, bool source)
{
	double sum = 0;

	for (unsigned i = 0; i < ep->rails; i++) {
		const struct end *e = rail_end(&ep->rail[i], mine);
		double carries = source ? e->pcie_read_gbps : e->pcie_write_gbps;
		size_t card = strcspn(e->pci, ".");
		bool again = false;

		for (unsigned k = 0; k < i; k++) {
			const struct end *other = rail_end(&ep->rail[k], mine);

			again |= strncmp(e->pci, other->pci, card + 1) == 0;
		}
		if (!again)
			sum += carries > 0 ? carries : NAN;
	}
	return sum;
}

/* How many messages of each QP that this end or the peer (MINE) posts to can be under way. */
static unsigned depth_of(const struct endpoint *ep, bool mine)
{
	const struct operation *o = &ep->test->operation;
	const struct qp_route *route = &ep->rail[0].route;
	unsigned outs = mine ? route->reads_sent : route->reads_answered;
	unsigned depth = (unsigned)ep->options->experiment.tx_depth;

	/* no outs: only the send queue limits them */
	return operation_fetches(o) && outs && outs < depth ? outs : depth;
}

/* This end, or the peer, on all rails; it is where the data come from if SOURCE. */
static void describe_end(const struct measurement *meas, bool mine, bool source, struct run_end *to)
{
	const struct endpoint *ep = meas->ms->ep;
	enum result_end end = measurement_end(meas, mine);
	const struct evidence *saw = &meas->evidence[end];
	const struct quality *q = &(mine ? &meas->mine : &meas->theirs)->record.quality;

	*to = (struct run_end){
		.name = end == RESULT_SERVER ? "server" : "client",
		.pcie_gbps = sum_pcie(ep, mine, source),
		.full_share = saw->full_share,
		.schedule_share = saw->schedule_share,
		.alone_ns = 1e3 * saw->alone_us,
		/* of what the queue holds, so many are under way */
		.completion_ns = 1e3 * saw->completion_us * depth_of(ep, mine) /
				 (double)ep->options->experiment.tx_depth,
		.busy_share = saw->busy_share,
		.cpu_share = q->on_cpu_percent / 100,
		.preempted = q->preempted,
		.stopped = quality_is_stopped(q) ? q->stopped : NAN,
		.stopped_s = q->stopped_s,
	};
	for (unsigned i = 0; i < ep->rails; i++) {
		const struct end *e = rail_end(&ep->rail[i], mine);

		to->rate_gbps += e->rate_gbps > 0 ? e->rate_gbps : NAN;
		if (i == 0 || e->pcie_trained_down)
			to->pcie_link = e->pcie_link;
		to->pcie_trained_down |= e->pcie_trained_down;
	}
	run_end_count(to, &meas->snapshot[end], &meas->snapshot[measurement_end(meas, !mine)]);
}

/* What this end or the peer (MINE) sends, as REC says: both ends find the same. */
static void describe_run(const struct measurement *meas, const struct record *rec, bool mine,
			 struct run_facts *r)
{
	const struct endpoint *ep = meas->ms->ep;
	const struct experiment *e = &ep->options->experiment;
	const struct operation *o = &ep->test->operation;
	const struct found *sender = mine ? &meas->mine : &meas->theirs;

	*r = (struct run_facts){
		.message_bytes = rec->message_bytes,
		.messages = (uint64_t)((double)rec->messages / record_copies(rec)),
		.seconds = rec->seconds,
		.gbps = rec->bandwidth_gbps,
		.mtu_bytes = ep->rail[0].route.mtu_bytes,
		.packet_header_bytes = packet_header_bytes(ep),
		.message_header_bytes = message_header_bytes(ep),
		.qps = (unsigned)((double)rec->qps / record_copies(rec)),
		.tx_depth = depth_of(ep, mine),
		.receives = endpoint_receives(ep),
		.reliable = !experiment_loses(e),
		.lost = rec->lost > 0,
		.pulls = operation_pulls(o),
		.both = meas->attr.both,
		.one_port = rail_shared(ep),
		.software = hca_is_software(&ep->rail[0].hca.info),
		.noise = rec->plus_minus.slices ? rec->plus_minus.percent / 100 : NAN,
		.limit_gbps = rec->rate_limit_gbps,
		.resent_share = sender->record.quality.retransmitted_percent / 100,
		.ack_timeout_ns = transport_ack_timeout_ns(experiment_transport(e), e->qp_timeout),
		.rnr_timer_ns = QP_RNR_TIMER_NS,
	};
}

#define SMALL_BYTES 256 /* the time of larger messages is also that of their bytes */

/*
 * Judge the median of round trips in REC, of small messages that follow each other at once between
 * two ports, in host memory, by adapters whose PCIe link is known: no software's, no VM's.
 */
static void judge_latency(const struct endpoint *ep, const struct record *rec, struct findings *to)
{
	const struct experiment *e = &ep->options->experiment;
	const struct operation *o = &ep->test->operation;
	const struct end *mine = &ep->rail[0].mine, *theirs = &ep->rail[0].theirs;

	if (ep->rails > 1 || rec->message_bytes > SMALL_BYTES || e->events || e->threads > 1 ||
	    e->latency_gap_us || e->latency_rate || experiment_loses(e) ||
	    rail_shared(ep) || mine->memory != END_HOST ||
	    theirs->memory != END_HOST || !(packet_header_bytes(ep) > 0) ||
	    !(mine->pcie_read_gbps > 0) || !(theirs->pcie_read_gbps > 0))
		return;
	latency_judge(
		&(struct latency_facts){
			.infiniband = mine->transport == FABRIC_INFINIBAND,
			.whole_trip = operation_fetches(o),
			.rate_gbps = fmin(mine->rate_gbps, theirs->rate_gbps),
			.median_us = rec->percentile.us[PERCENTILE_P50],
		},
		to);
}

/*
 * What went wrong during round trips. They have no limit: nothing but the way itself is known of
 * their time. Their ACKs are as large as they are, so nothing is said of other traffic.
 */
static void explain_round_trips(const struct measurement *meas, const struct record *rec,
				struct explained *e)
{
	struct run_end client, server;
	struct run_facts r;

	describe_end(meas, !meas->ms->ep->server, true, &client);
	describe_end(meas, meas->ms->ep->server, true, &server);
	describe_run(meas, rec, true, &r);
	r.packet_header_bytes = 0;
	r.pulls = false;
	r.sender = r.source = &client;
	r.receiver = r.sink = &server;
	explain_both_ways(&r, &e->findings);
	judge_latency(meas->ms->ep, rec, &e->findings);
}

bool explained_row(const struct measurement *meas, const struct result_row *row,
		   struct explained *e)
{
	bool mine = (row->by == RESULT_SERVER) == meas->ms->ep->server;
	bool pulls = operation_pulls(&meas->ms->test->operation);
	struct run_end sender, receiver;
	struct run_facts r;

	memset(e, 0, offsetof(struct explained, findings.list));
	if (row->direction == RESULT_BOTH_WAYS || row->thread >= 0 || row->device)
		return false;
	if (row->direction == RESULT_PING_PONG) {
		explain_round_trips(meas, row->record, e);
		return true;
	}
	if (!(row->record->bandwidth_gbps > 0))
		return false;
	describe_end(meas, mine, !pulls, &sender);
	describe_end(meas, !mine, pulls, &receiver);
	describe_run(meas, row->record, mine, &r);
	r.sender = &sender;
	r.receiver = &receiver;
	r.source = pulls ? &receiver : &sender;
	r.sink = pulls ? &sender : &receiver;
	explain_run(&r, &e->limit, &e->findings);
	return true;
}
