// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One round, as the client leads it and as the server follows. */
#include "session/state.h"

#include <string.h>

#include "session/plan.h"
#include "session/transport.h"

#define STAMP_BYTES      4
#define PAGE_BYTES       4096 /* each message begins as far behind one, with --align */
#define SURELY_SENT_ONCE 0.9  /* of the time after which the watch has something sent again */

/* Arrival is seen in the last bytes before END: none may be left there from another round. */
static void clear_stamp(uint64_t end)
{
	memset((uint8_t *)(uintptr_t)end - STAMP_BYTES, 0, STAMP_BYTES);
}

/* Everything that the loop reads, fixed before the clock. */
static void prepare_strand(struct strand *t, const struct session_round *sr)
{
	struct session *s = t->session;
	const struct experiment *e = &s->options.experiment;
	struct round *r = &t->round;

	memset(r, 0, sizeof(*r));
	r->qps = &t->qps;
	r->size_bytes = sr->message_bytes;
	r->post_list = (unsigned)e->post_list;
	r->cq_mod = plan_cq_mod(e, sr->message_bytes, t->qps.send.cqe);
	r->send_inline = sr->message_bytes <= t->qps.inline_bytes;
	r->lossy = transport_loses(e);
	r->quiet_ticks = (uint64_t)((double)transport_quiet_ns(e, sr->message_bytes) *
				    SURELY_SENT_ONCE / s->clock.ns_per_tick);
	r->no_peak = s->options.output.no_peak || sr->warmup || !t->peak_ready;
	r->from = (struct round_slice){t->out, t->mine.stride, t->mem.lkey, t->mem.lkeys};
	r->into = (struct round_slice){t->mine.addr, t->mine.stride, t->mem.lkey, t->mem.lkeys};
	r->remote = (struct round_slice){t->theirs.addr, t->theirs.stride, t->theirs.rkey,
					 t->theirs.rkeys};
	r->walk_bytes = e->footprint_bytes;
	r->unit_bytes = e->align_bytes ? PAGE_BYTES : 0;
	r->receives = t->qps.rx_depth ? &t->receives : NULL;
	r->clock = &s->clock;
	r->control = t->control;
	r->fault = &t->fault;
	r->hist = t->hist;
	r->peak = &t->peak;
	r->samples = sr->warmup ? NULL : t->samples;
	r->gap_ns = sr->warmup ? 0 : e->latency_gap_us * 1000;
	r->way = sr->way;
	r->own = s->own;
	t->lost = 0;
	t->arrivals = *r;
	calls_set(t, sr);
	pace_set(t, sr);
	if (sr->both)
		r->arrivals = &t->arrivals;
	if (t->hist)
		hist_reset(t->hist);
	if (s->test->latency && t->mem.host) {
		clear_stamp(r->from.addr + sr->message_bytes);
		clear_stamp(r->into.addr + sr->message_bytes);
	}
}

static void prepare(struct session *s, struct session_round *sr)
{
	sr->session = s;
	clock_calibrate(&s->clock); /* a schedule is in ticks */
	if (!sr->warmup)
		calls_settle(s);
	load_prepare(s, sr);
	for (unsigned i = 0; i < s->strands; i++) {
		struct strand *t = &s->strand[i];
		/* What answers must be there until its last answer is known to have come. */
		bool open = sr->target == ROUND_ENDLESS ||
			    (s->test->latency && transport_loses(&s->options.experiment));
		uint64_t all = sr->target * t->qps.count;

		prepare_strand(t, sr);
		fault_phase(&t->fault, s->fault.phase);
		atomic_store(&t->control->target, sr->target);
		atomic_store(&t->control->due, open ? ROUND_ENDLESS : all);
		atomic_store(&t->control->quit, false);
		atomic_store(&t->control->nudge, false);
		t->control->seen = 0;
		atomic_store(&t->control->progress, 0);
	}
}

