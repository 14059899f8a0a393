// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/fault.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "base/phase.h"
#include "base/terminal.h"
#include "base/text.h"

/* Linux's internal ENOTSUPP: DMA-buf attach returns it to user space, and strerror() lacks it. */
#define KERNEL_ENOTSUPP 524

#define INDENT 2 /* columns before each line after the first */

void fault_phase(struct fault *f, unsigned phase)
{
	if (!fault_is(f))
		f->phase = phase;
}

void fault_set_point(struct fault *f, const char *at)
{
	if (fault_is(f) && !f->at[0])
		snprintf(f->at, sizeof(f->at), "%s", at);
}

void fault_errno_text(int errnum, char *buf, size_t size)
{
	if (errnum == KERNEL_ENOTSUPP)
		snprintf(buf, size, "Operation is not supported by the kernel (524)");
	else
		snprintf(buf, size, "%s", strerror(errnum));
}

static void raise_fault(struct fault *f, enum fault_code code, int errnum, const char *call,
			va_list ap)
{
	if (fault_is(f)) {
		f->dropping = true;
		return;
	}
	/* Who lacks memory has neither used the program wrongly nor found out what there is. */
	f->code = errnum == ENOMEM && (code == FAULT_USAGE || code == FAULT_UNAVAILABLE)
			  ? FAULT_LOCAL
			  : code;
	f->errnum = errnum;
	f->text[0] = '\0';
	if (errnum)
		fault_errno_text(errnum, f->text, sizeof(f->text));
	vsnprintf(f->call, sizeof(f->call), call, ap);
	text_disarm(f->call);
	f->cause[0] = '\0';
	f->fix[0] = '\0';
	f->completion[0] = '\0';
	f->vendor_error = 0;
	f->at[0] = '\0';
}

int fault_raise(struct fault *f, enum fault_code code, int errnum, const char *call, ...)
{
	va_list ap;

	va_start(ap, call);
	raise_fault(f, code, errnum, call, ap);
	va_end(ap);
	return -1;
}

int fault_usage(struct fault *f, const char *fix, const char *call, ...)
{
	va_list ap;

	va_start(ap, call);
	raise_fault(f, FAULT_USAGE, 0, call, ap);
	va_end(ap);
	return fault_fix(f, "%s", fix);
}

int fault_cause(struct fault *f, const char *fmt, ...)
{
	va_list ap;

	if (f->cause[0] || f->dropping)
		return -1;
	va_start(ap, fmt);
	vsnprintf(f->cause, sizeof(f->cause), fmt, ap);
	va_end(ap);
	text_disarm(f->cause);
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
	text_disarm(f->fix);
	return -1;
}

bool fault_for_memory(const struct fault *f, struct fault *to)
{
	bool starved = fault_is(f) && f->errnum == ENOMEM;

	if (starved && !fault_is(to))
		*to = *f;
	return starved;
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
	static const char *const name[] = {
		[FAULT_NONE] = "none",
		[FAULT_LOCAL] = "local",
		[FAULT_USAGE] = "usage",
		[FAULT_PEER] = "peer",
		[FAULT_DEADLINE] = "deadline",
		[FAULT_DATA] = "data",
		[FAULT_THRESHOLD] = "threshold",
		[FAULT_UNAVAILABLE] = "unavailable",
		[FAULT_INTERRUPTED] = "interrupted",
	};

	return code <= FAULT_INTERRUPTED && name[code] ? name[code] : "unknown";
}

/* Append LEAD and TEXT to BUF as a sentence, after ". " unless BUF is empty. A full stop at the end
 * of BUF is not doubled. */
static void add_sentence(char *buf, size_t size, const char *lead, const char *text)
{
	size_t used = strlen(buf);

	if (!text[0])
		return;
	if (used && buf[used - 1] == '.')
		used--;
	snprintf(buf + used, size - used, "%s%s%s", used ? ". " : "", lead, text);
}

/* Add the last full stop, and replace control characters, which could harm a terminal. */
static void end_sentence(char *buf, size_t size)
{
	size_t used = strlen(buf);

	if (used && used + 1 < size && !strchr(".?", buf[used - 1]))
		snprintf(buf + used, size - used, ".");
	text_disarm(buf);
}

/* Write to BUF what failed: the place, the end that reports it, phase, call and errno text. */
static void format_failure(const struct fault *f, char *buf, size_t size)
{
	const char *phase = phase_row(f->phase)->spoken ? phase_row(f->phase)->words : "";

	snprintf(buf, size, "%s%s%s%s%s%s%s%s%s%s", f->at[0] ? "at " : "", f->at,
		 f->at[0] ? ": " : "",
		 !f->from_peer    ? ""
		 : f->reporter[0] ? f->reporter
				  : "the other end",
		 f->from_peer ? " reports: " : "", phase, *phase ? ": " : "", f->call,
		 f->text[0] ? ": " : "", f->text);
}

void fault_format(const struct fault *f, char *buf, size_t size)
{
	format_failure(f, buf, size);
	add_sentence(buf, size, "", f->cause);
	add_sentence(buf, size, "Fix: ", f->fix);
	end_sentence(buf, size);
}

/* Write F to TO, which is "", for a terminal: what failed, the cause and the fix each begin a line
 * and are wrapped. */
static void format_lines(const struct fault *f, const char *program, unsigned columns, char *to,
			 size_t size)
{
	char line[1024];
	int n = snprintf(line, sizeof(line), "%s: ", program);

	format_failure(f, line + n, sizeof(line) - (size_t)n);
	end_sentence(line, sizeof(line));
	terminal_wrap(to, size, line, columns, INDENT);
	for (int i = 0; i < 2; i++) {
		const char *text = i ? f->fix : f->cause;

		snprintf(line, sizeof(line), "%*s%s%s", INDENT, "", i ? "Fix: " : "", text);
		end_sentence(line, sizeof(line));
		if (text[0])
			terminal_wrap(to, size, line, columns, INDENT);
	}
}

int fault_print(const struct fault *f, const char *program, FILE *out)
{
	char text[4096] = "";

	if (isatty(terminal_fd(out))) {
		format_lines(f, program, terminal_columns(terminal_fd(out)), text, sizeof(text));
		fputs(text, out);
	} else {
		fault_format(f, text, sizeof(text));
		fprintf(out, "%s: %s\n", program, text);
	}
	fflush(out);
	return fault_exit_status(f);
}
