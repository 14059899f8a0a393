// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "schedule.h"

#include <ctype.h>
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

int schedule_read(struct schedule *s, const struct schedule_asked *asked, const struct hosts *hosts,
		  struct fault *f)
{
	const char *file = asked->plan ? asked->plan : schedule_file(asked->name);
	struct lines l;
	int rc = lines_open(&l, file, f);

	*s = (struct schedule){.kind = SCHEDULE_LIST, .hosts = hosts->n};
	if (!rc)
		rc = read_pairs(s, asked, &l, hosts, f);
	lines_release(&l);
	return rc ? -1 : schedule_complete(s, l.file, hosts, f);
}
