// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the options say of the way between the ends: link layer, LID, P_Key, the fields of a GRH. */
#include "session/state.h"

#include <stdio.h>

#include "verbs/pkey.h"

#define PKEY_MAX 0xffff

int rail_check_link(struct session *s, const struct rail *r)
{
	const struct local_options *l = &s->options.local;
	const struct hca_port *p = &r->hca.info;
	const char *wanted = l->link == LINK_IB ? "InfiniBand" : "Ethernet";

	fault_phase(&s->fault, "choosing the device");
	if (l->link != LINK_ANY && (l->link == LINK_ETHERNET) != p->is_ethernet) {
		fault_raise(&s->fault, FAULT_USAGE, 0, "--force-link %s: %s port %u is %s",
			    l->link == LINK_IB ? "IB" : "Ethernet", p->device, p->port,
			    p->is_ethernet ? "Ethernet" : "InfiniBand");
		return fault_fix(&s->fault,
				 "name a device with an %s port with -d; --list shows them",
				 wanted);
	}
	if (l->dlid != EXPERIMENT_AUTO && p->is_ethernet) {
		fault_raise(&s->fault, FAULT_USAGE, 0,
			    "--dlid: %s port %u is Ethernet, without LIDs", p->device, p->port);
		return fault_fix(&s->fault, "leave it out");
	}
	if (l->dlid != EXPERIMENT_AUTO && s->options.experiment.rdma_cm) {
		fault_raise(&s->fault, FAULT_USAGE, 0, "--dlid with -R/--rdma_cm");
		return fault_fix(&s->fault, "leave one of them out: rdma_cm finds the path itself");
	}
	return 0;
}

static bool pkey_given(const struct session *s)
{
	return s->options.local.pkey_index != EXPERIMENT_AUTO;
}

int rail_tell_pkey(struct session *s, const struct rail *r, json_t *offer)
{
	uint16_t key;

	if (!pkey_given(s))
		return 0;
	if (pkey_at(&r->hca, s->options.local.pkey_index, &key, &s->fault))
		return -1;
	json_object_set_new(offer, "pkey", json_integer(key));
	return 0;
}

int rail_agree_on_pkey(struct session *s, struct rail *r, const json_t *offer)
{
	uint64_t theirs;
	uint16_t mine;

	if (message_u64_if(offer, "pkey", PKEY_MAX, &theirs, &s->fault))
		return -1;
	r->route.pkey_index = 0;
	if (!pkey_given(s))
		return theirs ? pkey_find(&r->hca, (uint16_t)theirs, &r->route.pkey_index,
					  &s->fault)
			      : 0;
	r->route.pkey_index = (unsigned)s->options.local.pkey_index;
	if (pkey_at(&r->hca, r->route.pkey_index, &mine, &s->fault))
		return -1;
	if (!theirs || pkey_fits(mine, (uint16_t)theirs))
		return 0;
	fault_raise(&s->fault, FAULT_USAGE, 0,
		    "the two ends are in different partitions: P_Key 0x%04x at index %u here, "
		    "0x%04x there",
		    mine, r->route.pkey_index, (unsigned)theirs);
	return fault_fix(&s->fault, "give --pkey_index at one end only: the other finds the same "
				    "partition");
}

void rail_set_route(struct session *s, struct rail *r)
{
	const struct experiment *e = &s->options.experiment;
	struct fault none = {0};
	uint16_t key;

	r->route.sl = (unsigned)e->sl;
	r->route.tos = (unsigned)e->tos;
	r->route.hop_limit = (unsigned)e->hop_limit;
	r->route.flow_label = (uint32_t)e->flow_label;
	r->route.qp_timeout = (unsigned)e->qp_timeout;
	r->route.retry_count = (unsigned)e->retry_count;
	r->mine.pkey_index = r->route.pkey_index;
	if (pkey_at(&r->hca, r->route.pkey_index, &key, &none) == 0)
		snprintf(r->mine.pkey, sizeof(r->mine.pkey), "0x%04x", key);
}
