// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/peer_log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/clock.h"
#include "base/terminal.h"

bool peer_log_may(struct peer_log *l, const char *peer, uint64_t now_ns, uint64_t *omitted)
{
	struct peer_credit_peer *p;
	bool may;

	pthread_mutex_lock(&l->lock);
	p = peer_credit_find(&l->credit, peer);
	may = peer_credit_take(&l->credit, p, 1, now_ns);
	*omitted = p->omitted;
	p->omitted = may ? 0 : *omitted + 1;
	pthread_mutex_unlock(&l->lock);
	return may;
}

bool peer_log_admit(struct peer_log *l, FILE *out, const char *peer)
{
	uint64_t omitted;

	if (!peer_log_may(l, peer, clock_now_ns(), &omitted))
		return false;
	if (omitted)
		terminal_note(out, "%.*s: %" PRIu64 " more lines, not shown",
			      (int)peer_credit_address(peer), peer, omitted);
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
