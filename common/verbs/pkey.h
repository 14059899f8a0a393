/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pkey: P_Keys, the partitions of an InfiniBand fabric.
 *
 * A key has 15 bits of partition number and one bit of membership. Two ends can communicate if they
 * are in the same partition and at least one of them is a full member. Each port has its own table,
 * so a partition may have different indexes at both ends. On RoCE there is one entry, 0xffff.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"

struct hca;

/* True if ends with the keys A and B can communicate. 0 is not a valid key. */
bool pkey_fits(uint16_t a, uint16_t b);

/* The key at INDEX of H's port; 0 if there is none. */
uint16_t pkey_read(const struct hca *h, uint64_t index);

/*
 * Read the key at INDEX of H's port, which the user CHOSE or not. Raises FAULT_USAGE or
 * FAULT_UNAVAILABLE, with the length of the table, if there is none.
 */
int pkey_at(const struct hca *h, uint64_t index, bool chose, uint16_t *key, struct fault *f);

/*
 * Find the first key that can communicate with the peer's KEY. Raises FAULT_USAGE if there is none.
 */
int pkey_find(const struct hca *h, uint16_t key, unsigned *index, struct fault *f);
