/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * peer_log: the lines that clients and strangers cause in a server's log. Each peer address may
 * cause PEER_LOG_BURST lines at once and then one a minute, all together PEER_LOG_ALL_BURST and
 * then one a second; other lines are counted, and the next line of that peer says how many there
 * were. Several threads may use one object.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define PEER_LOG_BURST     20
#define PEER_LOG_ALL_BURST 200
#define PEER_LOG_PEERS     64 /* the peers that are known; of more, the most quiet one is forgotten */

/* Lines that may be written, in the time that it takes to earn them. */
struct peer_log_credit {
	uint64_t ns, at_ns;
};

struct peer_log {
	FILE *out; /* NULL: no log */
	pthread_mutex_t lock;
	struct peer_log_credit all;
	struct {
		char address[64];
		struct peer_log_credit credit;
		uint64_t omitted; /* lines since the last one that was written */
	} peer[PEER_LOG_PEERS];
	unsigned peers;
};

#define PEER_LOG_TO(file) ((struct peer_log){.out = file, .lock = PTHREAD_MUTEX_INITIALIZER})

/*
 * True if a line about PEER ("192.0.2.1:18515"; the port does not count) may be written at NOW_NS.
 * *OMITTED is then the number of its lines that were not since the last one.
 */
bool peer_log_may(struct peer_log *l, const char *peer, uint64_t now_ns, uint64_t *omitted);

/* Write a line about PEER (printf), or count it. L may be NULL. */
void peer_log(struct peer_log *l, const char *peer, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
