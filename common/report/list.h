/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* list: `--list`, a table of every RDMA device and port of this machine. */
#ifndef RDMARK_REPORT_LIST_H
#define RDMARK_REPORT_LIST_H

#include <stdio.h>

/* Print the table to OUT; returns the exit status: 77 with the reason on stderr if there is none.
 */
int list_ports(FILE *out, const char *program);

/* Flush OUT; returns the exit status: 1 with the reason on stderr if it could not be written. */
int list_finish(FILE *out, const char *program);

#endif
