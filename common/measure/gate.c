// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "measure/gate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/phase.h"
#include "base/text.h"
#include "base/units.h"
#include "finding/finding.h"
#include "finding/thresholds.h"
#include "measure/result.h"
#include "proto/fields.h"
#include "proto/record.h"

static bool is_rate(const struct gate *gate)
{
	return strcmp(gate->field->key, "bandwidth_gbps") == 0 ||
	       strcmp(gate->field->key, "messages_per_s") == 0;
}

/* True if REC has the figure that GATE limits. */
static bool figure_known(const struct gate *gate, const struct record *rec)
{
	return is_rate(gate) ? record_has_rate(rec) : percentile_known(rec, gate->field);
}

static double gate_value(const struct gates *g, const struct gate *gate, const struct record *rec)
{
	double value = record_value(rec, gate->field);

	if (gate->of_link)
		return 100 * value / g->link_gbps;
	return !gate->share ? value : rec->messages ? 100 * value / (double)rec->messages : 0;
}

static bool is_past(const struct gate *gate, double value)
{
	return gate->ceiling ? value > gate->bound : value < gate->bound;
}

static bool misses(const struct gates *g, const struct gate *gate, const struct record *rec)
{
	return !figure_known(gate, rec) || is_past(gate, gate_value(g, gate, rec));
}

/* True if a measuring thread lacked its CPU: what it reached is the CPU's figure then. */
static bool is_starved(const struct result_row *row)
{
	return (row->disturbed.reasons[0] | row->disturbed.reasons[1]) & QUALITY_OF_CPU;
}

/* "0.0001", "12.3457", "9000000": without an exponent, except for values close to 0. */
static struct units_text us_text(double us)
{
	struct units_text t;

	snprintf(t.text, sizeof(t.text), us >= 1e5 ? "%.0f us" : "%.6g us", us);
	return t;
}

/* "97.4": in as many digits as tell it from BOUND and from 100. */
static struct units_text number_text(double value, double bound)
{
	struct units_text t;

	for (int digits = 3; digits < 10; digits++) {
		double shown;

		snprintf(t.text, sizeof(t.text), "%.*g", digits, value);
		shown = strtod(t.text, NULL);
		if ((shown > bound) == (value > bound) && (shown < 100) == (value < 100))
			break;
	}
	return t;
}

/* VALUE with the unit of what GATE bounds. */
static struct units_text bound_text(const struct gates *g, const struct gate *gate, double value)
{
	struct units_text t = number_text(value, gate->bound);

	text_add(t.text, sizeof(t.text), " %%");
	if (gate->share)
		return t;
	if (strcmp(gate->field->key, "bandwidth_gbps") == 0)
		return unit_rate(g->gbits, value);
	if (strcmp(gate->field->key, "messages_per_s") == 0)
		return unit_messages(value);
	return us_text(value);
}

/* Append to BUF "51.5 of 90 Gb/s (57.2 %)", or "57.2 % of the link's 100 Gb/s, less than 90 %". */
static void add_rate(const struct gates *g, const struct gate *gate, double value, char *buf,
		     size_t size)
{
	double typed = gate->typed;

	if (gate->of_link)
		text_add(buf, size, "%s %s %% of the link's %.4g Gb/s, less than %.10g %%",
			 gate->what, number_text(value, gate->bound).text, g->link_gbps,
			 gate->bound);
	else
		text_add(buf, size, "%s %s of %.10g %s (%s %%)", gate->what,
			 number_text(value / gate->bound * typed, typed).text, typed, gate->unit,
			 number_text(100 * value / gate->bound, 100).text);
}

/* Append to BUF how REC misses GATE: its value, the bound and the option. */
static void add_shortfall(const struct gates *g, const struct gate *gate, const struct record *rec,
			  char *buf, size_t size)
{
	const char *than = gate->ceiling ? "more than" : "less than";
	struct units_text value = bound_text(g, gate, gate_value(g, gate, rec));
	struct units_text bound = bound_text(g, gate, gate->bound);

	if (gate->share)
		text_add(buf, size, "%s of the messages were lost, %s %s", value.text, than,
			 bound.text);
	else if (!figure_known(gate, rec) && is_rate(gate))
		text_add(buf, size, "there is no rate");
	else if (gate->of_link || gate->typed > 0)
		add_rate(g, gate, gate_value(g, gate, rec), buf, size);
	else if (figure_known(gate, rec))
		text_add(buf, size, "%s %s, %s %s", gate->what, value.text, than, bound.text);
	else
		text_add(buf, size, "%s not measured: it needs %llu samples, the run had %llu",
			 gate->what,
			 (unsigned long long)percentile_needs(record_percentile(gate->field)),
			 (unsigned long long)percentile_samples(rec));
	text_add(buf, size, " (%s%s%.40s)", gate->option, gate->text ? " " : "",
		 gate->text ? gate->text : "");
}

