// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What lost packets and late ACKs cost a run. */
#include <math.h>

#include "explain/during.h"
#include "explain/traffic.h"
#include "explain/watched.h"

/* What LEAST to MOST of the run was lost to, of which SHARE is the best that is known. */
struct cost {
	double least, share, most;
	bool measured; /* the share is; else it is as far from one end as from the other */
};

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

/*
 * Refuted by NAKs that stand still. Where the receiver's port saw no gap, they may have come from
 * another receiver.
 */
static void find_loss(const struct watched *w, double naks)
{
	struct cost cost = cost_of_loss(w, naks);
	bool bounds = !cost.measured && cost.most >= TIME_SAID;
	bool agree = watched_agree(naks, w->receiver->event[PORT_LOSS_SEEN]);

	finding_add(
		w->to,
		&(struct finding_facts){
			.code = FINDING_PACKET_LOSS,
			.level = watched_level(cost.share),
			.strength = agree && (cost.measured || cost.least >= EXPLAINS * cost.most)
					    ? FINDING_IS
					    : FINDING_MAY_BE,
			.end = w->sender->name,
			.share = cost.share,
			.value = {watched_event(w->sender, PORT_LOSS_NAKS),
				  watched_event(w->receiver, PORT_LOSS_SEEN),
				  FINDING_WORD("to",
					       w->r->pulls ? w->sender->name : w->receiver->name),
				  FINDING_NUMBER("least", bounds ? cost.least : NAN, "share"),
				  FINDING_NUMBER("most", bounds ? cost.most : NAN, "share"),
				  FINDING_WORD(bounds ? "bounds" : "measured", "")}});
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

	finding_add(w->to,
		    &(struct finding_facts){.code = FINDING_ACK_TIMEOUTS,
					    .level = watched_level(share),
					    .strength = FINDING_MAY_BE,
					    .end = w->sender->name,
					    .share = share,
					    .value = {watched_event(w->sender, PORT_ACK_TIMEOUT),
						      FINDING_WORD("late", w->receiver->name)}});
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
