// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/peer_log.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/terminal.h"
#include "base/units.h"

#define MINUTE_NS (60 * UNITS_NS_PER_S)

/* Take one line of C, which earns one in PERIOD_NS and holds BURST. */
static bool take_line(struct peer_log_credit *c, uint64_t now_ns, uint64_t period_ns,
		      unsigned burst)
{
	uint64_t most_ns = burst * period_ns;

	c->ns = !c->at_ns || now_ns - c->at_ns > most_ns - c->ns ? most_ns
								 : c->ns + (now_ns - c->at_ns);
	c->at_ns = now_ns;
	if (c->ns < period_ns)
		return false;
	c->ns -= period_ns;
	return true;
}

/* The length of PEER's address, without the port. */
static size_t address_length(const char *peer)
{
	const char *colon = strrchr(peer, ':');

	return colon ? (size_t)(colon - peer) : strlen(peer);
}

/* The index of PEER, which is added; in a full table instead of the one that wrote longest ago. */
static unsigned find_peer(struct peer_log *l, const char *peer)
{
	size_t size = address_length(peer);
	unsigned i = 0, quiet = 0;

	if (size >= sizeof(l->peer[0].address))
		size = sizeof(l->peer[0].address) - 1;
	for (; i < l->peers; i++) {
		if (strncmp(l->peer[i].address, peer, size) == 0 && !l->peer[i].address[size])
			return i;
		if (l->peer[i].credit.at_ns < l->peer[quiet].credit.at_ns)
			quiet = i;
	}
	if (l->peers < PEER_LOG_PEERS)
		l->peers++;
	else
		i = quiet;
	memset(&l->peer[i], 0, sizeof(l->peer[i]));
	memcpy(l->peer[i].address, peer, size);
	return i;
}

bool peer_log_may(struct peer_log *l, const char *peer, uint64_t now_ns, uint64_t *omitted)
{
	unsigned i;
	bool may;

	pthread_mutex_lock(&l->lock);
	i = find_peer(l, peer);
	may = take_line(&l->peer[i].credit, now_ns, MINUTE_NS, PEER_LOG_BURST) &&
	      take_line(&l->all, now_ns, UNITS_NS_PER_S, PEER_LOG_ALL_BURST);
	*omitted = l->peer[i].omitted;
	l->peer[i].omitted = may ? 0 : *omitted + 1;
	pthread_mutex_unlock(&l->lock);
	return may;
}

void peer_log(struct peer_log *l, const char *peer, const char *fmt, ...)
{
	uint64_t omitted;
	va_list ap;

	if (!l || !l->out || !peer_log_may(l, peer, clock_now_ns(), &omitted))
		return;
	if (omitted)
		terminal_note(l->out, "%.*s: %" PRIu64 " more lines, not shown",
			      (int)address_length(peer), peer, omitted);
	va_start(ap, fmt);
	terminal_vnote(l->out, fmt, ap);
	va_end(ap);
}
