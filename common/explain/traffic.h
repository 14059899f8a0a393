/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* traffic: what a run put on the wire, and what else its ports carried. */
#pragma once

#include "explain/run.h"

/* The packets of R's messages, each sent once. */
double run_packets(const struct run_facts *r);

/* The share of a message's bytes on the wire that is data; 1 if the headers are unknown. */
double run_data_share(const struct run_facts *r);

/* True if E's port sent packets again: their bytes cannot be told from other traffic. */
bool run_sent_again(const struct run_end *e);

/*
 * Other traffic in this direction, in Gb/s on the wire: of the port where the data come from, or
 * where they go, whichever carried more. 0: none, or not known.
 */
double run_other_gbps(const struct run_facts *r);
