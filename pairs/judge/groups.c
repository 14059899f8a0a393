// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "groups.h"

#include <errno.h>
#include <stdlib.h>

#include "base/text.h"
#include "body.h"
#include "pairs/lines.h"

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

int groups_read(struct groups *g, const char *file, struct fault *f)
{
	struct lines l;
	int rc = lines_open(&l, file, f);

	while (!rc && (rc = lines_next(&l, f)) > 0) {
		bool wrong = l.words < 2;

		text_disarm(l.word[0]);
		for (unsigned i = 1; i < l.words && !wrong; i++)
			wrong = groups_put(g, l.word[0], l.word[i]);
		rc = 0;
		if (g->names.no_memory || g->hosts.no_memory) {
			rc = fault_raise(f, FAULT_LOCAL, ENOMEM, "%s", file);
		} else if (wrong) {
			rc = fault_raise(f, FAULT_USAGE, 0, "%s: line %u", file, l.number);
			fault_cause(f,
				    "It has no host, a host has a group already, or there are too "
				    "many groups.");
			fault_fix(f, "write \"GROUP HOST...\", each host once");
		}
	}
	lines_release(&l);
	return rc;
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
