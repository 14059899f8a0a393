// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "session/watch.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "verbs/vfault.h"
#include "wire/message.h"

#define SEND_DEADLINE_NS UINT64_C(1000000000)
#define ALIVE_NS         UINT64_C(1000000000)
#define LIVE_NS          UINT64_C(500000000)

/* What is written to end_fd. */
#define END_LOOP 1
#define END_ALL  2
#define ALL_SENT 4 /* the eventfd adds up: so this may be there beside one of those */

/* No completion will come or count any more; a loop that still gets some posts nothing new. */
static void give_up(struct watch *w)
{
	for (unsigned i = 0; i < w->controls + w->loads; i++) {
		atomic_store(&w->control[i].quit, true);
		atomic_store(&w->control[i].target, 0);
		atomic_store(&w->control[i].due, 0);
		bell_wake(w->control[i].wake_fd);
	}
}

/* Finish what is under way, post nothing new. */
static void finish(struct watch *w)
{
	for (unsigned i = 0; i < w->controls; i++) {
		atomic_store(&w->control[i].target, 0);
		bell_wake(w->control[i].wake_fd);
	}
}

static uint64_t progress(const struct watch *w)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < w->controls; i++)
		sum += atomic_load_explicit(&w->control[i].progress, memory_order_relaxed);
	return sum;
}

/* The peer gives up on silence after its own timeout, which may be shorter than this end's. */
static uint64_t alive_period(const struct watch *w)
{
	uint64_t ns = w->timeout_ns < w->peer_timeout_ns ? w->timeout_ns : w->peer_timeout_ns;

	return ns / 4 < ALIVE_NS ? ns / 4 : ALIVE_NS;
}

/* How many messages each loop must have got. */
static int take_counts(struct watch *w, const json_t *m)
{
	const json_t *counts = json_object_get(m, "messages"), *v;
	size_t i;

	if (message_has(m, "messages", json_array_size(counts) == w->controls, &w->fault))
		return -1;
	json_array_foreach (counts, i, v)
		if (message_has(m, "messages", json_is_integer(v) && json_integer_value(v) >= 0,
				&w->fault))
			return -1;
	json_array_foreach (counts, i, v) {
		atomic_store(&w->control[i].due, (uint64_t)json_integer_value(v));
		bell_wake(w->control[i].wake_fd);
	}
	w->looked_ns = clock_now_ns();
	return 0;
}

static void take_done(struct watch *w, json_t *m)
{
	if (!w->follower || w->done) {
		fault_raise(&w->fault, FAULT_PEER, 0, "the peer sent 'done' out of turn");
		give_up(w);
	} else if (take_counts(w, m)) {
		give_up(w);
	} else {
		w->done = json_incref(m);
	}
}

static void take_message(struct watch *w, json_t *m)
{
	w->heard_ns = clock_now_ns();
	if (message_is(m, "alive"))
		return;
	if (message_is(m, "done")) {
		take_done(w, m);
	} else if (message_is(m, "finish") && w->leader) {
		w->interrupted = true;
		finish(w);
	} else if (message_is(m, "over") && w->done && w->await_over && !w->over) {
		w->over = json_incref(m);
	} else if (message_is(m, "error")) {
		message_raise(m, &w->fault);
		give_up(w);
	} else {
		fault_raise(&w->fault, FAULT_PEER, 0, "the peer broke the protocol during the run");
		give_up(w);
	}
}

static void listen_to_peer(struct watch *w)
{
	json_t *m = NULL;
	int rc;

	while ((rc = oob_poll(w->oob, &m, &w->fault)) > 0) {
		take_message(w, m);
		json_decref(m);
	}
	if (rc < 0)
		give_up(w);
}

static void send_peer(struct watch *w, json_t *m)
{
	if (oob_send(w->oob, m, clock_now_ns() + SEND_DEADLINE_NS, &w->fault))
		give_up(w);
	w->said_ns = clock_now_ns();
}

static void tell_peer(struct watch *w, const char *type)
{
	send_peer(w, message_new(type));
}

