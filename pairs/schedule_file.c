// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "schedule.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"

/* Read the number TEXT. */
static int read_number(const char *text, uint32_t most, uint32_t *to)
{
	char *end;
	unsigned long v;

	if (!isdigit((unsigned char)*text))
		return -1;
	v = strtoul(text, &end, 10);
	if (*end || v > most)
		return -1;
	*to = (uint32_t)v;
	return 0;
}

/* The host that TEXT names, or whose number it is. */
static int read_host(const struct lines *l, const struct hosts *hosts, const char *text,
		     uint32_t *to, struct fault *f)
{
	*to = hosts_find(hosts, text);
	if (*to != HOSTS_NONE || !read_number(text, hosts->n - 1, to))
		return 0;
	return fault_usage(f, "add it to --hosts, or omit the line",
			   "line %u of %s: '%.64s' is none of the %u hosts", l->number, l->file, text,
			   hosts->n);
}

static const char *const parts[] = {NULL, "screen", "block", "test", "control"};

const char *schedule_word(enum schedule_part part)
{
	return parts[part];
}

static enum schedule_part read_part(const char *word)
{
	enum schedule_part part = SCHEDULE_CONTROL;

	while (part && strcmp(parts[part], word) != 0)
		part--;
	return part;
}

/* Cut the device off "HOST/DEVICE". Returns its place in RAILS, from 1; 0: none is named. */
static uint32_t cut_rail(const char *rails, char *word)
{
	char *device = strchr(word, '/');

	if (!device)
		return 0;
	*device++ = '\0';
	for (uint32_t i = 1; rails; i++) {
		size_t n = strcspn(rails, ",");

		if (n == strlen(device) && strncmp(rails, device, n) == 0)
			return i;
		rails = rails[n] ? rails + n + 1 : NULL;
	}
	return SCHEDULE_NOBODY;
}

/* The line of L: "ROUND A B", or of a plan "SLOT FROM TO PART". */
static int read_pair(struct schedule *s, const struct schedule_asked *asked, const struct lines *l,
		     const struct hosts *hosts, struct fault *f)
{
	uint32_t most = asked->plan ? (uint32_t)s->pairs_n : SCHEDULE_PAIRS_MAX;
	struct schedule_pair p = {.part = l->words == 4 ? read_part(l->word[3]) : SCHEDULE_NO_PART};

	if (l->words < 3 || read_number(l->word[0], most, &p.round) ||
	    (asked->plan ? !p.part : l->words > 3)) {
		lines_refuse(l, asked->plan ? "SLOT FROM TO PART" : "ROUND HOST HOST", f);
		fault_cause(f, "Numbers count from 0; the PART of a plan is screen, test or control");
		return fault_fix(f, "correct that line; a plan is written by `rdmark-pairs judge --plan`");
	}
	p.rail = cut_rail(asked->rails, l->word[1]);
	if (cut_rail(asked->rails, l->word[2]) != p.rail || p.rail == SCHEDULE_NOBODY)
		return fault_usage(f, "give the --rails of the run that was judged",
				   "line %u of %s: the devices are not the same rail of both hosts",
				   l->number, l->file);
	if (read_host(l, hosts, l->word[1], &p.client, f) ||
	    read_host(l, hosts, l->word[2], &p.server, f))
		return -1;
	return asked->plan ? schedule_put(s, &p, f)
			   : schedule_add(s, p.round, p.client, p.server, f);
}

static int read_pairs(struct schedule *s, const struct schedule_asked *asked, struct lines *l,
		      const struct hosts *hosts, struct fault *f)
{
	int rc;

	while ((rc = lines_next(l, f)) > 0)
		if (read_pair(s, asked, l, hosts, f))
			return -1;
	if (!rc && !s->pairs_n && asked->plan)
		return fault_usage(f, "read the report: what measuring can tell is decided",
				   "%s: the plan is empty", l->file);
	return rc;
}

/* The groups of a file, numbered from 1 in the order in which they come first. */
struct groups {
	uint32_t n, used;
	const char **name;
	uint32_t *of;    /* of each host: its group; 0: not known yet */
	uint32_t *at;    /* the hosts in the order of the file, */
	uint32_t *hosts; /* and one group after the other: */
	uint32_t *end;   /* group g from end[g - 1] to end[g] */
};

