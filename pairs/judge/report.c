// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes a judgement as text, and has the words for a suspect. */
#include <math.h>
#include <string.h>

#include "base/terminal.h"
#include "base/text.h"
#include "limits.h"
#include "judge.h"

#define LINES_MAX    40
#define LINES_TOTAL  6 /* the last ones; those of notes and of an incast are added */
#define LINES_INCAST 2
#define NOTES_SHOWN  4
#define WIDTH        140

struct report {
	FILE *to;
	const struct judgement *j;
	uint32_t lines;
	uint32_t last; /* lines after the suspects */
	bool texts;    /* what runs said is shown: there are not too many kinds */
	bool next;     /* so is what to do */
};

enum finding_code judge_code(const struct suspect *s)
{
	return s->proof == SUSPECT_LOAD && s->kind != SUSPECT_STARVES ? SUSPECT_UNDER_LOAD
								      : s->kind;
}

/* True of a pair of which either end may be the cause. */
static bool is_few(const struct suspect *s)
{
	return judge_code(s) == SUSPECT_PAIR && s->few_partners;
}

void judge_words(struct finding *to, const struct suspect *s, uint32_t count)
{
	bool few = is_few(s), once = false;

	for (uint32_t i = 0; i < count; i++)
		once |= s[i].proof != SUSPECT_CONFIRMED;
	finding_make(to, &(struct finding_facts){
				 .code = judge_code(s),
				 .value = {FINDING_WORD("few", few ? "" : NULL),
					   FINDING_WORD("good", few ? NULL : ""),
					   FINDING_WORD("once", once && !few ? "" : NULL),
					   FINDING_WORD("alone", once ? NULL : "")}});
}

const char *judge_name(const struct judgement *j, const struct suspect *s, uint32_t which)
{
	const struct body *b = j->body;

	if (s->kind == SUSPECT_GROUP)
		return j->groups->names.text[which];
	return s->is_host ? b->hosts.text[b->player[which].host] : b->names.text[which];
}

const char *judge_way(const struct suspect *s)
{
	if (s->sends == s->receives)
		return "both ways";
	return s->sends ? "sending" : "receiving";
}

/* Why a pair has no figure, if its run did not say. */
static const char *const why[BODY_CAUSES] = {
#define WHY(cause, word, text) [cause] = text,
	BODY_FAILURES(WHY)
#undef WHY
};

/* The figure of a suspect; "": there is none. */
static void add_figure(const struct judgement *j, const struct suspect *s, char *text, size_t size)
{
	double times = s->value / s->normal;

	if (s->kind == SUSPECT_PAIR_BROKE)
		text_add(text, size, "%s", why[s->cause]);
	else if (s->kind == SUSPECT_CLOCK && !isnan(s->value))
		text_add(text, size, "%.3g s %s", fabs(s->value),
			 s->b != SUSPECT_NONE ? "apart"
			 : s->value < 0       ? "behind"
					      : "ahead");
	else if (s->kind == SUSPECT_STARVES || s->kind == SUSPECT_TAIL)
		text_add(text, size, s->kind == SUSPECT_TAIL ? "%.1f" : "%.2f", s->value);
	else if (j->body->latency && !isnan(times))
		text_add(text, size, "%.4g us, %.1f times the normal %.4g us", s->value, times,
			 s->normal);
	else if (!isnan(times))
		text_add(text, size, "%.4g of %.4g Gb/s (%.0f %%)", s->value, s->normal,
			 100 * times);
}

/* Make TO what is said of one suspect: the catalogue has it as its cause. */
static void describe(struct finding *to, const struct judgement *j, const struct suspect *s)
{
	char figure[200] = "", least[16];
	const char *word = NULL;

	add_figure(j, s, figure, sizeof(figure));
	snprintf(least, sizeof(least), "%.1f", INCAST_STARVES);
	word = *figure ? figure : NULL;
	finding_make(
		to,
		&(struct finding_facts){
			.code = s->kind,
			.value = {
				FINDING_WORD("figure", word),
				FINDING_WORD("and", word ? ", " : ""),
				FINDING_NUMBER("bad", s->bad, ""),
				FINDING_NUMBER("of", s->partners ? s->partners : NAN, ""),
				FINDING_NUMBER("from", s->from_round, ""),
				FINDING_NUMBER("normal", s->normal, ""),
				FINDING_WORD("least", least),
				FINDING_WORD("proven", s->proof == SUSPECT_CONFIRMED ? "" : NULL),
				FINDING_WORD("unproven", s->proof == SUSPECT_ONCE ? "" : NULL),
				FINDING_WORD("load", s->proof == SUSPECT_LOAD ? "" : NULL),
			}});
}

