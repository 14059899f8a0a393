/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * worlds_facts: what rdmark would have measured in a world: the loop's own times, and what the
 * ports of both ends counted, as far as the driver counts it, with what other programs did there.
 */
#ifndef RDMARK_TESTS_UNIT_WORLDS_FACTS_H
#define RDMARK_TESTS_UNIT_WORLDS_FACTS_H

#include "run_end.h"
#include "worlds_alone.h"

struct world_facts {
	struct run_end client, server; /* the client posts */
	struct run_facts run;
};

/* The simulated run, how often it is repeated in the real one, and the ports that count it. */
struct facts_made {
	const struct world *w;
	const struct world_run *r;
	double scale;                         /* what was simulated, so often */
	double counted_s;                     /* the ports counted for */
	struct port_changes *from, *to;       /* the ports of the data's source and sink */
	struct port_changes *posts, *answers; /* those of the end that posts and of the other */
};

/* PORT counted N of EVENT, by a counter of that NAME. */
static void count(struct port_changes *port, enum port_event event, double n, const char *name)
{
	port->event[event] = (struct port_change){
		.known = PORT_EXACT,
		.change = (int64_t)floor(fmax(n, 0)),
		.own = name,
	};
}

/* Bytes and packets, of the run and of others. */
static void count_bytes(const struct facts_made *m, bool packets)
{
	const struct world *w = m->w;
	double all = (m->r->messages * world_packets(w) + m->r->resent) * m->scale;
	double each = w->bytes / world_packets(w) + world_packet_header() - 24;
	double link = w->link_gbps / 8 * 1e9 * m->counted_s * 1476 / 1500, acks = all / 8 * 62;
	double own = all * each, back = w->both ? own : acks;

	if (w->loopback) {
		own *= w->seed & 1; /* some count inside the adapter, too */
		back = own;
	}
	count(m->from, PORT_SENT_BYTES, own + (w->loopback ? 0 : w->other_out * link), NULL);
	count(m->to, PORT_RECEIVED_BYTES, own + w->other_in * link, NULL);
	count(m->from, PORT_RECEIVED_BYTES, back, NULL);
	count(m->to, PORT_SENT_BYTES, back, NULL);
	if (!packets)
		return;
	count(m->from, PORT_SENT_PACKETS, all + w->other_out * link / 1500, NULL);
	count(m->to, PORT_SENT_PACKETS, w->both ? all : all / 8, NULL);
}

/*
 * What the transport counts, as mlx5 or rxe call it. A READ's answer that is lost makes no NAK: who
 * asks asks again. Others may send to the same peer or to another one, whose port sees theirs.
 */
static void count_transport(const struct facts_made *m, bool rxe)
{
	const struct world *w = m->w;
	bool pulls = w->op == WORLD_READ, same_peer = w->seed & 2;
	double shrink = w->timeout_sim_ns > 0 ? w->timeout_sim_ns / w->ack_timeout_ns : 1;
	double timeouts = m->r->timeouts * m->scale * shrink + w->other_timeouts * m->counted_s;
	double gaps = m->r->naks * m->scale, rnr = m->r->rnr * m->scale;
	double other_naks = w->other_naks * m->counted_s, other_rnr = w->other_rnr * m->counted_s;
	double naks = (pulls ? 0 : gaps) + other_naks;

	count(m->posts, PORT_LOSS_NAKS, naks, NULL);
	count(m->answers, PORT_LOSS_SEEN, naks - (same_peer ? 0 : other_naks), NULL);
	count(m->posts, PORT_RNR_RECEIVED, rnr + other_rnr, NULL);
	count(m->answers, PORT_NO_RECEIVE, rnr + (same_peer ? other_rnr : 0), NULL);
	count(m->posts, PORT_DEAD, 0, NULL);
	count(m->answers, PORT_DUPLICATE, timeouts / 2 + (pulls ? gaps : 0), NULL);
	if (rxe)
		count(m->posts, PORT_RETRANSMITTED, gaps + other_naks + timeouts + rnr + other_rnr,
		      "completer_retry_err");
	else
		count(m->posts, PORT_ACK_TIMEOUT, timeouts, NULL);
}

/* Pause frames, as a driver with counters for each priority has them. */
static void count_pause(const struct facts_made *m)
{
	const struct world *w = m->w;
	double sink = m->r->sink_paused_ns * m->scale / 1e3;
	double own = sink + m->r->fabric_paused_ns * m->scale / 1e3;
	double other = w->other_pause * m->counted_s * 1e6;

	count(m->from, PORT_PAUSE_RECEIVED_US, own + other, NULL);
	count(m->from, PORT_PAUSE_FRAMES_RECEIVED, (own + other) / 40, NULL);
	count(m->from, PORT_PAUSE_SENT_US, 0, NULL);
	count(m->to, PORT_PAUSE_SENT_US, sink, NULL);
	count(m->to, PORT_PAUSE_FRAMES_SENT, sink / 40, NULL);
	count(m->to, PORT_PAUSE_RECEIVED_US, 0, NULL);
}

