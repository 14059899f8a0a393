// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/peer_log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/clock.h"
#include "base/terminal.h"

/* A hash of WHAT, except PEER in it, that is not 0 (FNV-1a). */
static uint64_t hash_of(const char *what, const char *peer)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);
	size_t size = strlen(peer);

	while (*what) {
		if (size && strncmp(what, peer, size) == 0)
			what += size;
		else
			h = (h ^ (unsigned char)*what++) * UINT64_C(0x100000001b3);
	}
	return h ? h : 1;
}

/* Where P has WHAT, or else the oldest. */
static unsigned find_said(const struct peer_credit_peer *p, uint64_t what)
{
	unsigned oldest = 0;

	for (unsigned i = 0; i < PEER_CREDIT_SAID; i++) {
		if (p->said[i].what == what)
			return i;
		if (p->said[i].at_ns < p->said[oldest].at_ns)
			oldest = i;
	}
	return oldest;
}

bool peer_log_may(struct peer_log *l, const char *peer, const char *what, uint64_t now_ns,
		  uint64_t *omitted)
{
	uint64_t said = what ? hash_of(what, peer) : 0;
	struct peer_credit_peer *p;
	unsigned i;
	bool may;

	pthread_mutex_lock(&l->lock);
	p = peer_credit_find(&l->credit, peer);
	i = find_said(p, said);
	may = !(said && said == p->said[i].what &&
		now_ns - p->said[i].at_ns < PEER_LOG_MINUTE_NS) &&
	      peer_credit_take(&l->credit, p, 1, now_ns);
	*omitted = p->omitted;
	p->omitted = may ? 0 : *omitted + 1;
	if (may && said) {
		p->said[i].what = said;
		p->said[i].at_ns = now_ns;
	}
	pthread_mutex_unlock(&l->lock);
	return may;
}

bool peer_log_admit(struct peer_log *l, FILE *out, const char *peer, const char *what)
{
	uint64_t omitted;

	if (!peer_log_may(l, peer, what, clock_now_ns(), &omitted))
		return false;
	if (omitted)
		terminal_note(out, "%.*s: %" PRIu64 " more lines, not shown",
			      (int)peer_credit_address(peer), peer, omitted);
	return true;
}

void peer_log(struct peer_log *l, const char *peer, const char *fmt, ...)
{
	char line[2048];
	const char *what;
	va_list ap;

	if (!l || !l->out)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	what = strstr(line, peer);
	if (peer_log_admit(l, l->out, peer, what ? what + strlen(peer) : line))
		terminal_note(l->out, "%s", line);
}
