// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "schedule.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

/* Set up the schedule of ASKED's name, whole. */
static int open_whole(struct schedule *s, const struct schedule_asked *asked,
		      const struct hosts *hosts, struct fault *f)
{
	const char *name = asked->name, *senders = "incast=";
	size_t n = strlen(senders);
	uint64_t k;

	*s = (struct schedule){0};
	if (asked->plan || schedule_file(name))
		return schedule_read(s, asked, hosts, f);
	if (strcmp(name, "full") == 0)
		return schedule_init(s, SCHEDULE_FULL, hosts->n, 0, asked->seed, f);
	if (strcmp(name, "quick") == 0)
		return schedule_init(s, SCHEDULE_QUICK, hosts->n, 0, asked->seed, f);
	if (strncmp(name, senders, n) == 0 && !units_parse_u64(name + n, &k) && k < UINT32_MAX)
		return schedule_init(s, SCHEDULE_INCAST, hosts->n, (uint32_t)k, asked->seed, f);
	return fault_usage(f, "use full, quick, incast=SENDERS or file=FILE; for groups, judge --groups FILE",
			   "--schedule %.80s", name);
}

/*
 * Fill S with the pairs of WHOLE, at most AT_ONCE in a round: what is left of a round of WHOLE gets
 * rounds of its own.
 */
static int add_parts(struct schedule *s, const struct schedule *whole, uint32_t at_once,
		     const struct hosts *hosts, struct fault *f)
{
	struct schedule_turn *turns = calloc(whole->hosts, sizeof(*turns));
	int rc = turns ? 0 : fault_raise(f, FAULT_LOCAL, ENOMEM, "calloc");
	uint32_t round = 0;

	*s = (struct schedule){.kind = SCHEDULE_LIST, .hosts = whole->hosts};
	if (schedule_lanes(whole) > 1)
		rc = fault_usage(f, "omit --at-once, or use another --schedule",
				 "parts of an incast");
	for (uint32_t r = 0; !rc && r < whole->rounds; r++) {
		uint32_t n = 0;

		schedule_round(whole, r, turns);
		for (uint32_t i = 0; !rc && i < whole->hosts; i++)
			if (turns[i].client)
				rc = schedule_add(s, round + n++ / at_once, i, turns[i].peer, f);
		round += n / at_once + (n % at_once != 0);
	}
	free(turns);
	return rc ? -1 : schedule_complete(s, "--at-once", hosts, f);
}

int schedule_open(struct schedule *s, const struct schedule_asked *asked, const struct hosts *hosts,
		  struct fault *f)
{
	uint32_t at_once = asked->at_once ? (uint32_t)asked->at_once : hosts->n;
	struct schedule whole;
	int rc = open_whole(s, asked, hosts, f);

	if (!rc && !asked->plan && at_once < hosts->n) {
		whole = *s;
		rc = add_parts(s, &whole, at_once, hosts, f);
		schedule_release(&whole);
	}
	if (rc)
		schedule_release(s);
	return rc;
}
