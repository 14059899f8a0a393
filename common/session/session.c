// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The session of one client, at either end. */
#include "base/phase.h"
#include "base/units.h"
#include "endpoint/rail.h"
#include "endpoint/worker.h"
#include "measure/meter.h"
#include "session/program.h"
#include "verbs/transport.h"

/* Nothing is made for an iteration yet; what others have shown stays. */
static void session_prepare(struct session *s)
{
	struct program *p = s->program;

	s->ep = (struct endpoint){.test = p->test,
				  .options = &p->options,
				  .fault = &p->fault,
				  .clock = &p->clock,
				  .server = p->server};
	s->ms = (struct measure){
		.test = p->test,
		.options = &p->options,
		.fault = &p->fault,
		.ep = &s->ep,
		.link = &s->link,
		.report = &p->report,
		.audience = {.interval = report_interval,
			     .progress = report_live,
			     .live = p->report.tty,
			     .size = session_show_ends,
			     .round = report_round,
			     .repeated = report_repeated},
		.clock = &p->clock,
		.steal = &p->steal,
		.gates = &p->gates,
		.repeat = &p->repeat,
		.measured = s->ms.measured,
		.verdict = s->ms.verdict,
		.badness = s->ms.badness,
	};
	s->link.interrupted = false;
	s->link.limit_ns = 0;
	s->link.timeout_ns = p->options.local.timeout_ns;
}

void session_init(struct session *s, struct program *p)
{
	*s = (struct session){
		.program = p,
		.link = {.oob = OOB_EMPTY, .stop = &p->stop, .fault = &p->fault},
	};
	session_prepare(s);
}

/* --wait_destroy: the run is over, and its QPs stay for a while. Ends early on a signal. */
static void wait_destroy(const struct session *s)
{
	uint64_t ns = s->ep.options->local.wait_destroy_ns;
	struct fault ignored = {0};

	if (ns && s->ep.workers && !s->link.stop->signal && !fault_is(s->link.fault))
		stop_wait(s->link.stop, -1, 0, clock_now_ns() + ns, &ignored);
}

static void release_all_made(struct session *s)
{
	endpoint_quiesce(&s->ep);
	measure_release(&s->ms);
	endpoint_release(&s->ep);
}

void session_release(struct session *s)
{
	pool_release(&s->link.watcher);
	oob_release(&s->link.oob);
	wait_destroy(s);
	release_all_made(s);
}

void session_unmake(struct session *s)
{
	struct program *p = s->program;

	measure_set_point(&s->ms);
	pool_release(&s->link.watcher);
	release_all_made(s);
	p->options = p->asked;
	session_prepare(s);
	oob_local_address(&s->link.oob, &s->ep.local);
}

void session_name_reporter(struct session *s)
{
	struct fault *f = s->link.fault;
	const char *peer = s->link.oob.peer;

	if (f->from_peer)
		snprintf(f->reporter, sizeof(f->reporter), "the %s%s%s%s",
			 s->ep.server ? "client" : "server", peer[0] ? " (" : "", peer,
			 peer[0] ? ")" : "");
}

/* Enter STAGE, unless an earlier experiment of the sweep has reached a later one. */
static void enter_stage(struct session *s, enum session_stage stage)
{
	if (s->stage < stage)
		s->stage = stage;
}

int session_open(struct session *s)
{
	struct experiment *e = &s->ep.options->experiment;
	uint64_t size = e->size_bytes;
	int rc;

	enter_stage(s, SESSION_OPENING);
	/* The watcher's thread is made before one of this end is pinned. */
	if (pool_init(&s->link.watcher, 2, s->link.fault))
		return -1;
	/* CUDA's driver may take long to start. */
	if (s->ep.server || s->program->point)
		link_alive_start(&s->link);
	rc = endpoint_open(&s->ep);
	link_alive_stop(&s->link);
	if (rc)
		return -1;
	enter_stage(s, SESSION_AGREEING);
	if (!s->ep.server && (s->ms.report->trial || !options_given(s->ep.options, "tx-depth")))
		s->ep.default_depth = 1;
	if (endpoint_check_devices(&s->ep) ||
	    endpoint_fit_depth(&s->ep, UINT64_MAX))
		return -1;
	if (e->size_bytes != size)
		report_note(s->ms.report, "messages of %s, not %s, which are larger than %s sends",
			    units_size(e->size_bytes).text, units_size(size).text,
			    s->ep.rail[0].hca.info.device);
	if (!s->ep.server && experiment_transport(e)->efa &&
	    !options_given(s->ep.options, "connection"))
		report_note(s->ms.report, "transport SRD: %s is an EFA, which has no other",
			    s->ep.rail[0].hca.info.device);
	command_line_ignored(s->program, endpoint_iwarp(&s->ep)                        ? TRAIT_IWARP
					 : s->ep.rail[0].hca.info.fabric == FABRIC_EFA ? TRAIT_EFA
										       : 0);
	return 0;
}

