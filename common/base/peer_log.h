/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * peer_log: the lines that clients and strangers cause in a server's log. Each address may cause
 * PEER_LOG_BURST at once and then one a minute, all together PEER_LOG_ALL_BURST and then one a
 * second. Other lines are counted, and the next line of that peer says how many there were. Several
 * threads may use one object.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/peer_credit.h"
#include "base/units.h"

#define PEER_LOG_BURST     20
#define PEER_LOG_ALL_BURST 200
#define PEER_LOG_MINUTE_NS (60 * UNITS_NS_PER_S)

struct peer_log {
	FILE *out; /* NULL: no log */
	pthread_mutex_t lock;
	struct peer_credit credit;
};

#define PEER_LOG_TO(file)                                                     \
	((struct peer_log){                                                   \
		.out = file,                                                  \
		.lock = PTHREAD_MUTEX_INITIALIZER,                            \
		.credit = {.each = {PEER_LOG_MINUTE_NS, PEER_LOG_BURST},      \
			   .together = {UNITS_NS_PER_S, PEER_LOG_ALL_BURST}}, \
	})

/*
 * True if a line about PEER ("192.0.2.1:18515"; the port does not count) may be written at NOW_NS.
 * *OMITTED is then the number of its lines that were not since the last one.
 */
bool peer_log_may(struct peer_log *l, const char *peer, uint64_t now_ns, uint64_t *omitted);

/* The same now, and if so, say on OUT how many of its lines were not written. */
bool peer_log_admit(struct peer_log *l, FILE *out, const char *peer);

/* Write a line about PEER (printf), or count it. */
void peer_log(struct peer_log *l, const char *peer, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
