/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * run: the facts of one result of a bandwidth test, in one direction, as plain numbers. Whatever is
 * not known is NaN: an end of an older version, a counter that the driver does not have, a virtual
 * machine's PCIe link.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "finding/finding.h"
#include "host/port_events.h"

struct run_end {
	const char *name;      /* "client", "server"; static storage */
	double rate_gbps;      /* of its ports together, after coding */
	double pcie_gbps;      /* payload that its PCIe link carries in the direction of the data */
	const char *pcie_link; /* "gen4 x8 at 0000:41:00.0"; lent; "" unknown */
	bool pcie_trained_down; /* the adapter can do more than that link */
	/* of its loop, of the mean of its threads: */
	double full_share;     /* time with a full send queue and no completion */
	double schedule_share; /* time in which no message was due; NaN also without a schedule */
	double alone_ns;       /* from posting a lone message to its completion */
	double completion_ns;  /* the same, in the run */
	double busy_share;     /* time in which receives completed as fast as it polled */
	double cpu_share; /* time in which a thread that spins had its CPU; the least of them */
	double preempted; /* so often it lost it */
	double stopped, stopped_s; /* its CPU limit is why: so often; NaN: it is not */
	double counted_s; /* for how long its ports counted: the run and a little more */
	double event[PORT_EVENTS]; /* what they counted */
};

struct run_facts {
	uint64_t message_bytes, messages;                 /* all that were sent */
	double seconds, gbps;                             /* payload */
	unsigned mtu_bytes, qps, tx_depth;                /* of each QP: messages in flight */
	double packet_header_bytes, message_header_bytes; /* on the wire; 0: unknown */
	bool receives; /* each message needs a receive of the peer: SEND */
	bool reliable; /* lost packets are sent again */
	bool lost;     /* messages were lost */
	bool pulls;    /* the data come to the end that posts: READ */
	bool both;     /* the other direction ran at the same time */
	bool one_port; /* both ends are the same port, which counts what either does */
	bool software; /* the sender's or receiver's device has no hardware: no switch, no PFC */
	double noise;  /* half of the rate's 95 % interval, as a share of it; NaN: unknown */
	double limit_gbps;                   /* of a schedule; 0: none */
	double resent_share; /* of the messages, or packets, that were sent again; NaN: unknown */
	double ack_timeout_ns, rnr_timer_ns; /* of the QPs */
	/* the end that posts, and the other; where the data come from, and where they go */
	const struct run_end *sender, *receiver, *source, *sink;
};

/* Selects the catalogue's words: R's packets pass switches, or software's. */
#define run_carrier(r) (struct finding_value)FINDING_WORD((r)->software ? "software" : "switched", "")

/* What the ports of E counted, and for how long. PEER: what those of the other end did. */
void run_end_count(struct run_end *e, const struct port_snapshot *own,
		   const struct port_snapshot *peer);

/* The messages of R that are under way at a time. */
static inline double run_in_flight(const struct run_facts *r)
{
	return (double)r->tx_depth * r->qps;
}

/* The packets of R's messages, each sent once. */
double run_packets(const struct run_facts *r);

/* The share of the run in which E lacked its CPU, if it counts; else 0. */
double run_lacks_cpu(const struct run_facts *r, const struct run_end *e);

/*
 * The same of the sender, less the time in which its queue went on alone: one that is full now and
 * then holds work for so long, each time the thread loses its CPU.
 */
double run_lost_with_cpu(const struct run_facts *r);

/* The send queue was full for all of the run but what is too little to limit it, and so steadily
 * that the turns of no thread on its CPU made the rate. */
bool run_is_steady(const struct run_facts *r);

/*
 * The share of the run that was lost if QPs stood still, each alone, for NS together. It is at most
 * full_share, that in which the sender waited, because other time was not lost; NaN there: no limit.
 */
double run_waited_share(const struct run_facts *r, double ns);

/* The share of a message's bytes on the wire that is data; 1 if the headers are unknown. */
double run_data_share(const struct run_facts *r);

/* True if E's port sent packets again: their bytes cannot be told from other traffic. */
bool run_sent_again(const struct run_end *e);

/* Other traffic in one direction, in Gb/s on the wire. */
struct traffic {
	double gbps;    /* 0: none, or not known, as when something was sent again */
	bool surely;    /* the ports would tell if something had been */
	double carried; /* all that a port carried, in what this run sends once; NaN: unknown */
};

/* Of the port where R's data come from, or where they go, whichever carried more. */
struct traffic run_other_traffic(const struct run_facts *r);
