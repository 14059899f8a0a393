// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes a judgement as text. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "judge.h"

#define LINES_MAX   40
#define LINES_TOTAL 6 /* the last ones */
#define WIDTH       140

struct report {
	FILE *to;
	const struct judgement *j;
	uint32_t lines;
	bool texts; /* what runs said is shown: there are not too many kinds */
	bool next;  /* so is what to do */
};

/* Why a pair has no figure, if its run did not say. */
static const char *const why[BODY_CAUSES] = {
	[BODY_CONNECT] = "could not connect",
	[BODY_LOST] = "the other end was lost",
	[BODY_DEVICE] = "no device",
	[BODY_CLOCK] = "a clock is wrong",
	[BODY_REFUSED] = "refused",
	[BODY_DATA] = "data arrived wrong",
	[BODY_MISSED] = "missed its slot",
	[BODY_ABSENT] = "the client did not call",
	[BODY_OTHER] = "failed",
};

static void add_figure(const struct judgement *j, const struct suspect *s, char *text, size_t size)
{
	switch (s->kind) {
	case SUSPECT_CLOCK:
		if (!isnan(s->value))
			text_add(text, size, "%.3g s %s", fabs(s->value),
				 s->b != SUSPECT_NONE ? "apart"
				 : s->value < 0       ? "behind"
						      : "ahead");
		break;
	case SUSPECT_PAIR_BROKE:
		text_add(text, size, "%s", why[s->cause]);
		break;
	case SUSPECT_LATE:
		text_add(text, size, "%.0f of %.0f slots", s->value, s->normal);
		break;
	case SUSPECT_STARVES:
		text_add(text, size, "%.2f of its share, in %u of %u rounds below %.1f%s", s->value,
			 s->bad, s->partners, INCAST_STARVES,
			 s->proof == SUSPECT_ONCE        ? ", not measured alone"
			 : s->proof == SUSPECT_CONFIRMED ? ", slow alone, too"
							 : ", good alone");
		break;
	case SUSPECT_TAIL:
		text_add(text, size, "p99 is %.1f times the median, normal is below %.0f", s->value,
			 s->normal);
		break;
	default:
		if (isnan(s->value) || isnan(s->normal))
			break;
		if (j->body->latency)
			text_add(text, size, "%.4g us, %.1f times the normal %.4g us", s->value,
				 s->value / s->normal, s->normal);
		else
			text_add(text, size, "%.4g of %.4g Gb/s (%.0f %%)", s->value, s->normal,
				 100 * s->value / s->normal);
	}
}

/* The partners that it was tried with. */
static void add_tried(const struct suspect *s, char *text, size_t size)
{
	const char *comma = *text ? ", " : "";

	if (s->kind == SUSPECT_GROUP)
		text_add(text, size, "%s%u pairs", comma, s->partners);
	else if (s->kind == SUSPECT_CLOCK || s->kind == SUSPECT_LATE || s->kind == SUSPECT_WORSE ||
		 s->kind == SUSPECT_STARVES)
		return;
	else if (suspect_is_lost(s->kind) && s->partners)
		text_add(text, size, "%s%u of %u runs have no figure", comma, s->bad, s->partners);
	else if (s->b == SUSPECT_NONE && s->partners)
		text_add(text, size, "%swith %u partners", comma, s->partners);
}

static void add_proof(const struct suspect *s, char *text, size_t size)
{
	if (suspect_is_lost(s->kind) || s->kind == SUSPECT_CLOCK || s->kind == SUSPECT_WORSE ||
	    s->kind == SUSPECT_TAIL || s->kind == SUSPECT_PAIR_BROKE || s->kind == SUSPECT_LATE ||
	    s->kind == SUSPECT_STARVES)
		return;
	if (s->proof == SUSPECT_CONFIRMED)
		text_add(text, size, ", alone too");
	else if (s->proof == SUSPECT_ONCE)
		text_add(text, size, ", not measured alone");
}

static void print_suspect(struct report *r, const struct suspect *s)
{
	char who[700] = "", what[200] = "";
	bool pair = s->b != SUSPECT_NONE;
	bool directed = s->kind >= SUSPECT_NODE && !pair && (s->sends || s->receives) &&
			!r->j->body->latency;

	text_add(who, sizeof(who), "%s", judge_name(r->j, s, s->a));
	if (pair)
		text_add(who, sizeof(who), " %s %s", s->receives ? "<->" : "->",
			 judge_name(r->j, s, s->b));
	add_figure(r->j, s, what, sizeof(what));
	add_tried(s, what, sizeof(what));
	add_proof(s, what, sizeof(what));
	fprintf(r->to, "  %-12s  %s%s%s\n", who, directed ? judge_way(s) : "", directed ? ": " : "",
		what);
	r->lines++;
	if (s->text != SUSPECT_NONE && r->texts) {
		fprintf(r->to, "    %.*s\n", WIDTH - 4, r->j->body->texts.text[s->text]);
		r->lines++;
	}
}

/* How many lines a suspect takes. */
static uint32_t lines_of(const struct report *r, const struct suspect *s)
{
	return s->text != SUSPECT_NONE && r->texts ? 2 : 1;
}

/* How many suspects from number I on are of the same kind. */
static uint32_t of_kind(const struct judgement *j, uint32_t i)
{
	const struct judge_kind *kind = judge_kind(&j->suspects.of[i]);
	uint32_t n = 1;

	while (i + n < j->suspects.count && judge_kind(&j->suspects.of[i + n]) == kind)
		n++;
	return n;
}

/* How many lines the first suspect of each later kind takes, with those of the kind itself. */
static uint32_t lines_later(const struct report *r, uint32_t i)
{
	uint32_t lines = 0;

	for (uint32_t count; i < r->j->suspects.count; i += count) {
		count = of_kind(r->j, i);
		lines += 1 + lines_of(r, &r->j->suspects.of[i]) + (count > 1) + r->next;
	}
	return lines;
}

/* Print the COUNT suspects of one kind from number I on, as far as the kinds after it leave room.
 */
static void print_kind(struct report *r, uint32_t i, uint32_t count)
{
	const struct suspect *s = &r->j->suspects.of[i];
	const struct judge_kind *kind = judge_kind(s);
	uint32_t later = lines_later(r, i + count) + LINES_TOTAL + r->next, printed = 0;

	fprintf(r->to, "%s: %u\n", kind->title, count);
	r->lines++;
	/* all of them, or one line less, in which the number of the others stands */
	while (printed < count &&
	       (!printed ||
		r->lines + lines_of(r, &s[printed]) + later + (printed + 1 < count) <= LINES_MAX))
		print_suspect(r, &s[printed++]);
	if (printed < count) {
		fprintf(r->to, "  and %u more (--json has all)\n", count - printed);
		r->lines++;
	}
	if (r->next)
		fprintf(r->to, "  next: %s\n", judge_next(s, count));
	r->lines += r->next;
}

void judge_report(FILE *to, const struct judgement *j)
{
	struct report r = {.to = to, .j = j, .texts = true, .next = true};

	r.texts = lines_later(&r, 0) + LINES_TOTAL <= LINES_MAX;
	r.next = lines_later(&r, 0) + LINES_TOTAL <= LINES_MAX;
	for (uint32_t i = 0, count; i < j->suspects.count; i += count) {
		count = of_kind(j, i);
		print_kind(&r, i, count);
	}
	incast_print(to, &j->incast, j->body);
	judge_totals(to, j);
}
