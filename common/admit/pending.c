// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "admit/pending.h"

#include <netinet/in.h>
#include <string.h>

#include "base/clock.h"

void pending_init(struct pending *p)
{
	for (unsigned i = 0; i < PENDING_MAX; i++)
		p->place[i] = (struct pending_place){.oob = OOB_EMPTY};
}

uint64_t pending_origin(const struct sockaddr_storage *address)
{
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)address;
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
	uint32_t ip = v4->sin_addr.s_addr;
	uint64_t half = 0;

	if (address->ss_family == AF_INET6 && !IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr)) {
		memcpy(&half, v6->sin6_addr.s6_addr, sizeof(half));
		return half;
	}
	if (address->ss_family == AF_INET6)
		memcpy(&ip, v6->sin6_addr.s6_addr + 12, sizeof(ip));
	else if (address->ss_family != AF_INET)
		return 0;
	return UINT64_C(0xffff) << 32 | ip; /* as no half of an IPv6 address that is routed */
}

/* Number of connections from ORIGIN, with a new one from NEXT. */
static unsigned connections_of(const struct pending *p, uint64_t origin, uint64_t next)
{
	unsigned count = origin == next;

	for (unsigned i = 0; i < PENDING_MAX; i++)
		count += p->place[i].origin == origin;
	return count;
}

/* True if A goes before B, which is of a host with as many connections. */
static bool goes_first(const struct pending_place *a, const struct pending_place *b)
{
	bool challenged = a->visit.challenged, other = b->visit.challenged;

	return challenged == other ? a->deadline_ns < b->deadline_ns : other;
}

struct pending_place *pending_place_for(struct pending *p, uint64_t origin)
{
	struct pending_place *chosen = NULL;
	unsigned most = 0;

	for (unsigned i = 0; i < PENDING_MAX; i++) {
		struct pending_place *at = &p->place[i];
		unsigned count;

		if (at->oob.fd < 0)
			return at;
		count = connections_of(p, at->origin, origin);
		if (count > most || (count == most && goes_first(at, chosen))) {
			chosen = at;
			most = count;
		}
	}
	return chosen;
}

const char *pending_said(const struct pending_place *p)
{
	if (p->oob.have)
		return "sent only a part of a message";
	return p->visit.challenged ? "was challenged, but has not proved itself" : "sent nothing";
}

void pending_tell_busy(struct pending_place *at, const char *with)
{
	struct fault ignored = {0};
	json_t *m = json_pack("{s:s, s:s}", "type", "busy", "with", with);

	oob_send(&at->oob, m, clock_now_ns(), &ignored);
}
