// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "join.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/composed.h"
#include "base/text.h"
#include "pairs/lines.h"
#include "pairs/pairs.h"

/* Write the player WORD of a plan, with the number of a host that is KNOWN in place of its name. */
static void put_player(FILE *to, const char *word, struct hosts *known)
{
	size_t n = strcspn(word, "/");
	char name[HOSTS_NAME_BYTES], number[16];
	uint32_t at;

	text_copy(name, n + 1 < sizeof(name) ? n + 1 : sizeof(name), word);
	at = hosts_find(known, name);
	if (at != HOSTS_NONE)
		known->host[at].planned = true;
	snprintf(number, sizeof(number), "%u", at);
	if (at != HOSTS_NONE && hosts_find(known, number) == HOSTS_NONE)
		fprintf(to, "%s%s", number, word + n);
	else
		fputs(word, to);
}

/* Read the line L of P: "SLOT FROM TO PART". */
static int take_line(struct plan *p, const struct lines *l, struct fault *f)
{
	if (l->words != 4)
		return lines_refuse(l, "SLOT FROM TO PART", f);
	p->slots = (unsigned)strtoul(l->word[0], NULL, 10) + 1;
	p->tests |= strcmp(l->word[3], "test") == 0;
	return 0;
}

char *join_lines(const char *file, struct plan *p, struct fault *f)
{
	const char *before = LINES_JOINED;
	size_t most = p ? 2 * JOIN_BYTES_MAX : JOIN_BYTES_MAX; /* a plan needs no schedule */
	bool whole = true; /* it would be read again as it is */
	struct composed joined;
	FILE *to = composed_open(&joined);
	struct lines l = {0};
	char *text;
	int rc = to ? lines_open(&l, file, f) : 0;

	while (to && !rc && (rc = lines_next(&l, f)) > 0) {
		rc = p ? take_line(p, &l, f) : 0;
		for (unsigned i = 0; i < l.words; i++) {
			whole &= !strchr(l.word[i], '+');
			fputs(before, to);
			if (p && (i == 1 || i == 2))
				put_player(to, l.word[i], p->known);
			else
				fputs(l.word[i], to);
			before = i + 1 < l.words ? "," : "+";
		}
	}
	lines_release(&l);
	text = composed_close(&joined);
	if (text && (rc || !whole || !joined.used || joined.used > most)) {
		free(text);
		text = rc ? NULL : strdup(file);
		if (!rc)
			fprintf(stderr,
				PAIRS ": %s does not fit into a command line: all nodes have to have "
				      "it, by this name\n",
				file);
	}
	if (!text)
		fault_raise(f, FAULT_LOCAL, ENOMEM, "malloc");
	return text;
}

int join_plan(struct plan *p, const char *file, struct hosts *known, struct fault *f)
{
	*p = (struct plan){.known = known};
	for (uint32_t i = 0; i < known->n; i++)
		known->host[i].planned = false;
	p->words = join_lines(realpath(file, p->file) ? p->file : file, p, f);
	return p->words ? 0 : -1;
}
