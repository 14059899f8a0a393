// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "measure/watch.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/units.h"
#include "endpoint/rail.h"
#include "loop/round.h"
#include "measure/result.h"
#include "proto/message.h"
#include "proto/oob.h"
#include "proto/record.h"
#include "verbs/vfault.h"

#define SEND_DEADLINE_NS UINT64_C(1000000000)

/* Orders written to end_fd. */
#define END_LOOP 1
#define END_ALL  2
#define ALL_SENT 4 /* an eventfd adds up, so this may be set together with one of the others */

/* Make all loops finish the outstanding messages and post no new ones. */
static void watch_finish(struct watch *w)
{
	for (unsigned i = 0; i < w->ep->workers; i++) {
		atomic_store(&w->ep->control[i].target, 0);
		cq_wait_wake(w->ep->control[i].wake_fd);
	}
}

/* The peer's "done" says how many messages each loop has to wait for. */
static void handle_done(struct watch *w, json_t *m)
{
	const json_t *counts = json_object_get(m, "messages"), *v;
	size_t i;

	if (!w->follower || w->done) {
		fault_raise(&w->fault, FAULT_PEER, 0, "the peer sent an unexpected 'done'");
		return;
	}
	if (message_numbers(m, "messages", w->ep->workers, RECORD_COUNT_MAX, &w->fault))
		return;
	json_array_foreach (counts, i, v) {
		atomic_store(&w->ep->control[i].expected, (uint64_t)json_integer_value(v));
		cq_wait_wake(w->ep->control[i].wake_fd);
	}
	w->times.stall_checked_ns = clock_now_ns();
	w->done = json_incref(m);
}

static void handle_message(struct watch *w, json_t *m)
{
	w->times.heard_ns = clock_now_ns();
	if (message_is(m, "alive"))
		return;
	if (message_is(m, "done")) {
		handle_done(w, m);
	} else if (message_is(m, "finish")) {
		w->interrupted = true;
		message_u64_if(m, "max_duration_ns", INT64_MAX, &w->limit_ns, &w->fault);
		if (w->leader)
			watch_finish(w);
	} else if (message_is(m, "over") && w->done && w->await_over && !w->over) {
		w->over = json_incref(m);
	} else if (message_is(m, "error")) {
		message_raise(m, &w->fault);
	} else {
		fault_raise(&w->fault, FAULT_PEER, 0, "the peer broke the protocol during the run");
	}
}

static void listen_to_peer(struct watch *w)
{
	json_t *m = NULL;

	while (oob_poll(w->oob, &m, &w->fault) > 0) {
		handle_message(w, m);
		json_decref(m);
	}
}

static void send_peer(struct watch *w, json_t *m)
{
	message_send(w->oob, m, clock_now_ns() + SEND_DEADLINE_NS, &w->fault);
	w->times.said_ns = clock_now_ns();
}

static void tell_peer(struct watch *w, const char *type)
{
	json_t *m = message_new(type);

	if (w->limit_ns)
		json_object_set_new(m, "max_duration_ns", json_integer((json_int_t)w->limit_ns));
	send_peer(w, m);
}

/*
 * A signal, or the server's limit, ends the run after this round: the leader's loops finish, a
 * follower asks the leader to, and waits for its "done" for the timeout only, however alive the
 * leader is. The leader tells its follower only of the limit.
 */
static void watch_interrupt(struct watch *w)
{
	w->interrupted = true;
	if ((w->follower || w->limit_ns) && !w->times.asked_end_ns) {
		w->times.asked_end_ns = clock_now_ns();
		tell_peer(w, "finish");
	}
	if (w->leader)
		watch_finish(w);
}

/*
 * A first signal ends the round in order, a second one at once. A watch that only tells the peer that
 * this end is alive has no round to end: its caller sees `interrupted`.
 */
static void handle_signal(struct watch *w)
{
	stop_drain(w->stop);
	if (!w->stop->signal)
		return;
	if (!w->ep)
		w->interrupted = true;
	else if (w->stop->count > 1)
		stop_raise(w->stop, &w->fault);
	else
		watch_interrupt(w);
}

void watch_read_event(struct watch *w, const struct hca *h)
{
	if (vfault_async_event(&w->fault, h->ctx, h->info.port))
		w->device_failed = true;
}

