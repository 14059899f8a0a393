// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "verbs/pkey.h"

#include <arpa/inet.h>

#include "base/phase.h"
#include "verbs/hca.h"

#define FULL_MEMBER 0x8000
#define PARTITION   0x7fff

/* Two P_Keys fit if they are of one partition and not both of limited members. */
bool pkey_fits(uint16_t a, uint16_t b)
{
	return (a & PARTITION) && (a & PARTITION) == (b & PARTITION) && ((a | b) & FULL_MEMBER);
}

uint16_t pkey_read(const struct hca *h, uint64_t index)
{
	__be16 raw = 0;

	if (index >= h->info.port_attr.pkey_tbl_len ||
	    ibv_query_pkey(h->ctx, h->info.port, (int)index, &raw))
		return 0;
	return ntohs(raw);
}

int pkey_at(const struct hca *h, uint64_t index, bool chose, uint16_t *key, struct fault *f)
{
	*key = pkey_read(h, index);
	if (*key)
		return 0;
	if (chose)
		fault_phase(f, PHASE_PKEY);
	fault_raise(f, chose ? FAULT_USAGE : FAULT_UNAVAILABLE, 0,
		    "%s port %u has no P_Key at index %u", h->info.device, h->info.port,
		    (unsigned)index);
	fault_cause(f, "The port's table has room for %u P_Keys, and the subnet manager fills it",
		    (unsigned)h->info.port_attr.pkey_tbl_len);
	return fault_fix(f,
			 "give --pkey_index one from /sys/class/infiniband/%s/ports/%u/pkeys",
			 h->info.device, h->info.port);
}

int pkey_find(const struct hca *h, uint16_t key, unsigned *index, struct fault *f)
{
	for (*index = 0; *index < h->info.port_attr.pkey_tbl_len; ++*index)
		if (pkey_fits(pkey_read(h, *index), key))
			return 0;
	fault_phase(f, PHASE_PKEY);
	fault_raise(f, FAULT_USAGE, 0, "%s port %u is not in the peer's partition (P_Key 0x%04x)",
		    h->info.device, h->info.port, key);
	return fault_fix(f, "give the peer another --pkey_index, or add this port to the partition "
			    "in the subnet manager");
}
