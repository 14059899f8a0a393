/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * peer_credit: how many lines each peer address, and all of them together, may cause. Each holds
 * credit for a burst of lines and earns one line in a period.
 *
 * Plain data without pointers, which another process may continue with.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PEER_CREDIT_PEERS \
	64 /* the peers that are known; of more, the most quiet one is forgotten */

struct peer_credit_rate {
	uint64_t period_ns; /* in which one line is earned */
	unsigned burst;
};

struct peer_credit_account {
	uint64_t ns, at_ns; /* lines, in the time that it takes to earn them; when that was so */
};

struct peer_credit {
	struct peer_credit_rate each, together;
	struct peer_credit_account all;
	struct peer_credit_peer {
		char address[64];
		struct peer_credit_account account;
		uint64_t omitted; /* lines since the last one that was written; the user counts */
	} peer[PEER_CREDIT_PEERS];
	unsigned peers;
};

/* The length of PEER's address ("192.0.2.1:18515") without the port, which does not count. */
size_t peer_credit_address(const char *peer);

/* The entry of PEER, which is added if it is not there. */
struct peer_credit_peer *peer_credit_find(struct peer_credit *c, const char *peer);

/* True if P may cause LINES more lines at NOW_NS: they are then taken from both accounts. */
bool peer_credit_take(struct peer_credit *c, struct peer_credit_peer *p, unsigned lines,
		      uint64_t now_ns);
