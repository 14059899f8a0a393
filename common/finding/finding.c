// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "finding/finding.h"

#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "finding/thresholds.h"

static const struct {
	const char *name, *text, *cause, *next;
} catalogue[FINDING_CODES] = {
#define FINDING(symbol, group, name, text, cause, next, manual) \
	[symbol] = {name, text, cause, next},
#include "finding/catalogue.def"
#undef FINDING
};

/* Append a share of 0 to 1, in per cent. */
static void add_share(char *to, size_t size, double share)
{
	double percent = 100 * share;

	text_add(to, size,
		 percent < 0.1  ? "%.2g %%"
		 : percent < 10 ? "%.1f %%"
				: "%.0f %%",
		 percent);
}

static void add_number(char *to, size_t size, const struct finding_value *v)
{
	if (strcmp(v->unit, "share") == 0)
		add_share(to, size, v->number);
	else if (strcmp(v->unit, "B") == 0)
		text_add(to, size, "%s", units_size((uint64_t)v->number).text);
	else if (strcmp(v->unit, "s") == 0 && v->number > 0 && v->number < 0.1)
		text_add(to, size, "%s", units_about_ns(1e9 * v->number).text);
	else if (strcmp(v->unit, "Gb/s") == 0 && v->number >= 10 && v->number != floor(v->number))
		text_add(to, size, "%.1f Gb/s", v->number);
	else if (v->unit[0])
		text_add(to, size,
			 v->number >= 1e3 || v->number == floor(v->number) ? "%.0f %s" : "%.4g %s",
			 v->number, v->unit);
	else
		text_add(to, size, "%.0f", v->number);
}

/* Append what the N characters of NAME stand for. Returns false if that is unknown. */
static bool add_value(char *to, size_t size, const char *name, size_t n,
		      const struct finding_facts *facts)
{
	const struct finding_value *v = facts->value;

	if (n == 3 && memcmp(name, "end", n) == 0 && facts->end) {
		text_add(to, size, "%s", facts->end);
		return true;
	}
	if (n == 5 && memcmp(name, "share", n) == 0 && facts->share >= TIME_SAID) {
		add_share(to, size, facts->share);
		return true;
	}
	for (; v < facts->value + FINDING_VALUES && v->name; v++) {
		if (strlen(v->name) != n || memcmp(v->name, name, n) != 0)
			continue;
		if (v->word)
			text_add(to, size, "%s", v->word);
		else if (isfinite(v->number))
			add_number(to, size, v);
		return v->word || isfinite(v->number);
	}
	return false;
}

char *finding_words(char *to, size_t size, const char *template, const struct finding_facts *facts)
{
	size_t part = 0; /* where the part in brackets begins */
	bool known = true, optional = false;

	to[0] = '\0';
	for (const char *at = template; *at; at++) {
		const char *end = *at == '{' ? strchr(at, '}') : NULL;
		size_t plain = 1 + strcspn(at + 1, "[]{");

		if (*at == '[') {
			optional = known = true;
			part = strlen(to);
		} else if (*at == ']') {
			if (!known)
				to[part] = '\0';
			optional = false;
		} else if (end) {
			bool found = add_value(to, size, at + 1, (size_t)(end - at - 1), facts);

			known &= found;
			if (!found && !optional)
				text_add(to, size, "?");
			at = end;
		} else {
			text_add(to, size, "%.*s", (int)plain, at);
			at += plain - 1;
		}
	}
	return to;
}

void finding_make(struct finding *to, const struct finding_facts *facts)
{
	to->is = *facts;
	if (!(facts->share > 0))
		to->is.share = NAN;
	else if (facts->share > 1)
		to->is.share = 1;
	finding_words(to->text, sizeof(to->text), catalogue[facts->code].text, &to->is);
	finding_words(to->cause, sizeof(to->cause), catalogue[facts->code].cause, &to->is);
	finding_words(to->next, sizeof(to->next), catalogue[facts->code].next, &to->is);
	for (int i = 0; i < FINDING_VALUES; i++)
		if (to->is.value[i].word)
			to->is.value[i].word = "";
}

struct finding *finding_add(struct findings *to, const struct finding_facts *facts)
{
	if (to->count < FINDINGS_MAX)
		to->count++;
	finding_make(&to->list[to->count - 1], facts);
	return &to->list[to->count - 1];
}

/* Does A stand before B? */
static bool leads(const struct finding_facts *a, const struct finding_facts *b)
{
	if ((a->level == FINDING_FAULT) != (b->level == FINDING_FAULT))
		return a->level == FINDING_FAULT;
	return a->share > b->share || (a->share > 0 && isnan(b->share));
}

void findings_sort(struct findings *list)
{
	struct finding moved;
	size_t at;

	for (size_t i = 1; i < list->count; i++) {
		moved = list->list[i];
		for (at = i; at && leads(&moved.is, &list->list[at - 1].is); at--)
			list->list[at] = list->list[at - 1];
		list->list[at] = moved;
	}
}

const struct finding *findings_find(const struct findings *list, enum finding_code code)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->list[i].is.code == code)
			return &list->list[i];
	return NULL;
}

const char *finding_name(enum finding_code code)
{
	return catalogue[code].name;
}

const char *finding_text(enum finding_code code)
{
	return catalogue[code].text;
}

const char *finding_next(enum finding_code code)
{
	return catalogue[code].next;
}

const char *finding_level_name(enum finding_level level)
{
	static const char *const names[FINDING_LEVELS] = {"note", "warn", "fault"};

	return names[level];
}

const char *finding_strength_name(enum finding_strength strength)
{
	static const char *const names[FINDING_STRENGTHS] = {"is", "may_be", "cannot_tell"};

	return names[strength];
}

/* The numbers of F. */
static json_t *evidence_json(const struct finding_facts *f)
{
	const struct finding_value *v = f->value;
	json_t *to = json_array();

	for (; v < f->value + FINDING_VALUES && v->name; v++)
		if (!v->word)
			json_array_append_new(
				to,
				json_pack("{s:s, s:o, s:s}", "name", v->name, "value",
					  isfinite(v->number) ? json_real(v->number) : json_null(),
					  "unit", v->unit));
	return to;
}

json_t *finding_to_json(const struct finding *f)
{
	json_t *share = isnan(f->is.share) ? NULL : json_real(f->is.share);

	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:s*, s:o*}", "code",
			 finding_name(f->is.code), "level", finding_level_name(f->is.level),
			 "strength", finding_strength_name(f->is.strength), "text", f->text,
			 "cause", f->cause, "next", f->next, "evidence", evidence_json(&f->is),
			 "end", f->is.end, "share", share);
}
