/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * peer_log: the lines that clients and strangers cause in a server's log, or on its stdout: so many
 * at once, and then one in a period, so that they fill no disk. Other lines are counted. Several
 * threads may use one object.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct peer_log {
	FILE *out; /* NULL: no log */
	uint64_t most, period_ns;
	uint64_t free_ns; /* when the lines written so far are earned */
	uint64_t omitted; /* since the last one that was written */
	pthread_mutex_t lock;
};

/* A log of 100 lines, and then one a second. */
#define PEER_LOG_TO(file)                               \
	((struct peer_log){.out = file,                 \
			   .most = 100,                 \
			   .period_ns = 1000000000, \
			   .lock = PTHREAD_MUTEX_INITIALIZER})

/*
 * True if LINES more may be written at NOW_NS. *OMITTED is then how often that was not so since the
 * last time.
 */
bool peer_log_may(struct peer_log *l, uint64_t lines, uint64_t now_ns, uint64_t *omitted);

/* The same for a line now, and if so, say on OUT how many were not written. */
bool peer_log_admit(struct peer_log *l, FILE *out);

/* Write a line (printf), or count it. */
void peer_log(struct peer_log *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
