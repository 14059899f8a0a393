// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "explain/during.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "explain/traffic.h"
#include "explain/watched.h"

#define STALLS_S 2 /* the driver counts whole seconds, of which one may be before the run */

/*
 * Packets came out of order and none was requested again: several paths, no loss. Refuted by RNR
 * NAKs, after which some drivers count what is sent again as out of order.
 */
static void find_several_paths(const struct watched *w)
{
	struct finding *f;

	if (!w->r->reliable || !(w->receiver->event[PORT_LOSS_SEEN] > 0) ||
	    isnan(w->sender->event[PORT_LOSS_NAKS]) || run_sent_again(w->sender))
		return;
	f = finding_add(w->to, "out_of_order", FINDING_NOTE,
			"%.0f packets came to the %s out of order, and none was sent again",
			w->receiver->event[PORT_LOSS_SEEN], w->receiver->name);
	finding_cause(f, "The network has several paths (ECMP, adaptive routing)");
	during_set(f, w->receiver, NAN, PORT_LOSS_SEEN);
}

/* Refuted by RNR NAKs that stand still. */
static void find_no_receive(const struct watched *w)
{
	double naks = w->sender->event[PORT_RNR_RECEIVED], share;
	struct finding *f;

	if (!w->r->receives || !(naks > 0))
		return;
	share = fmin(naks * w->r->rnr_timer_ns / (w->run_ns * w->r->qps), 1);
	f = finding_add(w->to, "receiver_not_ready", watched_level(share),
			"%.0f messages found no receive posted at the %s, and waited %.1f %% of "
			"the run for its RNR timer",
			naks, w->receiver->name, 100 * share);
	finding_cause(f, "The %s posts receives too late", w->receiver->name);
	finding_next(f, "use a larger -r or --recv_post_list, or --threads, and check its NUMA "
			"placement");
	during_set(f, w->sender, share, PORT_RNR_RECEIVED);
}

/* Its NIC could not pass on what it received. */
static bool is_slow_host(const struct watched *w)
{
	const struct run_end *end = w->sink;

	return (w->r->seconds >= STALLS_S && end->event[PORT_PCI_STALLED_WR_S] > 0) ||
	       end->event[PORT_NIC_DISCARDS] > 0 || end->event[PORT_PCI_OVERFLOW] > 0;
}

/* The receiving host is too slow for its port. Refuted by counters that stand still. */
static void find_slow_host(const struct watched *w, double paused_share)
{
	static const enum port_event more[] = {PORT_PCI_OVERFLOW, PORT_PCI_STALLED_WR_S};
	const struct run_end *end = w->sink;
	struct finding *f;

	f = finding_add(w->to, "host_too_slow", FINDING_WARN,
			"the %s's NIC could not pass on all that it received", end->name);
	if (paused_share >= SHARE_SAID)
		text_add(f->text, sizeof(f->text),
			 ", and stopped the %s's port for %.1f %% of the run", w->source->name,
			 100 * fmin(paused_share, 1));
	finding_cause(f, "Its PCIe link or its memory is slower than the port");
	finding_next(f, "check the slot's width and speed, MaxReadReq 4096, relaxed ordering, "
			"iommu=pt and the NUMA node of the buffers; try a smaller --footprint");
	during_set(f, end, paused_share, PORT_NIC_DISCARDS);
	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++)
		finding_evidence(f, port_event_name(more[i]), end->event[more[i]],
				 port_event_unit(more[i]));
}

/* Refuted by a duration that stands still; frames alone say nothing. */
static void find_pause(const struct watched *w, double share, double sent_share)
{
	struct finding *f;

	f = finding_add(w->to, "paused", watched_level(share),
			"the %s's port was stopped for %.1f %% of the run", w->source->name,
			100 * fmin(share, 1));
	if (sent_share >= SHARE_SAID) {
		finding_cause(f, "The %s's port sent the pause frames", w->sink->name);
		finding_next(f, "check the %s's PCIe link, memory, NUMA placement and receives",
			     w->sink->name);
	} else if (isnan(sent_share)) {
		finding_cause(f,
			      "The %s's port or a switch sent the pause frames; which one is "
			      "not known",
			      w->sink->name);
		finding_next(f, "check the pause counters of the %s's port and of the switch",
			     w->sink->name);
	} else {
		finding_cause(f,
			      "A switch sent the pause frames, not the %s: another port is "
			      "congested",
			      w->sink->name);
		finding_next(f, "find the congested port of the switch");
	}
	during_set(f, w->source, share, PORT_PAUSE_RECEIVED_US);
	finding_evidence(f, port_event_name(PORT_PAUSE_SENT_US), w->sink->event[PORT_PAUSE_SENT_US],
			 "us");
}

/*
 * Where the receiving NIC shows that its host is slow, and that it sent the pause frames, that is
 * why the port was stopped.
 */
