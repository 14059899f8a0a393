// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What limits the results: in the document, and noted once, after the table. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "proto/fields.h"
#include "report/report.h"

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

/* Keep ROW, which is the fastest so far. */
static void keep_row(struct explained_rows *why, const struct result_row *row)
{
	const struct explained *from = row->explained;
	size_t bytes = from->findings.count * sizeof(*from->findings.list);

	why->worth = worth_of(row);
	why->message_bytes = row->record->message_bytes;
	why->run = row->record->run;
	why->direction = row->direction;
	memcpy(&why->explained, from, offsetof(struct explained, findings.list));
	memcpy(why->explained.findings.list, from->findings.list, bytes);
}

void explained_add(struct notes *n, const struct result *result)
{
	struct explained_rows *why = n->why;

	for (size_t i = 0; i < result->rows; i++) {
		const struct result_row *row = &result->row[i];

		if (!row->explained)
			continue;
		if (!why) {
			why = n->why = malloc(sizeof(*why));
			if (!why)
				return; /* as where there was no memory to explain the row */
			why->rows = 0;
			why->explained.findings.count = why->faults.count = 0;
		}
		why->rows++;
		if (why->rows > 1 && worth_of(row) <= why->worth) {
			keep_faults(why, &row->explained->findings);
			continue;
		}
		keep_faults(why, &why->explained.findings);
		keep_row(why, row);
	}
}

/* The ceilings that are known, in a line. */
static void print_ceilings(const struct report *r, const struct ceilings *c)
{
	const struct {
		const char *name;
		double gbps;
	} all[] = {
		{"link", c->link_gbps},
		{"PCIe", c->pcie_gbps},
		{"messages in flight", c->window_gbps},
		{"posting", c->core_gbps},
	};
	char text[256] = "";

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (isfinite(all[i].gbps))
			text_add(text, sizeof(text), "%s%s %.4g", text[0] ? ", " : "", all[i].name,
				 all[i].gbps);
	if (text[0])
		report_note(r, "ceilings in Gb/s: %s", text);
}

/*
 * True if the Nth finding is shown without --explain=full: a fault; of round trips, which no limit
 * has words for, the first one if it is a warning, too.
 */
static bool is_shown(const struct explained_rows *why, size_t n)
{
	enum finding_level level = why->explained.findings.list[n].is.level;

	return level == FINDING_FAULT ||
	       (why->direction == RESULT_PING_PONG && n == 0 && level == FINDING_WARN);
}

/* Which of the rows it is, if there are several. Returns BUF. */
static const char *name_row(const struct explained_rows *why, char *buf, size_t size)
{
	buf[0] = '\0';
	if (why->rows < 2)
		return buf;
	text_add(buf, size, "%s", units_size(why->message_bytes).text);
	if (why->run)
		text_add(buf, size, ", run %" PRIu64, why->run);
	if (why->direction == RESULT_BACKWARD)
		text_add(buf, size, ", server to client");
	text_add(buf, size, ": ");
	return buf;
}

void explained_print(const struct report *r, bool brief)
{
	const struct explained_rows *why = r->notes.why;
	bool full = r->about.options->output.explain == EXPLAIN_FULL, trips;
	const struct finding *l;
	const struct findings *found;
	char row[80], line[2048];

	if (!why || r->about.server || r->about.options->output.explain == EXPLAIN_OFF)
		return;
	l = &why->explained.limit.finding;
	found = &why->explained.findings;
	trips = why->direction == RESULT_PING_PONG;
	name_row(why, row, sizeof(row));
	if (l->text[0] && (full || !brief || l->is.code != LIMIT_UNKNOWN))
		report_note(r, "%s%s%s%s", row, l->text, l->next[0] ? ". Next: " : "", l->next);
	if (full && !trips)
		print_ceilings(r, &why->explained.limit.ceilings);
	for (size_t i = 0; i < found->count; i++)
		if (full || is_shown(why, i))
			report_note(r, "%s%s", trips ? row : "",
				    finding_line(&found->list[i], line, sizeof(line)));
	for (size_t i = 0; i < why->faults.count; i++)
		report_note(r, "%s", finding_line(&why->faults.list[i], line, sizeof(line)));
}
