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

/* Everything that the loop reads, fixed before the clock. */
static void prepare(struct session *s, struct session_round *sr)
{
	const struct experiment *e = &s->options.experiment;
	struct round *r = &sr->round;
	uint8_t *base = (uint8_t *)(uintptr_t)s->mine.addr;
	uint8_t *from = base - (s->test->latency ? s->mine.stride : 0);

	memset(r, 0, sizeof(*r));
	r->qps = &s->qps;
	r->size_bytes = sr->message_bytes;
	r->post_list = (unsigned)e->post_list;
	r->cq_mod = plan_cq_mod(e, sr->message_bytes, (unsigned)s->qps.send_cq->cqe);
	r->send_inline = sr->message_bytes <= s->qps.inline_bytes;
	r->no_peak = s->options.output.no_peak || sr->warmup;
	r->from = (struct round_slice){(uint64_t)(uintptr_t)from, s->mine.stride, s->mem.mr->lkey};
	r->into = (struct round_slice){s->mine.addr, s->mine.stride, s->mem.mr->lkey};
	r->remote = (struct round_slice){s->theirs.addr, s->theirs.stride, s->theirs.rkey};
	r->receives = s->qps.rx_depth ? &s->receives : NULL;
	r->clock = &s->clock;
	r->control = &s->control;
	r->fault = &s->fault;
	r->hist = s->hist;
	r->peak = &s->peak;
	r->samples = sr->warmup ? NULL : s->samples;
	if (s->hist)
		hist_reset(s->hist);
	if (s->test->latency) {
		/* Arrival is seen in the last bytes: none may be left there from another round. */
		memset(from + sr->message_bytes - STAMP_BYTES, 0, STAMP_BYTES);
		memset(base + sr->message_bytes - STAMP_BYTES, 0, STAMP_BYTES);
	}
	atomic_store(&s->control.quit, false);
	atomic_store(&s->control.progress, 0);
}

static void on_interval(void *arg, uint64_t elapsed_ns, uint64_t interval_ns, uint64_t messages)
{
	struct session_round *sr = arg;

	report_interval(sr->report, sr->message_bytes, elapsed_ns, interval_ns, messages);
}

static void on_live(void *arg, uint64_t elapsed_ns, uint64_t interval_ns, uint64_t messages)
{
	struct session_round *sr = arg;

	report_live(sr->report, sr->message_bytes, elapsed_ns, interval_ns, messages);
}

static struct watch new_watch(struct session *s, struct session_round *sr)
{
	bool passive = s->report.about.server && !s->test->server;

