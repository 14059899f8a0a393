/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * watch: a thread that runs during the measuring loops, so that a loop needs no clock, no signal
 * handler and no socket. It owns the out-of-band connection while it runs.
 *
 * It ends the run when the duration or the connection's time (oob_limit()) is over, a signal is
 * received, the peer reports an error, disappears or is silent, or no message has completed for the
 * timeout. After a signal a follower gives the leader that long to end the round. If the transport
 * may lose messages, it makes a loop without progress send its last message again, or stop waiting
 * after the peer's "done". Once a second it tells the peer that this end is alive, and it calls
 * back for interval reports. Otherwise it sleeps in poll(2).
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/pool.h"
#include "measure/rules.h"

struct endpoint;
struct hca;
struct oob;
struct progress;
struct stop;

struct watch {
	/* what the caller sets */
	struct oob *oob;
	struct stop *stop;
	/*
	 * Its loops, which are ended, and its devices, of which a failure or removal ends the run;
	 * NULL: there is no round, only say that this end is alive
	 */
	struct endpoint *ep;
	bool leader;        /* this end's loops, or the duration, decide when the run ends */
	bool follower;      /* the peer decides: wait for its "done"; a bidirectional end is both */
	bool await_over;    /* leader and follower: also wait for the peer's "over" */
	bool endless;       /* only a signal ends the round, or the server's limit */
	uint64_t before;    /* messages that arrived in earlier rounds */
	bool passive;       /* no loop runs here, so there is no progress to expect */
	struct rules rules; /* without until_ns, which the connection has */
	/*
	 * Callbacks of the thread. The progress since the last interval, or for a LIVE line; of a
	 * leader and follower the "done" to send, after watch_sent().
	 */
	void (*on_progress)(void *arg, struct progress *p, bool live);
	json_t *(*on_sent)(void *arg);
	void *arg;
	/* set when it has ended */
	struct fault fault;
	json_t *done;       /* follower: the peer's "done"; the caller's to release */
	json_t *over;       /* message that the peer's loops are over; the caller's to release */
	bool device_failed; /* the fault is the removal or an asynchronous event of a device, and
			       the primary cause */
	uint64_t limit_ns;  /* the server's --max-duration, which ended the round; 0: it did not */
	bool interrupted;   /* a signal here or there ended the run early */
	/* private */
	struct pool *by; /* the watcher; NULL: it does not run */
	int end_fd;
	struct rules_times times;
	uint64_t moved, shown[2]; /* messages at those times; shown[] by interval and live line */
};

/* Start watching in the other thread of BY. The control must be set up. */
int watch_start(struct watch *w, struct pool *by, struct fault *f);

/*
 * Leader and follower: tell the peer that all messages of this end are complete, though some of the
 * peer's have not arrived. From any thread, once.
 */
void watch_sent(struct watch *w);

/* Stop watching after the loop. The caller owns the connection again. */
void watch_stop(struct watch *w);

/* Read an asynchronous event of H, which is there; some are a fault. */
void watch_read_event(struct watch *w, const struct hca *h);

/* Follower: after the loop, or without one: wait until the leader is done, or for a fault. */
void watch_join(struct watch *w);
