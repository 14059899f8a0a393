// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "schedule_file.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pairs/lines.h"
#include "schedule_list.h"

/* Read a number that REST follows, and nothing else. */
static int read_number_before(const char *rest, const char *text, uint32_t most, uint32_t *to)
{
	char *end;
	unsigned long v;

	if (!isdigit((unsigned char)*text))
		return -1;
	v = strtoul(text, &end, 10);
	if (strcmp(end, rest) != 0 || v > most)
		return -1;
	*to = (uint32_t)v;
	return 0;
}

static int read_number(const char *text, uint32_t most, uint32_t *to)
{
	return read_number_before("", text, most, to);
}

/* The host that TEXT names, or whose number it is. */
static int read_host(const struct lines *l, const struct hosts *hosts, const char *text,
		     uint32_t *to, struct fault *f)
{
	*to = hosts_find(hosts, text);
	if (*to != HOSTS_NONE || !read_number(text, hosts->n - 1, to))
		return 0;
	fault_raise(f, FAULT_USAGE, 0, "line %u of %s: '%.64s' is none of the %u hosts", l->number,
		    l->file, text, hosts->n);
	return -1;
}

/* Lines "ROUND A B". */
static int read_pairs(struct schedule *s, struct lines *l, const struct hosts *hosts,
		      struct fault *f)
{
	int rc;

	while ((rc = lines_next(l, f)) > 0) {
		uint32_t round, a, b;

		if (l->words != 3 || read_number(l->word[0], SCHEDULE_PAIRS_MAX, &round))
			return lines_refuse(l, "ROUND HOST HOST", f);
		if (read_host(l, hosts, l->word[1], &a, f) ||
		    read_host(l, hosts, l->word[2], &b, f))
			return -1;
		if (schedule_list_add(s, round, a, b, f))
			return -1;
	}
	return rc;
}

/* The hosts of each group: in hosts[] one after the other, group g up to end[g]. */
struct groups {
	uint32_t *hosts, *end;
	uint32_t n;
};

/* What the file says, line by line: host at[i] is in the group called of[i]. */
struct members {
	uint32_t *at, used;
	const char **of;
	bool *known; /* of each host */
};

/* Lines "GROUP HOST…". Hosts of the file that are not in this run are passed over. */
static int read_members(struct members *m, struct lines *l, const struct hosts *hosts,
			struct fault *f)
{
	int rc;

	while ((rc = lines_next(l, f)) > 0) {
		if (l->words < 2)
			return lines_refuse(l, "GROUP HOST...", f);
		for (unsigned i = 1; i < l->words; i++) {
			uint32_t at = hosts_find(hosts, l->word[i]);

			if (at == HOSTS_NONE)
				continue;
			if (m->known[at])
				return lines_refuse(l, "a group of hosts that are in no other", f);
			m->known[at] = true;
			m->of[m->used] = l->word[0];
			m->at[m->used++] = at;
		}
	}
	for (uint32_t i = 0; !rc && i < hosts->n; i++)
		if (!m->known[i]) {
			fault_raise(f, FAULT_USAGE, 0, "%s is in no group of %s",
				    hosts->host[i].name, l->file);
			return fault_fix(f, "add it to a line: GROUP HOST...");
		}
	return rc;
}

/* Groups in the order in which they come first, their hosts in that of the file. */
static void put_groups(struct groups *g, struct members *m)
{
	uint32_t used = 0;

	for (uint32_t first = 0; first < m->used; first++) {
		const char *group = m->of[first];

		for (uint32_t i = first; group && i < m->used; i++)
			if (m->of[i] && !strcmp(m->of[i], group)) {
				g->hosts[used++] = m->at[i];
				m->of[i] = NULL;
			}
		if (group)
			g->end[g->n++] = used;
	}
}

static int read_groups(struct groups *g, struct lines *l, const struct hosts *hosts,
		       struct fault *f)
{
	struct members m = {.at = calloc(hosts->n, sizeof(*m.at)),
			    .of = calloc(hosts->n, sizeof(*m.of)),
			    .known = calloc(hosts->n, sizeof(*m.known))};
	int rc = m.at && m.of && m.known ? read_members(&m, l, hosts, f)
					 : fault_raise(f, FAULT_LOCAL, ENOMEM, "calloc");

	if (!rc)
		put_groups(g, &m);
	free(m.at);
	free(m.of);
	free(m.known);
	return rc;
}

/* Round 0: the lower against the upper half of each group. Then the circle method of groups, in
 * which the hosts of two groups meet in the order of their lines. */
static int pair_groups(struct schedule *s, const struct groups *g, struct fault *f)
{
	struct schedule_turn *turns = calloc(g->n + 1, sizeof(*turns));
	struct schedule circle = {0};
	int rc = turns ? 0 : fault_raise(f, FAULT_LOCAL, ENOMEM, "calloc");

	for (uint32_t i = 0; !rc && i < g->n; i++) {
		uint32_t first = i ? g->end[i - 1] : 0, half = (g->end[i] - first) / 2;

		for (uint32_t k = 0; !rc && k < half; k++)
			rc = schedule_list_add(s, 0, g->hosts[first + k],
					       g->hosts[g->end[i] - half + k], f);
	}
	if (!rc && g->n > 1)
		rc = schedule_init(&circle, SCHEDULE_FULL, g->n, 0, 0, f);
	for (uint32_t round = 0; !rc && round < circle.rounds; round++) {
		schedule_round(&circle, round, turns);
		for (uint32_t i = 0; !rc && i < g->n; i++) {
			uint32_t a = i ? g->end[i - 1] : 0, b;

			if (!turns[i].client)
				continue;
			b = g->end[turns[i].peer - 1];
			while (!rc && a < g->end[i] && b < g->end[turns[i].peer])
				rc = schedule_list_add(s, round + 1, g->hosts[a++], g->hosts[b++],
						       f);
		}
	}
	schedule_release(&circle);
	free(turns);
	return rc;
}

