// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/strict.h"

#include <stdarg.h>
#include <stdio.h>

void strict_doubt(struct strict *s, const char *fix, const char *fmt, ...)
{
	char why[sizeof(s->first.cause)]; /* fault_cause() takes no va_list */
	va_list ap;

	if (!s->on || s->doubts++)
		return;
	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	fault_phase(&s->first, "judging the results");
	fault_raise(&s->first, FAULT_THRESHOLD, 0, "a row is doubtful (--strict)");
	fault_cause(&s->first, "%s", why);
	fault_fix(&s->first, "%s", fix);
}

int strict_verdict(const struct strict *s, struct fault *f)
{
	if (!s->doubts)
		return 0;
	*f = s->first;
	if (s->doubts > 1)
		snprintf(f->call, sizeof(f->call),
			 "%u doubts about the results (--strict); the first one follows",
			 s->doubts);
	return -1;
}
