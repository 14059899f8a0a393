/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pkey: P_Keys, the partitions of an InfiniBand fabric.
 *
 * A key is 15 bits of partition and one of membership: two ends talk if they are in the same
 * partition and at least one of them is a full member. Each port has its own table, so the same
 * partition may have another index at the other end. On RoCE there is one entry, 0xffff.
 */
#ifndef RDMARK_VERBS_PKEY_H
#define RDMARK_VERBS_PKEY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "verbs/hca.h"

/* Do members with the keys A and B hear each other? 0 is no key. */
bool pkey_fits(uint16_t a, uint16_t b);

/* The key at INDEX of H's port. Raises FAULT_USAGE if there is none, with the length of the table.
 */
int pkey_at(const struct hca *h, uint64_t index, uint16_t *key, struct fault *f);

/* The index of the first key that fits the peer's KEY. Raises FAULT_USAGE if there is none. */
int pkey_find(const struct hca *h, uint16_t key, unsigned *index, struct fault *f);

#endif
