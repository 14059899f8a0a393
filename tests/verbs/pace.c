// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A link of known speed: SIMVERBS_GBPS and SIMVERBS_LATENCY_NS give each
 * request the time at which its last byte would have arrived, and it is
 * carried out then.  One link per process, outbound; a read counts as sent by
 * its requester.
 */
#include "sim.h"

static _Atomic uint64_t link_free_ns; /* when the last byte has left */

static uint64_t bytes_of(const struct sq_wqe *w)
{
	const struct ibv_sge *sge = (const struct ibv_sge *)w->payload;
	uint64_t n = 0;
	int i;

	if (w->flags & IBV_SEND_INLINE)
		return w->inline_len;
	for (i = 0; i < w->num_sge; i++)
		n += sge[i].length;
	return n;
}

void pace_request(struct sq_wqe *w)
{
	const struct sim_conf *c = sim_conf();
	uint64_t now = sim_now_ns(), free_at = atomic_load(&link_free_ns);
	uint64_t cost = c->gbps > 0 ? bytes_of(w) * 8 / c->gbps + 0.5 : 0;
	uint64_t left;

	do {
		left = (free_at > now ? free_at : now) + cost;
	} while (!atomic_compare_exchange_weak(&link_free_ns, &free_at, left));
	w->due_ns = left + c->latency_ns;
}
