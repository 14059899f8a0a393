// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "explain/during.h"

#include <math.h>

#include "explain/traffic.h"
#include "explain/watched.h"

/*
 * Packets came out of order and none was requested again: several paths, no loss. Refuted by RNR
 * NAKs, after which some drivers count what is sent again as out of order.
 */
static void find_several_paths(const struct watched *w)
{
	if (!w->r->reliable || !(w->receiver->event[PORT_LOSS_SEEN] > 0) ||
	    isnan(w->sender->event[PORT_LOSS_NAKS]) || run_sent_again(w->sender))
		return;
	finding_add(w->to,
		    &(struct finding_facts){.code = FINDING_OUT_OF_ORDER,
					    .end = w->receiver->name,
					    .value = {watched_event(w->receiver, PORT_LOSS_SEEN)}});
}

/*
 * Refuted by RNR NAKs that stand still. Where the receiver's port does not count that it had no
 * receive, they may have come from another receiver.
 */
static void find_no_receive(const struct watched *w)
{
	double naks = w->sender->event[PORT_RNR_RECEIVED], share;
	bool agree = watched_agree(naks, w->receiver->event[PORT_NO_RECEIVE]);

	if (!w->r->receives || !(naks > 0))
		return;
	share = fmin(naks * w->r->rnr_timer_ns / (w->run_ns * w->r->qps), 1);
	finding_add(w->to,
		    &(struct finding_facts){.code = FINDING_RECEIVER_NOT_READY,
					    .level = watched_level(share),
					    .strength = agree ? FINDING_IS : FINDING_MAY_BE,
					    .end = w->sender->name,
					    .share = share,
					    .value = {watched_event(w->sender, PORT_RNR_RECEIVED),
						      watched_event(w->receiver, PORT_NO_RECEIVE),
						      FINDING_WORD("late", w->receiver->name)}});
}

/* Its NIC could not pass on what it received. */
static bool is_slow_host(const struct watched *w)
{
	const struct run_end *end = w->sink;

	return (w->r->seconds >= STALLS_S && end->event[PORT_PCI_STALLED_WR_S] > 0) ||
	       end->event[PORT_NIC_DISCARDS] > 0 || end->event[PORT_PCI_OVERFLOW] > 0;
}

/* How long pause frames stopped END's port (SENT: made it stop the other side). */
struct pause {
	double share; /* of the run; NaN: unknown */
	bool own;     /* in the priority of the run's packets; else in the one stopped longest */
};

static struct pause pause_of(const struct watched *w, const struct run_end *end, bool sent)
{
	double own = end->event[sent ? PORT_OWN_PAUSE_SENT_US : PORT_OWN_PAUSE_RECEIVED_US];
	double any = end->event[sent ? PORT_PAUSE_SENT_US : PORT_PAUSE_RECEIVED_US];

	return (struct pause){(isnan(own) ? any : own) * 1e3 / w->run_ns, !isnan(own)};
}

/* The receiving host is too slow for its port. Refuted by counters that stand still. */
static void find_slow_host(const struct watched *w, struct pause paused)
{
	finding_add(w->to,
		    &(struct finding_facts){.code = FINDING_HOST_TOO_SLOW,
					    .level = FINDING_WARN,
					    .strength = paused.own ? FINDING_IS : FINDING_MAY_BE,
					    .end = w->sink->name,
					    .share = paused.share,
					    .value = {watched_event(w->sink, PORT_NIC_DISCARDS),
						      watched_event(w->sink, PORT_PCI_OVERFLOW),
						      watched_event(w->sink, PORT_PCI_STALLED_WR_S),
						      FINDING_WORD("source", w->source->name)}});
}

/* Refuted by a duration that stands still; frames alone say nothing. */
static void find_pause(const struct watched *w, struct pause paused, double sent)
{
	const char *by = sent >= TIME_SAID ? "by_sink" : isnan(sent) ? "by_any" : "by_switch";

	finding_add(w->to,
		    &(struct finding_facts){
			    .code = FINDING_PAUSED,
			    .level = watched_level(paused.share),
			    .strength = paused.own ? FINDING_IS : FINDING_MAY_BE,
			    .end = w->source->name,
			    .share = paused.share,
			    .value = {watched_event(w->source, PORT_PAUSE_RECEIVED_US),
				      watched_event(w->source, PORT_OWN_PAUSE_RECEIVED_US),
				      watched_event(w->sink, PORT_PAUSE_SENT_US),
				      FINDING_WORD("sink", w->sink->name), FINDING_WORD(by, ""),
				      FINDING_WORD(paused.own ? "own" : "own_unknown", "")}});
}

/*
 * Where the receiving NIC shows that its host is slow, and that it sent the pause frames, that is
 * why the port was stopped.
 */
static void find_stopped(const struct watched *w)
{
	struct pause paused = pause_of(w, w->source, false), none = {NAN, false};
	double sent = pause_of(w, w->sink, true).share;
	bool by_sink = sent >= TIME_SAID, slow = is_slow_host(w);

	if (slow)
		find_slow_host(w, by_sink ? paused : none);
	if (paused.share >= TIME_SAID && !(slow && by_sink))
		find_pause(w, paused, sent);
}

/* Between two ends alone nothing is congested. Refuted by other traffic. */
static void find_congestion(const struct watched *w)
{
	const struct run_end *s = w->source, *r = w->sink;

	if (s->event[PORT_CNP_IGNORED] > 0)
		finding_add(w->to,
			    &(struct finding_facts){.code = FINDING_ECN_IGNORED,
						    .level = FINDING_WARN,
						    .end = s->name,
						    .value = {watched_event(s, PORT_CNP_IGNORED)}});
	if (r->event[PORT_ECN_MARKED] > 0 && r->event[PORT_CNP_SENT] <= 0)
		finding_add(w->to,
			    &(struct finding_facts){.code = FINDING_ECN_UNANSWERED,
						    .level = FINDING_WARN,
						    .end = r->name,
						    .value = {watched_event(r, PORT_ECN_MARKED)}});
	if (s->event[PORT_CNP_HANDLED] > 0)
		finding_add(w->to,
			    &(struct finding_facts){.code = FINDING_CONGESTION,
						    .strength = FINDING_MAY_BE,
						    .end = s->name,
						    .value = {watched_event(s, PORT_CNP_HANDLED)}});
}

static void find_other_traffic(const struct watched *w)
{
	struct traffic other = run_other_traffic(w->r);

	if (!(other.gbps > 0))
		return;
	finding_add(w->to, &(struct finding_facts){
				   .code = FINDING_OTHER_TRAFFIC,
				   .strength = other.surely ? FINDING_IS : FINDING_MAY_BE,
				   .end = w->source->name,
				   .value = {watched_event(w->source, PORT_SENT_BYTES),
					     watched_event(w->sink, PORT_RECEIVED_BYTES),
					     FINDING_NUMBER("other", other.gbps, "Gb/s"),
					     FINDING_WORD("is_not", other.surely ? "is not"
										 : "may not be")}});
}

enum finding_code limit_of_finding(enum finding_code code)
{
	switch (code) {
	case FINDING_PACKET_LOSS:
	case FINDING_ACK_TIMEOUTS:
		return LIMIT_LOSS;
	case FINDING_RECEIVER_NOT_READY:
		return LIMIT_RECEIVER;
	case FINDING_PAUSED:
		return LIMIT_PAUSE;
	case FINDING_HOST_TOO_SLOW:
		return LIMIT_MEMORY;
	default:
		return LIMIT_UNKNOWN;
	}
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
