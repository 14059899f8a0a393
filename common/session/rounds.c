// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One round, as the client leads it and as the server follows. */
#include "session/state.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "session/plan.h"
#include "verbs/vfault.h"

/* How long to wait, when the NIC reports a failure, for the peer to say what it knows of it. */
#define PEER_KNOWS_NS  UINT64_C(1000000000)
#define DEVICE_SAYS_MS 50
#define STAMP_BYTES    4

/* Arrival is seen in the last bytes before END: none may be left there from another round. */
static void clear_stamp(uint64_t end)
{
	memset((uint8_t *)(uintptr_t)end - STAMP_BYTES, 0, STAMP_BYTES);
}

/* The program's loops, for the memory that there is. */
static round_loop *loop_of(const struct session *s, unsigned way, bool follower)
{
	const struct test *t = s->test;

	if (follower && t->follows && !t->follows(way))
		return NULL;
	if (s->immediate)
		return follower ? t->follow_immediate : t->lead_immediate;
	return follower ? t->follow : t->lead;
}

/* Everything that the loop reads, fixed before the clock. */
static void prepare(struct session *s, struct session_round *sr)
{
	const struct experiment *e = &s->options.experiment;
	struct round *r = &sr->round;
	uint64_t into = s->mine.addr;
	uint64_t from = into - (s->test->latency ? s->mine.stride : 0);

	memset(r, 0, sizeof(*r));
	r->qps = &s->qps;
	r->size_bytes = sr->message_bytes;
	r->post_list = (unsigned)e->post_list;
	r->cq_mod = plan_cq_mod(e, sr->message_bytes, (unsigned)s->qps.send_cq->cqe);
	r->send_inline = sr->message_bytes <= s->qps.inline_bytes;
	r->no_peak = s->options.output.no_peak || sr->warmup || !s->peak_ready;
	r->from = (struct round_slice){from, s->mine.stride, s->mem.lkey};
	r->into = (struct round_slice){into, s->mine.stride, s->mem.lkey};
	r->remote = (struct round_slice){s->theirs.addr, s->theirs.stride, s->theirs.rkey};
	r->receives = s->qps.rx_depth ? &s->receives : NULL;
	r->clock = &s->clock;
	r->control = &s->control;
	r->fault = &s->fault;
	r->hist = s->hist;
	r->peak = &s->peak;
	r->samples = sr->warmup ? NULL : s->samples;
	r->way = sr->way;
	r->own = s->own;
	if (s->hist)
		hist_reset(s->hist);
	if (s->test->latency && s->mem.host) {
		clear_stamp(from + sr->message_bytes);
		clear_stamp(into + sr->message_bytes);
	}
	atomic_store(&s->control.quit, false);
	atomic_store(&s->control.progress, 0);
}

static void on_interval(void *arg, uint64_t elapsed_ns, uint64_t interval_ns, uint64_t messages)
{
	struct session_round *sr = arg;
	struct report_progress p = {sr->message_bytes, elapsed_ns, interval_ns, messages};

	worst_note(&sr->worst, interval_ns, messages);
	report_interval(sr->report, &p);
}

/* Until the duration is over; without one, at the pace so far, until all messages have come. */
static uint64_t left_ns(const struct session_round *sr, uint64_t elapsed_ns)
{
	const struct round_control *c = sr->round.control;
	uint64_t done = atomic_load_explicit(&c->progress, memory_order_relaxed);

	if (sr->duration_ns)
		return sr->duration_ns > elapsed_ns ? sr->duration_ns - elapsed_ns : 0;
	if (!done || done >= sr->messages_due)
		return 0;
	return (uint64_t)((double)elapsed_ns / (double)done * (double)(sr->messages_due - done));
}

static void on_live(void *arg, uint64_t elapsed_ns, uint64_t interval_ns, uint64_t messages)
{
	struct session_round *sr = arg;
	struct report_progress p = {sr->message_bytes, elapsed_ns, interval_ns, messages};

	report_live(sr->report, &p, left_ns(sr, elapsed_ns));
}

static struct watch new_watch(struct session *s, struct session_round *sr, bool follower)
{
	bool passive = follower && !loop_of(s, sr->way, true);
	bool shown = !sr->warmup && !sr->way && !passive;

