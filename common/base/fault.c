// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/fault.h"

#include <stdarg.h>
#include <string.h>

#include "base/text.h"

/* Linux' internal "operation is not supported": leaks to user space from DMA-buf attach. */
#define KERNEL_ENOTSUPP 524

void fault_phase(struct fault *f, const char *phase)
{
	if (!fault_is(f))
		snprintf(f->phase, sizeof(f->phase), "%s", phase);
}

void fault_errno_text(int errnum, char *buf, size_t size)
{
	if (errnum == KERNEL_ENOTSUPP)
		snprintf(buf, size, "Operation is not supported by the kernel (524)");
	else
		snprintf(buf, size, "%s", strerror(errnum));
}

int fault_raise(struct fault *f, enum fault_code code, int errnum, const char *call, ...)
{
	va_list ap;

	if (fault_is(f)) {
		f->dropping = true;
		return -1;
	}
	f->code = code;
	f->errnum = errnum;
	f->text[0] = '\0';
	if (errnum)
		fault_errno_text(errnum, f->text, sizeof(f->text));
	va_start(ap, call);
	vsnprintf(f->call, sizeof(f->call), call, ap);
	va_end(ap);
	f->cause[0] = '\0';
	f->fix[0] = '\0';
	return -1;
}

int fault_cause(struct fault *f, const char *fmt, ...)
{
	va_list ap;

	if (f->cause[0] || f->dropping)
		return -1;
	va_start(ap, fmt);
	vsnprintf(f->cause, sizeof(f->cause), fmt, ap);
	va_end(ap);
	return -1;
}

int fault_fix(struct fault *f, const char *fmt, ...)
{
	va_list ap;

	if (f->fix[0] || f->dropping)
		return -1;
	va_start(ap, fmt);
	vsnprintf(f->fix, sizeof(f->fix), fmt, ap);
	va_end(ap);
	return -1;
}

void fault_clear(struct fault *f)
{
	f->code = FAULT_NONE;
	f->from_peer = false;
	f->dropping = false;
}

int fault_exit_status(const struct fault *f)
{
	return f->code == FAULT_INTERRUPTED ? FAULT_INTERRUPTED + f->signal : (int)f->code;
}

const char *fault_code_name(enum fault_code code)
{
	switch (code) {
	case FAULT_NONE:
		return "none";
	case FAULT_LOCAL:
		return "local";
	case FAULT_USAGE:
		return "usage";
	case FAULT_PEER:
		return "peer";
	case FAULT_DEADLINE:
		return "deadline";
	case FAULT_DATA:
		return "data";
	case FAULT_THRESHOLD:
		return "threshold";
	case FAULT_UNAVAILABLE:
		return "unavailable";
	case FAULT_INTERRUPTED:
		return "interrupted";
	}
	return "unknown";
}

/* Append TEXT as a sentence: separated by ". " from what stands before, no doubled full stop. */
static void add_sentence(char *buf, size_t size, const char *lead, const char *text)
{
	size_t used = strlen(buf);

	if (!text[0])
		return;
	if (used && buf[used - 1] == '.')
		used--;
	snprintf(buf + used, size - used, "%s%s%s", used ? ". " : "", lead, text);
}

void fault_format(const struct fault *f, char *buf, size_t size)
{
	size_t used;

	snprintf(buf, size, "%s%s%s%s%s%s", f->from_peer ? "peer: " : "", f->phase,
		 f->phase[0] ? ": " : "", f->call, f->text[0] ? ": " : "", f->text);
	add_sentence(buf, size, "", f->cause);
	add_sentence(buf, size, "Fix: ", f->fix);
	used = strlen(buf);
	if (used && used + 1 < size && buf[used - 1] != '.')
		snprintf(buf + used, size - used, ".");
	text_disarm(buf);
}

void fault_print(const struct fault *f, const char *program, FILE *out)
{
	char line[2048];

	fault_format(f, line, sizeof(line));
	fprintf(out, "%s: %s\n", program, line);
	fflush(out);
}
