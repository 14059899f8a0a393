// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "finding/finding.h"

#include <string.h>

static const struct {
	const char *name, *text, *cause, *next;
} catalogue[FINDING_CODES] = {
#define FINDING(symbol, group, name, text, cause, next, manual) \
	[symbol] = {name, text, cause, next},
#include "finding/catalogue.def"
#undef FINDING
};

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

const char *finding_next(enum finding_code code)
{
	return catalogue[code].next;
}

const char *finding_level_name(enum finding_level level)
{
	static const char *const names[FINDING_LEVELS] = {
		[FINDING_NOTE] = "note", [FINDING_WARN] = "warn", [FINDING_FAULT] = "fault"};

	return names[level];
}

const char *finding_strength_name(enum finding_strength strength)
{
	static const char *const names[FINDING_STRENGTHS] = {[FINDING_IS] = "is",
							     [FINDING_MAY_BE] = "may_be",
							     [FINDING_CANNOT_TELL] = "cannot_tell"};

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
	json_t *to =
		json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:o}", "code", finding_name(f->is.code),
			  "level", finding_level_name(f->is.level), "strength",
			  finding_strength_name(f->is.strength), "text", f->text, "cause", f->cause,
			  "next", f->next, "evidence", evidence_json(&f->is));

	if (f->is.end)
		json_object_set_new(to, "end", json_string(f->is.end));
	if (!isnan(f->is.share))
		json_object_set_new(to, "share", json_real(f->is.share));
	return to;
}