static int read_group_file(struct schedule *s, struct lines *l, const struct hosts *hosts,
			   struct fault *f)
{
	struct groups g = {.hosts = calloc(hosts->n, sizeof(uint32_t)),
			   .end = calloc(hosts->n, sizeof(uint32_t))};
	int rc = g.hosts && g.end ? 0 : fault_raise(f, FAULT_LOCAL, ENOMEM, "calloc");

	if (!rc)
		rc = read_groups(&g, l, hosts, f);
	if (!rc)
		rc = pair_groups(s, &g, f);
	free(g.hosts);
	free(g.end);
	return rc;
}

/* A schedule that consists of pairs: `group` or `file`. */
static int read_list(struct schedule *s, const char *file, bool groups, const struct hosts *hosts,
		     struct fault *f)
{
	struct lines l;
	int rc = lines_open(&l, file, f);

	schedule_list_init(s, hosts->n);
	if (!rc)
		rc = groups ? read_group_file(s, &l, hosts, f) : read_pairs(s, &l, hosts, f);
	lines_release(&l);
	return rc ? -1 : schedule_list_complete(s, file, f);
}

/* Set up the schedule of ASKED's name, whole. */
static int open_named(struct schedule *s, const struct schedule_asked *asked,
		      const struct hosts *hosts, struct fault *f)
{
	size_t n = strcspn(asked->name, "=");
	const char *value = asked->name[n] ? asked->name + n + 1 : NULL;
	uint32_t k = 1;

	for (enum schedule_kind kind = SCHEDULE_FULL; kind < SCHEDULE_LIST; kind++) {
		const char *name = schedule_name(kind);
		bool numbered = kind >= SCHEDULE_RANDOM;
		bool victim = kind == SCHEDULE_INCAST && value && strchr(value, ',');

		if (strlen(name) != n || strncmp(name, asked->name, n) != 0)
			continue;
		if ((value && !numbered) || (!value && numbered && kind != SCHEDULE_RING) ||
		    (value &&
		     read_number_before(victim ? ",victim" : "", value, UINT32_MAX - 1, &k)))
			break;
		return schedule_init(s, victim ? SCHEDULE_VICTIM : kind, hosts->n, k, asked->seed,
				     f);
	}
	if (value && *value &&
	    (!strncmp(asked->name, "group=", 6) || !strncmp(asked->name, "file=", 5)))
		return read_list(s, value, asked->name[0] == 'g', hosts, f);
	fault_raise(f, FAULT_USAGE, 0, "--schedule %.80s", asked->name);
	return fault_fix(f, "use full, quick, random=ROUNDS, ring[=DISTANCE], "
			    "incast=SENDERS[,victim], group=FILE or file=FILE");
}

/* Read the file of `only`: hosts into CHOSEN, pairs into EXTRA. */
static int read_only(const char *file, const struct hosts *hosts, bool *chosen,
		     struct schedule *extra, struct fault *f)
{
	struct lines l;
	int rc = lines_open(&l, file, f);

	while (!rc && (rc = lines_next(&l, f)) > 0) {
		uint32_t a, b = 0;

		rc = l.words > 2 ? lines_refuse(&l, "a host, or two", f)
				 : read_host(&l, hosts, l.word[0], &a, f);
		if (!rc && l.words == 2)
			rc = read_host(&l, hosts, l.word[1], &b, f);
		if (!rc && l.words == 2)
			rc = schedule_list_add(extra, 0, a, b, f);
		else if (!rc)
			chosen[a] = true;
	}
	lines_release(&l);
	return rc;
}

int schedule_open(struct schedule *s, const struct schedule_asked *asked, const struct hosts *hosts,
		  struct fault *f)
{
	uint32_t at_once = asked->at_once ? (uint32_t)asked->at_once : asked->alone ? 1 : hosts->n;
	bool *chosen = calloc(hosts->n, sizeof(*chosen)), parts = asked->only || at_once < hosts->n;
	struct schedule whole = {0}, extra;
	int rc = chosen ? 0 : fault_raise(f, FAULT_LOCAL, ENOMEM, "calloc");

	*s = (struct schedule){0};
	schedule_list_init(&extra, hosts->n);
	if (!rc)
		rc = open_named(&whole, asked, hosts, f);
	if (!rc && asked->only)
		rc = read_only(asked->only, hosts, chosen, &extra, f);
	if (!rc && parts)
		rc = schedule_list_limit(s, &whole, asked->only ? chosen : NULL, &extra, at_once,
					 f);
	if (!rc && parts)
		rc = schedule_list_complete(s, asked->only ? "--only" : "--at-once", f);
	else if (!rc) {
		*s = whole;
		whole = (struct schedule){0};
	}
	schedule_release(&whole);
	schedule_release(&extra);
	free(chosen);
	return rc;
}