static void take_signal(struct watch *w)
{
	stop_drain(w->stop);
	if (!w->stop->signal)
		return;
	if (w->alive_only) {
		w->interrupted = true;
		return;
	}
	if (w->stop->count > 1) {
		stop_raise(w->stop, &w->fault);
		give_up(w);
		return;
	}
	w->interrupted = true;
	if (w->follower)
		tell_peer(w, "finish");
	if (w->leader)
		finish(w);
}

static void take_event(struct watch *w, const struct watch_device *d)
{
	if (!vfault_async_event(&w->fault, d->ctx, d->port))
		return;
	w->device_failed = true;
	give_up(w);
}

static void no_progress(struct watch *w, uint64_t messages)
{
	char t[32];

	fault_raise(&w->fault, FAULT_DEADLINE, ETIMEDOUT,
		    "no message completed for %s, %llu had before",
		    units_format_ns(w->timeout_ns, t, sizeof(t)), (unsigned long long)messages);
	fault_cause(&w->fault, "The peer answers over TCP, but RDMA packets do not get through");
	fault_fix(
		&w->fault,
		"check the route between the two GIDs, the firewall (RoCE v2 is UDP port 4791) and the "
		"switches' MTU; a link this slow wants a larger --timeout");
	give_up(w);
}

static void peer_silent(struct watch *w)
{
	char t[32];

	fault_raise(&w->fault, FAULT_PEER, ETIMEDOUT, "nothing heard from %s for %s", w->oob->peer,
		    units_format_ns(w->timeout_ns, t, sizeof(t)));
	fault_cause(&w->fault, "The peer's host is down, cut off, or its program is stopped");
	fault_fix(&w->fault, "look at the other host");
	give_up(w);
}

static void report(struct watch *w, uint64_t now)
{
	uint64_t messages = progress(w);

	/* Who has sent all counts arrivals from then on, which may be fewer. */
	if (messages < w->reported)
		w->reported = messages;
	if (messages < w->lived)
		w->lived = messages;
	if (w->interval_ns && now - w->reported_ns >= w->interval_ns) {
		w->on_interval(w->arg, now - w->start_ns, now - w->reported_ns,
			       messages - w->reported);
		w->reported_ns = now;
		w->reported = messages;
	}
	if (w->on_live && now - w->lived_ns >= LIVE_NS) {
		w->on_live(w->arg, now - w->start_ns, now - w->lived_ns, messages - w->lived);
		w->lived_ns = now;
		w->lived = messages;
	}
}

/* Loops that stand still: what they wait for, or what they sent last, may be lost. */
static void look_for_standstill(struct watch *w, uint64_t now)
{
	for (unsigned i = 0; i < w->controls; i++) {
		struct round_control *c = &w->control[i];
		uint64_t messages = atomic_load_explicit(&c->progress, memory_order_relaxed);

		if (messages == c->seen) {
			if (w->done)
				atomic_store(&c->due, 0);
			atomic_store(&c->nudge, true);
			bell_wake(c->wake_fd);
		}
		c->seen = messages;
	}
	w->looked_ns = now;
}

/* All that is due by the clock. */
static void tick(struct watch *w)
{
	uint64_t now = clock_now_ns(), messages = progress(w);

	if (now - w->said_ns >= alive_period(w))
		tell_peer(w, "alive");
	if (w->alive_only)
		return;
	if (oob_check_limit(w->oob, &w->fault)) {
		give_up(w);
		return;
	}
	if (w->duration_ns && now - w->start_ns >= w->duration_ns)
		finish(w);
	if (messages != w->moved) {
		w->moved = messages;
		w->moved_ns = now;
	}
	/* A peer that is gone explains why nothing moves, so it comes first. */
	if (!w->done && now - w->heard_ns >= w->timeout_ns)
		peer_silent(w);
	else if (!w->passive && now - w->moved_ns >= w->timeout_ns)
		no_progress(w, messages);
	if (w->quiet_ns && now - w->looked_ns >= w->quiet_ns)
		look_for_standstill(w, now);
	report(w, now);
}

