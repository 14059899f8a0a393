/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * peer_log: the lines that clients and strangers cause in a server's log, or on its stdout. Each
 * address, and all of them together, may cause a burst of lines at once and then one in a period.
 * Other lines are counted, and the next line of that peer in the log says how many there were.
 * Several threads may use one object.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/units.h"

#define PEER_LOG_PEERS 64 /* that are known; of more, the most quiet one is forgotten */

struct peer_log_rate {
	uint64_t period_ns; /* in which one line is earned */
	unsigned burst;
};

struct peer_log_account {
	uint64_t ns, at_ns; /* lines, in the time that it takes to earn them; when that was so */
};

struct peer_log {
	FILE *out; /* NULL: no log */
	pthread_mutex_t lock;
	struct peer_log_rate each, together;
	struct peer_log_account all;
	struct peer_log_peer {
		char address[64]; /* without the port, which does not count */
		struct peer_log_account account;
		uint64_t omitted; /* lines since the last one that was written */
	} peer[PEER_LOG_PEERS];
	unsigned peers;
};

/* A log of 20 lines of an address and then one a minute; 200 of all, and then one a second. */
#define PEER_LOG_TO(file)                                     \
	((struct peer_log){.out = file,                       \
			   .lock = PTHREAD_MUTEX_INITIALIZER, \
			   .each = {60 * UNITS_NS_PER_S, 20}, \
			   .together = {UNITS_NS_PER_S, 200}})

/*
 * True if PEER ("192.0.2.1:18515") may cause LINES more lines at NOW_NS. *OMITTED is then the
 * number of its lines that were not written since the last one.
 */
bool peer_log_may(struct peer_log *l, const char *peer, uint64_t lines, uint64_t now_ns,
		  uint64_t *omitted);

/* The same for a line now, and if so, say on OUT how many of its lines were not written. */
bool peer_log_admit(struct peer_log *l, FILE *out, const char *peer);

/* Write a line about PEER (printf), or count it. */
void peer_log(struct peer_log *l, const char *peer, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
