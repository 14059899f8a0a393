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

/* Write WORD; of a plan, which has the number of a host that is KNOWN in place of its name. */
static void put_word(FILE *to, const char *word, const struct hosts *known)
{
	size_t n = strcspn(word, "/");
	char name[HOSTS_NAME_BYTES], number[16];
	uint32_t at;

	text_copy(name, n + 1 < sizeof(name) ? n + 1 : sizeof(name), word);
	at = known && known->n ? hosts_find(known, name) : HOSTS_NONE;
	snprintf(number, sizeof(number), "%u", at);
	if (at != HOSTS_NONE && hosts_find(known, number) == HOSTS_NONE)
		fprintf(to, "%s%s", number, word + n);
	else
		fputs(word, to);
}

char *join_lines(const char *file, const struct hosts *known, struct fault *f)
{
	const char *before = LINES_JOINED;
	size_t most = known ? 2 * JOIN_BYTES_MAX : JOIN_BYTES_MAX; /* a plan needs no schedule */
	bool whole = true; /* it would be read again as it is */
	struct composed joined;
	FILE *to = composed_open(&joined);
	struct lines l = {0};
	char *text;
	int rc = to ? lines_open(&l, file, f) : 0;

	for (; to && !rc && (rc = lines_next(&l, f)) > 0; rc = 0)
		for (unsigned i = 0; i < l.words; i++) {
			whole &= !strchr(l.word[i], '+');
			fputs(before, to);
			put_word(to, l.word[i], i == 1 || i == 2 ? known : NULL);
			before = i + 1 < l.words ? "," : "+";
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