/* Print TEXT, unless TO is NULL, in lines that end between words. Returns how many. */
static uint32_t print_wrapped(FILE *to, const char *text)
{
	uint32_t lines = 0;

	for (size_t n; *text; text += n + (text[n] == ' ')) {
		n = strlen(text);
		if (n > WIDTH - 4)
			for (n = WIDTH - 4; n && text[n] != ' ';)
				n--;
		n = n ? n : strcspn(text, " "); /* a word that is longer */
		if (to)
			fprintf(to, "    %.*s\n", (int)n, text);
		lines++;
	}
	return lines;
}

/* How many lines a suspect takes. */
static uint32_t lines_of(const struct report *r, const struct suspect *s)
{
	return 1 + (s->text != SUSPECT_NONE && r->texts
			    ? print_wrapped(NULL, r->j->body->texts.text[s->text])
			    : 0);
}

static void print_suspect(struct report *r, const struct suspect *s)
{
	bool pair = s->b != SUSPECT_NONE;
	bool directed = s->kind >= SUSPECT_NODE && !pair && (s->sends || s->receives) &&
			!r->j->body->latency;
	struct finding what;
	char who[700] = "";

	text_add(who, sizeof(who), "%s%s%s", judge_name(r->j, s, s->a),
		 !pair         ? ""
		 : s->receives ? " <-> "
			       : " -> ",
		 pair ? judge_name(r->j, s, s->b) : "");
	describe(&what, r->j, s);
	fprintf(r->to, "  %-12s  %s%s%s\n", who, directed ? judge_way(s) : "", directed ? ": " : "",
		what.cause);
	if (lines_of(r, s) > 1)
		print_wrapped(r->to, r->j->body->texts.text[s->text]);
	r->lines += lines_of(r, s);
}

