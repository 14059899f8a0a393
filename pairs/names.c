// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Keeps texts in a list and in a table; reads groups. */
#include "names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "grow.h"
#include "hosts.h"
#include "lines.h"
#include "proto/json_memory.h"
#include "schedule.h"

uint32_t names_find(const struct names *n, const char *text)
{
	const json_t *number = json_object_get(n->number, text);

	return number ? (uint32_t)json_integer_value(number) : NAMES_NONE;
}

uint32_t names_put(struct names *n, const char *text)
{
	uint32_t have = names_find(n, text);
	char **more, *copy;

	if (have != NAMES_NONE || n->count >= n->limit)
		return have;
	if (!n->number)
		n->number = json_object();
	more = grow(n->text, n->count, sizeof(*more));
	n->text = more ? more : n->text;
	copy = more ? strdup(text) : NULL;
	if (!copy || json_object_set_new_nocheck(n->number, text, json_integer(n->count))) {
		free(copy);
		json_memory_lacked();
		return NAMES_NONE;
	}
	n->text[n->count] = copy;
	return n->count++;
}

void names_sort(struct names *n, const uint32_t *order)
{
	char **text = malloc(((size_t)n->count + 1) * sizeof(*text));

	if (!text) {
		json_memory_lacked();
		return;
	}
	for (uint32_t i = 0; i < n->count; i++) {
		text[i] = n->text[order[i]];
		json_integer_set(json_object_get(n->number, text[i]), i);
	}
	free(n->text);
	n->text = text;
}

void names_release(struct names *n)
{
	for (uint32_t i = 0; i < n->count; i++)
		free(n->text[i]);
	free(n->text);
	json_decref(n->number);
	*n = (struct names){0};
}

int groups_put(struct groups *g, const char *group, const char *host)
{
	uint32_t of;

	if (!g->names.limit) {
		names_init(&g->names, GROUPS_MAX);
		g->of = json_object();
	}
	of = names_put(&g->names, group);
	if (of == NAMES_NONE || groups_of(g, host) != NAMES_NONE ||
	    json_object_size(g->of) == SCHEDULE_HOSTS_MAX)
		return -1;
	if (!json_object_set_new_nocheck(g->of, host, json_integer(of)))
		return 0;
	json_memory_lacked();
	return -1;
}

int groups_read(struct groups *g, const char *file, struct fault *f)
{
	struct lines l;
	int rc = lines_open(&l, file, f);

	while (!rc && (rc = lines_next(&l, f)) > 0) {
		bool wrong = l.words < 2;

		text_disarm(l.word[0]);
		for (unsigned i = 1; i < l.words && !wrong; i++)
			wrong = !hosts_is_name(l.word[i]) || groups_put(g, l.word[0], l.word[i]);
		rc = 0;
		if (json_memory_failures()) {
			rc = fault_raise(f, FAULT_LOCAL, ENOMEM, "%s", l.file);
		} else if (wrong) {
			rc = fault_raise(f, FAULT_USAGE, 0, "%s: line %u", l.file, l.number);
			fault_cause(f, "It has no host, or what is none, a host has a group "
				       "already, or there are too many groups.");
			fault_fix(f, "write \"GROUP HOST...\", each host once");
		}
	}
	lines_release(&l);
	return rc;
}

uint32_t groups_of(const struct groups *g, const char *host)
{
	const json_t *of = json_object_get(g->of, host);

	return of ? (uint32_t)json_integer_value(of) : NAMES_NONE;
}

void groups_release(struct groups *g)
{
	names_release(&g->names);
	json_decref(g->of);
	*g = (struct groups){0};
}
