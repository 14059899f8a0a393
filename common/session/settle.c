// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What a failure during a round is due to, and telling the peer meanwhile that this end is alive.
 */
#include <poll.h>

#include "session/state.h"
#include "verbs/vfault.h"

/* How long to wait, when the NIC reports a failure, for the peer to say what it knows of it. */
#define PEER_KNOWS_NS  UINT64_C(1000000000)
#define DEVICE_SAYS_MS 50

void pass_ask_peer(struct session *s, struct fault *told)
{
	uint64_t deadline_ns = clock_now_ns() + PEER_KNOWS_NS;
	struct fault late = {0};

	fault_phase(&late, s->fault.phase);
	while (!fault_is(told)) {
		json_t *m = NULL;

		if (oob_recv(&s->oob, &m, deadline_ns, &late)) {
			if (late.code == FAULT_PEER)
				*told = late;
			return;
		}
		/* Whatever else was under way is of no use any more. */
		if (message_is(m, "error"))
			message_raise(m, told);
		json_decref(m);
	}
}

/* The device's own word may come just after the completions that fail with it. */
static void ask_device(struct watch *w)
{
	for (unsigned i = 0; i < w->devices && !w->device_failed; i++) {
		const struct watch_device *d = &w->device[i];
		struct pollfd p = {.fd = d->ctx->async_fd, .events = POLLIN};

		while (!w->device_failed && poll(&p, 1, DEVICE_SAYS_MS) > 0)
			w->device_failed = vfault_async_event(&w->fault, d->ctx, d->port) != 0;
	}
}

/*
 * Loop and watch have both ended: which failure is the cause and which the consequence? What the
 * device or the peer says explains a failed completion here.
 */
void pass_settle(struct session *s, struct watch *w)
{
	s->interrupted |= w->interrupted;
	for (unsigned i = 0; i < session_all_strands(s) && !fault_is(&s->fault); i++)
		if (fault_is(&s->strand[i].fault))
			s->fault = s->strand[i].fault;
	if (fault_is(&s->fault) && !fault_is(&w->fault))
		ask_device(w);
	/* A call that failed says itself why; a completion may have failed for what the peer did.
	 */
	if (fault_is(&s->fault) && !fault_is(&w->fault) && !s->fault.errnum)
		pass_ask_peer(s, &w->fault);
	if (fault_is(&w->fault) &&
	    (!fault_is(&s->fault) || w->fault.code == FAULT_PEER || w->device_failed))
		s->fault = w->fault;
}

void session_alive_start(struct session *s, struct watch *w)
{
	struct fault ignored = {0};

	*w = (struct watch){
		.alive_only = true,
		.oob = &s->oob,
		.stop = &s->stop,
		.timeout_ns = s->options.local.timeout_ns,
		.peer_timeout_ns = s->peer_timeout_ns,
	};
	if (!fault_is(&s->fault))
		watch_start(w, &ignored);
}

void session_alive_stop(struct session *s, struct watch *w)
{
	watch_stop(w);
	s->interrupted |= w->interrupted;
}