/* How many suspects from number I on are of the same kind. */
static uint32_t of_kind(const struct judgement *j, uint32_t i)
{
	const struct suspect *s = &j->suspects.of[i];
	uint32_t n = 1;

	while (i + n < j->suspects.count && judge_code(&s[n]) == judge_code(s) &&
	       is_few(&s[n]) == is_few(s))
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

/* Print the COUNT suspects of one kind from number I on, as far as later kinds leave room. */
static void print_kind(struct report *r, uint32_t i, uint32_t count)
{
	const struct suspect *s = &r->j->suspects.of[i];
	struct finding words;
	uint32_t later = lines_later(r, i + count) + r->last + r->next, printed = 0;

	judge_words(&words, s, count);
	terminal_put(r->to, suspect_is_lost(s->kind) ? TERMINAL_RED : TERMINAL_YELLOW, words.text);
	fprintf(r->to, ": %u\n", count);
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
		fprintf(r->to, "  next: %s\n", words.next);
	r->lines += r->next;
}

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

/* What a schedule of a few rounds cannot find. */
static void print_limits(FILE *to, const struct judgement *j)
{
	bool unknown = false; /* a player met too few hosts to be judged */

	if (!judge_misses_pairs(j) || j->incast.rounds || j->m.players < 3 || !j->measured)
		return;
	for (uint32_t i = 0; i < j->m.players; i++)
		unknown |=
			matrix_count(&j->m, MATRIX_SEND, i) && !j->lost[i] && !judge_is_known(j, i);
	fprintf(to,
		"%s%s%.2g %% of all pairs were tried: %s; a slow pair of good nodes is found if "
		"it was among them.\n",
		j->body->schedule, *j->body->schedule ? ": " : "", 100 * judge_covered(j),
		unknown ? "a node with fewer than 3 partners is not judged, only its pairs are"
			: "a slow node is found");
}

/* What is normal: of each kind, where they differ. */
static void print_normal(FILE *to, const struct judgement *j)
{
	const struct kinds *k = &j->fit.kinds;
	bool several = k->count > 1;

	fprintf(to, "; normal ");
	for (uint32_t i = 0; i < k->count && i < 8; i++)
		fprintf(to, "%s%s%s%.4g", i ? ", " : "", several ? k->names.text[i] : "",
			several ? ": " : "", judge_unit(j, j->fit.kind[i]));
	fprintf(to, j->body->latency ? " us" : " Gb/s");
	if (!isnan(j->smallest))
		fprintf(to, "; a node that is %.0f %% too slow is named", 100 * j->smallest);
}

/* Print the notes, unless TO is NULL. Returns how many lines they are. */
static uint32_t print_notes(FILE *to, const struct judgement *j)
{
	uint32_t lines = 0;

	for (size_t i = 0; i < j->notes.count && i < NOTES_SHOWN; i++) {
		const struct finding *f = &j->notes.list[i];
		bool cannot = f->is.strength == FINDING_CANNOT_TELL;

		lines += *f->next ? 2 : 1;
		if (!to)
			continue;
		terminal_put(to, TERMINAL_YELLOW, cannot ? "cannot tell " : "");
		fprintf(to, "%s\n%s%s%s", f->text, *f->next ? "  next: " : "", f->next,
			*f->next ? "\n" : "");
	}
	if (j->notes.count > NOTES_SHOWN && to)
		fprintf(to, "and %zu more notes (--json has all)\n", j->notes.count - NOTES_SHOWN);
	return lines + (j->notes.count > NOTES_SHOWN);
}

static void print_incast(FILE *to, const struct incast *it, const struct body *b)
{
	static const char *const of[] = {"the receiver's port", "what it receives alone",
					 "the best sum"};
	const struct incast_round *worst, *uneven;

	if (!it->rounds)
		return;
	worst = &it->round[it->worst];
	uneven = &it->round[it->uneven];
	fprintf(to,
		"incast: %u senders to one reach %.0f %% of %s; least: %.3g of %.3g Gb/s at %s\n",
		it->senders, 100 * it->reach, of[it->of], worst->sum_gbps, worst->limit_gbps,
		b->names.text[worst->receiver]);
	fprintf(to, "  Jain's index %.2f; least: %.2f at %s, where %s sends %.2f of its share\n",
		it->jain, uneven->jain, b->names.text[uneven->receiver],
		b->names.text[uneven->least], uneven->least_share);
}

/* What the schedule cannot find, and the totals. */
static void print_totals(FILE *to, const struct judgement *j)
{
	const uint32_t *in = j->hosts_in;

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
	print_notes(to, j);
	print_limits(to, j);
	fprintf(to, "%u nodes: %u good, ", j->body->hosts.count, in[HOST_GOOD]);
	if (in[HOST_UNDECIDED])
		fprintf(to, "%u undecided, ", in[HOST_UNDECIDED]);
	fprintf(to, "%u suspect, %u lost; %u of %u pairs measured", in[HOST_SUSPECT], in[HOST_LOST],
		j->measured, j->tried);
	if (j->measured && !j->incast.rounds && !isnan(judge_normal(j, 0)))
		print_normal(to, j);
	fprintf(to, "\n");
}

void judge_report(FILE *to, const struct judgement *j)
{
	struct report r = {.to = to, .j = j, .texts = true, .next = true};

	r.last = LINES_TOTAL + print_notes(NULL, j) + (j->incast.rounds ? LINES_INCAST : 0);
	r.texts = lines_later(&r, 0) + r.last <= LINES_MAX;
	r.next = lines_later(&r, 0) + r.last <= LINES_MAX;
	for (uint32_t i = 0, count; i < j->suspects.count; i += count) {
		count = of_kind(j, i);
		print_kind(&r, i, count);
	}
	print_incast(to, &j->incast, j->body);
	print_totals(to, j);
}
