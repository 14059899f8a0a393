// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Notes on too short runs and too few samples: printed once, after the table. */
#include <inttypes.h>
#include <math.h>

#include "base/text.h"
#include "base/units.h"
#include "cli/percentile.h"
#include "report/forms.h"

/* In a shorter run one interruption of 1 ms, which every kernel has, costs more than 1 %. */
#define SHORT_S 0.1

void enough_add(struct report *r, const struct result *result)
{
	struct report_enough *e = &r->enough;
	const struct record *rec = result->shown[0] ? result->shown[0]->record : NULL;

	if (!rec || !rec->messages || rec->interrupted)
		return;
	/* All runs of a size count together. */
	if (rec->run <= 1 || !e->sizes) {
		if (e->sizes && (e->sizes == 1 || e->size_s < e->shortest_s))
			e->shortest_s = e->size_s;
		e->size_s = 0;
		e->sizes++;
	}
	e->size_s += rec->seconds;
	if (!e->fewest.messages || percentile_samples(rec) < percentile_samples(&e->fewest))
		e->fewest = *rec;
}

/* Write to BUF the option with which percentile P gets enough samples. REC has too few. */
static void enough_remedy(const struct report *r, const struct record *rec,
			  const struct percentile *p, char *buf, size_t size)
{
	uint64_t needs = percentile_needs(p), have = percentile_samples(rec);
	uint64_t each = rec->qps ? rec->qps : 1;

	buf[0] = '\0';
	if (!experiment_endless(&r->about.options->experiment))
		text_add(buf, size, "-n %" PRIu64, (needs + each - 1) / each);
	else if (have)
		text_add(buf, size, "-D %.0f", ceil(rec->seconds * (double)needs / (double)have));
	else
		text_add(buf, size, "a longer run");
}

/* Explain the '-' in the table: too few samples for a percentile. */
static void note_missing_percentiles(const struct report *r)
{
	const struct record *rec = &r->enough.fewest;
	uint64_t samples = percentile_samples(rec);
	struct columns all = table_columns(r, rec, false);
	const struct percentile *last = NULL;
	size_t absent = 0;
	char names[96] = "", more[48];

	for (const struct column *c = all.column; c < all.column + all.count; c++) {
		const struct percentile *p = percentile_of(c->field);

		if (!p || percentile_known(rec, p->field))
			continue;
		if (last)
			text_add(names, sizeof(names), "%s%s", absent > 1 ? ", " : "", last->words);
		last = p;
		absent++;
	}
	if (!absent)
		return;
	enough_remedy(r, rec, last, more, sizeof(more));
	if (absent == 1)
		report_note(r, "%s not shown: %" PRIu64 " samples are too few; use %s", last->words,
			    samples, more);
	else
		report_note(r, "%s and %s not shown: %" PRIu64 " samples are too few; use %s",
			    names, last->words, samples, more);
}

/* Client: advise a longer run if a size was measured for less than SHORT_S. */
static void note_short_run(const struct report *r)
{
	const struct report_enough *e = &r->enough;
	double s = e->sizes > 1 && e->shortest_s < e->size_s ? e->shortest_s : e->size_s;

	if (r->about.server || !(s > 0 && s < SHORT_S))
		return;
	if (e->sizes > 1)
		report_note(r, "only %s measured for one of %u rows; use -D 1 for a second each",
			    units_about_ns(s * 1e9).text, e->sizes);
	else
		report_note(r, "only %s measured; use -D 1 for a second",
			    units_about_ns(s * 1e9).text);
}

void enough_print(struct report *r)
{
	if (r->enough.sizes && r->table && r->about.latency)
		note_missing_percentiles(r);
	if (r->enough.sizes)
		note_short_run(r);
	r->enough = (struct report_enough){0};
}
