/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* link: the out-of-band connection to the peer, and the deadlines of both ends. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/stop.h"
#include "cli/experiment.h"
#include "measure/watch.h"
#include "proto/message.h"
#include "proto/oob.h"

struct link {
	struct oob oob;
	/*
	 * The caller and the thread of its watches. It exists as long as there is a peer, and
	 * sleeps when there is nothing to watch. It is made before any thread of this end is
	 * pinned, so the scheduler may run it on any CPU.
	 */
	struct pool watcher;
	struct watch alive;                   /* between link_alive_start() and stop */
	struct stop *stop;                    /* lent, as is */
	struct fault *fault;                  /* receives the faults of these functions */
	uint64_t timeout_ns, peer_timeout_ns; /* --timeout, here and there */
	bool told_keys;    /* the peer was sent the address and rkey of this end's memory */
	uint64_t limit_ns; /* the server's --max-duration, which ended the last round; 0: it did not
			    */
	bool interrupted; /* a signal at either end ended the run early; its results are reported */
};

/* The deadline of a wait that starts now. */
uint64_t link_deadline(const struct link *l);

/* Set the bounds of the peer's messages for experiment E over this number of RAILS. */
void link_bound(struct link *l, const struct experiment *e, uint64_t rails);

/* Send M (stolen). */
int link_send(struct link *l, json_t *m);

/* Receive a message of TYPE, ignoring "alive" messages. The caller releases *M. */
int link_expect(struct link *l, const char *type, json_t **m);

/*
 * Call these around work that may take longer than the peer's timeout (registering much memory, a
 * slow reader of stdout): the peer receives "alive" messages. Do not send or receive in between.
 */
void link_alive_start(struct link *l);
void link_alive_stop(struct link *l);

/* Wait briefly for the peer's error message, and raise it in TOLD; or that the peer is gone. */
void link_await_peer_error(struct link *l, struct fault *told);

/* Send the peer the fault of this end, if the peer is still there and does not know it. */
void link_tell_peer(struct link *l);

/*
 * " by the client" or " by the server", which interrupted the run of this end (a SERVER or not);
 * "": this end itself.
 */
const char *link_interrupted_by(const struct link *l, bool server);
