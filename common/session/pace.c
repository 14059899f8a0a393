// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* --rate_limit in a session: each strand's schedule, and how it was kept. */
#include "base/units.h"
#include "session/plan.h"
#include "session/state.h"

/* What each strand sends has its part of the rate, so that all together have it. */
static double rate_of(const struct session *s, const struct session_round *sr)
{
	return rate_messages_per_s(s->options.experiment.rate_limit, sr->message_bytes) /
	       s->strands;
}

/* This strand's schedule. The warm-up has none: how long it takes is of no interest. */
void pace_set(struct strand *t, const struct session_round *sr)
{
	const struct experiment *e = &t->session->options.experiment;
	struct round *r = &t->round;

	if (!e->rate_limit || sr->warmup || sr->way)
		return;
	paced_init(&t->paced, rate_of(t->session, sr), plan_burst(e), r->post_list, r->clock);
	r->paced = &t->paced;
	r->cq_mod = r->post_list;
}

/* A rate so low that a pause of the schedule would be taken for a peer that is stuck. */
int pace_check(struct session *s, const struct session_round *sr)
{
	uint64_t patience_ns = s->options.local.timeout_ns < s->peer_timeout_ns
				       ? s->options.local.timeout_ns
				       : s->peer_timeout_ns;
	char pause[32], patience[32];
	double ns;

	if (!s->options.experiment.rate_limit || sr->warmup)
		return 0;
	ns = plan_burst(&s->options.experiment) / rate_of(s, sr) * 1e9;
	if (ns < (double)patience_ns / 2)
		return 0;
	fault_raise(&s->fault, FAULT_USAGE, 0,
		    "--rate_limit: one post in %s, with a --timeout of %s",
		    units_format_ns((uint64_t)ns, pause, sizeof(pause)),
		    units_format_ns(patience_ns, patience, sizeof(patience)));
	return fault_fix(&s->fault,
			 "give a higher rate, or a --timeout of twice that on both ends");
}

/* What the schedule asked for, and how well it was kept. */
void pace_measure(const struct strand *t, struct record *rec)
{
	const struct session *s = t->session;
	const struct paced *p = t->round.paced;

	if (!p)
		return;
	rec->rate_limit_gbps =
		rate_gbps(s->options.experiment.rate_limit, rec->message_bytes) / s->strands;
	rec->late_messages = p->late;
	rec->late_max_us = clock_ticks_to_ns(&s->clock, (double)p->latest_ticks) / 1e3;
}

/* Several that ran at once are late as all of them are. */
void pace_add(struct record *sum, const struct record *by)
{
	sum->rate_limit_gbps += by->rate_limit_gbps;
	sum->late_messages += by->late_messages;
	if (by->late_max_us > sum->late_max_us)
		sum->late_max_us = by->late_max_us;
}

/* How well a schedule was kept, or what load there was: what the row has no column for. */
void pace_remark(const struct session *s, const struct session_round *sr)
{
	const struct record *records[] = {sr->measured ? &sr->mine : NULL,
					  sr->theirs_measured ? &sr->theirs : NULL};

	for (unsigned i = 0; i < 2; i++) {
		const struct record *rec = records[i];

		if (rec && rec->rate_limit_gbps > 0)
			report_note(&s->report,
				    "%llu B: %.6g of %.6g Gb/s; %llu of %llu messages posted late, "
				    "by at most %.6g us",
				    (unsigned long long)rec->message_bytes, rec->bandwidth_gbps,
				    rec->rate_limit_gbps, (unsigned long long)rec->late_messages,
				    (unsigned long long)rec->messages, rec->late_max_us);
		if (rec && rec->load_gbps > 0)
			report_note(&s->report, "%llu B: beside a load of %.6g Gb/s",
				    (unsigned long long)rec->message_bytes, rec->load_gbps);
	}
}
