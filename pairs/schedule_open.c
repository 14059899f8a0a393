// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "schedule.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

#define EXTRA_MAX 8192

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
	uint64_t k;

	if (asked->plan || schedule_file(name))
		return schedule_read(s, asked, hosts, f);
	if (strcmp(name, "full") == 0)
		return schedule_init(s, SCHEDULE_FULL, hosts->n, 0, asked->seed, f);
	if (strcmp(name, "quick") == 0)
		return schedule_init(s, SCHEDULE_QUICK, hosts->n, 0, asked->seed, f);
	if (strncmp(name, senders, n) == 0 && !units_parse_u64(name + n, &k) && k < UINT32_MAX)
		return schedule_init(s, SCHEDULE_INCAST, hosts->n, (uint32_t)k, asked->seed, f);
	return refuse_name(name, f);
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
		if (s->pairs[i].client == p->client && s->pairs[i].server == p->server)
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
		uint32_t round = next[p->client] > next[p->server] ? next[p->client] : next[p->server];

		if (has_pair(s, p))
			continue;
		while (used[round] == at_once)
			round++;
		used[round]++;
		next[p->client] = next[p->server] = round + 1;
		rc = schedule_add(s, first + round, p->client, p->server, f);
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
		     const struct schedule *extra, uint32_t at_once, const struct hosts *hosts,
		     struct fault *f)
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
	return schedule_complete(s, chosen ? "--only" : "--at-once", hosts, f);
}

int schedule_open(struct schedule *s, const struct schedule_asked *asked, const struct hosts *hosts,
		  struct fault *f)
{
	uint32_t at_once = asked->at_once ? (uint32_t)asked->at_once : asked->alone ? 1 : hosts->n;
	struct schedule whole = {0}, extra = {.kind = SCHEDULE_LIST, .hosts = hosts->n};
	bool *chosen = NULL;
	int rc = open_whole(&whole, asked, hosts, f);

	*s = (struct schedule){0};
	if (!rc && (asked->plan || (!asked->only && at_once >= hosts->n))) {
		*s = whole;
		return 0;
	}
	if (!rc && asked->only) {
		chosen = calloc(hosts->n, sizeof(*chosen));
		rc = chosen ? schedule_read_only(asked->only, hosts, chosen, &extra, f)
			    : fault_raise(f, FAULT_LOCAL, ENOMEM, "calloc");
	}
	if (!rc)
		rc = add_parts(s, &whole, chosen, &extra, at_once, hosts, f);
	if (rc)
		schedule_release(s);
	schedule_release(&whole);
	schedule_release(&extra);
	free(chosen);
	return rc;
}
