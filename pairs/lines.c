// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Read IN to its end into l->text, ended by a 0. Returns an errno, 0 if it is read. */
static int read_all(struct lines *l, FILE *in)
{
	size_t room = 65536, used = 0, n;

	do {
		char *more = realloc(l->text, room + 1);

		if (!more)
			return ENOMEM;
		l->text = more;
		n = fread(l->text + used, 1, room - used, in);
		used += n;
		if (used == room)
			room *= 2;
		if (used > LINES_BYTES_MAX)
			return EFBIG;
	} while (n);
	l->text[used] = '\0';
	if (ferror(in))
		return errno ? errno : EIO;
	return strlen(l->text) == used ? 0 : EILSEQ;
}

int lines_open(struct lines *l, const char *file, struct fault *f)
{
	FILE *in = fopen(file, "re");
	int err;

	*l = (struct lines){.file = file};
	if (!in)
		return fault_raise(f, FAULT_USAGE, errno, "reading %s", file);
	err = read_all(l, in);
	fclose(in);
	l->next = l->text;
	return err ? fault_raise(f, FAULT_USAGE, err, "reading %s", file) : 0;
}

int lines_next(struct lines *l, struct fault *f)
{
	do {
		char *line = l->next, *save = NULL;
		size_t n = strcspn(line, "\n");

		if (!*line)
			return 0;
		l->next = line + n + (line[n] == '\n');
		line[n] = '\0';
		line[strcspn(line, "#")] = '\0';
		l->number++;
		l->words = 0;
		for (char *w = strtok_r(line, " \t\r,", &save); w;
		     w = strtok_r(NULL, " \t\r,", &save)) {
			if (l->words == LINES_WORDS_MAX)
				return lines_refuse(l, "of at most 4096 words", f);
			l->word[l->words++] = w;
		}
		l->word[l->words] = NULL;
	} while (!l->words);
	return 1;
}

int lines_refuse(const struct lines *l, const char *wanted, struct fault *f)
{
	return fault_raise(f, FAULT_USAGE, 0, "line %u of %s is not %s", l->number, l->file,
			   wanted);
}

void lines_release(struct lines *l)
{
	free(l->text);
	l->text = NULL;
}
