// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "schedule.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"

#define EXTRA_MAX 8192

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
	return fault_raise(f, FAULT_USAGE, 0, "line %u of %s: '%.64s' is none of the %u hosts",
			   l->number, l->file, text, hosts->n);
}

/* Add the pair of the last two words of L to ROUND of S. */
static int add_named(struct schedule *s, uint32_t round, const struct lines *l,
		     const struct hosts *hosts, struct fault *f)
{
	char *const *name = l->word + l->words - 2;
	uint32_t a, b;

	if (read_host(l, hosts, name[0], &a, f) || read_host(l, hosts, name[1], &b, f))
		return -1;
	return schedule_add(s, round, a, b, f);
}

/* Lines "ROUND A B". */
static int read_pairs(struct schedule *s, struct lines *l, const struct hosts *hosts,
		      struct fault *f)
{
	int rc;

	while ((rc = lines_next(l, f)) > 0) {
		uint32_t round;

		if (l->words != 3 || read_number(l->word[0], SCHEDULE_PAIRS_MAX, &round))
			return lines_refuse(l, "ROUND HOST HOST", f);
		if (add_named(s, round, l, hosts, f))
			return -1;
	}
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

/* A schedule that consists of pairs: "group=FILE" or "file=FILE". */
static int read_list(struct schedule *s, const char *name, const struct hosts *hosts,
		     struct fault *f)
{
	const char *file = schedule_file(name);
	struct lines l;
	int rc = lines_open(&l, file, f);

	*s = (struct schedule){.kind = SCHEDULE_LIST, .hosts = hosts->n};
	if (!rc)
		rc = *name == 'g' ? read_groups(s, &l, hosts, f) : read_pairs(s, &l, hosts, f);
	lines_release(&l);
	return rc ? -1 : schedule_complete(s, file, f);
}

/* Refuse NAME, which is no schedule, or was one. */
static int refuse_name(const char *name, struct fault *f)
{
	static const char *const gone[][2] = {
		{"ring", "write the pairs of the ring to a file: --schedule file=FILE"},
		{"victim", "measure the victim with send_lat between two other nodes at the same time"},
		{"random", "use quick, which has 8 rounds of random pairs; --seed gives others"},
	};
	const char *fix = "use full, quick, incast=SENDERS, group=FILE or file=FILE";
	const char *victim = strstr(name, ",victim"), *word = victim ? victim + 1 : name;
	size_t n = strcspn(word, "=");

	for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++)
		if (strlen(gone[i][0]) == n && strncmp(word, gone[i][0], n) == 0)
			fix = gone[i][1];
	return fault_usage(f, fix, "--schedule %.80s", name);
}

/* Set up the schedule of ASKED's name, whole. */
static int open_whole(struct schedule *s, const struct schedule_asked *asked,
		      const struct hosts *hosts, struct fault *f)
{
	const char *name = asked->name, *senders = "incast=";
	size_t n = strlen(senders);
	uint32_t k;

	if (schedule_file(name))
		return read_list(s, name, hosts, f);
	if (strcmp(name, "full") == 0)
		return schedule_init(s, SCHEDULE_FULL, hosts->n, 0, asked->seed, f);
	if (strcmp(name, "quick") == 0)
		return schedule_init(s, SCHEDULE_QUICK, hosts->n, 0, asked->seed, f);
	if (strncmp(name, senders, n) == 0 && !read_number(name + n, UINT32_MAX - 1, &k))
		return schedule_init(s, SCHEDULE_INCAST, hosts->n, k, asked->seed, f);
	return refuse_name(name, f);
}

/* Read the file of `only`: hosts into CHOSEN, pairs into EXTRA. */
static int read_only(const char *file, const struct hosts *hosts, bool *chosen,
		     struct schedule *extra, struct fault *f)
{
	struct lines l;
	int rc = lines_open(&l, file, f);

	while (!rc && (rc = lines_next(&l, f)) > 0) {
		uint32_t host;

		if (l.words > 2) {
			rc = lines_refuse(&l, "a host, or two", f);
		} else if (l.words == 2) {
			rc = add_named(extra, 0, &l, hosts, f);
		} else {
			rc = read_host(&l, hosts, l.word[0], &host, f);
			if (!rc)
				chosen[host] = true;
		}
	}
	lines_release(&l);
	return rc;
}

/*
 * Add the chosen pairs of the schedule WHOLE; what is left of one of its rounds after AT_ONCE pairs
 * gets rounds of its own. *ROUND is that of the next one.
 */
