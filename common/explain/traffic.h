/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* traffic: what a run put on the wire, and what else its ports carried. */
#pragma once

#include "explain/run.h"

/* The messages of R that are under way at a time. */
static inline double run_in_flight(const struct run_facts *r)
{
	return (double)r->tx_depth * r->qps;
}

/* The packets of R's messages, each sent once. */
double run_packets(const struct run_facts *r);

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
