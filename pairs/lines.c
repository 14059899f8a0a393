// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>


/* Read IN to its end into l->text, ended by a 0. Returns an errno, 0 if it is read. */
static int read_all(struct lines *l, FILE *in)
{
	char *fits;
	size_t n;

	l->text = malloc(LINES_BYTES_MAX + 1);
	if (!l->text)
		return ENOMEM;
	n = fread(l->text, 1, LINES_BYTES_MAX + 1, in);
	if (ferror(in))
		return errno ? errno : EIO;
	if (n > LINES_BYTES_MAX)
		return EFBIG;
	l->text[n] = '\0';
	fits = realloc(l->text, n + 1);
	l->text = fits ? fits : l->text;
	return strlen(l->text) == n ? 0 : EILSEQ;
}

bool lines_are_joined(const char *file)
{
	return strncmp(file, LINES_JOINED, strlen(LINES_JOINED)) == 0;
}

int lines_open(struct lines *l, const char *file, struct fault *f)
{
	bool joined = lines_are_joined(file);
	FILE *in = joined ? NULL : fopen(file, "re");
	int err = joined || in ? 0 : errno;

	*l = (struct lines){.file = joined ? "the lines" : file};
	if (joined) {
		l->text = strdup(file + strlen(LINES_JOINED));
		err = l->text ? 0 : ENOMEM;
		for (char *end = l->text; end && (end = strchr(end, '+'));)
			*end = '\n';
	} else if (in) {
		err = read_all(l, in);
		fclose(in);
	}
	l->next = l->text;
	return err ? fault_raise(f, FAULT_USAGE, err, "reading %s", l->file) : 0;
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
