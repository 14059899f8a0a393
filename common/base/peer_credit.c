// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/peer_credit.h"

#include <string.h>

/* Bring A up to NOW_NS. Returns whether it has LINES. */
static bool has_lines(struct peer_credit_account *a, const struct peer_credit_rate *rate,
		      unsigned lines, uint64_t now_ns)
{
	uint64_t most_ns = rate->burst * rate->period_ns;

	a->ns = !a->at_ns || now_ns - a->at_ns > most_ns - a->ns ? most_ns
								 : a->ns + (now_ns - a->at_ns);
	a->at_ns = now_ns;
	return a->ns >= lines * rate->period_ns;
}

size_t peer_credit_address(const char *peer)
{
	const char *colon = strrchr(peer, ':');

	return colon ? (size_t)(colon - peer) : strlen(peer);
}

struct peer_credit_peer *peer_credit_find(struct peer_credit *c, const char *peer)
{
	size_t size = peer_credit_address(peer);
	unsigned i = 0, quiet = 0;

	if (size >= sizeof(c->peer[0].address))
		size = sizeof(c->peer[0].address) - 1;
	for (; i < c->peers; i++) {
		if (strncmp(c->peer[i].address, peer, size) == 0 && !c->peer[i].address[size])
			return &c->peer[i];
		if (c->peer[i].account.at_ns < c->peer[quiet].account.at_ns)
			quiet = i;
	}
	if (c->peers < PEER_CREDIT_PEERS)
		c->peers++;
	else
		i = quiet;
	memset(&c->peer[i], 0, sizeof(c->peer[i]));
	memcpy(c->peer[i].address, peer, size);
	return &c->peer[i];
}

bool peer_credit_take(struct peer_credit *c, struct peer_credit_peer *p, unsigned lines,
		      uint64_t now_ns)
{
	bool own = has_lines(&p->account, &c->each, lines, now_ns);

	if (!has_lines(&c->all, &c->together, lines, now_ns) || !own)
		return false;
	p->account.ns -= lines * c->each.period_ns;
	c->all.ns -= lines * c->together.period_ns;
	return true;
}
