// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/peer_log.h"

#include <inttypes.h>
#include <stdarg.h>

#include "base/clock.h"
#include "base/terminal.h"

bool peer_log_may(struct peer_log *l, uint64_t lines, uint64_t now_ns, uint64_t *omitted)
{
	uint64_t from_ns;
	bool may;

	pthread_mutex_lock(&l->lock);
	from_ns = l->free_ns > now_ns ? l->free_ns : now_ns;
	may = lines <= l->most && from_ns - now_ns <= (l->most - lines) * l->period_ns;
	if (may)
		l->free_ns = from_ns + lines * l->period_ns;
	*omitted = l->omitted;
	l->omitted = may ? 0 : l->omitted + 1;
	pthread_mutex_unlock(&l->lock);
	return may;
}

bool peer_log_admit(struct peer_log *l, FILE *out)
{
	uint64_t omitted;

	if (!peer_log_may(l, 1, clock_now_ns(), &omitted))
		return false;
	if (omitted)
		terminal_note(out, "%" PRIu64 " more lines, not shown", omitted);
	return true;
}

void peer_log(struct peer_log *l, const char *fmt, ...)
{
	va_list ap;

	if (!l->out || !peer_log_admit(l, l->out))
		return;
	va_start(ap, fmt);
	terminal_vnote(l->out, fmt, ap);
	va_end(ap);
}