/* Lines "GROUP HOST…". Hosts of the file that are not in this run are passed over. */
static int read_members(struct groups *g, struct lines *l, const struct hosts *hosts,
			struct fault *f)
{
	int rc;

	while ((rc = lines_next(l, f)) > 0) {
		uint32_t k = 0;

		if (l->words < 2)
			return lines_refuse(l, "GROUP HOST...", f);
		while (k < g->n && strcmp(g->name[k], l->word[0]) != 0)
			k++;
		for (unsigned i = 1; i < l->words; i++) {
			uint32_t at = hosts_find(hosts, l->word[i]);

			if (at == HOSTS_NONE)
				continue;
			if (g->of[at])
				return lines_refuse(l, "a group of hosts that are in no other", f);
			g->name[k] = l->word[0];
			g->n = g->n > k ? g->n : k + 1;
			g->of[at] = k + 1;
			g->at[g->used++] = at;
		}
	}
	for (uint32_t i = 0; !rc && i < hosts->n; i++)
		if (!g->of[i])
			return fault_usage(f, "add it to a line: GROUP HOST...",
					   "%s is in no group of %s", hosts->host[i].name, l->file);
	return rc;
}

static void sort_members(struct groups *g)
{
	uint32_t used = 0;

	for (uint32_t k = 1; k <= g->n; k++) {
		for (uint32_t i = 0; i < g->used; i++)
			if (g->of[g->at[i]] == k)
				g->hosts[used++] = g->at[i];
		g->end[k] = used;
	}
}

/* Add N pairs to ROUND: the first ones of groups, or of halves of one. */
static int add_pairs(struct schedule *s, uint32_t round, const uint32_t *a, const uint32_t *b,
		     uint32_t n, struct fault *f)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < n; i++)
		rc = schedule_add(s, round, a[i], b[i], f);
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
		uint32_t half = (g->end[i + 1] - g->end[i]) / 2;

		rc = add_pairs(s, 0, g->hosts + g->end[i], g->hosts + g->end[i + 1] - half, half,
			       f);
	}
	if (!rc && g->n > 1)
		rc = schedule_init(&circle, SCHEDULE_FULL, g->n, 0, 0, f);
	for (uint32_t round = 0; !rc && round < circle.rounds; round++) {
		schedule_round(&circle, round, turns);
		for (uint32_t i = 0; !rc && i < g->n; i++) {
			const uint32_t *own = g->end + i, *other = g->end + turns[i].peer;
			uint32_t n;

			if (!turns[i].client)
				continue;
			n = own[1] - own[0];
			if (n > other[1] - other[0])
				n = other[1] - other[0];
			rc = add_pairs(s, round + 1, g->hosts + *own, g->hosts + *other, n, f);
		}
	}
	schedule_release(&circle);
	free(turns);
	return rc;
}

static int read_groups(struct schedule *s, struct lines *l, const struct hosts *hosts,
		       struct fault *f)
{
	uint32_t *numbers = calloc(4 * hosts->n + 1, sizeof(*numbers));
	struct groups g = {.name = calloc(hosts->n, sizeof(*g.name)),
			   .of = numbers,
			   .at = numbers + hosts->n,
			   .hosts = numbers + 2 * hosts->n,
			   .end = numbers + 3 * hosts->n};
	int rc = numbers && g.name ? read_members(&g, l, hosts, f)
				   : fault_raise(f, FAULT_LOCAL, ENOMEM, "calloc");

	if (!rc) {
		sort_members(&g);
		rc = pair_groups(s, &g, f);
	}
	free(g.name);
	free(numbers);
	return rc;
}

int schedule_read(struct schedule *s, const struct schedule_asked *asked, const struct hosts *hosts,
		  struct fault *f)
{
	struct lines l;
	int rc = lines_open(&l, asked->plan ? asked->plan : schedule_file(asked->name), f);

	*s = (struct schedule){.kind = SCHEDULE_LIST, .hosts = hosts->n};
	if (!rc)
		rc = *asked->name == 'g' ? read_groups(s, &l, hosts, f)
					 : read_pairs(s, asked, &l, hosts, f);
	lines_release(&l);
	return rc ? -1 : schedule_complete(s, l.file, hosts, f);
}
