// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "explain/during.h"

#include <math.h>

#include "base/text.h"
#include "finding/thresholds.h"

static enum finding_level level_of(double share)
{
	return share >= TIME_SAID ? FINDING_WARN : FINDING_NOTE;
}

/* What END counted of EVENT, as a value of a finding. */
static struct finding_value counted(const struct run_end *end, enum port_event event)
{
	return (struct finding_value)FINDING_NUMBER(port_event_row(event)->name, end->event[event],
						    port_event_row(event)->unit);
}

/*
 * True if both ends counted it, so that it was this run's, or another one's between the same ports:
 * ONE end so many, and the other at least half as many.
 */
static bool ends_agree(double one, double other)
{
	return one > 0 && other >= NAKS_AGREE * one;
}

/* The link itself. Refuted by a counter that someone cleared, which is unknown here. */
static void find_link_errors(const struct run_end *end, struct findings *to)
{
	const struct {
		enum port_event event;
		enum finding_code code;
		enum finding_level level;
	} all[] = {
		{PORT_LINK_DOWNED, FINDING_LINK_WENT_DOWN, FINDING_FAULT},
		{PORT_CRC, FINDING_CORRUPT_PACKETS, FINDING_FAULT},
		{PORT_SYMBOL_ERROR, FINDING_LINK_ERRORS,
		 end->event[PORT_SYMBOL_ERROR] < FEW_ERRORS ? FINDING_NOTE : FINDING_WARN},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (end->event[all[i].event] > 0)
			FINDING_ADD(to, .code = all[i].code, .level = all[i].level,
				    .end = end->name, .value = {counted(end, all[i].event)});
}

/*
 * The PCIe link: of the adapter, and of the port above it. Refuted by counters that stand still;
 * they are the slot's alone, so nobody else's traffic makes them grow.
 */
static void find_pci_errors(const struct run_end *end, struct findings *to)
{
	static const char *const names[] = {"correctable", "nonfatal", "fatal"};
	static const enum port_event events[2][3] = {
		{PORT_PCI_CORRECTABLE, PORT_PCI_NONFATAL, PORT_PCI_FATAL},
		{PORT_UPSTREAM_CORRECTABLE, PORT_UPSTREAM_NONFATAL, PORT_UPSTREAM_FATAL},
	};
	struct finding_facts f = {.code = FINDING_PCIE_ERRORS_GROW, .end = end->name};
	double count[3];
	char errors[128] = "";
	unsigned n = 0;

	for (int i = 0; i < 3; i++) {
		/* of both ends of the link; what is not known counts as none */
		count[i] = fmax(end->event[events[0][i]], 0) + fmax(end->event[events[1][i]], 0);
		if (count[i] > 0)
			text_add(errors, sizeof(errors), "%s%.0f %s", errors[0] ? " and " : "",
				 count[i], names[i]);
		for (int at = 0; at < 2; at++)
			if (!isnan(end->event[events[at][i]]))
				f.value[n++] = counted(end, events[at][i]);
	}
	if (!errors[0])
		return;
	f.level = count[2] > 0                             ? FINDING_FAULT
		  : count[1] > 0 || count[0] >= FEW_ERRORS ? FINDING_WARN
							   : FINDING_NOTE;
	f.value[n++] = (struct finding_value)FINDING_WORD("errors", errors);
	f.value[n] =
		(struct finding_value)FINDING_WORD(f.level == FINDING_NOTE ? "few" : "many", "");
	finding_add(to, &f);
}

/* What LEAST to MOST of the run was lost to, of which SHARE is the best that is known. */
struct cost {
	double least, share, most;
	bool measured; /* the share is; else it is as far from one end as from the other */
};

/* The share of its packets that the source of the data sent in vain; NaN: unknown. */
static double wasted_share(const struct run_facts *r)
{
	double sent = r->source->event[PORT_SENT_PACKETS];

	/* Those of the other end would be among them: its data, and its ACKs. */
	return r->both || r->one_port || !(sent > 0) ? NAN : fmax(1 - run_packets(r) / sent, 0);
}

/*
 * After each of so many NAKs, what was in flight is sent again. That takes a round trip, at least
 * (less where a NIC sends only the missing packet), and at most the time that a message was in
 * flight when nothing was missing, or the time that the data leave of the link's. In between, the
 * packets that were sent in vain tell.
 */
static struct cost cost_of_loss(const struct run_facts *r, double naks)
{
	double in_flight = naks * r->sender->completion_ns / (r->seconds * 1e9 * r->qps);
	double link = fmin(r->source->rate_gbps, r->sink->rate_gbps) * run_data_share(r);
	double most = in_flight / (1 + in_flight), wasted = wasted_share(r);
	struct cost c = {
		.least = run_waited_share(r, naks * r->sender->alone_ns),
		.measured = !isnan(wasted),
	};

	most = fmin(fmin(isnan(most) ? 1 : most, r->sender->full_share), 1 - r->gbps / link);
	c.most = fmax(most, c.least);
	c.share = c.measured ? fmin(fmax(wasted, c.least), c.most) : sqrt(c.least * c.most);
	return c;
}

/*
 * Packets were lost. Refuted by NAKs that stand still. Where the receiver's port saw no gap, they
 * may have come from another receiver.
 */
static void find_loss(const struct run_facts *r, struct findings *to)
{
	double naks = r->sender->event[PORT_LOSS_NAKS];
	struct cost cost = cost_of_loss(r, naks);
	bool bounds = !cost.measured && cost.most >= TIME_SAID;
	bool sure = ends_agree(naks, r->receiver->event[PORT_LOSS_SEEN]) &&
		    (cost.measured || cost.least >= EXPLAINS * cost.most);

	if (!r->reliable || !(naks > 0))
		return;
	FINDING_ADD(to, .code = FINDING_PACKET_LOSS, .level = level_of(cost.share),
		    .strength = sure ? FINDING_IS : FINDING_MAY_BE, .end = r->sender->name,
		    .share = cost.share,
		    .value = {counted(r->sender, PORT_LOSS_NAKS),
			      counted(r->receiver, PORT_LOSS_SEEN),
			      run_carrier(r),
			      FINDING_WORD("to", (r->pulls ? r->sender : r->receiver)->name),
			      FINDING_NUMBER("least", bounds ? cost.least : NAN, "share"),
			      FINDING_NUMBER("most", bounds ? cost.most : NAN, "share"),
			      FINDING_WORD(bounds ? "bounds" : "measured", "")});
}

/*
 * The last packets were lost, or the peer was late. rxe also counts timeouts that stop nothing, so
 * they have a share only where the sender is known to have waited.
 */
static void find_timeouts(const struct run_facts *r, struct findings *to)
{
	double timeouts = r->sender->event[PORT_ACK_TIMEOUT];
	double share =
		isnan(r->sender->full_share) ? NAN : run_waited_share(r, timeouts * r->ack_timeout_ns);

	if (!r->reliable || !(timeouts > 0))
		return;
	FINDING_ADD(to, .code = FINDING_ACK_TIMEOUTS, .level = level_of(share),
		    .strength = FINDING_MAY_BE, .end = r->sender->name, .share = share,
		    .value = {counted(r->sender, PORT_ACK_TIMEOUT), run_carrier(r),
			      FINDING_WORD("late", r->receiver->name)});
}

/*
 * Packets came out of order and none was requested again: several paths, no loss. Refuted by RNR
 * NAKs, after which some drivers count what is sent again as out of order.
 */
static void find_several_paths(const struct run_facts *r, struct findings *to)
{
	if (r->reliable && r->receiver->event[PORT_LOSS_SEEN] > 0 &&
	    !isnan(r->sender->event[PORT_LOSS_NAKS]) && !run_sent_again(r->sender))
		FINDING_ADD(to, .code = FINDING_OUT_OF_ORDER, .end = r->receiver->name,
			    .value = {counted(r->receiver, PORT_LOSS_SEEN)});
}

/*
 * Each waits for the timer, and costs software as much as another message does. More than all QPs
 * can have waited for, or in a run that needs no receives, they are others'. Refuted by RNR NAKs
 * that stand still. Where the receiver's port does not count that it had no
 * receive, they may have come from another receiver.
 */
static void find_no_receive(const struct run_facts *r, struct findings *to)
{
	double naks = r->sender->event[PORT_RNR_RECEIVED];
	bool agree = ends_agree(naks, r->receiver->event[PORT_NO_RECEIVE]);
	double waited = naks * r->rnr_timer_ns / 1e9 / r->qps;
	double again = r->software ? naks / (naks + (double)r->messages) : 0;
	double share = fmin(fmax(waited / r->seconds, again), 1);

	if (!(naks > 0))
		return;
	if (!r->receives || waited > fmax(r->seconds, r->sender->counted_s)) {
		FINDING_ADD(to, .code = FINDING_OTHER_TRAFFIC, .end = r->sender->name,
			    .value = {{"foreign", NULL, naks, ""}});
		return;
	}
	FINDING_ADD(to, .code = FINDING_RECEIVER_NOT_READY, .level = level_of(share),
		    .strength = agree ? FINDING_IS : FINDING_MAY_BE, .end = r->sender->name,
		    .share = share,
		    .value = {counted(r->sender, PORT_RNR_RECEIVED),
			      counted(r->receiver, PORT_NO_RECEIVE),
			      FINDING_WORD("late", r->receiver->name)});
}

/* The sink's NIC could not pass on what it received. */
static bool is_slow_host(const struct run_facts *r)
{
	const double *event = r->sink->event;

	return (r->seconds >= STALLS_S && event[PORT_PCI_STALLED_WR_S] > 0) ||
	       event[PORT_NIC_DISCARDS] > 0 || event[PORT_PCI_OVERFLOW] > 0;
}

/* The share of the run that US of pause frames are. */
static double paused_share(const struct run_facts *r, double us)
{
	return us * 1e3 / (r->seconds * 1e9);
}

/*
 * The receiving host is too slow for its port, which stopped the source for the share PAUSED; NaN:
 * unknown. Refuted by counters that stand still.
 */
static void find_slow_host(const struct run_facts *r, double paused, struct findings *to)
{
	FINDING_ADD(to, .code = FINDING_HOST_TOO_SLOW, .level = FINDING_WARN,
		    .strength = FINDING_MAY_BE, .end = r->sink->name, .share = paused,
		    .value = {counted(r->sink, PORT_NIC_DISCARDS),
			      counted(r->sink, PORT_PCI_OVERFLOW),
			      counted(r->sink, PORT_PCI_STALLED_WR_S),
			      FINDING_WORD("source", r->source->name)});
}

/*
 * Refuted by a duration that stands still; frames alone say nothing. Which priority the run's
 * packets have is not known, so it may have been another that was stopped.
 */
static void find_pause(const struct run_facts *r, double paused, double sent, struct findings *to)
{
	const char *by = sent >= TIME_SAID ? "by_sink" : isnan(sent) ? "by_any" : "by_switch";

	FINDING_ADD(to, .code = FINDING_PAUSED, .level = level_of(paused),
		    .strength = FINDING_MAY_BE, .end = r->source->name, .share = paused,
		    .value = {counted(r->source, PORT_PAUSE_RECEIVED_US),
			      counted(r->sink, PORT_PAUSE_SENT_US),
			      FINDING_WORD("sink", r->sink->name), FINDING_WORD(by, "")});
}

/*
 * Where the receiving NIC shows that its host is slow, and that it sent the pause frames, that is
 * why the port was stopped.
 */
static void find_stopped(const struct run_facts *r, struct findings *to)
{
	double paused = paused_share(r, r->source->event[PORT_PAUSE_RECEIVED_US]);
	double sent = paused_share(r, r->sink->event[PORT_PAUSE_SENT_US]);
	bool by_sink = sent >= TIME_SAID, slow = is_slow_host(r);

	if (slow)
		find_slow_host(r, by_sink ? paused : NAN, to);
	if (paused >= TIME_SAID && !(slow && by_sink))
		find_pause(r, paused, sent, to);
}

/* Between two ends alone nothing is congested. Refuted by other traffic. */
static void find_congestion(const struct run_facts *r, struct findings *to)
{
	const struct run_end *source = r->source, *sink = r->sink;

	if (source->event[PORT_CNP_IGNORED] > 0)
		FINDING_ADD(to, .code = FINDING_ECN_IGNORED, .level = FINDING_WARN,
			    .end = source->name, .value = {counted(source, PORT_CNP_IGNORED)});
	if (sink->event[PORT_ECN_MARKED] > 0 && sink->event[PORT_CNP_SENT] <= 0)
		FINDING_ADD(to, .code = FINDING_ECN_UNANSWERED, .level = FINDING_WARN,
			    .end = sink->name, .value = {counted(sink, PORT_ECN_MARKED)});
	if (source->event[PORT_CNP_HANDLED] > 0)
		FINDING_ADD(to, .code = FINDING_CONGESTION, .strength = FINDING_MAY_BE,
			    .end = source->name, .value = {counted(source, PORT_CNP_HANDLED)});
}

static void find_other_traffic(const struct run_facts *r, struct findings *to)
{
	struct traffic other = run_other_traffic(r);

	if (other.gbps > 0)
		FINDING_ADD(
			to, .code = FINDING_OTHER_TRAFFIC,
			.strength = other.surely ? FINDING_IS : FINDING_MAY_BE,
			.end = r->source->name,
			.value = {counted(r->source, PORT_SENT_BYTES),
				  counted(r->sink, PORT_RECEIVED_BYTES),
				  FINDING_NUMBER("other", other.gbps, "Gb/s"),
				  FINDING_WORD("is_not", other.surely ? "is not" : "may not be")});
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
	find_loss(r, to);
	find_timeouts(r, to);
	find_several_paths(r, to);
	find_no_receive(r, to);
	find_stopped(r, to);
	find_congestion(r, to);
	find_other_traffic(r, to);
}

void explain_events(const struct run_facts *r, struct findings *to)
{
	find_link_errors(r->sender, to);
	find_pci_errors(r->sender, to);
	find_link_errors(r->receiver, to);
	find_pci_errors(r->receiver, to);
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
	explain_events(r, to);
	explain_direction(&back, to);
	findings_sort(to);
}

/*
 * What healthy pairs have with one switch between them, SEND and WRITE, and what operators accept,
 * all in us. EDR, NDR: vendors' guides to bring clusters up; accepted: ngc_multinode_perf.
 */
static const struct {
	double gbps, low, high;
} seen[] = {{100, 1.0, 1.5}, {400, 0.8, 1.1}};

#define ACCEPTED_US       2.5
#define ACCEPTED_WHOLE_US 4.5
#define KNOWN_FROM_GBPS   100 /* nothing is known of slower links */

void latency_judge(const struct latency_facts *l, struct findings *to)
{
	double accepted = l->whole_trip ? ACCEPTED_WHOLE_US : ACCEPTED_US;
	struct finding_value link = FINDING_NUMBER("link", l->rate_gbps, "Gb/s");
	double low = NAN, high = accepted;

	if (!(l->rate_gbps >= KNOWN_FROM_GBPS) || !(l->median_us > 0))
		return;
	for (size_t i = 0; i < sizeof(seen) / sizeof(seen[0]); i++)
		if (l->infiniband && !l->whole_trip && l->rate_gbps == seen[i].gbps) {
			low = seen[i].low;
			high = seen[i].high;
		}
	finding_add(
		to,
		&(struct finding_facts){
			.code = l->median_us > high ? FINDING_LATENCY_ABOVE_TYPICAL
						    : FINDING_LATENCY_TYPICAL,
			.level = l->median_us > accepted ? FINDING_WARN : FINDING_NOTE,
			.value = {FINDING_NUMBER("median", l->median_us, "us"),
				  FINDING_NUMBER("low", low, "us"),
				  FINDING_NUMBER(isnan(low) ? "accepted" : "high", high, "us"),
				  link,
				  FINDING_WORD("kind", l->infiniband ? "InfiniBand" : "RoCE")}});
}
