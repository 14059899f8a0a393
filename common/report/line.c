// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Lines on stderr, rows on stdout. */
#include <stdarg.h>
#include <stdio.h>

#include "base/terminal.h"
#include "report/report.h"

void report_line(const struct report *r, enum report_line line, const char *fmt, ...)
{
	bool stays = r->about.options->local.persistent, quiet = r->about.options->output.quiet;
	va_list ap;

	if (((stays || r->trial) && line != REPORT_LOG) || (quiet && line != REPORT_WARNING))
		return;
	va_start(ap, fmt);
	terminal_vnote(stderr, fmt, ap);
	va_end(ap);
}

void report_row(struct report *r, const struct result *result, const struct result_row *shown,
		FILE *out)
{
	r->last_cpu_percent = result->cpu_percent;
	if (!r->form->row)
		return;
	r->form->row(r, result, shown, out);
	fflush(out);
}
