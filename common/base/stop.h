/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stop: SIGINT, SIGTERM and SIGHUP as a descriptor that every wait polls beside its own.
 *
 * The signals are blocked in all threads (stop_init() must run before the first is made) and read
 * from a signalfd, so there is no handler, no global flag and no interrupted system call. SIGPIPE
 * is ignored: a closed stdout or socket is seen where it is written. One object per program.
 */
#ifndef RDMARK_BASE_STOP_H
#define RDMARK_BASE_STOP_H

#include <poll.h>
#include <stdint.h>
#include <time.h>

#include "base/fault.h"

/* timeout(1) and a terminal may send a signal twice at once, to the process and to its group. */
#define STOP_TOGETHER_NS UINT64_C(250000000)

struct stop {
	int fd;     /* signalfd; -1 if there is none */
	int signal; /* the first that came, 0 if none */
	int count;  /* how many came; those within STOP_TOGETHER_NS of each other are one */
	uint64_t last_ns;
};

/* Block the signals and open the descriptor. A SIGHUP that is ignored at start (nohup) stays so. */
int stop_init(struct stop *s, struct fault *f);

/* Take what is waiting on s->fd into signal and count; never blocks. */
void stop_drain(struct stop *s);

/*
 * Wait until FD (-1: nothing) is ready for EVENTS (poll(2) bits), a signal comes, or DEADLINE_NS
 * (CLOCK_MONOTONIC, 0: none) passes. Returns 1 when ready, 0 at the deadline (no fault raised: the
 * caller knows what ran out), -1 with FAULT_INTERRUPTED on a signal or FAULT_LOCAL if poll fails. S
 * may be NULL: then only FD and the deadline count.
 */
int stop_wait(struct stop *s, int fd, short events, uint64_t deadline_ns, struct fault *f);

/* ppoll(2) without a signal mask, or what stands in for it where descriptors are of another kind.
 */
typedef int stop_poll(struct pollfd *p, nfds_t n, const struct timespec *timeout);

/*
 * The same by POLL for several: P[1] … P[N - 1] are the caller's, and their revents are valid after
 * a 1; P[0] is filled in here.
 */
int stop_wait_any(struct stop *s, stop_poll *poll, struct pollfd *p, nfds_t n, uint64_t deadline_ns,
		  struct fault *f);

/* Raise FAULT_INTERRUPTED for the signal that came. Returns -1. */
int stop_raise(const struct stop *s, struct fault *f);

/* "SIGINT", "SIGTERM" or "SIGHUP". Static storage. */
const char *stop_signal_name(int signal);

/* Close the descriptor. A zeroed object is not valid, one with fd -1 is. */
void stop_release(struct stop *s);

#endif