/* Raise in F, unless it has a fault, that ROW misses GATE, or with UNSURE before it that it may. */
static void describe_miss(const struct gates *g, const struct gate *gate,
			  const struct result_row *row, const char *unsure, struct fault *f)
{
	const struct record *rec = row->record;
	unsigned cpu[2] = {row->disturbed.reasons[0] & QUALITY_OF_CPU,
			   row->disturbed.reasons[1] & QUALITY_OF_CPU};
	char text[512] = "", next[512];

	add_shortfall(g, gate, rec, text, sizeof(text));
	fault_phase(f, PHASE_JUDGE);
	fault_raise(f, *unsure ? FAULT_UNAVAILABLE : FAULT_THRESHOLD, 0, "%s%s, %s%s: %s", unsure,
		    units_size(rec->message_bytes).text, result_direction_words(row->direction),
		    rec->interrupted ? ", interrupted" : "", text);
	if (*unsure) {
		fault_cause(f, "What disturbed it may be why: %s",
			    result_disturbance(row, text, sizeof(text)));
		fault_fix(f, "%s, and measure again",
			  quality_next(&row->disturbed.quality[!cpu[0]], cpu[!cpu[0]], next,
				       sizeof(next)));
	}
	if (!figure_known(gate, rec))
		fault_fix(f, "use a longer -D or a larger -n");
	if (gate->share)
		fault_fix(f, "see rdmark(7), When messages are lost");
}

/* True if GATE cannot be judged, or it cannot be told why it is missed: then g->unknown says so. */
static bool is_unknown(struct gates *g, const struct gate *gate, const struct result_row *row)
{
	double gbps = row->record->bandwidth_gbps;
	struct fault *f = &g->unknown;

	fault_phase(f, PHASE_JUDGE);
	if (gate->of_link && !(g->link_gbps > 0)) {
		fault_raise(f, FAULT_UNAVAILABLE, 0,
			    "not judged: the link's rate is not known (%s %s)", gate->option,
			    gate->text);
		fault_fix(f, "give a rate, such as %s 90G", gate->option);
		return true;
	}
	/* loopback inside the adapter, or completions that do not mean arrival */
	if (!gate->ceiling && gbps > ABOVE_LINK * g->link_gbps && g->link_gbps > 0) {
		fault_raise(f, FAULT_UNAVAILABLE, 0,
			    "not judged: %.4g Gb/s is above the %.4g Gb/s of the link (%s %s)",
			    gbps, g->link_gbps, gate->option, gate->text);
		fault_cause(f,
			    "Loopback inside the adapter, or completions that do not mean arrival");
		fault_fix(f, "put the two ends on different hosts");
		return true;
	}
	if (!misses(g, gate, row->record) || !is_starved(row))
		return false;
	describe_miss(g, gate, row, "disturbed: ", f);
	return true;
}

void gates_judge(struct gates *g, const struct result_row *row, enum gates_of of, double link_gbps)
{
	unsigned misses_here = 0, judged = 0;

	g->link_gbps = link_gbps;
	for (unsigned i = 0; i < g->count; i++) {
		const struct gate *gate = &g->gate[i];

		if (of != GATES_ALL && gate->summed != (of == GATES_SUMMED))
			continue;
		g->judged += !judged++;
		if (is_unknown(g, gate, row) || !misses(g, gate, row->record))
			continue;
		if (!fault_is(&g->first)) /* whose cause and fix are still to come */
			describe_miss(g, gate, row, "", &g->first);
		g->missed += !misses_here++;
		if (g->missed > 1 || misses_here == 1)
			continue;
		text_add(g->also, sizeof(g->also), "%s", misses_here > 2 ? "; " : "Also ");
		add_shortfall(g, gate, row->record, g->also, sizeof(g->also));
	}
}

const char *gates_threshold(const struct gates *g)
{
	for (unsigned i = 0; i < g->count; i++)
		if (g->gate[i].ceiling || g->gate[i].bound > 0)
			return g->gate[i].option;
	return NULL;
}

int gates_verdict(const struct gates *g, struct fault *f)
{
	char rows[96] = "";

	if (!g->count || (g->judged && !g->missed)) {
		if (!fault_is(&g->unknown))
			return 0;
		*f = g->unknown;
		return -1;
	}
	fault_phase(f, PHASE_JUDGE);
	if (!g->judged)
		return fault_raise(f, FAULT_THRESHOLD, 0, "nothing was measured, but %s was given",
				   g->gate[0].option);
	*f = g->first;
	if (g->judged > 1)
		snprintf(rows, sizeof(rows),
			 "%s%u of %u rows miss the threshold; this is the first",
			 g->also[0] ? ". " : "", g->missed, g->judged);
	if (g->also[0] || rows[0])
		fault_cause(f, "%s%s", g->also, rows);
	return f->fix[0] ? -1 : fault_fix(f, "see rdmark(7), WHEN A NUMBER IS LOW");
}
