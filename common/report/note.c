// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Notes: lines on stderr. */
#include <stdarg.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/terminal.h"
#include "report/forms.h"

bool report_may_print(struct report *r, uint64_t lines)
{
	struct peer_credit *c = r->about.lines;

	if (!c || (lines <= c->each.burst && peer_credit_take(c, peer_credit_find(c, r->peer),
							      (unsigned)lines, clock_now_ns())))
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
