// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Keeps texts in a hash table with open addressing, never more than half full. */
#include "names.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS_LEAST 64

void names_init(struct names *n, uint32_t limit)
{
	*n = (struct names){.limit = limit};
}

static uint32_t hash_of(const char *text, size_t bytes)
{
	uint32_t h = 2166136261u; /* FNV-1a */

	for (size_t i = 0; i < bytes; i++)
		h = (h ^ (unsigned char)text[i]) * 16777619u;
	return h ^ h >> 15;
}

/* The slot of TEXT, or the free one where it belongs. */
static uint32_t slot_of(const struct names *n, const char *text, size_t bytes)
{
	uint32_t at = hash_of(text, bytes) & (n->slots - 1);

	for (; n->slot[at]; at = (at + 1) & (n->slots - 1)) {
		const char *have = n->text[n->slot[at] - 1];

		if (strncmp(have, text, bytes) == 0 && !have[bytes])
			break;
	}
	return at;
}

/* Make room for one more. Returns -1 if there is no memory. */
static int grow(struct names *n)
{
	uint32_t slots = n->slots ? n->slots * 2 : SLOTS_LEAST;
	uint32_t *slot;
	char **text;

	if (n->count < n->slots / 2)
		return 0;
	slot = calloc(slots, sizeof(*slot));
	text = realloc(n->text, slots / 2 * sizeof(*text));
	if (text)
		n->text = text;
	if (!slot || !text) {
		free(slot);
		return -1;
	}
	free(n->slot);
	n->slot = slot;
	n->slots = slots;
	for (uint32_t i = 0; i < n->count; i++)
		slot[slot_of(n, text[i], strlen(text[i]))] = i + 1;
	return 0;
}

uint32_t names_find(const struct names *n, const char *text, size_t bytes)
{
	uint32_t at = n->slots ? slot_of(n, text, bytes) : 0;

	return n->slots && n->slot[at] ? n->slot[at] - 1 : NAMES_NONE;
}

uint32_t names_put(struct names *n, const char *text)
{
	size_t bytes = strlen(text);
	uint32_t have = names_find(n, text, bytes);

	if (have != NAMES_NONE || n->count >= n->limit)
		return have;
	if (grow(n) || !(n->text[n->count] = strndup(text, bytes))) {
		n->no_memory = true;
		return NAMES_NONE;
	}
	n->slot[slot_of(n, text, bytes)] = n->count + 1;
	return n->count++;
}

void names_release(struct names *n)
{
	for (uint32_t i = 0; i < n->count; i++)
		free(n->text[i]);
	free(n->text);
	free(n->slot);
	*n = (struct names){0};
}
