// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "measure/link.h"

#include "base/clock.h"

/* After a failed completion, wait this long for the peer's error message: it may be the cause. */
#define PEER_ERROR_NS UINT64_C(1000000000)
#define SEND_ERROR_NS UINT64_C(1000000000)

uint64_t link_deadline(const struct link *l)
{
	return clock_now_ns() + l->timeout_ns;
}

void link_bound(struct link *l, const struct experiment *e, uint64_t rails)
{
	uint64_t threads = rails * e->threads * (e->verify ? 2 : 1);

	l->oob.bounds = bounds_experiment(threads, threads * e->qps);
}

int link_send(struct link *l, json_t *m)
{
	return message_send(&l->oob, m, link_deadline(l), l->fault);
}

int link_expect(struct link *l, const char *type, json_t **m)
{
	return message_expect(&l->oob, type, m, l->timeout_ns, l->fault);
}

void link_await_peer_error(struct link *l, struct fault *theirs)
{
	uint64_t deadline_ns = clock_now_ns() + PEER_ERROR_NS;
	struct fault late = {0};

	fault_phase(&late, l->fault->phase);
	while (!fault_is(theirs)) {
		json_t *m = NULL;

		if (oob_recv(&l->oob, &m, deadline_ns, &late)) {
			if (late.code == FAULT_PEER)
				*theirs = late;
			return;
		}
		/* The run has failed, so messages of other types do not matter. */
		if (message_is(m, "error"))
			message_raise(m, theirs);
		json_decref(m);
	}
}

const char *link_interrupted_by(const struct link *l, bool server)
{
	return l->stop->signal ? "" : server ? " by the client" : " by the server";
}

void link_tell_peer(struct link *l)
{
	if (l->oob.fd >= 0 && !l->fault->from_peer)
		message_send_fault(&l->oob, l->fault, clock_now_ns() + SEND_ERROR_NS);
}

void link_alive_start(struct link *l)
{
	struct fault ignored = {0};

	l->alive = (struct watch){
		.oob = &l->oob,
		.stop = l->stop,
		.passive = true,
		.rules = {.timeout_ns = l->timeout_ns,
			  .peer_timeout_ns = l->peer_timeout_ns},
	};
	if (!fault_is(l->fault) && l->watcher.complete)
		watch_start(&l->alive, &l->watcher, &ignored);
}

void link_alive_stop(struct link *l)
{
	watch_stop(&l->alive);
	l->interrupted |= l->alive.interrupted;
}
