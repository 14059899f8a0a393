// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * By which calls a stream is posted and polled: ibv_post_send and ibv_poll_cq, which every device
 * has, or ibv_wr_* and ibv_start_poll, which are quicker on some. Where nobody has said which, the
 * warm-up of the first size tries both, and what its first strand has found holds for all of a
 * rail.
 */
#include "session/state.h"

/* Others have no stream, or rounds of several kinds. */
static bool has_choice(const struct session *s)
{
	return !s->test->latency && !s->test->ways;
}

bool calls_wanted(const struct session *s)
{
	return has_choice(s) && s->options.experiment.post_api != POST_API_SEND;
}

static bool sends(const struct session *s)
{
	return endpoint_leads(s) || s->options.experiment.bidirectional;
}

/* Has strand T both, for what it does? Who receives on events has a loop of its own. */
static bool has_both(const struct strand *t)
{
	if (sends(t->session))
		return t->qps.extended;
	return t->qps.recv.extended && !t->session->options.experiment.events;
}

int calls_check(struct strand *t)
{
	const struct session *s = t->session;

	if (!has_choice(s) || s->options.experiment.post_api != POST_API_WR || !sends(s) ||
	    t->qps.extended)
		return 0;
	fault_raise(&t->fault, FAULT_UNAVAILABLE, 0, "--post-api wr: %s has no ibv_wr_* calls",
		    t->rail->hca.info.device);
	return fault_fix(&t->fault, "leave it out, or use --post-api send");
}

void calls_set(struct strand *t, const struct session_round *sr)
{
	const struct session *s = t->session;
	struct round *r = &t->round;

	r->extended = t->extended;
	r->trial = NULL;
	if (!calls_wanted(s) || !has_both(t))
		return;
	if (s->options.experiment.post_api == POST_API_WR)
		r->extended = t->extended = true;
	else if (sr->warmup && !s->calls_settled)
		r->trial = &t->trial;
	if (r->trial)
		trial_start(r->trial, r->clock);
}

static const char *name(bool sends, bool extended)
{
	return sends      ? extended ? "ibv_wr" : "ibv_post_send"
	       : extended ? "ibv_start_poll"
			  : "ibv_poll_cq";
}

/* What the first strand's trial has found holds for those of its rail. */
static void settle_rail(struct session *s, unsigned rail)
{
	struct strand *first = &s->strand[rail];
	bool extended = trial_decide(&first->trial, first->trial_median);

	for (unsigned i = rail; i < s->strands; i += s->rails)
		s->strand[i].extended |= extended;
}

void calls_settle(struct session *s)
{
	const struct strand *t = &s->strand[0];
	struct report_calls c = {.sends = sends(s)};

	if (s->calls_settled || !has_choice(s))
		return;
	s->calls_settled = true;
	for (unsigned rail = 0; rail < s->rails; rail++)
		settle_rail(s, rail);
	c.chosen = name(c.sends, t->extended);
	c.other = name(c.sends, !t->extended);
	if (t->trial_median[0] && t->trial_median[1]) {
		c.chosen_ns = clock_ticks_to_ns(&s->clock, t->trial_median[t->extended]);
		c.other_ns = clock_ticks_to_ns(&s->clock, t->trial_median[!t->extended]);
	}
	report_calls(&s->report, &c);
}
