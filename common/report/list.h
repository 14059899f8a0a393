/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* list: `--check`, and what it shares with `rdmark list`: each port of this machine, to stdout. */
#pragma once

#include "cli/options.h"

struct fault;
struct hca_port;

/*
 * Check the host and each port of DEVICE (a name, netdev or PCI address; NULL: all). Print one line
 * per finding to stdout, or write a document to the files of OUTPUT. Takes about 0.1 s and needs no
 * privilege. Returns the exit status: 0; 6 with a finding of level fault; 77, with the
 * reason on stderr, if there is no RDMA device.
 */
int check_ports(const char *program, const char *device, const struct output_options *output);

/* The link layer: "InfiniBand", "Ethernet" or "iWARP". */
const char *list_link_name(const struct hca_port *p);

/*
 * The end of a command. Flush stdout, and print the fault F (empty: none), or why stdout could not
 * be written. Returns the exit status: that of the fault; STATUS if there is none.
 */
int list_finish(const char *program, const struct fault *f, int status);