static struct report_effective effective_values(const struct measure *ms)
{
	const struct endpoint *ep = ms->ep;
	const struct experiment *e = &ep->options->experiment;
	const struct qp_set *qps = &ep->worker[0].qps;
	const struct qp_route *route = &ep->rail[0].route;
	unsigned reads = endpoint_leads(ep) ? route->reads_sent : route->reads_answered;
	uint64_t first = plan_first_size(e);

	return (struct report_effective){
		.mtu_bytes = ep->rail[0].route.mtu_bytes,
		.tx_depth = qps->tx_depth,
		.rx_depth = qps->rx_depth,
		.inline_bytes = qps->inline_bytes,
		.cq_mod = round_plan(&ms->meter[0], first, true).cq_mod,
		.warmup = plan_warmup(e, first, ep->test->latency),
		.outs = operation_fetches(&ep->test->operation) ? reads : 0,
		.asked_bytes = ep->asked_bytes,
		.connected_by = e->rdma_cm ? "rdma_cm" : "tcp",
		.calls = endpoint_calls(ep),
		.share = endpoint_share(ep),
	};
}

void session_show_ends(struct measure *ms)
{
	const struct endpoint *ep = ms->ep;
	const struct experiment *e = &ep->options->experiment;
	struct report_effective effect = effective_values(ms);
	char why[160];
	struct report_ends ends = {
		.same = ms->at > 0,
		.rails = ep->rails,
		.threads = ep->workers / ep->rails,
		.first_bytes = plan_first_size(e),
		.last_bytes = e->sweep ? ep->largest_bytes : e->size_bytes,
		.effective = &effect,
	};

	for (unsigned i = 0; i < ep->rails; i++) {
		ends.mine[i] = &ep->rail[i].mine;
		ends.theirs[i] = &ep->rail[i].theirs;
		/* of the first thread: perftest's banner has their numbers */
		ends.my_qps[i] = &ep->worker[i].mine;
		ends.their_qps[i] = &ep->worker[i].theirs;
	}
	link_alive_start(ms->link);
	if (ep->asked_bytes)
		report_note(ms->report,
			    "message size limited to %s: a datagram is not larger than the MTU",
			    units_size(ep->largest_bytes).text);
	report_connected(ms->report, &ends);
	if (ep->cuts[0] && ms->options->output.verbose)
		report_note(ms->report, "cut to what %s has: %s", ep->rail[0].hca.info.device,
			    ep->cuts);
	if (effect.calls && ms->options->output.verbose)
		report_note(ms->report, "%s by %s%s", endpoint_sends(ep) ? "posts" : "polls",
			    effect.calls, endpoint_calls_why(ep));
	if (effect.share && (ms->options->output.verbose || options_given(ep->options, "share")))
		report_note(ms->report, "%s", endpoint_share_why(ep, why, sizeof(why)));
	link_alive_stop(ms->link);
}

int session_leave(struct session *s)
{
	json_t *bye;

	fault_phase(&s->program->fault, PHASE_LEAVE);
	if (link_send(&s->link, message_new("bye")) || link_expect(&s->link, "bye", &bye))
		return -1;
	json_decref(bye);
	return 0;
}

int session_agree(struct session *s)
{
	json_t *m;
	int rc;

	if (session_open(s))
		return -1;
	m = handshake_hello(&s->ms);
	if (!m)
		return -1;
	if (link_send(&s->link, m) || link_expect(&s->link, "welcome", &m))
		return -1;
	rc = handshake_apply_welcome(&s->ms, m);
	json_decref(m);
	return rc;
}