	sr->report = &s->report;
	return (struct watch){
		.oob = &s->oob,
		.stop = &s->stop,
		.control = &s->control,
		.ctx = s->hca.ctx,
		.port = s->hca.info.port,
		.server = s->report.about.server,
		.passive = passive,
		.timeout_ns = s->options.local.timeout_ns,
		.peer_timeout_ns = s->peer_timeout_ns,
		.interval_ns = sr->warmup || passive ? 0 : s->options.output.interval_ns,
		.on_interval = on_interval,
		.on_live = s->report.tty && !sr->warmup && !passive ? on_live : NULL,
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
	if (fault_is(&s->fault) && !fault_is(&w->fault))
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

/* The record in the peer's "done": 1 if it has one, 0, or -1. */
static int their_record(struct session *s, const json_t *done, struct record *rec)
{
	const json_t *from = json_object_get(done, "record");

	if (!json_is_object(from))
		return 0;
	return record_from_json(rec, from, &s->fault) ? -1 : 1;
}

static json_t *done_message(const struct session_round *sr)
{
	json_t *m = message_new("done");

	json_object_set_new(m, "messages", json_integer((json_int_t)sr->round.messages));
	if (sr->measured)
		json_object_set_new(m, "record", record_to_json(&sr->record));
	return m;
}

/* The loop ran to its end: exchange counts and records. */
static int conclude(struct session *s, struct session_round *sr)
{
	struct record theirs;
	json_t *done = NULL;
	int has = 0;

	fault_phase(&s->fault, "exchanging the results");
	if (oob_send(&s->oob, done_message(sr), session_deadline(s), &s->fault) ||
	    message_expect(&s->oob, "done", &done, s->options.local.timeout_ns, &s->fault))
		has = -1;
	else
		has = their_record(s, done, &theirs);
	json_decref(done);
	if (sr->measured)
		round_show(s, &sr->record, has > 0 ? &theirs : NULL);
	return has < 0 ? -1 : 0;
}

int round_client(struct session *s, struct session_round *sr)
{
	uint64_t target = sr->target;
	json_t *m = message_new("round");
	struct watch w;

	fault_phase(&s->fault, sr->warmup ? "warming up" : "measuring");
	prepare(s, sr);
	atomic_store(&s->control.target, target);
	json_object_set_new(m, "message_bytes", json_integer((json_int_t)sr->message_bytes));
	json_object_set_new(m, "target",
			    json_integer(target == ROUND_ENDLESS ? 0 : (json_int_t)target));
	json_object_set_new(m, "warmup", json_boolean(sr->warmup));
	if (oob_send(&s->oob, m, session_deadline(s), &s->fault) ||
	    message_expect(&s->oob, "ready", &m, s->options.local.timeout_ns, &s->fault))
		return -1;
	json_decref(m);
	w = new_watch(s, sr);
	if (target == ROUND_ENDLESS)
		w.duration_ns = s->options.experiment.duration_ns;
	if (watch_start(&w, &s->fault))
		return -1;
	s->test->client(&sr->round);
	watch_stop(&w);
	settle(s, &w);
	round_measure(s, sr);
	if (!fault_is(&s->fault))
		return conclude(s, sr);
	sr->record.interrupted = 1;
	if (sr->measured)
		round_show(s, &sr->record, NULL);
	return -1;
}

/* The server's loop has ended without the client's word: what this end knows. */
static int cut_off(struct session *s, struct session_round *sr)
{
	sr->record.interrupted = 1;
	if (sr->measured && !s->test->latency)
		round_show(s, &sr->record, &sr->record);
	else if (!sr->warmup && s->test->server)
		report_note(&s->report, "%llu messages of %llu B had been answered",
			    (unsigned long long)sr->round.messages,
			    (unsigned long long)sr->message_bytes);
	return -1;
}

/* The client's "done" is there: answer it and show both records. */
static int answer_done(struct session *s, struct session_round *sr, const json_t *done)
{
	struct record theirs;
	int has = their_record(s, done, &theirs);

	fault_phase(&s->fault, "exchanging the results");
	if (has < 0)
		return cut_off(s, sr);
	if (oob_send(&s->oob, done_message(sr), session_deadline(s), &s->fault))
		return cut_off(s, sr);
	if (has) {
		s->interrupted |= theirs.interrupted != 0;
		round_show(s, &theirs, sr->measured ? &sr->record : NULL);
	}
	return 0;
}

static int read_request(struct session *s, const json_t *request, struct session_round *sr)
{
	uint64_t qps = s->qps.count, target;

	if (message_u64(request, "message_bytes", s->largest_bytes, &sr->message_bytes,
			&s->fault) ||
	    message_u64(request, "target", INT64_MAX / 65536, &sr->target, &s->fault))
		return -1;
	if (sr->message_bytes < 1)
		return fault_raise(&s->fault, FAULT_PEER, 0,
				   "the client asked for messages of 0 bytes");
	sr->warmup = json_is_true(json_object_get(request, "warmup"));
	/* A ping-pong counts messages of its QP, a receiver those of all. */
	target = sr->target ? sr->target * (s->test->latency ? 1 : qps) : ROUND_ENDLESS;
	atomic_store(&s->control.target, target);
	return 0;
}

int round_server(struct session *s, const json_t *request)
{
	struct session_round sr = {0};
	struct watch w;
	int rc;

	fault_phase(&s->fault, "measuring");
	if (read_request(s, request, &sr))
		return -1;
	prepare(s, &sr);
	w = new_watch(s, &sr);
	if (oob_send(&s->oob, message_new("ready"), session_deadline(s), &s->fault) ||
	    watch_start(&w, &s->fault))
		return -1;
	if (s->test->server && s->test->server(&sr.round))
		watch_stop(&w);
	else
		watch_join(&w);
	settle(s, &w);
	round_measure(s, &sr);
	sr.measured &= !s->test->latency;
	rc = fault_is(&s->fault) ? cut_off(s, &sr) : answer_done(s, &sr, w.done);
	json_decref(w.done);
	return rc;
}