/* Nanoseconds until the next thing is due. */
static uint64_t until_next(const struct watch *w)
{
	uint64_t now = clock_now_ns();
	uint64_t next = w->said_ns + alive_period(w);

	if (w->alive_only)
		return next > now ? next - now : 0;
	if (w->duration_ns && w->start_ns + w->duration_ns > now &&
	    w->start_ns + w->duration_ns < next)
		next = w->start_ns + w->duration_ns;
	if (w->oob->until_ns && w->oob->until_ns < next)
		next = w->oob->until_ns;
	if (w->quiet_ns && w->looked_ns + w->quiet_ns < next)
		next = w->looked_ns + w->quiet_ns;
	if (w->interval_ns && w->reported_ns + w->interval_ns < next)
		next = w->reported_ns + w->interval_ns;
	if (w->on_live && w->lived_ns + LIVE_NS < next)
		next = w->lived_ns + LIVE_NS;
	return next > now ? next - now : 0;
}

/* END_LOOP: only the loop is over, what is still due is the peer's "done". */
static bool told_to_end(struct watch *w)
{
	eventfd_t order = END_ALL;

	eventfd_read(w->end_fd, &order);
	if (order & ALL_SENT)
		send_peer(w, w->on_sent(w->arg));
	if (order & (END_LOOP | END_ALL))
		w->passive = true;
	return order & END_ALL;
}

/* The loops are over, and the peer has said all that it has to. */
static bool has_all(const struct watch *w)
{
	return w->passive && w->done && (w->over || !w->await_over);
}

static void *watch_thread(void *arg)
{
	struct watch *w = arg;
	struct pollfd p[3 + WATCH_DEVICES_MAX] = {
		{.fd = w->end_fd, .events = POLLIN},
		{.fd = w->alive_only ? -1 : w->oob->fd, .events = POLLIN},
		{.fd = w->stop->fd, .events = POLLIN},
	};

	for (unsigned i = 0; i < w->devices; i++)
		p[3 + i] = (struct pollfd){.fd = w->device[i].ctx->async_fd, .events = POLLIN};
	while (!fault_is(&w->fault) && !has_all(w)) {
		uint64_t ns = until_next(w);
		struct timespec ts = {.tv_sec = (time_t)(ns / UNITS_NS_PER_S),
				      .tv_nsec = (long)(ns % UNITS_NS_PER_S)};

		w->oob->carrier->poll(p, 3 + w->devices, &ts);
		if (p[0].revents && told_to_end(w))
			break;
		if (p[2].revents)
			take_signal(w);
		for (unsigned i = 0; i < w->devices && !fault_is(&w->fault); i++)
			if (p[3 + i].revents)
				take_event(w, &w->device[i]);
		if (p[1].revents && !fault_is(&w->fault))
			listen_to_peer(w);
		if (!fault_is(&w->fault))
			tick(w);
	}
	return NULL;
}

int watch_start(struct watch *w, struct fault *f)
{
	uint64_t now = clock_now_ns();
	int rc;

	snprintf(w->fault.phase, sizeof(w->fault.phase), "%s", f->phase);
	w->start_ns = w->heard_ns = w->said_ns = w->moved_ns = now;
	w->reported_ns = w->lived_ns = w->looked_ns = now;
	w->end_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (w->end_fd < 0)
		return fault_raise(f, FAULT_LOCAL, errno, "eventfd");
	rc = pthread_create(&w->thread, NULL, watch_thread, w);
	if (rc) {
		close(w->end_fd);
		return fault_raise(f, FAULT_LOCAL, rc, "pthread_create");
	}
	w->running = true;
	return 0;
}

void watch_sent(struct watch *w)
{
	eventfd_write(w->end_fd, ALL_SENT);
}

void watch_join(struct watch *w)
{
	if (!w->running)
		return;
	eventfd_write(w->end_fd, END_LOOP);
	pthread_join(w->thread, NULL);
	close(w->end_fd);
	w->running = false;
}

void watch_stop(struct watch *w)
{
	if (!w->running)
		return;
	eventfd_write(w->end_fd, END_ALL);
	pthread_join(w->thread, NULL);
	close(w->end_fd);
	w->running = false;
}