int round_client(struct session *s, struct session_round *sr)
{
	uint64_t target = sr->target == ROUND_ENDLESS ? 0 : sr->target;
	json_t *m;

	fault_phase(&s->fault, sr->warmup ? "warming up" : "measuring");
	sr->cpu_util = s->options.output.cpu_util && !sr->warmup;
	if (pace_check(s, sr))
		return -1;
	prepare(s, sr);
	m = message_new("round");
	json_object_set_new(m, "message_bytes", json_integer((json_int_t)sr->message_bytes));
	json_object_set_new(m, "target", json_integer((json_int_t)target));
	json_object_set_new(m, "warmup", json_boolean(sr->warmup));
	if (sr->duration_ns)
		json_object_set_new(m, "duration_ns", json_integer((json_int_t)sr->duration_ns));
	if (sr->reverse)
		json_object_set_new(m, "reverse", json_true());
	if (sr->both)
		json_object_set_new(m, "both", json_true());
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
	if (sr->both)
		return pass_both(s, sr);
	return sr->reverse ? pass_follow(s, sr) : pass_lead(s, sr);
}

static int read_run(struct session *s, const json_t *m, struct session_round *sr)
{
	if (message_u64_if(m, "run", options_find("repeat")->max, &sr->run, &s->fault))
		return -1;
	if (sr->run == 1)
		repeat_start(&s->repeat, 0);
	if (sr->run && sr->run != ++s->repeat.number)
		return fault_raise(&s->fault, FAULT_PEER, 0, "the client's runs are out of order");
	return 0;
}

/* Memory is made for the sizes of the experiment, and no others. */
static bool is_planned(const struct session *s, uint64_t bytes)
{
	for (uint64_t n = plan_first_size(&s->options.experiment); n <= s->largest_bytes; n *= 2)
		if (n == bytes)
			return true;
	return false;
}

static int read_request(struct session *s, const json_t *m, struct session_round *sr)
{
	const struct option_row *duration = options_find("duration");
	const struct experiment *e = &s->options.experiment;
	unsigned ways = s->matrix ? s->test->ways : 0;
	uint64_t way;

	if (message_u64(m, "message_bytes", s->message_max, &sr->message_bytes, &s->fault) ||
	    message_u64(m, "target", INT64_MAX / 65536, &sr->target, &s->fault) ||
	    message_u64_if(m, "duration_ns", duration->max, &sr->duration_ns, &s->fault) ||
	    message_u64_if(m, "way", ways, &way, &s->fault) ||
	    message_flag(m, "warmup", &sr->warmup, &s->fault) ||
	    message_flag(m, "reverse", &sr->reverse, &s->fault) ||
	    message_flag(m, "both", &sr->both, &s->fault) ||
	    message_flag(m, "cpu_util", &sr->cpu_util, &s->fault) || read_run(s, m, sr))
		return -1;
	sr->cpu_util |= s->options.output.cpu_util && !sr->warmup && !sr->way;
	if (sr->message_bytes < 1 || (!s->matrix && !is_planned(s, sr->message_bytes)))
		return fault_raise(&s->fault, FAULT_PEER, 0,
				   "the client asked for messages of %llu bytes",
				   (unsigned long long)sr->message_bytes);
	sr->way = (unsigned)way;
	/* QPs and memory are made for the direction that was agreed on. */
	if (!ways && (sr->reverse != (e->reversed != 0) || sr->both != (e->bidirectional != 0)))
		return fault_raise(&s->fault, FAULT_PEER, 0,
				   "the client asked for a round of another direction");
	if (ways && sr->both)
		return fault_raise(&s->fault, FAULT_PEER, 0,
				   "the client asked for a round of both directions");
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
	if (oob_send(&s->oob, message_new("ready"), session_deadline(s), &s->fault))
		return -1;
	if (sr->both)
		return pass_both(s, sr);
	return sr->reverse ? pass_lead(s, sr) : pass_follow(s, sr);
}

void round_release(struct session_round *sr)
{
	json_decref(sr->their_parts);
	sr->their_parts = NULL;
}
