/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* service: what a server has instead of a terminal: a log file, and a file with its process id. */
#pragma once

#include "base/fault.h"

/* The file names are the caller's. */
struct service {
	const char *pidfile;
	int fd; /* of it, locked; -1: none */
};

#define SERVICE_NONE ((struct service){.fd = -1})

/*
 * Open LOGFILE as standard error, and lock PIDFILE against other servers; each may be NULL. On
 * failure return -1 with F: a file that cannot be written, is no pid file, or is of a live server.
 */
int service_open(struct service *s, const char *logfile, const char *pidfile, struct fault *f);

/* Clients can connect: write the process id. */
int service_ready(struct service *s, struct fault *f);

/* Remove the pid file. */
void service_close(struct service *s);