/* Report the progress since the last live line, or since the last interval. */
static void watch_show(struct watch *w, bool live, bool partial, uint64_t now)
{
	uint64_t messages = endpoint_progress(w->ep), *shown = &w->shown[live];
	struct progress p = {
		.elapsed_ns = now - w->times.start_ns,
		.interval_ns = now - (live ? w->times.live_line_ns : w->times.reported_ns),
		/*
		 * In both directions the count is of messages sent; once all are sent it is of
		 * messages received, which may be fewer.
		 */
		.messages = messages > *shown ? messages - *shown : 0,
		.partial = partial,
	};

	w->on_progress(w->arg, &p, live);
	*shown = messages;
	if (live)
		w->times.live_line_ns = now;
	else
		rules_reported(&w->rules, &w->times, now);
}

/* The loops are over: report the progress since the last interval. */
static void show_rest(struct watch *w)
{
	uint64_t now = clock_now_ns();
	bool whole = rules_whole(&w->rules, &w->times, now);

	if (w->rules.interval_ns && now > w->times.reported_ns &&
	    (whole || endpoint_progress(w->ep) > w->shown[0]))
		watch_show(w, false, !whole, now);
	w->rules.interval_ns = 0;
}

/*
 * Unreliable transport: a message of a loop without progress may be lost. Have the loop send its
 * last one again, or, after the peer's "done", wait no longer.
 */
static void resend_if_stalled(struct watch *w, uint64_t now)
{
	for (unsigned i = 0; i < w->ep->workers; i++) {
		struct round_control *c = &w->ep->control[i];
		uint64_t messages = atomic_load_explicit(&c->progress, memory_order_relaxed);

		if (messages == c->seen) {
			if (w->done)
				atomic_store(&c->expected, 0);
			atomic_store(&c->resend, true);
			cq_wait_wake(c->wake_fd);
		}
		c->seen = messages;
	}
	w->times.stall_checked_ns = now;
}

/* A run without an end has one at the server's limit, in order. Returns true then, once. */
static bool ends_at_limit(struct watch *w)
{
	if (!w->endless || w->limit_ns || !oob_limit_passed(w->oob, w->rules.timeout_ns))
		return false;
	w->limit_ns = w->oob->allowed_ns;
	w->rules.until_ns = w->oob->until_ns;
	watch_interrupt(w);
	return true;
}

static void raise_silent(struct watch *w)
{
	fault_raise(&w->fault, FAULT_PEER, ETIMEDOUT, "no message from %s for %s", w->oob->peer,
		    units_ns(w->rules.timeout_ns).text);
	fault_cause(&w->fault, "The peer's host is down or unreachable, or its program is stopped, "
			       "or gets no CPU");
	fault_fix(&w->fault, "check the other host");
}

/* The removal of a device that the kernel cannot take from its users comes with no event. */
static void find_removed(struct watch *w)
{
	for (unsigned i = 0; w->ep && i < w->ep->rails; i++)
		if (hca_is_removed(&w->ep->rail[i].hca)) {
			hca_raise_removed(&w->ep->rail[i].hca, &w->fault);
			w->device_failed = true;
		}
}

/* Do everything that is due by the clock. */
static void watch_tick(struct watch *w)
{
	uint64_t now = clock_now_ns(), messages = endpoint_progress(w->ep);
	unsigned due;

	if (messages != w->moved) {
		w->moved = messages;
		w->times.moved_ns = now;
	}
	due = rules_due(&w->rules, &w->times, now, w->done || !w->ep, w->passive);
	if (due & DUE_ALIVE) {
		tell_peer(w, "alive");
		find_removed(w);
	}
	if (w->ep && !ends_at_limit(w) && oob_check_limit(w->oob, &w->fault))
		return;
	if (due & DUE_FINISH) {
		watch_finish(w);
		w->rules.duration_ns = 0; /* it happens once */
	}
	if (due & DUE_LEAVE)
		stop_raise(w->stop, &w->fault);
	if (due & DUE_SILENT)
		raise_silent(w);
	if (due & DUE_STUCK)
		vfault_stuck(&w->fault, hca_link(&w->ep->rail[0].hca.info), w->rules.timeout_ns,
			     w->before + messages);
	if (due & DUE_STANDSTILL)
		resend_if_stalled(w, now);
	if (due & DUE_REPORT)
		watch_show(w, false, false, now);
	if (due & DUE_LIVE)
		watch_show(w, true, false, now);
}