	sr->report = &s->report;
	sr->messages_due = sr->target == ROUND_ENDLESS ? 0 : sr->target * s->qps.count;
	return (struct watch){
		.oob = &s->oob,
		.stop = &s->stop,
		.control = &s->control,
		.ctx = s->hca.ctx,
		.port = s->hca.info.port,
		.follower = follower,
		.passive = passive,
		.timeout_ns = s->options.local.timeout_ns,
		.peer_timeout_ns = s->peer_timeout_ns,
		.duration_ns = !follower && sr->target == ROUND_ENDLESS ? sr->duration_ns : 0,
		.interval_ns = shown ? s->options.output.interval_ns : 0,
		.on_interval = on_interval,
		.on_live = s->report.tty && shown ? on_live : NULL,
		.arg = sr,
	};
}

/* What the peer knows of a failure here, or that it is gone: wait for it, briefly. */
static void ask_peer(struct session *s, struct fault *told)
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
static void ask_device(struct session *s, struct watch *w)
{
	struct pollfd p = {.fd = s->hca.ctx->async_fd, .events = POLLIN};

	while (!w->device_failed && poll(&p, 1, DEVICE_SAYS_MS) > 0)
		w->device_failed = vfault_async_event(&w->fault, s->hca.ctx, s->hca.info.port) != 0;
}

/*
 * Loop and watch have both ended: which failure is the cause and which the consequence? What the
 * device or the peer says explains a failed completion here.
 */
