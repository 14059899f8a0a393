// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What limits the results: in the document, and noted once, after the table. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "explain/limit.h"
#include "finding/thresholds.h"
#include "proto/fields.h"
#include "report/report.h"

/* What limits the fastest row, and what is broken. */
struct explained_rows {
	unsigned rows;               /* that are explained */
	uint64_t message_bytes, run; /* of the fastest; of round trips, the worst */
	double worth; /* its rate; of round trips, how bad its first finding is */
	unsigned ways; /* with -b two, the slower direction first */
	struct explained_way {
		enum result_direction direction;
		double gbps, least_gbps, most_gbps; /* with ± */
		struct explained explained;
	} way[2];
	struct findings faults; /* of the other rows */
};

static json_t *ceilings_json(const struct ceilings *c)
{
	return json_pack("{s:o, s:o, s:o, s:o}", "link_gbps", json_number_or_null(c->link_gbps),
			 "pcie_gbps", json_number_or_null(c->pcie_gbps), "window_gbps",
			 json_number_or_null(c->window_gbps), "core_gbps",
			 json_number_or_null(c->core_gbps));
}

json_t *explained_limit(const struct explained *e)
{
	const struct limit *l = &e->limit;
	const struct finding_facts *is = &l->finding.is;

	return json_pack("{s:s, s:b, s:s, s:s?, s:o, s:s, s:s, s:o}", "bound_by",
			 finding_name(is->code), "certain", is->strength == FINDING_IS, "strength",
			 finding_strength_name(is->strength), "end", is->end, "share",
			 json_number_or_null(is->share), "text", l->finding.text, "next",
			 l->finding.next, "ceilings", ceilings_json(&l->ceilings));
}

json_t *findings_json(const struct findings *list)
{
	json_t *to = json_array();

	for (size_t i = 0; i < list->count; i++)
		json_array_append_new(to, finding_to_json(&list->list[i]));
	return to;
}

const char *finding_line(const struct finding *f, char *buf, size_t size)
{
	snprintf(buf, size, "%s: %s%s%s%s%s [%s]", finding_level_name(f->is.level), f->text,
		 f->cause[0] ? ". " : "", f->cause, f->next[0] ? ". Next: " : "", f->next,
		 finding_name(f->is.code));
	return buf;
}

/* Keep the faults of a row that is not the fastest. */
static void keep_faults(struct explained_rows *why, const struct findings *from)
{
	for (size_t i = 0; i < from->count; i++)
		if (from->list[i].is.level == FINDING_FAULT && why->faults.count < FINDINGS_MAX)
			why->faults.list[why->faults.count++] = from->list[i];
}

/* By what ROW is chosen: the fastest of a bandwidth test, the most disturbed of round trips. */
static double worth_of(const struct result_row *row)
{
	const struct finding *f = row->explained->findings.list;

	if (row->direction != RESULT_PING_PONG)
		return row->record->bandwidth_gbps;
	return row->explained->findings.count ? 1 + 2 * f->is.level + fmax(f->is.share, 0) : 0;
}

/* Keep ROW, which is of the fastest result so far. */
static void keep_row(struct explained_rows *why, const struct result_row *row)
{
	const struct explained *from = row->explained;
	size_t bytes = from->findings.count * sizeof(*from->findings.list);
	struct explained_way *to = &why->way[why->ways++];
	const struct record *rec = row->record;
	double half = fmax(rec->plus_minus.percent, 0) / 100; /* 0: not known */

	to->direction = row->direction;
	to->gbps = rec->bandwidth_gbps;
	to->least_gbps = to->gbps * (1 - half);
	to->most_gbps = to->gbps * (1 + half);
	memcpy(&to->explained, from, offsetof(struct explained, findings.list));
	memcpy(to->explained.findings.list, from->findings.list, bytes);
}

/* The explained rows of RESULT, the slower direction first. Returns how many. */
static unsigned explained_of(const struct result *result, const struct result_row *row[2])
{
	unsigned count = 0;

	for (size_t i = 0; i < result->rows && count < 2; i++)
		if (result->row[i].explained)
			row[count++] = &result->row[i];
	if (count == 2 && worth_of(row[0]) > worth_of(row[1])) {
		const struct result_row *fast = row[0];

		row[0] = row[1];
		row[1] = fast;
	}
	return count;
}

