// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes a judgement as text. */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/terminal.h"
#include "base/text.h"
#include "judge.h"

/* The lines are written into memory first: what is more than fits is left out, the longest lists
 * first. */
struct report {
	FILE *to; /* NULL: lines are only counted */
	const struct judgement *j;
	uint32_t lines;
	uint32_t most; /* statements of a code that are shown */
	bool texts;    /* what runs said is shown */
};

const char *judge_name(const struct judgement *j, const struct statement *s, uint32_t which)
{
	if (s->about == ABOUT_GROUP)
		return j->groups->names.text[which];
	return s->about == ABOUT_HOST ? evidence_host(j->e, which) : evidence_name(j->e, which);
}

const char *judge_way(const struct statement *s)
{
	if (s->sends == s->receives)
		return "both ways";
	return s->sends ? "sending" : "receiving";
}

/* Print (printf) in lines that end between words, each but the first with INDENT blanks. */
__attribute__((format(printf, 3, 4))) static void put(struct report *r, unsigned indent,
						      const char *fmt, ...)
{
	char text[1024], lines[2048] = "";
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	terminal_wrap(lines, sizeof(lines), text, REPORT_COLUMNS, indent);
	for (const char *c = lines; *c; c++)
		r->lines += *c == '\n';
	if (r->to)
		fputs(lines, r->to);
}

static void put_statement(struct report *r, const struct statement *s, const struct finding *words)
{
	bool directed = s->code > SUSPECT_FAILS && (s->about == ABOUT_PLAYER || s->about == ABOUT_HOST) &&
			!r->j->e->latency && (s->sends || s->receives);
	char name[600] = "";

	if (s->about == ABOUT_ALL) {
		put(r, 2, "%s%s", s->strength == FINDING_CANNOT_TELL ? "cannot tell " : "", words->text);
		return;
	}
	text_add(name, sizeof(name), "%s", judge_name(r->j, s, s->a));
	if (s->about == ABOUT_PAIR)
		text_add(name, sizeof(name), " %s %s", s->receives ? "<->" : "->",
			 judge_name(r->j, s, s->b));
	put(r, 4, "  %-12s  %s%s%s", name, directed ? judge_way(s) : "", directed ? ": " : "",
	    words->cause);
	if (s->text && r->texts)
		put(r, 4, "    %s", s->text);
}

/* Print the COUNT statements of one code at S. */
static void put_code(struct report *r, const struct statement *s, uint32_t count)
{
	uint32_t shown = count > r->most + 1 ? r->most : count;
	struct finding words;

	statement_words(&words, r->j, s);
	if (r->to && s->about) {
		terminal_put(r->to, statement_is_lost(s->code) ? TERMINAL_RED : TERMINAL_YELLOW,
			     words.text);
		fprintf(r->to, ": %u\n", count);
	}
	r->lines += s->about != ABOUT_ALL;
	for (uint32_t i = 0; i < shown; i++) {
		statement_words(&words, r->j, &s[i]);
		put_statement(r, &s[i], &words);
	}
	if (shown < count)
		put(r, 4, "  and %u more (--json has all)", count - shown);
	if (*words.next)
		put(r, 4, "  next: %s", words.next);
}

/* What became of the candidates. */
static void put_tested(struct report *r)
{
	uint32_t tested = 0, good = 0, open = 0;

	for (uint32_t i = 0; i < r->j->players; i++) {
		const struct player *p = &r->j->player[i];

		tested += p->verdict != VERDICT_OPEN;
		good += p->verdict == VERDICT_GOOD;
		open += p->verdict == VERDICT_OPEN && p->candidate;
	}
	if (tested)
		put(r, 2, "tested with references and controls: %u node%s, %u good", tested,
		    tested == 1 ? "" : "s", good);
	else if (open)
		put(r, 2,
		    "to be tested: %u node%s (`judge --plan FILE`, `run --plan FILE`; sweep does both)",
		    open, open == 1 ? "" : "s");
}

/* The hosts that --suspects writes, as one word, which a scheduler's command takes. */
static void put_drain(struct report *r)
{
	const struct judgement *j = r->j;
	char hosts[REPORT_COLUMNS - 8] = "";
	unsigned left_out = 0;

	for (uint32_t i = 0; i < j->e->hosts.count; i++) {
		const char *name = j->e->hosts.text[i];

		if (j->host[i] < HOST_SLOW)
			continue;
		if (strlen(hosts) + strlen(name) + 2 > sizeof(hosts))
			left_out++;
		else
			text_add(hosts, sizeof(hosts), "%s%s", hosts[0] ? "," : "", name);
	}
	if (hosts[0])
		put(r, 2, left_out ? "drain: %s and %u more (--suspects FILE)" : "drain: %s", hosts,
		    left_out);
}

static void put_totals(struct report *r)
{
	const struct judgement *j = r->j;
	const uint32_t *in = j->hosts_in;
	char text[512] = "";

	text_add(text, sizeof(text), "%u nodes: %u good, ", j->e->hosts.count, in[HOST_GOOD]);
	if (in[HOST_UNDECIDED])
		text_add(text, sizeof(text), "%u undecided, ", in[HOST_UNDECIDED]);
	text_add(text, sizeof(text), "%u suspect, %u lost; %u of %u runs measured",
		 in[HOST_NAMED] + in[HOST_SLOW], in[HOST_LOST], j->measured, j->tried);
	for (uint32_t k = 0; k < j->kinds && k < 8 && j->measured && !j->e->incast; k++)
		if (!isnan(j->kind[k].reach))
			text_add(text, sizeof(text), "%s%s%s%.4g", k ? ", " : "; normal ",
			 j->kinds > 1 ? j->kind[k].rail : "",
			 j->kinds > 1 && *j->kind[k].rail ? ": " : "",
			 exp(j->e->latency ? -j->kind[k].reach : j->kind[k].reach));
	if (j->kinds && j->measured && !j->e->incast)
		text_add(text, sizeof(text), j->e->latency ? " us" : " Gb/s");
	if (j->smallest > 0 && !j->e->incast)
		text_add(text, sizeof(text), "; a node that is %.0f %% too slow is seen",
			 100 * j->smallest);
	put(r, 2, "%s", text);
}

static void put_all(struct report *r)
{
	const struct statement *of = r->j->statement;

	r->lines = 0;
	for (uint32_t i = 0, end; i < r->j->statements; i = end) {
		for (end = i + 1; end < r->j->statements && of[end].code == of[i].code;)
			end++;
		put_code(r, &of[i], end - i);
	}
	put_tested(r);
	put_drain(r);
	put_totals(r);
}

void judge_report(FILE *to, const struct judgement *j)
{
	struct report r = {.j = j, .most = REPORT_LINES, .texts = true};

	do { /* first fewer suspects of each kind, then no texts */
		put_all(&r);
		if (r.lines > REPORT_LINES && r.most <= 3 && r.texts) {
			r.texts = false;
			r.most = REPORT_LINES;
		} else if (r.lines > REPORT_LINES) {
			r.most--;
		}
	} while (r.lines > REPORT_LINES && r.most);
	r.to = to;
	put_all(&r);
}
