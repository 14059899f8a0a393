// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The loops of a round run, all strands at once, with the watch beside them. */
#include <errno.h>
#include <poll.h>

#include "session/loss.h"
#include "session/state.h"
#include "session/transport.h"
#include "verbs/vfault.h"

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

static void on_interval(void *arg, uint64_t elapsed_ns, uint64_t interval_ns, uint64_t messages)
{
	struct session_round *sr = arg;
	struct report_progress p = {sr->message_bytes, elapsed_ns, interval_ns, messages};

	worst_note(&sr->worst, interval_ns, messages);
	report_interval(&sr->session->report, &p);
}

/* Until the duration is over; without one, at the pace so far, until all messages have come. */
static uint64_t left_ns(const struct session_round *sr, uint64_t elapsed_ns)
{
	const struct session *s = sr->session;
	uint64_t done = 0;

	if (sr->duration_ns)
		return sr->duration_ns > elapsed_ns ? sr->duration_ns - elapsed_ns : 0;
	for (unsigned i = 0; i < s->strands; i++)
		done += atomic_load_explicit(&s->control[i].progress, memory_order_relaxed);
	if (!done || done >= sr->messages_due)
		return 0;
	return (uint64_t)((double)elapsed_ns / (double)done * (double)(sr->messages_due - done));
}

static void on_live(void *arg, uint64_t elapsed_ns, uint64_t interval_ns, uint64_t messages)
{
	struct session_round *sr = arg;
	struct report_progress p = {sr->message_bytes, elapsed_ns, interval_ns, messages};

	report_live(&sr->session->report, &p, left_ns(sr, elapsed_ns));
}

/* What an end does in a round. */
enum {
	LEADS = 1,
	FOLLOWS = 2
};

static struct watch new_watch(struct session *s, struct session_round *sr, unsigned parts)
{
	bool passive = parts == FOLLOWS && !loop_of(s, sr->way, true);
	bool shown = !sr->warmup && !sr->way && !passive;
	struct watch w = {
		.oob = &s->oob,
		.stop = &s->stop,
		.control = s->control,
		.controls = s->strands,
		.loads = s->loads,
		.devices = s->rails,
		.leader = parts & LEADS,
		.follower = parts & FOLLOWS,
		.passive = passive,
		.timeout_ns = s->options.local.timeout_ns,
		.peer_timeout_ns = s->peer_timeout_ns,
		.duration_ns = parts & LEADS && sr->target == ROUND_ENDLESS ? sr->duration_ns : 0,
		.quiet_ns = transport_quiet_ns(&s->options.experiment, sr->message_bytes),
		.interval_ns = shown ? s->options.output.interval_ns : 0,
		.on_interval = on_interval,
		.on_live = s->report.tty && shown ? on_live : NULL,
		.arg = sr,
	};

	for (unsigned i = 0; i < s->rails; i++)
		w.device[i] = (struct watch_device){s->rail[i].hca.ctx, s->rail[i].hca.info.port};
	sr->messages_due = sr->target == ROUND_ENDLESS
				   ? 0
				   : sr->target * s->options.experiment.qps * s->strands;
	return w;
}

/* The records in the peer's "done", if it has any. */
static int take_records(struct session *s, const json_t *done, struct session_round *sr)
{
	const json_t *from = json_object_get(done, "record");
	const json_t *parts = json_object_get(done, "parts"), *v;
	struct record rec;
	size_t i;

	if (!json_is_object(from))
		return 0;
	if (record_from_json(&sr->theirs, from, &s->fault))
		return -1;
	json_array_foreach (parts, i, v)
		if (record_from_json(&rec, v, &s->fault))
			return -1;
	if (s->strands > 1 && json_array_size(parts) == s->strands)
		sr->their_parts = json_deep_copy(parts);
	sr->theirs.run = sr->run;
	sr->theirs_measured = true;
	return 0;
}

static json_t *done_message(const struct session_round *sr)
{
	const struct session *s = sr->session;
	json_t *m = message_new("done"), *messages = json_array(), *parts = json_array();

	for (unsigned i = 0; i < s->strands; i++) {
		const struct strand *t = &s->strand[i];

		json_array_append_new(messages, json_integer((json_int_t)t->round.messages));
		if (sr->measured)
			json_array_append_new(parts, record_to_json(&t->record));
	}
	json_object_set_new(m, "messages", messages);
	loss_describe(s, m);
	if (sr->measured || sr->cpu_util)
		json_object_set_new(m, "record", record_to_json(&sr->mine));
	if (sr->measured && s->strands > 1)
		json_object_set(m, "parts", parts);
	json_decref(parts);
	return m;
}

/* A strand has failed: no other shall wait for what will not come. */
static int quit_all(struct session *s)
{
	for (unsigned i = 0; i < session_all_strands(s); i++) {
		atomic_store(&s->control[i].quit, true);
		atomic_store(&s->control[i].target, 0);
		atomic_store(&s->control[i].due, 0);
		bell_wake(s->control[i].wake_fd);
	}
	return -1;
}

static int lead_job(void *arg, unsigned i)
{
	struct session_round *sr = arg;
	struct session *s = sr->session;

	int rc;

	crew_meet(&s->crew);
	if (i >= s->strands)
		return load_run(&s->strand[i]) ? quit_all(s) : 0;
	load_await(s, &s->strand[i]);
	rc = loop_of(s, sr->way, false)(&s->strand[i].round) ? quit_all(s) : 0;
	load_leave(s, sr);
	return rc;
}