static void settle(struct session *s, struct watch *w)
{
	s->interrupted |= w->interrupted;
	if (fault_is(&s->fault) && !fault_is(&w->fault))
		ask_device(s, w);
	/* A call that failed says itself why; a completion may have failed for what the peer did.
	 */
	if (fault_is(&s->fault) && !fault_is(&w->fault) && !s->fault.errnum)
		ask_peer(s, &w->fault);
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
		.control = &s->control,
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

/* The record in the peer's "done", if it has one. */
static int take_record(struct session *s, const json_t *done, struct session_round *sr)
{
	const json_t *from = json_object_get(done, "record");

	if (!json_is_object(from))
		return 0;
	if (record_from_json(&sr->theirs, from, &s->fault))
		return -1;
	sr->theirs.run = sr->run;
	sr->theirs_measured = true;
	return 0;
}

static json_t *done_message(const struct session_round *sr)
{
	json_t *m = message_new("done");

	json_object_set_new(m, "messages", json_integer((json_int_t)sr->round.messages));
	if (sr->measured || sr->cpu_util)
		json_object_set_new(m, "record", record_to_json(&sr->mine));
	return m;
}

/* The loop ran to its end: exchange counts and records. */
static int conclude(struct session *s, struct session_round *sr)
{
	json_t *done = NULL;
	int rc = -1;

	fault_phase(&s->fault, "exchanging the results");
	if (oob_send(&s->oob, done_message(sr), session_deadline(s), &s->fault) == 0 &&
	    message_expect(&s->oob, "done", &done, s->options.local.timeout_ns, &s->fault) == 0)
		rc = take_record(s, done, sr);
	json_decref(done);
	return rc;
}

/* The end whose loop decides when it is over. */
static int lead(struct session *s, struct session_round *sr)
{
	struct watch w = new_watch(s, sr, false);

	if (watch_start(&w, &s->fault))
		return -1;
	usage_start(&sr->usage);
	loop_of(s, sr->way, false)(&sr->round);
	usage_stop(&sr->usage);
	watch_stop(&w);
	settle(s, &w);
	round_measure(s, sr);
	round_add_usage(s, sr, sr->round.messages);
	if (!fault_is(&s->fault))
		return conclude(s, sr);
	sr->mine.interrupted = 1;
	return -1;
}

/* The leader's "done" is there: answer it. */
static int answer_done(struct session *s, struct session_round *sr, const json_t *done)
{
	if (fault_is(&s->fault))
		return -1;
	fault_phase(&s->fault, "exchanging the results");
	if (take_record(s, done, sr))
		return -1;
	round_add_usage(s, sr, sr->theirs.messages);
	if (oob_send(&s->oob, done_message(sr), session_deadline(s), &s->fault))
		return -1;
	s->interrupted |= sr->theirs.interrupted != 0;
	return 0;
}

static int follow(struct session *s, struct session_round *sr)
{
	struct watch w = new_watch(s, sr, true);
	round_loop *loop = loop_of(s, sr->way, true);
	int rc;

	if (watch_start(&w, &s->fault))
		return -1;
	sr->answered = loop != NULL;
	usage_start(&sr->usage);
	if (loop && loop(&sr->round))
		watch_stop(&w);
	else
		watch_join(&w);
	usage_stop(&sr->usage);
	settle(s, &w);
	round_measure(s, sr);
	sr->measured &= !s->test->latency; /* the answering end has no clock of its own */
	rc = answer_done(s, sr, w.done);
	json_decref(w.done);
	if (rc)
		sr->mine.interrupted = 1;
	return rc;
}

/* A ping-pong and a sender count messages of each QP, a receiver those of all. */
static void set_target(struct session *s, const struct session_round *sr, bool follower)
{
	bool all = follower && !s->test->latency && sr->target != ROUND_ENDLESS;

	atomic_store(&s->control.target, all ? sr->target * s->qps.count : sr->target);
}

int round_client(struct session *s, struct session_round *sr)
{
	uint64_t target = sr->target == ROUND_ENDLESS ? 0 : sr->target;
	json_t *m = message_new("round");

	fault_phase(&s->fault, sr->warmup ? "warming up" : "measuring");
	sr->cpu_util = s->options.output.cpu_util && !sr->warmup;
	prepare(s, sr);
	set_target(s, sr, sr->reverse);
	json_object_set_new(m, "message_bytes", json_integer((json_int_t)sr->message_bytes));
	json_object_set_new(m, "target", json_integer((json_int_t)target));
	json_object_set_new(m, "warmup", json_boolean(sr->warmup));
	if (sr->duration_ns)
		json_object_set_new(m, "duration_ns", json_integer((json_int_t)sr->duration_ns));
	if (sr->reverse)
		json_object_set_new(m, "reverse", json_true());
	if (sr->way)
		json_object_set_new(m, "way", json_integer(sr->way));
	if (sr->cpu_util)
		json_object_set_new(m, "cpu_util", json_true());
	if (sr->run)
		json_object_set_new(m, "run", json_integer((json_int_t)sr->run));
	if (oob_send(&s->oob, m, session_deadline(s), &s->fault) ||
	    message_expect(&s->oob, "ready", &m, s->options.local.timeout_ns, &s->fault))
		return -1;
	json_decref(m);
	return sr->reverse ? follow(s, sr) : lead(s, sr);
}

static int read_request(struct session *s, const json_t *m, struct session_round *sr)
{
	const struct option_row *duration = options_find("duration");
	unsigned ways = s->matrix ? s->test->ways : 0;
	uint64_t way;

	if (message_u64(m, "message_bytes", s->message_max, &sr->message_bytes, &s->fault) ||
	    message_u64(m, "target", INT64_MAX / 65536, &sr->target, &s->fault) ||
	    message_u64_if(m, "duration_ns", duration->max, &sr->duration_ns, &s->fault) ||
	    message_u64_if(m, "way", ways, &way, &s->fault) ||
	    message_flag(m, "warmup", &sr->warmup, &s->fault) ||
	    message_flag(m, "reverse", &sr->reverse, &s->fault) ||
	    message_flag(m, "cpu_util", &sr->cpu_util, &s->fault) ||
	    message_u64_if(m, "run", options_find("repeat")->max, &sr->run, &s->fault))
		return -1;
	if (sr->run == 1)
		repeat_start(&s->repeat, 0);
	if (sr->run && sr->run != ++s->repeat.number)
		return fault_raise(&s->fault, FAULT_PEER, 0, "the client's runs are out of order");
	sr->cpu_util |= s->options.output.cpu_util && !sr->warmup && !sr->way;
	if (sr->message_bytes < 1)
		return fault_raise(&s->fault, FAULT_PEER, 0,
				   "the client asked for messages of 0 bytes");
	sr->way = (unsigned)way;
	if (sr->reverse && !ways)
		return fault_raise(&s->fault, FAULT_PEER, 0,
				   "the client asked for a reversed round");
	if (!sr->target)
		sr->target = ROUND_ENDLESS;
	return 0;
}

int round_server(struct session *s, const json_t *request, struct session_round *sr)
{
	memset(sr, 0, sizeof(*sr));
	fault_phase(&s->fault, "measuring");
	if (read_request(s, request, sr))
		return -1;
	prepare(s, sr);
	set_target(s, sr, !sr->reverse);
	if (oob_send(&s->oob, message_new("ready"), session_deadline(s), &s->fault))
		return -1;
	return sr->reverse ? lead(s, sr) : follow(s, sr);
}
