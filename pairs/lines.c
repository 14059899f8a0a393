// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/composed.h"

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

bool lines_are_joined(const char *file)
{
	return strncmp(file, LINES_JOINED, strlen(LINES_JOINED)) == 0;
}

static int open_joined(struct lines *l, const char *text, struct fault *f)
{
	*l = (struct lines){.file = "the lines", .text = strdup(text + strlen(LINES_JOINED))};
	l->next = l->text;
	if (!l->text)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "strdup");
	for (char *end = l->text; (end = strchr(end, '+'));)
		*end = '\n';
	return 0;
}

int lines_open(struct lines *l, const char *file, struct fault *f)
{
	FILE *in;
	int err;

	if (lines_are_joined(file))
		return open_joined(l, file, f);
	*l = (struct lines){.file = file};
	in = fopen(file, "re");
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

/* Write the words of L to TO. Returns 0 at the end; 1 at one that would not be read again; or -1.
 */
static int write_joined(FILE *to, struct lines *l, struct fault *f)
{
	const char *before = LINES_JOINED;
	int rc;

	while ((rc = lines_next(l, f)) > 0)
		for (unsigned i = 0; i < l->words; i++) {
			if (strchr(l->word[i], '+'))
				return 1;
			fprintf(to, "%s%s", before, l->word[i]);
			before = i + 1 < l->words ? "," : "+";
		}
	return rc;
}

char *lines_join(const char *file, struct fault *f)
{
	struct composed joined;
	FILE *to = composed_open(&joined);
	struct lines l = {0};
	int rc = to ? lines_open(&l, file, f) : 0;
	char *text;

	if (to && !rc)
		rc = write_joined(to, &l, f);
	lines_release(&l);
	text = composed_close(&joined);
	if (text && !rc && (!joined.used || joined.used > LINES_JOINED_MAX))
		rc = 1;
	if (text && rc) {
		free(text);
		text = rc < 0 ? NULL : strdup(file);
	}
	if (!text)
		fault_raise(f, FAULT_LOCAL, ENOMEM, "malloc");
	return text;
}