static int follow_job(void *arg, unsigned i)
{
	struct session_round *sr = arg;
	struct session *s = sr->session;

	crew_meet(&s->crew);
	if (i >= s->strands) /* a load's far end has nothing to do */
		return 0;
	return loop_of(s, sr->way, true)(&s->strand[i].round) ? quit_all(s) : 0;
}

/* Send all, and receive what comes meanwhile; then what still comes. */
static int both_job(void *arg, unsigned i)
{
	struct session_round *sr = arg;
	struct session *s = sr->session;
	struct strand *t = &s->strand[i];
	round_loop *then = t->qps.rx_depth ? loop_of(s, sr->way, true) : NULL;

	crew_meet(&s->crew);
	if (loop_of(s, sr->way, false)(&t->round))
		return quit_all(s);
	if (atomic_fetch_sub(&sr->sending, 1) == 1)
		watch_sent(sr->watch);
	return then && then(&t->arrivals) ? quit_all(s) : 0;
}

/* The loop ran to its end: exchange counts and records. */
static int conclude(struct session *s, struct session_round *sr)
{
	json_t *done = NULL;
	int rc = -1;

	fault_phase(&s->fault, "exchanging the results");
	if (oob_send(&s->oob, done_message(sr), session_deadline(s), &s->fault) == 0 &&
	    message_expect(&s->oob, "done", &done, s->options.local.timeout_ns, &s->fault) == 0)
		rc = take_records(s, done, sr) || loss_take(s, sr, done) ? -1 : 0;
	json_decref(done);
	return rc;
}

/* The end whose loop decides when it is over. */
int pass_lead(struct session *s, struct session_round *sr)
{
	struct watch w = new_watch(s, sr, LEADS);

	if (watch_start(&w, &s->fault))
		return -1;
	usage_start(&sr->usage);
	crew_run(&s->crew, lead_job, sr);
	usage_stop(&sr->usage);
	watch_stop(&w);
	pass_settle(s, &w);
	round_measure(s, sr);
	round_add_usage(sr, sr->mine.messages);
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
	if (take_records(s, done, sr))
		return -1;
	loss_slow_down(s, sr);
	round_add_usage(sr, sr->theirs.messages);
	if (oob_send(&s->oob, done_message(sr), session_deadline(s), &s->fault))
		return -1;
	loss_put(s, sr);
	s->interrupted |= sr->theirs.interrupted != 0;
	return 0;
}

int pass_follow(struct session *s, struct session_round *sr)
{
	struct watch w = new_watch(s, sr, FOLLOWS);
	int rc;

	if (watch_start(&w, &s->fault))
		return -1;
	sr->answered = loop_of(s, sr->way, true) != NULL;
	usage_start(&sr->usage);
	if (sr->answered && crew_run(&s->crew, follow_job, sr))
		watch_stop(&w);
	else
		watch_join(&w);
	usage_stop(&sr->usage);
	pass_settle(s, &w);
	loss_count(s, sr, w.done);
	round_measure(s, sr);
	sr->measured &= !s->test->latency; /* the answering end has no clock of its own */
	rc = answer_done(s, sr, w.done);
	json_decref(w.done);
	if (rc)
		sr->mine.interrupted = 1;
	return rc;
}

/* All strands have sent all of theirs: measure that, and let the peer know. */
static json_t *on_sent(void *arg)
{
	struct session_round *sr = arg;

	usage_stop(&sr->usage);
	round_measure(sr->session, sr);
	round_add_usage(sr, sr->mine.messages);
	return done_message(sr);
}

/* All has come here that will: the peer hears how much that was, and says the same. */
static int exchange_loss(struct session *s, struct session_round *sr, struct watch *w)
{
	json_t *m = message_new("over");
	int rc;

	loss_count(s, sr, w->done);
	loss_describe(s, m);
	if (oob_send(&s->oob, m, session_deadline(s), &s->fault) ||
	    (!w->over &&
	     message_expect(&s->oob, "over", &w->over, s->options.local.timeout_ns, &s->fault)))
		return -1;
	rc = loss_take(s, sr, w->over);
	loss_put(s, sr);
	return rc;
}

/*
 * Both ends do the same, but that the server is the first to say when its own loops are over:
 * before that the client must not go on.
 */
int pass_both(struct session *s, struct session_round *sr)
{
	struct watch w = new_watch(s, sr, LEADS | FOLLOWS);
	int rc = -1;

	w.on_sent = on_sent;
	w.await_over = !s->report.about.server;
	sr->watch = &w;
	atomic_store(&sr->sending, s->strands);
	usage_start(&sr->usage);
	if (watch_start(&w, &s->fault))
		return -1;
	if (crew_run(&s->crew, both_job, sr))
		watch_stop(&w);
	else
		watch_join(&w);
	pass_settle(s, &w);
	if (!sr->measured) /* cut off */
		round_measure(s, sr);
	sr->mine.interrupted = s->interrupted;
	fault_phase(&s->fault, "exchanging the results");
	if (!fault_is(&s->fault))
		rc = take_records(s, w.done, sr) || exchange_loss(s, sr, &w) ? -1 : 0;
	json_decref(w.done);
	json_decref(w.over);
	s->interrupted |= sr->theirs.interrupted != 0;
	if (rc)
		sr->mine.interrupted = 1;
	return rc;
}