static int add_chosen(struct schedule *s, const struct schedule *whole, const bool *chosen,
		      uint32_t at_once, uint32_t *round, struct fault *f)
{
	struct schedule_turn *turns = calloc(whole->hosts, sizeof(*turns));
	int rc = turns ? 0 : fault_raise(f, FAULT_LOCAL, ENOMEM, "calloc");

	for (uint32_t r = 0; !rc && r < whole->rounds; r++) {
		uint32_t n = 0;

		schedule_round(whole, r, turns);
		for (uint32_t i = 0; !rc && i < whole->hosts; i++)
			if (turns[i].client && (!chosen || chosen[i] || chosen[turns[i].peer]))
				rc = schedule_add(s, *round + n++ / at_once, i, turns[i].peer, f);
		*round += n / at_once + (n % at_once != 0);
	}
	free(turns);
	return rc;
}

static bool has_pair(const struct schedule *s, const struct schedule_pair *p)
{
	for (size_t i = 0; i < s->pairs_n; i++)
		if (s->pairs[i].a == p->a && s->pairs[i].b == p->b)
			return true;
	return false;
}

/* Add the pairs of EXTRA that S does not have, from round FIRST on, at most AT_ONCE in a round. */
static int add_extra(struct schedule *s, const struct schedule *extra, uint32_t first,
		     uint32_t at_once, struct fault *f)
{
	/* Of each round from FIRST on, its pairs; of each host, the round after its last pair. */
	uint32_t *used = calloc(extra->pairs_n + 1, sizeof(*used));
	uint32_t *next = calloc(s->hosts, sizeof(*next));
	int rc = used && next ? 0 : fault_raise(f, FAULT_LOCAL, ENOMEM, "calloc");

	for (size_t i = 0; !rc && i < extra->pairs_n; i++) {
		const struct schedule_pair *p = &extra->pairs[i];
		uint32_t round = next[p->a] > next[p->b] ? next[p->a] : next[p->b];

		if (has_pair(s, p))
			continue;
		while (used[round] == at_once)
			round++;
		used[round]++;
		next[p->a] = next[p->b] = round + 1;
		rc = schedule_add(s, first + round, p->a, p->b, f);
	}
	free(used);
	free(next);
	return rc;
}

/*
 * Fill S with those pairs of WHOLE of which a host is CHOSEN (NULL: all), in the rounds that still
 * have pairs, and with the pairs of EXTRA that are not among them. A round with more than AT_ONCE
 * pairs becomes several.
 */
static int add_parts(struct schedule *s, const struct schedule *whole, const bool *chosen,
		     const struct schedule *extra, uint32_t at_once, struct fault *f)
{
	uint32_t round = 0;

	*s = (struct schedule){.kind = SCHEDULE_LIST, .hosts = whole->hosts};
	if (schedule_lanes(whole) > 1)
		return fault_usage(f,
				   "omit --only, --alone and --at-once, or use another "
				   "--schedule",
				   "parts of an incast");
	if (extra->pairs_n > EXTRA_MAX)
		return fault_raise(f, FAULT_USAGE, 0, "--only with more than %d pairs", EXTRA_MAX);
	if (add_chosen(s, whole, chosen, at_once, &round, f) ||
	    add_extra(s, extra, round, at_once, f))
		return -1;
	return schedule_complete(s, chosen ? "--only" : "--at-once", f);
}

int schedule_open(struct schedule *s, const struct schedule_asked *asked, const struct hosts *hosts,
		  struct fault *f)
{
	uint32_t at_once = asked->at_once ? (uint32_t)asked->at_once : asked->alone ? 1 : hosts->n;
	struct schedule whole = {0}, extra = {.kind = SCHEDULE_LIST, .hosts = hosts->n};
	bool *chosen = NULL;
	int rc = open_whole(&whole, asked, hosts, f);

	*s = (struct schedule){0};
	if (!rc && !asked->only && at_once >= hosts->n) {
		*s = whole;
		return 0;
	}
	if (!rc && asked->only) {
		chosen = calloc(hosts->n, sizeof(*chosen));
		rc = chosen ? read_only(asked->only, hosts, chosen, &extra, f)
			    : fault_raise(f, FAULT_LOCAL, ENOMEM, "calloc");
	}
	if (!rc)
		rc = add_parts(s, &whole, chosen, &extra, at_once, f);
	if (rc)
		schedule_release(s);
	schedule_release(&whole);
	schedule_release(&extra);
	free(chosen);
	return rc;
}
