/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stop: SIGINT, SIGTERM and SIGHUP as a file descriptor that every wait polls in addition to its
 * own.
 *
 * All threads block the signals (call stop_init() before creating the first thread), and a signalfd
 * receives them. So they have no handler, no global flag and no interrupted system call. SIGPIPE is
 * ignored: a closed stdout or socket is found when it is written to; so is SIGXFSZ: a file that
 * gets too large is EFBIG. There is one object per program.
 */
#pragma once

#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"

/* How long what is written waits for its reader after a signal, which may be slow, or busy. */
#define STOP_OUTPUT_NS UINT64_C(1000000000)

/* timeout(1) and a terminal may send the same signal twice, to the process and to its group. */
#define STOP_TOGETHER_NS UINT64_C(250000000)

struct stop {
	int fd; /* signalfd; -1 if there is none */
	/* Two threads may wait: only one of them reads a signal. */
	atomic_int signal; /* the first one received, 0: none */
	atomic_int count;  /* number received; signals within STOP_TOGETHER_NS count as one */
	_Atomic uint64_t last_ns;
	bool unheard;       /* a signal that only stop_output() has seen */
	uint64_t output_ns; /* how long stop_output() waits without a signal; 0: for ever */
};

/*
 * Block the signals and open the descriptor. A SIGHUP that was ignored at start (nohup) stays
 * ignored. Returns 0, or -1 with the fault raised.
 */
int stop_init(struct stop *s, struct fault *f);

/* Read the pending signals from s->fd into signal and count. Never blocks. */
void stop_drain(struct stop *s);

/*
 * Wait until FD (-1: none) is ready for EVENTS (poll(2) bits), a signal is received, or DEADLINE_NS
 * (CLOCK_MONOTONIC, 0: none) passes. Returns 1 if FD is ready; 0 at the deadline, without a fault,
 * since the caller knows which deadline it is; -1 with FAULT_INTERRUPTED after a signal, or with
 * FAULT_LOCAL if poll fails. If S is NULL, only FD and the deadline count.
 */
int stop_wait(struct stop *s, int fd, short events, uint64_t deadline_ns, struct fault *f);

/*
 * As stop_wait(), with several descriptors. P[1] … P[N - 1] are the caller's, and their
 * revents are valid if the result is 1. The function sets P[0].
 */
int stop_wait_any(struct stop *s, struct pollfd *p, nfds_t n, uint64_t deadline_ns,
		  struct fault *f);

/*
 * For something to write, since BEGIN_NS: wait until FD (-1: none) takes it. Returns 1 if so; 0 at
 * DEADLINE_NS (0: none); -1 with errno EINTR after a signal, STOP_OUTPUT_NS after the first one, at
 * once after the second; with EAGAIN after s->output_ns. The next wait of another kind reports
 * the signal, too. S may be NULL.
 */
int stop_output(struct stop *s, int fd, uint64_t begin_ns, uint64_t deadline_ns);

/*
 * Without waiting: 0, or -1 with FAULT_INTERRUPTED if a signal has come that no wait has reported.
 */
int stop_check(struct stop *s, struct fault *f);

/* Raise FAULT_INTERRUPTED for the received signal. Returns -1. */
int stop_raise(const struct stop *s, struct fault *f);

/* "SIGINT", "SIGTERM" or "SIGHUP". Static storage. */
const char *stop_signal_name(int signal);

/*
 * End the process by SIGNAL with its default action, so that the parent process sees that, and a
 * shell ends its loop. The first process of a container, which no such signal ends, exits with
 * 128 + SIGNAL. Does not return and releases nothing: call it last.
 */
void stop_die(int signal) __attribute__((noreturn));

/* Close the descriptor. Safe if fd is -1; a zeroed object is not valid, because its fd is 0. */
void stop_release(struct stop *s);
