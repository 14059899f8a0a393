// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads which host is in which group. */
#include "groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "body.h"

int groups_put(struct groups *g, const char *group, const char *host)
{
	uint32_t known, at, of;

	if (!g->names.limit) {
		names_init(&g->names, GROUPS_MAX);
		names_init(&g->hosts, BODY_PLAYERS_MAX);
		g->of = calloc(BODY_PLAYERS_MAX, sizeof(*g->of));
		g->names.no_memory = !g->of;
	}
	known = g->hosts.count;
	of = names_put(&g->names, group);
	at = names_put(&g->hosts, host);
	if (!g->of || of == NAMES_NONE || at != known)
		return -1;
	g->of[at] = of;
	return 0;
}

uint32_t groups_read(struct groups *g, FILE *file)
{
	char *line = NULL;
	size_t room = 0;
	uint32_t number = 0, wrong = 0;

	while (!wrong && getline(&line, &room, file) >= 0) {
		char *rest = NULL, *group = strtok_r(line, " \t\r\n,", &rest), *host;
		uint32_t hosts = 0;

		number++;
		if (!group || *group == '#')
			continue;
		text_disarm(group);
		while (!wrong && (host = strtok_r(NULL, " \t\r\n,", &rest))) {
			hosts++;
			if (groups_put(g, group, host))
				wrong = number;
		}
		if (!hosts)
			wrong = number;
	}
	free(line);
	g->names.no_memory |= !wrong && !feof(file);
	return wrong;
}

uint32_t groups_of(const struct groups *g, const char *host)
{
	uint32_t at = names_find(&g->hosts, host);

	return at == NAMES_NONE ? NAMES_NONE : g->of[at];
}

void groups_release(struct groups *g)
{
	names_release(&g->names);
	names_release(&g->hosts);
	free(g->of);
	*g = (struct groups){0};
}
