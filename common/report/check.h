/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* check: `--check`: problems of this host and its RDMA ports, without a peer. */
#pragma once

#include "cli/options.h"

/*
 * Check the host and each port of DEVICE (a name, netdev or PCI address; NULL: all). Print one line
 * per finding to stdout, or write a document to the files of OUTPUT. Takes about 0.1 s and needs no
 * privilege. Returns the exit status: 0; 6 with a finding of level fault; 77, with the
 * reason on stderr, if there is no RDMA device.
 */
int check_ports(const char *program, const char *device, const struct output_options *output);
