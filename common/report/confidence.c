// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Confidence intervals of the averages: noted once, after the table. */
#include <inttypes.h>
#include <math.h>

#include "stat/interval.h"
#include "base/units.h"
#include "report/forms.h"
#include "base/unit.h"

#define LONGER 10 /* times a run that was too short */

static void add_row(struct report *r, const struct result_row *row)
{
	struct report_confidence *s = &r->confidence;
	const struct record *rec = row->record;

	if (!rec->plus_minus.slices)
		return;
	/* fmin() ignores a NaN, which is an unknown interval. */
	s->least_percent =
		s->rows ? fmin(s->least_percent, rec->plus_minus.percent) : rec->plus_minus.percent;
	/* An unknown interval counts as the widest. */
	if (!s->rows || isnan(rec->plus_minus.percent) ||
	    rec->plus_minus.percent > s->worst.plus_minus.percent) {
		s->worst = *rec;
		row_name(r, row, s->worst_name, sizeof(s->worst_name));
	}
	s->rows++;
}

void confidence_add(struct report *r, const struct result *result)
{
	for (size_t i = 0; i < 2 && result->shown[i]; i++)
		add_row(r, result->shown[i]);
}

/* "0.87", "12", "290": DIGITS digits without an exponent. Returns BUF. */
static const char *short_text(double value, int digits, char *buf, size_t size)
{
	int whole = value >= 1 ? (int)log10(value) + 1 : value >= 0.1 ? 0 : -1;

	snprintf(buf, size, "%.*f", digits > whole ? digits - whole : 0, value);
	return buf;
}

/* An interval as wide as the value itself says that there is no telling. Returns BUF. */
static const char *percent_text(double percent, char *buf, size_t size)
{
	if (percent <= 100)
		return short_text(percent, 2, buf, size);
	snprintf(buf, size, "more than 100");
	return buf;
}

/* What is said instead of an interval. */
static const char *unknown_text(const struct record *rec)
{
	return rec->plus_minus.unknown == INTERVAL_PHASES
		       ? "±, the uncertainty of the average: not known: it varies in long phases"
	       : rec->plus_minus.unknown == INTERVAL_EVENTS
		       ? "±, the uncertainty of the average: not known: one or two events make most "
			 "of what varies"
		       : "too short for ±, the uncertainty of the average";
}

static void note_interval(const struct report *r, const struct record *rec)
{
	/* A run of slow messages may have been long already. */
	double longer_s = fmax(1, ceil(LONGER * rec->seconds));
	char value[64], percent[32];

	if (r->about.latency)
		snprintf(value, sizeof(value), "%.2f usec on average", rec->latency.mean_us);
	else
		snprintf(value, sizeof(value), "%s",
			 unit_rate(r->about.options->output.gbits, rec->bandwidth_gbps).text);

	if (isnan(rec->plus_minus.percent))
		report_note(r, "%s; use -D %.0f or longer", unknown_text(rec), longer_s);
	else
		report_note(r, "%s ± %s %% (%g %%, %" PRIu64 " slices)%s", value,
			    percent_text(rec->plus_minus.percent, percent, sizeof(percent)),
			    INTERVAL_CONFIDENCE, rec->plus_minus.slices,
			    rec->plus_minus.percent > 100
				    ? ": it varied too much during the run for an average"
				    : "");
}

void confidence_print(struct report *r)
{
	const struct report_confidence *s = &r->confidence;
	double worst = s->worst.plus_minus.percent;
	char least[32], most[32];

	if (s->rows == 1)
		note_interval(r, &s->worst);
	else if (s->rows && isnan(worst))
		report_note(r, "%s, at %s and possibly others; use -D 1 or longer",
			    unknown_text(&s->worst), s->worst_name);
	else if (s->rows)
		report_note(r, "averages ± %s to %s %% (%g %%), the widest at %s",
			    percent_text(s->least_percent, least, sizeof(least)),
			    percent_text(worst, most, sizeof(most)), INTERVAL_CONFIDENCE,
			    s->worst_name);
	r->confidence = (struct report_confidence){0};
}
