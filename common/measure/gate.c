// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "measure/gate.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "cli/percentile.h"
#include "finding/thresholds.h"
#include "proto/fields.h"
#include "proto/record.h"

#define PHASE "judging the results"

static bool gate_is_for_rate(const struct gate *gate)
{
	return strcmp(gate->field->key, "bandwidth_gbps") == 0 ||
	       strcmp(gate->field->key, "messages_per_s") == 0;
}

/* True if REC has the figure that GATE limits. */
static bool figure_known(const struct gate *gate, const struct record *rec)
{
	return gate_is_for_rate(gate) ? record_has_rate(rec)
				      : percentile_known(rec, gate->field->key);
}

static double gate_value(const struct gates *g, const struct gate *gate, const struct record *rec)
{
	double value = record_value(rec, gate->field);

	if (gate->of_link)
		return 100 * value / g->link_gbps;
	return !gate->share ? value : rec->messages ? 100 * value / (double)rec->messages : 0;
}

static bool gate_misses(const struct gates *g, const struct gate *gate, const struct record *rec)
{
	double value = gate_value(g, gate, rec);

	if (!figure_known(gate, rec))
		return true;
	return gate->ceiling ? value > gate->bound : value < gate->bound;
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
	else if (!figure_known(gate, rec) && gate_is_for_rate(gate))
		text_add(buf, size, "there is no rate");
	else if (gate->of_link || gate->typed > 0)
		add_rate(g, gate, gate_value(g, gate, rec), buf, size);
	else if (figure_known(gate, rec))
		text_add(buf, size, "%s %s, %s %s", gate->what, value.text, than, bound.text);
	else
		text_add(buf, size, "%s not measured: it needs %llu samples, the run had %llu",
			 gate->what,
			 (unsigned long long)percentile_needs(percentile_of(gate->field->key)),
			 (unsigned long long)percentile_samples(rec));
	text_add(buf, size, " (%s%s%.40s)", gate->option, gate->text ? " " : "",
		 gate->text ? gate->text : "");
}

/* Store in g->first the fault for the first gate that is missed. */
static void describe_miss(struct gates *g, const struct gate *gate, const struct record *rec,
			  const char *direction)
{
	char text[192] = "";

	add_shortfall(g, gate, rec, text, sizeof(text));
	fault_phase(&g->first, PHASE);
	fault_raise(&g->first, FAULT_THRESHOLD, 0, "%s, %s%s: %s",
		    units_size(rec->message_bytes).text, direction,
		    rec->interrupted ? ", interrupted" : "", text);
	if (!figure_known(gate, rec))
		fault_fix(&g->first, "use a longer -D or a larger -n");
	if (gate->share)
		fault_fix(&g->first, "see rdmark(7), When messages are lost");
}

void gates_judge(struct gates *g, const struct record *rec, const char *direction, double link_gbps)
{
	unsigned misses_here = 0;

	g->judged++;
	g->link_gbps = link_gbps;
	for (unsigned i = 0; i < g->count; i++) {
		if (g->gate[i].of_link && !(link_gbps > 0)) {
			g->unknown = &g->gate[i];
			continue;
		}
		/* loopback inside the adapter, or completions that do not mean arrival */
		if (!g->gate[i].ceiling && rec->bandwidth_gbps > ABOVE_LINK * link_gbps &&
		    link_gbps > 0) {
			g->unknown = &g->gate[i];
			g->above_gbps = rec->bandwidth_gbps;
			continue;
		}
		if (!gate_misses(g, &g->gate[i], rec))
			continue;
		if (!misses_here++)
			g->missed++;
		if (g->missed == 1 && misses_here == 1)
			describe_miss(g, &g->gate[i], rec, direction);
		else if (g->missed == 1) {
			text_add(g->also, sizeof(g->also), "%s", misses_here > 2 ? "; " : "Also ");
			add_shortfall(g, &g->gate[i], rec, g->also, sizeof(g->also));
		}
	}
}

const char *gates_threshold(const struct gates *g)
{
	for (unsigned i = 0; i < g->count; i++)
		if (g->gate[i].ceiling || g->gate[i].bound > 0)
			return g->gate[i].option;
	return NULL;
}

void gates_doubt(struct gates *g, const char *fix, const char *fmt, ...)
{
	char why[sizeof(g->doubt.cause)]; /* fault_cause() takes no va_list */
	va_list ap;

	if (!g->strict || g->doubts++)
		return;
	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	fault_phase(&g->doubt, PHASE);
	fault_raise(&g->doubt, FAULT_THRESHOLD, 0, "a row is doubtful (--strict)");
	fault_cause(&g->doubt, "%s", why);
	fault_fix(&g->doubt, "%s", fix);
}

static int raise_doubt(const struct gates *g, struct fault *f)
{
	if (!g->doubts)
		return 0;
	*f = g->doubt;
	if (g->doubts > 1)
		snprintf(f->call, sizeof(f->call),
			 "%u doubts about the results (--strict); the first one follows",
			 g->doubts);
	return -1;
}

/* A threshold could not be judged. */
static int raise_unknown(const struct gates *g, struct fault *f)
{
	if (g->above_gbps > 0) {
		fault_raise(f, FAULT_UNAVAILABLE, 0,
			    "not judged: %.4g Gb/s is above the %.4g Gb/s of the link (%s %s)",
			    g->above_gbps, g->link_gbps, g->unknown->option, g->unknown->text);
		fault_cause(f,
			    "Loopback inside the adapter, or completions that do not mean arrival");
		return fault_fix(f, "put the two ends on different hosts");
	}
	fault_raise(f, FAULT_UNAVAILABLE, 0, "not judged: the link's rate is not known (%s %s)",
		    g->unknown->option, g->unknown->text);
	return fault_fix(f, "give a rate, such as %s 90G", g->unknown->option);
}

int gates_verdict(const struct gates *g, struct fault *f)
{
	char rows[96] = "";

	if (!g->count || (g->judged && !g->missed && !g->unknown))
		return raise_doubt(g, f);
	fault_phase(f, PHASE);
	if (!g->judged)
		return fault_raise(f, FAULT_THRESHOLD, 0, "nothing was measured, but %s was given",
				   g->gate[0].option);
	if (!g->missed)
		return raise_unknown(g, f);
	*f = g->first;
	if (g->judged > 1)
		snprintf(rows, sizeof(rows),
			 "%s%u of %u rows miss the threshold; this is the first",
			 g->also[0] ? ". " : "", g->missed, g->judged);
	if (g->also[0] || rows[0])
		fault_cause(f, "%s%s", g->also, rows);
	return f->fix[0] ? -1 : fault_fix(f, "see rdmark(7), WHEN A NUMBER IS LOW");
}
