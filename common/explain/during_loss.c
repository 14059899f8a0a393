// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What lost packets and late ACKs cost a run. */
#include <math.h>

#include "base/text.h"
#include "explain/during.h"
#include "explain/traffic.h"
#include "explain/watched.h"

/* What LEAST to MOST of the run was lost to, of which SHARE is the best that is known. */
struct cost {
	double least, share, most;
	bool measured; /* the share is; else it is as far from one end as from the other */
};

static void add_share(struct finding *f, double share)
{
	if (share >= SHARE_SAID)
		text_add(f->text, sizeof(f->text), ", which took about %.1f %% of the run",
			 100 * share);
}

/* The share of the run that NS of one QP are; at most that in which the sender waited. */
static double waited_share(const struct watched *w, double ns)
{
	double share = ns / (w->run_ns * w->r->qps);

	if (share > w->sender->full_share)
		share = w->sender->full_share;
	return share > 1 ? 1 : share;
}

/* The share of its packets that the source of the data sent in vain; NaN: unknown. */
static double wasted_share(const struct watched *w)
{
	double sent = w->source->event[PORT_SENT_PACKETS];

	/* Those of the other end would be among them: its data, and its ACKs. */
	return w->r->both || w->r->one_port || !(sent > 0) ? NAN
							   : fmax(1 - run_packets(w->r) / sent, 0);
}

/*
 * After each of so many NAKs, what was in flight is sent again. That takes a round trip, at least
 * (less where a NIC sends only the missing packet), and at most the time that a message was in
 * flight when nothing was missing, or the time that the data leave of the link's. In between, the
 * packets that were sent in vain tell.
 */
static struct cost cost_of_loss(const struct watched *w, double naks)
{
	double in_flight = naks * w->sender->completion_ns / (w->run_ns * w->r->qps);
	double link = fmin(w->source->rate_gbps, w->sink->rate_gbps) * run_data_share(w->r);
	double most = in_flight / (1 + in_flight), wasted = wasted_share(w);
	struct cost c = {
		.least = waited_share(w, naks * w->sender->alone_ns),
		.measured = !isnan(wasted),
	};

	most = fmin(fmin(isnan(most) ? 1 : most, w->sender->full_share), 1 - w->r->gbps / link);
	c.most = fmax(most, c.least);
	c.share = c.measured ? fmin(fmax(wasted, c.least), c.most) : sqrt(c.least * c.most);
	return c;
}

/* Refuted by NAKs that stand still. */
static void find_loss(const struct watched *w, double naks)
{
	struct cost cost = cost_of_loss(w, naks);
	double share = cost.share;
	struct finding *f;

	f = finding_add(w->to, "packet_loss", watched_level(share),
			"packets to the %s were lost: %.0f NAKs for a missing packet",
			w->r->pulls ? w->sender->name : w->receiver->name, naks);
	if (cost.measured || !(cost.most >= SHARE_SAID))
		add_share(f, share);
	else
		text_add(f->text, sizeof(f->text), ", which took %.1f to %.1f %% of the run",
			 100 * cost.least, 100 * cost.most);
	finding_cause(f, "A switch or a NIC drops packets where neither PFC nor ECN holds the "
			 "sender back, or a cable is bad");
	finding_next(f, "check PFC and ECN along the path (trust mode, the DSCP of -T), and the "
			"discards of the switch ports");
	during_set(f, w->sender, share, PORT_LOSS_NAKS);
	finding_evidence(f, port_event_name(PORT_LOSS_SEEN), w->receiver->event[PORT_LOSS_SEEN],
			 "");
}

/*
 * The last packets were lost, or the peer was late. rxe also counts timeouts that stop nothing, so
 * they have a share only where the sender is known to have waited.
 */
static void find_timeouts(const struct watched *w, double timeouts)
{
	double share = isnan(w->sender->full_share)
			       ? NAN
			       : waited_share(w, timeouts * w->r->ack_timeout_ns);
	struct finding *f;

	f = finding_add(w->to, "ack_timeouts", watched_level(share),
			"no ACK came in time %.0f times", timeouts);
	add_share(f, share);
	finding_cause(f,
		      "The last packets of a burst or their ACKs were lost, or the %s answered "
		      "late (soft-RoCE on a busy host)",
		      w->receiver->name);
	finding_next(f, "check the discards of NICs and switch ports, and the load of the %s",
		     w->receiver->name);
	during_set(f, w->sender, share, PORT_ACK_TIMEOUT);
}

void during_find_resends(const struct watched *w)
{
	double naks = w->sender->event[PORT_LOSS_NAKS];
	double timeouts = w->sender->event[PORT_ACK_TIMEOUT];

	if (!w->r->reliable)
		return;
	if (naks > 0)
		find_loss(w, naks);
	if (timeouts > 0)
		find_timeouts(w, timeouts);
}
