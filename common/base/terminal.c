// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/terminal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text.h"

#define INDENT     2 /* blanks before each line of a note after the first */
#define NOTE_BYTES 4096

unsigned terminal_columns(int fd)
{
	struct winsize size;

	return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

int terminal_fd(FILE *out)
{
	return out == stdout ? STDOUT_FILENO : out == stderr ? STDERR_FILENO : fileno(out);
}

static unsigned count_characters(const char *text, size_t n)
{
	unsigned count = 0;

	for (size_t i = 0; i < n; i++)
		count += (text[i] & 0xc0) != 0x80;
	return count;
}

void terminal_wrap(char *to, size_t size, const char *text, unsigned columns, unsigned indent)
{
	unsigned used = 0;

	for (size_t n; *text; text += n) {
		size_t blanks = strspn(text, " ");
		unsigned wide;

		n = blanks + strcspn(text + blanks, " ");
		if (strncmp(text + n, " %", 2) == 0) /* a number and its sign */
			n += 1 + strcspn(text + n + 1, " ");
		wide = count_characters(text, n);
		if (used && columns && used + wide > columns) {
			text_add(to, size - 1, "\n%*s", (int)indent, "");
			text += blanks;
			n -= blanks;
			wide -= (unsigned)blanks;
			used = indent;
		}
		text_add(to, size - 1, "%.*s", (int)n, text);
		used += wide;
	}
	text_add(to, size, "\n");
}

void terminal_vnote(FILE *out, const char *fmt, va_list ap)
{
	char text[NOTE_BYTES] = "", lines[2 * NOTE_BYTES] = "";
	size_t used;

	text_add(text, sizeof(text), "%s: ", program_invocation_short_name);
	used = strlen(text);
	vsnprintf(text + used, sizeof(text) - used, fmt, ap);
	terminal_wrap(lines, sizeof(lines), text, terminal_columns(terminal_fd(out)), INDENT);
	fputs(lines, out);
}

void terminal_note(FILE *out, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	terminal_vnote(out, fmt, ap);
	va_end(ap);
}

static bool has_colours(FILE *out)
{
	const char *refused = getenv("NO_COLOR"), *kind = getenv("TERM");

	return !(refused && *refused) && kind && *kind && strcmp(kind, "dumb") != 0 &&
	       isatty(terminal_fd(out));
}

void terminal_put(FILE *out, enum terminal_colour colour, const char *text)
{
	if (*text && has_colours(out))
		fprintf(out, "\033[%dm%s\033[m", (int)colour, text);
	else
		fputs(text, out);
}

void terminal_verdict(FILE *out, const char *text)
{
	static const struct {
		char word[16];
		enum terminal_colour colour;
	} words[] = {
		{"PASS", TERMINAL_GREEN},          {"ok", TERMINAL_GREEN},
		{"better", TERMINAL_GREEN},        {"FAIL", TERMINAL_RED},
		{"fault", TERMINAL_RED},           {"worse", TERMINAL_RED},
		{"WARN", TERMINAL_YELLOW},         {"warn", TERMINAL_YELLOW},
		{"INCONCLUSIVE", TERMINAL_YELLOW}, {"UNAVAILABLE", TERMINAL_YELLOW},
		{"cannot tell", TERMINAL_YELLOW},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t n = strlen(words[i].word);

		if (strncmp(text, words[i].word, n) != 0 || !strchr(" :,", text[n]))
			continue;
		terminal_put(out, words[i].colour, words[i].word);
		text += n;
		break;
	}
	fputs(text, out);
}