void explained_add(struct notes *n, const struct result *result)
{
	const struct result_row *row[2];
	unsigned count = explained_of(result, row);
	struct explained_rows *why = n->why;

	if (!count)
		return;
	if (!why) {
		why = n->why = malloc(sizeof(*why));
		if (!why)
			return; /* as where there was no memory to explain the row */
		why->rows = why->ways = 0;
		why->faults.count = 0;
	}
	if (why->rows++ && worth_of(row[0]) <= why->worth) {
		for (unsigned i = 0; i < count; i++)
			keep_faults(why, &row[i]->explained->findings);
		return;
	}
	for (; why->ways; why->ways--)
		keep_faults(why, &why->way[why->ways - 1].explained.findings);
	why->worth = worth_of(row[0]);
	why->message_bytes = row[0]->record->message_bytes;
	why->run = row[0]->record->run;
	for (unsigned i = 0; i < count; i++)
		keep_row(why, row[i]);
}

/*
 * True if the Nth finding of WAY is shown: a fault; of round trips, which no limit has words for,
 * the first one if it is a warning, too.
 */
static bool is_shown(const struct explained_way *way, size_t n)
{
	enum finding_level level = way->explained.findings.list[n].is.level;

	return level == FINDING_FAULT ||
	       (way->direction == RESULT_PING_PONG && n == 0 && level == FINDING_WARN);
}

/* Which of the rows it is, if there are several, and with WAY which direction. Returns BUF. */
static const char *name_row(const struct explained_rows *why, const struct explained_way *way,
			    char *buf, size_t size)
{
	buf[0] = '\0';
	if (why->rows > 1)
		text_add(buf, size, "%s%s", units_size(why->message_bytes).text,
			 way && !why->run ? ", " : "");
	if (why->rows > 1 && why->run)
		text_add(buf, size, ", run %" PRIu64 "%s", why->run, way ? ", " : "");
	if (way)
		text_add(buf, size, "%s", result_direction_words(way->direction));
	text_add(buf, size, "%s", buf[0] ? ": " : "");
	return buf;
}

/* Both directions of a run that had two rates: what each of them reached. */
static void print_ways(const struct report *r, const char *name, const struct explained_way way[2])
{
	double link_gbps = way[0].explained.limit.ceilings.link_gbps;
	char of[32] = "";

	if (link_gbps > 0)
		snprintf(of, sizeof(of), " of %.3g", link_gbps);
	report_note(r, "%s%.3g%s Gb/s; the other: %.3g", name, way[0].gbps, of, way[1].gbps);
}

/* What limits WAY. NAME: of its row. */
static void print_limit(const struct report *r, const struct explained_way *way, const char *name,
			bool brief)
{
	const struct finding *l = &way->explained.limit.finding;
	const char *next = r->about.options->output.prove_s ? "" : l->next;

	if (l->text[0] && !r->notes.proved && (!brief || l->is.code != LIMIT_UNKNOWN))
		report_note(r, "%s%s%s%s", name, l->text, next[0] ? ". Next: " : "", next);
}

/* What was found on WAY, unless it was SAID of the other one. */
static void print_findings(const struct report *r, const struct explained_way *way,
			   const char *name, const struct findings *said)
{
	const struct findings *found = &way->explained.findings;
	char line[2048];

	for (size_t i = 0; i < found->count; i++) {
		const struct finding *f = &found->list[i];
		const struct finding *same = said ? findings_find(said, f->is.code) : NULL;

		if (is_shown(way, i) && !(same && strcmp(same->text, f->text) == 0))
			report_note(r, "%s%s", way->direction == RESULT_PING_PONG ? name : "",
				    finding_line(f, line, sizeof(line)));
	}
}

void explained_print(const struct report *r, bool brief)
{
	const struct explained_rows *why = r->notes.why;
	const struct explained_way *way;
	bool differ, apart;
	char name[80], line[2048];

	if (!why || r->about.server || !r->about.options->output.explain)
		return;
	way = why->way;
	differ = why->ways == 2 && way[0].most_gbps * LINKS_ALIKE < way[1].least_gbps;
	apart = differ || (why->ways == 2 && way[0].explained.limit.finding.is.code !=
						     way[1].explained.limit.finding.is.code);
	if (differ && !brief)
		print_ways(r, name_row(why, way, name, sizeof(name)), way);
	for (unsigned i = 0; i < why->ways; i++) {
		name_row(why, apart ? &way[i] : NULL, name, sizeof(name));
		if (apart || i == 0)
			print_limit(r, &way[i], name, brief);
		print_findings(r, &way[i], name, i ? &way->explained.findings : NULL);
	}
	for (size_t i = 0; i < why->faults.count; i++)
		report_note(r, "%s", finding_line(&why->faults.list[i], line, sizeof(line)));
}
