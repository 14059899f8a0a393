// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Notes: lines on stderr. */
#include <stdarg.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/terminal.h"
#include "report/forms.h"

bool report_may_print(struct report *r, uint64_t lines)
{
	struct peer_log *l = r->about.lines;
	uint64_t omitted;

	if (!l || peer_log_may(l, r->peer, lines, clock_now_ns(), &omitted))
		return true;
	r->run.omitted++;
	return false;
}

void report_note(const struct report *r, const char *fmt, ...)
{
	va_list ap;

	if (r->about.options->local.persistent || r->about.options->output.quiet)
		return;
	va_start(ap, fmt);
	terminal_vnote(stderr, fmt, ap);
	va_end(ap);
}

void report_log(const struct report *r, const char *fmt, ...)
{
	va_list ap;

	if (r->about.options->output.quiet)
		return;
	va_start(ap, fmt);
	terminal_vnote(stderr, fmt, ap);
	va_end(ap);
}

void report_warning(const struct report *r, const char *fmt, ...)
{
	va_list ap;

	if (r->about.options->local.persistent)
		return;
	va_start(ap, fmt);
	terminal_vnote(stderr, fmt, ap);
	va_end(ap);
}
