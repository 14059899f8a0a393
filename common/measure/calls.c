// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "measure/calls.h"

/* A latency test has no stream; a test with several kinds of rounds keeps the default API. */
bool calls_are_chosen(const struct test *test)
{
	return !test->latency && !test->kinds;
}

/*
 * True if worker T's QPs or CQs have both the classic and the extended API. A receiver that sleeps
 * on events has a separate loop and no choice.
 */
static bool has_both_apis(const struct meter *t)
{
	if (endpoint_sends(t->worker->ep))
		return t->worker->qps.extended;
	return t->worker->qps.recv.extended && !t->ms->options->experiment.events;
}

/* Set the API of T's next round; in the first warm-up of a stream, start the trial of both. */
void calls_set(struct meter *t, const struct measurement *meas)
{
	const struct measure *ms = t->ms;
	struct round *r = &t->round;

	r->extended = t->extended;
	r->trial = NULL;
	if (!endpoint_wants_extended(ms->ep) || !has_both_apis(t))
		return;
	if (ms->options->experiment.post_api == POST_API_WR)
		r->extended = t->extended = true;
	else if (meas->attr.warmup && !ms->calls_chosen)
		r->trial = &t->trial;
	if (r->trial)
		trial_start(r->trial, r->clock);
}

static const char *api_name(bool sends, bool extended)
{
	return sends      ? extended ? "ibv_wr" : "ibv_post_send"
	       : extended ? "ibv_start_poll"
			  : "ibv_poll_cq";
}

/* All workers of a rail use the API that was faster in the trial of the rail's first worker. */
static void choose_api_on_rail(struct measure *ms, unsigned rail)
{
	struct meter *first = &ms->meter[rail];
	bool extended = trial_decide(&first->trial, first->trial_median);

	for (unsigned i = rail; i < ms->ep->workers; i += ms->ep->rails)
		ms->meter[i].extended |= extended;
}

/* Choose the faster API by the trials, once per session, and report it with both times. */
void calls_choose(struct measure *ms)
{
	const struct meter *t = &ms->meter[0];
	struct report_calls c = {.sends = endpoint_sends(ms->ep)};

	if (ms->calls_chosen || !calls_are_chosen(ms->test))
		return;
	ms->calls_chosen = true;
	for (unsigned rail = 0; rail < ms->ep->rails; rail++)
		choose_api_on_rail(ms, rail);
	c.chosen = api_name(c.sends, t->extended);
	c.other = api_name(c.sends, !t->extended);
	if (t->trial_median[0] && t->trial_median[1]) {
		c.chosen_ns = clock_ticks_to_ns(ms->clock, t->trial_median[t->extended]);
		c.other_ns = clock_ticks_to_ns(ms->clock, t->trial_median[!t->extended]);
	}
	link_alive_start(ms->link);
	report_calls(ms->report, &c);
	link_alive_stop(ms->link);
}
