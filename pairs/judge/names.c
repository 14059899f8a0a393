// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Keeps texts in a list and in a balanced tree. */
#include "names.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "pairs/grow.h"

struct name {
	uint32_t number;
	char text[]; /* what the list and the tree point to */
};

static struct name *name_of(const char *text)
{
	return (struct name *)(text - offsetof(struct name, text));
}

static void release(void *text)
{
	free(name_of(text));
}

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

uint32_t names_find(const struct names *n, const char *text)
{
	char *const *found = tfind(text, &n->tree, by_text);

	return found ? name_of(*found)->number : NAMES_NONE;
}

uint32_t names_put(struct names *n, const char *text)
{
	uint32_t have = names_find(n, text);
	struct name *name;
	char **more;

	if (have != NAMES_NONE || n->count >= n->limit)
		return have;
	more = grow(n->text, n->count, sizeof(*more));
	n->text = more ? more : n->text;
	name = more ? malloc(sizeof(*name) + strlen(text) + 1) : NULL;
	if (name)
		strcpy(name->text, text);
	if (!name || !tsearch(name->text, &n->tree, by_text)) {
		free(name);
		n->no_memory = true;
		return NAMES_NONE;
	}
	n->text[n->count] = name->text;
	return name->number = n->count++;
}

int names_keep(struct names *n, const uint32_t *order, uint32_t count)
{
	char **text = malloc((count + 1) * sizeof(*text));

	if (!text)
		return -1;
	for (uint32_t i = 0; i < n->count; i++)
		name_of(n->text[i])->number = NAMES_NONE;
	for (uint32_t i = 0; i < count; i++) {
		text[i] = n->text[order[i]];
		name_of(text[i])->number = i;
	}
	free(n->text);
	n->text = text;
	n->count = count;
	return 0;
}

void names_release(struct names *n)
{
	tdestroy(n->tree, release);
	free(n->text);
	*n = (struct names){0};
}