static void find_stopped(const struct watched *w)
{
	double share = w->source->event[PORT_PAUSE_RECEIVED_US] * 1e3 / w->run_ns;
	double sent_share = w->sink->event[PORT_PAUSE_SENT_US] * 1e3 / w->run_ns;
	bool by_sink = sent_share >= SHARE_SAID, slow = is_slow_host(w);

	if (slow)
		find_slow_host(w, by_sink ? share : NAN);
	if (share >= SHARE_SAID && !(slow && by_sink))
		find_pause(w, share, sent_share);
}

/* Between two ends alone nothing is congested. Refuted by other traffic. */
static void find_congestion(const struct watched *w)
{
	const struct run_end *s = w->source, *r = w->sink;
	struct finding *f;

	if (s->event[PORT_CNP_IGNORED] > 0) {
		f = finding_add(w->to, "ecn_ignored", FINDING_WARN,
				"the %s ignored %.0f congestion notifications", s->name,
				s->event[PORT_CNP_IGNORED]);
		finding_cause(f, "ECN is off on its NIC for this priority");
		finding_next(f, "enable ECN (RP) for this priority on the %s", s->name);
		during_set(f, s, NAN, PORT_CNP_IGNORED);
	}
	if (r->event[PORT_ECN_MARKED] > 0 && r->event[PORT_CNP_SENT] <= 0) {
		f = finding_add(
			w->to, "ecn_unanswered", FINDING_WARN,
			"%.0f packets came to the %s with a congestion mark, and it sent no "
			"notification",
			r->event[PORT_ECN_MARKED], r->name);
		finding_cause(f, "ECN is off on its NIC for this priority");
		finding_next(f, "enable ECN (NP) for this priority on the %s", r->name);
		during_set(f, r, NAN, PORT_ECN_MARKED);
	}
	if (s->event[PORT_CNP_HANDLED] > 0) {
		f = finding_add(w->to, "congestion", FINDING_NOTE,
				"%.0f congestion notifications slowed the %s down",
				s->event[PORT_CNP_HANDLED], s->name);
		finding_cause(f, "Another flow shares a port of the way, or the switch marks too "
				 "early");
		finding_next(f, "measure again without other traffic; check the switch's ECN "
				"thresholds");
		during_set(f, s, NAN, PORT_CNP_HANDLED);
	}
}

static void find_other_traffic(const struct watched *w)
{
	double gbps = run_other_gbps(w->r);
	struct finding *f;

	if (!(gbps > 0))
		return;
	f = finding_add(w->to, "other_traffic", FINDING_NOTE,
			"a port carried %.1f Gb/s that is not this run's", gbps);
	finding_cause(f, "Other programs use it: what it counted may be theirs");
	finding_next(f, "measure again without them");
	during_set(f, w->source, NAN, PORT_SENT_BYTES);
	finding_evidence(f, port_event_name(PORT_RECEIVED_BYTES),
			 w->sink->event[PORT_RECEIVED_BYTES], "bytes");
}

enum limit_by limit_of_finding(const char *code)
{
	static const struct {
		const char *code;
		enum limit_by by;
	} of[] = {
		{"packet_loss", LIMIT_LOSS},
		{"ack_timeouts", LIMIT_LOSS},
		{"receiver_not_ready", LIMIT_RECEIVER},
		{"paused", LIMIT_PAUSE},
		{"host_too_slow", LIMIT_MEMORY},
	};

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		if (strcmp(of[i].code, code) == 0)
			return of[i].by;
	return LIMIT_UNKNOWN;
}

bool finding_shows_limit(const struct finding *f)
{
	return f->share >= SHARE_WARNS && limit_of_finding(f->code) != LIMIT_UNKNOWN &&
	       strcmp(f->code, "ack_timeouts") != 0;
}

/* What concerns the direction from R's sender. */
static void explain_direction(const struct run_facts *r, struct findings *to)
{
	const struct watched w = {.r = r,
				  .sender = r->sender,
				  .receiver = r->receiver,
				  .source = r->source,
				  .sink = r->sink,
				  .to = to,
				  .run_ns = r->seconds * 1e9};

	during_find_resends(&w);
	find_several_paths(&w);
	find_no_receive(&w);
	find_stopped(&w);
	find_congestion(&w);
	find_other_traffic(&w);
}

void explain_events(const struct run_facts *r, struct findings *to)
{
	explain_end(r->sender, to);
	explain_end(r->receiver, to);
	explain_direction(r, to);
	findings_sort(to);
}

void explain_both_ways(const struct run_facts *r, struct findings *to)
{
	struct run_facts back = *r;

	back.sender = r->receiver;
	back.receiver = r->sender;
	back.source = r->sink;
	back.sink = r->source;
	explain_end(r->sender, to);
	explain_end(r->receiver, to);
	explain_direction(r, to);
	explain_direction(&back, to);
	findings_sort(to);
}
