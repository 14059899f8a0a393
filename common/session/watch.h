/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * watch: the thread beside a measuring loop, so that the loop needs no clock, no signal handler and
 * no socket. It owns the out-of-band connection while it runs.
 *
 * It ends the run when the duration is over, the time of the connection is (oob_limit()), a signal
 * comes, the peer reports an error, vanishes or falls silent, or no message has completed for the
 * timeout. Where messages may be lost, it has a loop that stands still send again, or after the
 * peer's "done" wait no longer. It tells the peer once a second that this end is alive; and it
 * calls back for interval reports. It sleeps in poll(2) otherwise.
 */
#ifndef RDMARK_SESSION_WATCH_H
#define RDMARK_SESSION_WATCH_H

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/stop.h"
#include "loop/round.h"
#include "wire/oob.h"

#define WATCH_DEVICES_MAX 16

struct watch {
	/* what the caller sets */
	struct oob *oob;
	struct stop *stop;
	struct round_control *control; /* one for each loop */
	unsigned controls;
	unsigned
		loads; /* controls behind these, of loops that nobody measures: only told to quit */
	struct watch_device { /* whose failures end the run */
		struct ibv_context *ctx;
		uint8_t port;
	} device[WATCH_DEVICES_MAX];
	unsigned devices;
	bool leader;   /* this end's loops decide when it is over, or the duration */
	bool follower; /* the peer decides: await its "done"; both in a round of both directions */
	bool await_over; /* leader and follower: also wait for the peer's "over" */
	bool alive_only; /* no round: only tell the peer that this end is alive, read nothing */
	bool passive;    /* no loop runs here, so there is no progress to expect */
	uint64_t duration_ns; /* leader: finish after so long; 0: by the target */
	uint64_t timeout_ns;
	uint64_t peer_timeout_ns; /* the peer's, so that it hears from this end in time */
	uint64_t interval_ns;     /* 0: no reports */
	uint64_t quiet_ns; /* messages may be lost: so long without progress is a standstill; 0: no
			    */
	void (*on_interval)(void *arg, uint64_t elapsed_ns, uint64_t interval_ns,
			    uint64_t messages);
	void (*on_live)(void *arg, uint64_t elapsed_ns, uint64_t interval_ns, uint64_t messages);
	json_t *(*on_sent)(
		void *arg); /* leader and follower: this end's "done", after watch_sent() */
	void *arg;
	/* what the caller finds afterwards */
	struct fault fault;
	json_t *done;       /* follower: the peer's "done"; the caller's to release */
	json_t *over;       /* the peer's loops are over, too; the caller's to release */
	bool device_failed; /* the fault is the device's word, no consequence of another */
	bool interrupted;   /* a signal here or there ended the run early */
	/* the watch's own */
	pthread_t thread;
	bool running;
	int end_fd;
	uint64_t start_ns, heard_ns, said_ns, moved_ns, reported_ns, lived_ns, looked_ns;
	uint64_t moved, reported, lived; /* messages at those times */
};

/* Start watching. The control must be set up. */
int watch_start(struct watch *w, struct fault *f);

/*
 * Leader and follower: all of this end's messages are complete, though not all of the peer's have
 * come: tell it. From any thread, once.
 */
void watch_sent(struct watch *w);

/* The loop is over: stop watching. The connection is the caller's again. */
void watch_stop(struct watch *w);

/* Follower: the loop is over, or there is none: wait until the leader is done, or a fault. */
void watch_join(struct watch *w);

#endif
