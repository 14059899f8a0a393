// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/peer_log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/clock.h"
#include "base/terminal.h"

/* The length of PEER's address without the port. */
static size_t address_size(const char *peer)
{
	const char *colon = strrchr(peer, ':');

	return colon ? (size_t)(colon - peer) : strlen(peer);
}

/* The entry of PEER, which is added if it is not there. */
static struct peer_log_peer *find_peer(struct peer_log *l, const char *peer)
{
	size_t size = address_size(peer);
	unsigned i = 0, quiet = 0;

	if (size >= sizeof(l->peer[0].address))
		size = sizeof(l->peer[0].address) - 1;
	for (; i < l->peers; i++) {
		if (strncmp(l->peer[i].address, peer, size) == 0 && !l->peer[i].address[size])
			return &l->peer[i];
		if (l->peer[i].account.at_ns < l->peer[quiet].account.at_ns)
			quiet = i;
	}
	if (l->peers < PEER_LOG_PEERS)
		l->peers++;
	else
		i = quiet;
	memset(&l->peer[i], 0, sizeof(l->peer[i]));
	memcpy(l->peer[i].address, peer, size);
	return &l->peer[i];
}

/* Bring A up to NOW_NS. Returns whether it has LINES. */
static bool has_lines(struct peer_log_account *a, const struct peer_log_rate *rate, uint64_t lines,
		      uint64_t now_ns)
{
	uint64_t most_ns = rate->burst * rate->period_ns;

	a->ns = !a->at_ns || now_ns - a->at_ns > most_ns - a->ns ? most_ns
								 : a->ns + (now_ns - a->at_ns);
	a->at_ns = now_ns;
	return lines <= rate->burst && a->ns >= lines * rate->period_ns;
}

bool peer_log_may(struct peer_log *l, const char *peer, uint64_t lines, uint64_t now_ns,
		  uint64_t *omitted)
{
	struct peer_log_peer *p;
	bool own, may;

	pthread_mutex_lock(&l->lock);
	p = find_peer(l, peer);
	own = has_lines(&p->account, &l->each, lines, now_ns);
	may = has_lines(&l->all, &l->together, lines, now_ns) && own;
	if (may) {
		p->account.ns -= lines * l->each.period_ns;
		l->all.ns -= lines * l->together.period_ns;
	}
	*omitted = p->omitted;
	p->omitted = may ? 0 : *omitted + 1;
	pthread_mutex_unlock(&l->lock);
	return may;
}

bool peer_log_admit(struct peer_log *l, FILE *out, const char *peer)
{
	uint64_t omitted;

	if (!peer_log_may(l, peer, 1, clock_now_ns(), &omitted))
		return false;
	if (omitted)
		terminal_note(out, "%.*s: %" PRIu64 " more lines, not shown",
			      (int)address_size(peer), peer, omitted);
	return true;
}

void peer_log(struct peer_log *l, const char *peer, const char *fmt, ...)
{
	va_list ap;

	if (!l->out || !peer_log_admit(l, l->out, peer))
		return;
	va_start(ap, fmt);
	terminal_vnote(l->out, fmt, ap);
	va_end(ap);
}
