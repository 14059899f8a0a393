// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "verbs/pkey.h"

#include <arpa/inet.h>

#define FULL_MEMBER 0x8000
#define PARTITION   0x7fff

bool pkey_fits(uint16_t a, uint16_t b)
{
	return (a & PARTITION) && (a & PARTITION) == (b & PARTITION) && ((a | b) & FULL_MEMBER);
}

/* The key at INDEX, 0 if there is none. */
static uint16_t key_at(const struct hca *h, unsigned index)
{
	__be16 raw = 0;

	if (index >= h->info.port_attr.pkey_tbl_len ||
	    ibv_query_pkey(h->ctx, h->info.port, (int)index, &raw))
		return 0;
	return ntohs(raw);
}

int pkey_at(const struct hca *h, uint64_t index, uint16_t *key, struct fault *f)
{
	unsigned length = h->info.port_attr.pkey_tbl_len;

	*key = index < length ? key_at(h, (unsigned)index) : 0;
	if (*key)
		return 0;
	fault_phase(f, "choosing the P_Key");
	fault_raise(f, FAULT_USAGE, 0, "--pkey_index %u: %s port %u has no P_Key there",
		    (unsigned)index, h->info.device, h->info.port);
	fault_cause(f, "Its table has room for %u, and the subnet manager fills it", length);
	return fault_fix(f, "look into /sys/class/infiniband/%s/ports/%u/pkeys, or leave it out",
			 h->info.device, h->info.port);
}

int pkey_find(const struct hca *h, uint16_t key, unsigned *index, struct fault *f)
{
	for (*index = 0; *index < h->info.port_attr.pkey_tbl_len; ++*index)
		if (pkey_fits(key_at(h, *index), key))
			return 0;
	fault_phase(f, "choosing the P_Key");
	fault_raise(f, FAULT_USAGE, 0, "%s port %u is not in the peer's partition (P_Key 0x%04x)",
		    h->info.device, h->info.port, key);
	return fault_fix(f, "choose another --pkey_index at the peer, or add this port to the "
			    "partition in the subnet manager");
}