/*
 * Read the orders. Returns whether to end now; after END_LOOP the peer's "done" is still awaited.
 */
static bool must_end(struct watch *w)
{
	eventfd_t order = END_ALL;

	eventfd_read(w->end_fd, &order);
	if (order & ALL_SENT)
		send_peer(w, w->on_sent(w->arg));
	if (order & (END_LOOP | END_ALL)) {
		show_rest(w);
		w->passive = true;
	}
	return order & END_ALL;
}

/* The loops are over, and all messages of the peer for this round are here. */
static bool has_all(const struct watch *w)
{
	return w->passive && w->done && (w->over || !w->await_over);
}

/* Wait in ppoll() until something of P happens, or is due by the clock. */
static void await_event(const struct watch *w, struct pollfd *p, nfds_t count)
{
	uint64_t ns = rules_until_next(&w->rules, &w->times, clock_now_ns());
	struct timespec ts = {.tv_sec = (time_t)(ns / UNITS_NS_PER_S),
			      .tv_nsec = (long)(ns % UNITS_NS_PER_S)};

	ppoll(p, count, &ts, NULL);
}

/* Poll the sockets, signals and devices until the round is over. */
static int watch_round(void *arg, unsigned self)
{
	struct watch *w = arg;
	unsigned devices = w->ep ? w->ep->rails : 0;
	struct pollfd p[3 + EXPERIMENT_DEVICES_MAX] = {
		{.fd = w->end_fd, .events = POLLIN},
		{.fd = w->ep ? w->oob->fd : -1, .events = POLLIN},
		{.fd = w->stop->fd, .events = POLLIN},
	};

	(void)self;
	if (w->stop->signal && w->ep) /* it came before the round */
		watch_interrupt(w);
	for (unsigned i = 0; i < devices; i++)
		p[3 + i] =
			(struct pollfd){.fd = w->ep->rail[i].hca.ctx->async_fd, .events = POLLIN};
	while (!fault_is(&w->fault) && !has_all(w)) {
		await_event(w, p, 3 + devices);
		if (p[0].revents && must_end(w))
			break;
		if (p[2].revents)
			handle_signal(w);
		for (unsigned i = 0; i < devices && !fault_is(&w->fault); i++)
			if (p[3 + i].revents)
				watch_read_event(w, &w->ep->rail[i].hca);
		if (p[1].revents && !fault_is(&w->fault))
			listen_to_peer(w);
		if (!fault_is(&w->fault))
			watch_tick(w);
	}
	/* After a fault no completion may come any more: abort all loops. */
	if (fault_is(&w->fault) && w->ep)
		endpoint_abort(w->ep);
	return 0;
}

int watch_start(struct watch *w, struct pool *by, struct fault *f)
{
	struct rules_times *t = &w->times;
	uint64_t now = clock_now_ns();

	fault_phase(&w->fault, f->phase);
	t->heard_ns = t->said_ns = t->moved_ns = t->stall_checked_ns = now;
	t->start_ns = t->reported_ns = t->interval_base_ns = t->live_line_ns = now;
	w->rules.until_ns = w->ep ? w->oob->until_ns : 0;
	w->end_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (w->end_fd < 0)
		return fault_raise(f, FAULT_LOCAL, errno, "eventfd");
	w->by = by;
	pool_begin(by, watch_round, w);
	return 0;
}

/* Give the thread ORDER and wait until it has ended this watch. */
static void end_watch(struct watch *w, eventfd_t order)
{
	if (!w->by)
		return;
	eventfd_write(w->end_fd, order);
	pool_end(w->by);
	close(w->end_fd);
	w->by = NULL;
}

void watch_sent(struct watch *w)
{
	eventfd_write(w->end_fd, ALL_SENT);
}

void watch_join(struct watch *w)
{
	end_watch(w, END_LOOP);
}

void watch_stop(struct watch *w)
{
	end_watch(w, END_ALL);
}
