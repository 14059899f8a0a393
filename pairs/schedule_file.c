// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "schedule.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"
#include "names.h"

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

const char *schedule_word(enum part part)
{
	return parts[part];
}

enum part schedule_part(const char *word)
{
	enum part part = PART_CONTROL;

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
	struct schedule_pair p = {.part = l->words == 4 ? schedule_part(l->word[3]) : PART_LOADED};

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

/* Add N pairs to ROUND: the first ones of groups, or of halves of one. */
static int add_pairs(struct schedule *s, uint32_t round, const uint32_t *a, const uint32_t *b,
		     uint32_t n, struct fault *f)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < n; i++)
		rc = schedule_add(s, round, a[i], b[i], f);
	return rc;
}

/* Round 0: the lower against the upper half of each of N groups, of which group g has the HOSTS from
 * END[g] to END[g + 1]. Then the circle method of groups, in which these meet in the order of the
 * file. */
static int pair_groups(struct schedule *s, const uint32_t *hosts, const uint32_t *end, uint32_t n,
		       struct fault *f)
{
	struct schedule_turn *turns = calloc(n + 1, sizeof(*turns));
	struct schedule circle = {0};
	int rc = turns ? 0 : fault_raise(f, FAULT_LOCAL, ENOMEM, "calloc");

	for (uint32_t i = 0; !rc && i < n; i++) {
		uint32_t half = (end[i + 1] - end[i]) / 2;

		rc = add_pairs(s, 0, hosts + end[i], hosts + end[i + 1] - half, half, f);
	}
	if (!rc && n > 1)
		rc = schedule_init(&circle, SCHEDULE_FULL, n, 0, 0, f);
	for (uint32_t round = 0; !rc && round < circle.rounds; round++) {
		schedule_round(&circle, round, turns);
		for (uint32_t i = 0; !rc && i < n; i++) {
			const uint32_t *own = end + i, *other = end + turns[i].peer;

			if (turns[i].client)
				rc = add_pairs(s, round + 1, hosts + *own, hosts + *other,
					       own[1] - *own < other[1] - *other
						       ? own[1] - *own
						       : other[1] - *other,
					       f);
		}
	}
	schedule_release(&circle);
	free(turns);
	return rc;
}

/* The groups of FILE. Hosts of it that are not in this run are passed over. */
static int read_groups(struct schedule *s, const char *file, const struct hosts *hosts,
		       struct fault *f)
{
	uint32_t *numbers = calloc(3 * (size_t)hosts->n + 1, sizeof(*numbers)), used = 0, n = 0;
	uint32_t *members = numbers, *seen = members + hosts->n, *end = seen + hosts->n;
	struct groups g = {0};
	int rc = numbers ? groups_read(&g, file, f) : fault_raise(f, FAULT_LOCAL, ENOMEM, "calloc");

	for (uint32_t k = 0; !rc && k < g.names.count; k++) {
		for (uint32_t i = 0; i < g.hosts.count; i++) {
			uint32_t at = g.of[i] == k ? hosts_find(hosts, g.hosts.text[i]) : HOSTS_NONE;

			if (at != HOSTS_NONE && !seen[at]++)
				members[used++] = at;
		}
		if (used > end[n])
			end[++n] = used;
	}
	for (uint32_t i = 0; !rc && i < hosts->n; i++)
		if (!seen[i])
			rc = fault_usage(f, "add it to a line: GROUP HOST...",
					 "%s is in no group of %s", hosts->host[i].name, file);
	if (!rc)
		rc = pair_groups(s, members, end, n, f);
	groups_release(&g);
	free(numbers);
	return rc;
}

int schedule_read(struct schedule *s, const struct schedule_asked *asked, const struct hosts *hosts,
		  struct fault *f)
{
	const char *file = asked->plan ? asked->plan : schedule_file(asked->name);
	struct lines l = {.file = file};
	int rc;

	*s = (struct schedule){.kind = SCHEDULE_LIST, .hosts = hosts->n};
	if (*asked->name == 'g')
		rc = read_groups(s, file, hosts, f);
	else if (!(rc = lines_open(&l, file, f)))
		rc = read_pairs(s, asked, &l, hosts, f);
	lines_release(&l);
	return rc ? -1 : schedule_complete(s, l.file, hosts, f);
}
