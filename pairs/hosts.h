/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hosts: the hosts of a run, in the order that gives them their numbers.
 *
 * Their names come from a file, or from a list such as "n[1-4],login1", as Slurm writes it. Both
 * are untrusted: any bytes are read or refused, within bounds.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"

#define HOSTS_NAME_BYTES 128
#define HOSTS_NONE       UINT32_MAX

struct host {
	char name[HOSTS_NAME_BYTES];
	char address[HOSTS_NAME_BYTES]; /* "": reached by its name */
	uint16_t port;                  /* 0: that of its number */
	/* Of a sweep: it has begun; it has come to its end; the plan has it; nothing is started there. */
	bool came, done, planned, left_out;
};

struct hosts {
	struct host *host;
	uint32_t n;
	struct host **by_name; /* in the order of their names, when all are there */
};

/*
 * True if NAME can be that of a host: of A-Z a-z 0-9 . _ : and -, with a letter or a digit, and at most
 * 253 bytes. None that begins with - or . is one, nor ALL, which is every node to scontrol.
 */
bool hosts_is_name(const char *name);

/* True if FROM is a list: it has a comma or brackets and no slash, and no file has that name. */
bool hosts_are_listed(const char *from);

/*
 * Read hosts FROM a list, or from a file: a line for each, "NAME [ADDRESS[:PORT]]", [ADDRESS]:PORT
 * for IPv6. Empty lines and what follows a # do not count. Returns 0, or -1 with FAULT_USAGE or
 * FAULT_LOCAL.
 */
int hosts_read(struct hosts *h, const char *from, struct fault *f);

/* The names of those hosts that are LEFT_OUT or not, as a list; the caller frees it. NULL: no
 * memory. */
char *hosts_list(const struct hosts *h, bool left_out);

/* Add the hosts of a list such as "n[1-4,07],login1" to H. FROM names it in a fault. */
int hosts_expand(struct hosts *h, const char *list, const char *from, struct fault *f);

/* After the last one was added: check that there are two or more, and none of them twice. */
int hosts_complete(struct hosts *h, struct fault *f);

/*
 * The number of the host NAME, or HOSTS_NONE. If no host has that name, its first label counts,
 * provided that a single host has that.
 */
uint32_t hosts_find(const struct hosts *h, const char *name);

void hosts_release(struct hosts *h);
