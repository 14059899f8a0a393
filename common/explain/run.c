// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "explain/run.h"

#include <math.h>

#include "explain/limit.h"
#include "finding/thresholds.h"

#define BOTH_WAYS_LEAST 4096 /* bytes of a message: with fewer, ACKs are a share of the traffic */

void run_end_count(struct run_end *e, const struct port_snapshot *own,
		   const struct port_snapshot *peer)
{
	e->counted_s = NAN;
	for (unsigned i = 0; i < own->ports; i++)
		e->counted_s = fmax(e->counted_s, own->port[i].seconds);
	for (int i = 0; i < PORT_EVENTS; i++)
		e->event[i] = port_snapshot_value(own, i);
	e->event[PORT_LOSS_NAKS] = port_snapshot_naks(own, peer);
	e->event[PORT_ACK_TIMEOUT] = port_snapshot_timeouts(own, peer);
}

double run_lacks_cpu(const struct run_facts *r, const struct run_end *e)
{
	double lack = 1 - e->cpu_share;

	return lack >= TIME_COUNTS && lack * r->seconds >= CPU_COUNTS_S ? lack : 0;
}

double run_lost_with_cpu(const struct run_facts *r)
{
	const struct run_end *s = r->sender;
	double lack = run_lacks_cpu(r, s);
	double queued = s->preempted * s->cpu_share * run_in_flight(r) / (double)r->messages;

	return s->full_share < NEVER_FULL ? lack : lack - fmin(lack, fmax(queued, 0));
}

bool run_is_steady(const struct run_facts *r)
{
	return r->sender->full_share > 1 - TIME_COUNTS && r->noise <= TIME_SAID;
}

double run_waited_share(const struct run_facts *r, double ns)
{
	double share = ns / (r->seconds * 1e9 * r->qps);

	if (share > r->sender->full_share)
		share = r->sender->full_share;
	return share > 1 ? 1 : share;
}

double run_packets(const struct run_facts *r)
{
	double each = r->mtu_bytes ? ceil((double)r->message_bytes / r->mtu_bytes) : 1;

	return (double)r->messages * fmax(each, 1);
}

/* Bytes of this run that its port sent, with all headers. */
static double wire_bytes(const struct run_facts *r)
{
	return (double)r->messages * ((double)r->message_bytes + r->message_header_bytes) +
	       run_packets(r) * r->packet_header_bytes;
}

double run_data_share(const struct run_facts *r)
{
	return r->messages ? (double)r->messages * (double)r->message_bytes / wire_bytes(r) : 1;
}

bool run_sent_again(const struct run_end *e)
{
	return e->event[PORT_LOSS_NAKS] > 0 || e->event[PORT_ACK_TIMEOUT] > 0 ||
	       e->event[PORT_RNR_RECEIVED] > 0 || e->event[PORT_RETRANSMITTED] > 0 ||
	       e->event[PORT_DUPLICATE] > 0;
}

/* True if E's port would tell if it sent packets again. */
static bool tells_again(const struct run_end *e)
{
	return e->event[PORT_LOSS_NAKS] >= 0 || e->event[PORT_RETRANSMITTED] >= 0;
}

/* In Gb/s, what a port carried beyond OWN of all BYTES in so many SECONDS. */
static double other_gbps(double bytes, double own, double seconds)
{
	double other = bytes - own;

	return other > OTHER_COUNTS * own && seconds > 0 ? other * 8 / (seconds * 1e9) : 0;
}

struct traffic run_other_traffic(const struct run_facts *r)
{
	double own = wire_bytes(r), sent = r->source->event[PORT_SENT_BYTES];
	double received = r->sink->event[PORT_RECEIVED_BYTES];
	struct traffic t = {.carried = NAN};

	/* both ways: the ACKs and requests of the other direction are among them */
	if (!r->reliable || !(r->packet_header_bytes > 0) ||
	    (r->both && r->message_bytes < BOTH_WAYS_LEAST))
		return t;
	if (sent >= 0 && received >= 0)
		t.carried = fmax(sent, received) / own;
	if (run_sent_again(r->source) || run_sent_again(r->sink))
		return t;
	t.gbps = fmax(other_gbps(sent, own, r->source->counted_s),
		      other_gbps(received, own, r->sink->counted_s));
	t.surely = tells_again(r->source);
	return t;
}

/* The slower of two rates, of which either may be unknown; *END becomes whose, NULL if alike. */
static double slower(const struct run_facts *r, double sender, double receiver, const char **end)
{
	bool is_sender = sender < receiver || isnan(receiver);
	double low = is_sender ? sender : receiver, high = is_sender ? receiver : sender;

	*end = high < low * LINKS_ALIKE ? NULL : is_sender ? r->sender->name : r->receiver->name;
	return low;
}

struct ceilings ceilings_of(const struct run_facts *r)
{
	struct ceilings c;

	c.link_gbps = slower(r, r->sender->rate_gbps, r->receiver->rate_gbps, &c.link_end) *
		      run_data_share(r);
	c.pcie_gbps =
		slower(r, r->sender->pcie_gbps, r->receiver->pcie_gbps, &c.pcie_end) * PCIE_SHARE;
	/* an adapter that sends to itself, or a slot that is more than the kernel says */
	if (r->gbps > ABOVE_LINK * c.link_gbps || r->gbps * PCIE_SHARE > ABOVE_LINK * c.pcie_gbps)
		c.pcie_gbps = NAN;
	c.window_gbps = run_in_flight(r) * (double)r->message_bytes * 8 / r->sender->alone_ns;
	c.core_gbps = r->sender->full_share < 1 ? r->gbps / (1 - r->sender->full_share) : NAN;
	return c;
}

double ceilings_lack(const struct run_facts *r, const struct ceilings *c)
{
	return 1 - r->gbps / fmin(c->link_gbps, c->pcie_gbps);
}

bool ceilings_fill_window(const struct run_facts *r, const struct ceilings *c, double share)
{
	return run_in_flight(r) <= FEW_IN_FLIGHT &&
	       share > 1 - r->gbps / c->window_gbps + TIME_COUNTS;
}
