// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The last lines of the report: how far the runs came, what they cannot find, and the totals. */
#include <string.h>

#include "base/text.h"
#include "judge.h"
#include "peel.h"

/* No pair has a figure: why, as most runs say, is more than a list of all. */
static void print_nothing(FILE *to, const struct judgement *j)
{
	uint32_t said = judge_said_most(j);

	fprintf(to, "no pair was measured\n");
	if (said != SUSPECT_NONE)
		fprintf(to, "  most runs say: %s\n", j->body->texts.text[said]);
	fprintf(to, "  next: run one pair by hand: `%s` there and here\n",
		j->body->whats.count ? strchrnul(j->body->whats.text[0], ' ') + 1 : "write_bw");
}

/* The fewest partners that a player met in one direction. */
static uint32_t fewest_partners(const struct judgement *j)
{
	uint32_t fewest = UINT32_MAX;

	for (uint32_t i = 0; i < j->m.players; i++)
		for (enum matrix_way way = 0; way < MATRIX_WAYS; way++) {
			uint32_t hosts = peel_hosts(&j->m, j->plain, way, i, NULL);

			if (hosts && hosts < fewest)
				fewest = hosts;
		}
	return fewest;
}

/* What a schedule of a few rounds cannot find. */
static void print_limits(FILE *to, const struct judgement *j)
{
	double covered = judge_covered(j);

	if (covered >= .9 || j->incast.rounds || j->m.players < 3 || !j->measured ||
	    strcmp(j->body->schedule, "full") == 0)
		return;
	fprintf(to,
		"%s%s%.2g %% of all pairs were tried: %s, a slow pair of good nodes with that "
		"chance.\n",
		j->body->schedule, *j->body->schedule ? ": " : "", 100 * covered,
		fewest_partners(j) < PEEL_PARTNERS_LEAST
			? "nodes with fewer than 3 partners are not judged, only their pairs"
			: "a slow node is found");
}

/* What is normal: of each rail, where they differ. */
static void add_normal(const struct judgement *j, char *text, size_t size)
{
	const struct judge_speeds *s = &j->speeds;

	if (j->body->latency) {
		text_add(text, size, "; normal %.4g us", j->usual);
		return;
	}
	text_add(text, size, "; normal ");
	for (uint32_t r = 0; r < s->rails.count && s->differ; r++)
		text_add(text, size, "%s%s %.4g", r ? ", " : "", s->rails.text[r],
			 j->level.normal * s->part[r]);
	if (!s->differ)
		text_add(text, size, "%.4g", j->level.normal);
	text_add(text, size, " Gb/s, noise %.1f %%", 100 * j->level.noise);
}

void judge_totals(FILE *to, const struct judgement *j)
{
	struct judge_count c = judge_count(j);
	char text[600] = "";

	if (!j->measured)
		print_nothing(to, j);
	if (j->rounds.planned)
		fprintf(to,
			"incomplete: a run has only %u of %u rounds; the others are not judged\n",
			j->rounds.played, j->rounds.planned);
	if (j->rounds.unnamed)
		fprintf(to, "incomplete: of %u players, %u are in no line\n", j->body->expected,
			j->rounds.unnamed);
	if (j->rounds.unended)
		fprintf(to, "incomplete: lines were cut; of %u players none says that they ended\n",
			j->rounds.unended);
	if (j->has_baseline && !j->compared)
		fprintf(to,
			"not compared with the baseline: no node, rail or pair has figures in both\n");
	print_limits(to, j);
	text_add(text, sizeof(text), "%u nodes: %u good, ", j->body->hosts.count, c.good);
	if (c.undecided)
		text_add(text, sizeof(text), "%u undecided, ", c.undecided);
	text_add(text, sizeof(text), "%u suspect, %u lost; %u of %u pairs measured", c.suspect,
		 c.lost, j->measured, j->tried);
	if (j->measured && !j->incast.rounds)
		add_normal(j, text, sizeof(text));
	fprintf(to, "%s\n", text);
}
