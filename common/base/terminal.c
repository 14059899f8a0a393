// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define INDENT 2 /* blanks before each line of a note after the first */

unsigned terminal_columns(int fd)
{
	struct winsize size;

	return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

int terminal_fd(FILE *out)
{
	return out == stdout ? STDOUT_FILENO : out == stderr ? STDERR_FILENO : fileno(out);
}

/* The number of UTF-8 characters in the N bytes at TEXT. */
static unsigned count_characters(const char *text, size_t n)
{
	unsigned count = 0;

	for (size_t i = 0; i < n; i++)
		count += (text[i] & 0xc0) != 0x80;
	return count;
}

void terminal_wrap(FILE *out, const char *text, unsigned columns, unsigned indent)
{
	unsigned used = 0;

	for (size_t n; *text; text += n) {
		size_t blanks = strspn(text, " ");
		unsigned wide;

		n = blanks + strcspn(text + blanks, " ");
		wide = count_characters(text, n);
		if (used && columns && used + wide > columns) {
			fprintf(out, "\n%*s", (int)indent, "");
			text += blanks;
			n -= blanks;
			wide -= (unsigned)blanks;
			used = indent;
		}
		fwrite(text, 1, n, out);
		used += wide;
	}
	fputc('\n', out);
}

void terminal_vnote(FILE *out, const char *fmt, va_list ap)
{
	char *text = NULL, *lines = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return;
	fputs("rdmark: ", f);
	vfprintf(f, fmt, ap);
	fclose(f);
	f = open_memstream(&lines, &size);
	if (f) {
		terminal_wrap(f, text, terminal_columns(terminal_fd(out)), INDENT);
		fclose(f);
		fwrite(lines, 1, size, out);
	}
	free(lines);
	free(text);
}

void terminal_note(FILE *out, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	terminal_vnote(out, fmt, ap);
	va_end(ap);
}
