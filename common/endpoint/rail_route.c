// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The route between the ends, by the options: link layer, LID, P_Key, the fields of a GRH. */

#include <stdio.h>
#include <string.h>

#include "base/phase.h"
#include "endpoint/rail.h"
#include "plan/test.h"
#include "verbs/pkey.h"

int rail_check_link(struct endpoint *ep, const struct rail *r)
{
	const struct local_options *l = &ep->options->local;
	const struct hca_port *p = &r->hca.info;
	const char *wanted = l->link == LINK_IB ? "InfiniBand" : "Ethernet";
	const char *link = fabric_row(p->fabric)->link;

	fault_phase(ep->fault, PHASE_DEVICE);
	if (l->link != LINK_ANY && strcmp(link, wanted) != 0) {
		fault_raise(ep->fault, FAULT_USAGE, 0, "--force-link %s: %s port %u is %s",
			    l->link == LINK_IB ? "IB" : "Ethernet", p->device, p->port, link);
		return fault_fix(ep->fault,
				 "choose a device with an %s port (-d); `rdmark list` shows them",
				 wanted);
	}
	if (l->dlid != EXPERIMENT_AUTO && p->fabric != FABRIC_INFINIBAND)
		return fault_usage(ep->fault, "omit it", "--dlid: %s port %u is %s and has no LIDs",
				   p->device, p->port, link);
	if (l->dlid != EXPERIMENT_AUTO && ep->options->experiment.rdma_cm)
		return fault_usage(ep->fault, "omit one of the two: rdma_cm finds the path itself",
				   "--dlid cannot be used with -R/--rdma_cm");
	return 0;
}

static bool pkey_given(const struct endpoint *ep)
{
	return ep->options->local.pkey_index != EXPERIMENT_AUTO;
}

/* True if nobody chooses, the user or rdma_cm, and there are partitions. */
static bool pkey_by_default(const struct endpoint *ep, const struct rail *r)
{
	return !pkey_given(ep) && !ep->options->experiment.rdma_cm &&
	       r->hca.info.fabric == FABRIC_INFINIBAND;
}

int rail_pkey(struct endpoint *ep, const struct rail *r, uint16_t *key)
{
	*key = 0;
	return pkey_given(ep) ? pkey_at(&r->hca, ep->options->local.pkey_index, true, key,
				     ep->fault) : 0;
}

uint16_t rail_default_pkey(const struct endpoint *ep, const struct rail *r)
{
	return pkey_by_default(ep, r) ? pkey_read(&r->hca, 0) : 0;
}

/* Raise that the key MINE of this end and THEIRS of the peer cannot communicate. Returns -1. */
static int raise_apart(struct endpoint *ep, const struct rail *r, unsigned mine, unsigned theirs)
{
	const char *here = ep->server ? "server" : "client",
		   *there = ep->server ? "client" : "server";

	fault_raise(ep->fault, endpoint_misfit(ep, "pkey_index"), 0,
		    "the two ends %s: P_Key 0x%04x of the %s's %s, 0x%04x of the %s's",
		    mine == theirs ? "are limited members of their partition"
				   : "use different partitions",
		    mine, here, r->hca.info.device, theirs, there);
	if (mine == theirs)
		fault_cause(ep->fault, "A limited member communicates with full members only");
	return fault_fix(ep->fault,
			 "choose another partition with --pkey_index, at one end only: the other "
			 "end finds it; or ask who keeps the subnet manager's partitions.conf "
			 "for one with both ports, one of them as a full member");
}

int rail_agree_on_pkey(struct endpoint *ep, struct rail *r, uint16_t theirs, uint16_t by_default)
{
	uint16_t mine = rail_default_pkey(ep, r);
	struct fault none = {0};

	r->route.pkey_index = 0;
	if (!pkey_given(ep)) {
		if (theirs)
			return pkey_find(&r->hca, theirs, &r->route.pkey_index, ep->fault);
		if (!mine && pkey_by_default(ep, r))
			return pkey_at(&r->hca, 0, false, &mine, ep->fault); /* an empty entry */
		if (!mine || !by_default ||
		    !pkey_find(&r->hca, by_default, &r->route.pkey_index, &none))
			return 0;
		return raise_apart(ep, r, mine, by_default);
	}
	r->route.pkey_index = (unsigned)ep->options->local.pkey_index;
	if (rail_pkey(ep, r, &mine))
		return -1;
	return !theirs || pkey_fits(mine, theirs) ? 0 : raise_apart(ep, r, mine, theirs);
}

struct operation_depth rail_reads(const struct endpoint *ep, const struct rail *r)
{
	if (r->hca.info.fabric == FABRIC_EFA) /* the send queue alone limits them */
		return (struct operation_depth){0};
	return operation_depth(&ep->test->operation, &ep->options->experiment, &r->hca.info.attr);
}

void rail_agree_on_reads(struct endpoint *ep, struct rail *r, const struct operation_depth *theirs)
{
	struct operation_depth mine = rail_reads(ep, r), both = operation_agree(&mine, theirs);

	r->route.reads_sent = both.sent;
	r->route.reads_answered = both.answered;
}

_Static_assert(EXPERIMENT_LABELS_MAX <= QP_FLOW_LABELS_MAX, "a route has room for all labels");

void rail_set_route(struct endpoint *ep, struct rail *r)
{
	const struct experiment *e = &ep->options->experiment;
	const struct hca_port *p = &r->hca.info;
	uint16_t key = pkey_read(&r->hca, r->route.pkey_index);

	r->route.sl = (unsigned)e->sl;
	r->route.tos = (unsigned)e->tos;
	r->route.hop_limit = (unsigned)e->hop_limit;
	r->route.flow_labels = e->labels.count ? (unsigned)e->labels.count : 1;
	for (unsigned i = 0; i < r->route.flow_labels; i++)
		r->route.flow_label[i] = experiment_flow_label(e, i);
	r->route.qp_timeout = (unsigned)e->qp_timeout;
	r->route.retry_count = (unsigned)e->retry_count;
	port_events_open(&r->events, p->device, p->port, p->netdev, p->place.pci);
	r->mine.pkey_index = r->route.pkey_index;
	if (key)
		snprintf(r->mine.pkey, sizeof(r->mine.pkey), "0x%04x", key);
}