/* Congestion, and how the sink's memory is doing. */
static void count_host(const struct facts_made *m)
{
	const struct world *w = m->w;
	double cnps = (w->cnp_gbps > 0 ? 20000 : 0) * m->r->ns * m->scale / 1e9 +
		      w->other_cnps * m->counted_s;
	double stalled = w->sink_tells ? 45 + 50 * (w->seed % 8) / 8. : 0;
	static const enum port_event none[] = {
		PORT_CNP_IGNORED, PORT_CRC,           PORT_LINK_DOWNED, PORT_SYMBOL_ERROR,
		PORT_RCV_ERRORS,  PORT_XMIT_DISCARDS, PORT_FCS_ERRORS,  PORT_PCI_OVERFLOW};

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		count(m->from, none[i], 0, NULL);
		count(m->to, none[i], 0, NULL);
	}
	count(m->from, PORT_CNP_HANDLED, cnps, NULL);
	count(m->to, PORT_CNP_SENT, cnps, NULL);
	count(m->to, PORT_ECN_MARKED, cnps * 3, NULL);
	count(m->from, PORT_NIC_DISCARDS, 0, NULL);
	count(m->to, PORT_NIC_DISCARDS, m->r->discards * m->scale, NULL);
	count(m->from, PORT_PCI_STALLED_WR_PERCENT, 0, NULL);
	count(m->from, PORT_PCI_STALLED_WR_S, 0, NULL);
	count(m->to, PORT_PCI_STALLED_WR_PERCENT, stalled, NULL);
	count(m->to, PORT_PCI_STALLED_WR_S, stalled > 30 ? m->counted_s : 0, NULL);
}

static void world_count(const struct facts_made *m)
{
	const struct world *w = m->w;

	if (w->driver == DRIVER_FULL || w->driver == DRIVER_BYTES)
		count_bytes(m, w->driver == DRIVER_FULL);
	if (w->driver == DRIVER_FULL || w->driver == DRIVER_RXE)
		count_transport(m, w->driver == DRIVER_RXE);
	if (w->driver != DRIVER_FULL)
		return;
	count_pause(m);
	count_host(m);
}

/* What the loops of both ends saw. */
static void world_saw(struct sim *s, const struct world *w, const struct world_run *r,
		      struct world_facts *f)
{
	struct run_end *c = &f->client;
	/* of READs that are posted fewer may be on their way */
	double in_flight = (double)(w->outs && w->outs < w->depth ? w->outs : w->depth) * w->qps;

	c->full_share = r->full_ns / r->ns;
	if (w->paced_gbps > 0)
		c->schedule_share = r->scheduled_ns / r->ns;
	c->alone_ns = world_alone_ns(s, w);
	if (c->full_share >= 0.5)
		c->completion_ns = r->ns * fmin(in_flight, r->messages) / r->messages;
	if (!w->sleeps)
		c->cpu_share = r->on_cpu_ns / r->ns;
	f->server.cpu_share = w->op == WORLD_SEND && !w->sleeps ? w->recv_share : NAN;
	if (w->op == WORLD_SEND)
		f->server.busy_share = fmin(1, r->recv_busy_ns / r->ns);
}

/* What the options were. */
static struct run_facts world_asked(const struct world *w, const struct world_run *r)
{
	return (struct run_facts){
		.message_bytes = (uint64_t)w->bytes,
		.gbps = world_gbps(w, r),
		.mtu_bytes = (unsigned)w->mtu,
		.qps = w->qps,
		.tx_depth = w->outs && w->outs < w->depth ? w->outs : w->depth,
		.packet_header_bytes = world_packet_header(),
		.message_header_bytes = world_message_header(w),
		.receives = w->op == WORLD_SEND,
		.reliable = !w->early,
		.pulls = w->op == WORLD_READ,
		.both = w->both,
		.one_port = w->loopback,
		.limit_gbps = w->paced_gbps,
		.resent_share = NAN,
		.noise = NAN,
		.software = w->driver == DRIVER_RXE,
		.ack_timeout_ns = w->early ? 0 : w->ack_timeout_ns,
		.rnr_timer_ns = SIM_RNR_NS,
	};
}

/* How many messages' worth was sent again. */
static double world_resent(const struct world *w, const struct port_snapshot *client)
{
	bool packets;
	double again = port_snapshot_resent(client, &packets);

	return packets ? again / world_packets(w) : again;
}

/* Fill F with what would be known of R, the run of W. */
static void world_measure(struct sim *s, const struct world *w, const struct world_run *r,
			  struct world_facts *f)
{
	struct port_snapshot client = {.ports = 1}, server = {.ports = 1};
	double scale = w->brief ? 1 : w->seconds * 1e9 / r->ns;
	double seconds = r->ns * scale / 1e9;
	struct facts_made m = {w,
			       r,
			       scale,
			       seconds + 0.012,
			       &client.port[0],
			       &server.port[0],
			       &client.port[0],
			       &server.port[0]};
	bool pulls = w->op == WORLD_READ;

	if (pulls) {
		m.from = &server.port[0];
		m.to = &client.port[0];
	}
	run_end_unknown(&f->client, "client");
	run_end_unknown(&f->server, "server");
	client.port[0].seconds = server.port[0].seconds = m.counted_s;
	world_count(&m);
	if (w->driver != DRIVER_NONE) {
		run_end_count(&f->client, &client, &server);
		run_end_count(&f->server, &server, &client);
	}
	world_saw(s, w, r, f);
	f->client.rate_gbps = f->server.rate_gbps = w->link_gbps;
	f->client.pcie_gbps = pulls ? w->sink_pcie_gbps : w->source_pcie_gbps;
	f->server.pcie_gbps = pulls ? w->source_pcie_gbps : w->sink_pcie_gbps;
	f->client.pcie_link = f->server.pcie_link = "gen4 x16 at 0000:41:00.0";
	if (w->pcie_untold) {
		f->client.pcie_gbps = f->server.pcie_gbps = NAN;
		f->client.pcie_link = f->server.pcie_link = "";
	}
	f->run = world_asked(w, r);
	f->run.seconds = seconds;
	f->run.messages = (uint64_t)(r->messages * scale);
	if (w->driver != DRIVER_NONE)
		f->run.resent_share = world_resent(w, &client) / (double)f->run.messages;
	f->run.sender = &f->client;
	f->run.receiver = &f->server;
	f->run.source = pulls ? &f->server : &f->client;
	f->run.sink = pulls ? &f->client : &f->server;
}

#endif
