// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "explain/finding.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct finding *finding_add(struct findings *to, const char *code, enum finding_level level,
			    const char *fmt, ...)
{
	struct finding *f;
	va_list ap;

	if (to->count < FINDINGS_MAX)
		to->count++;
	f = &to->list[to->count - 1];
	memset(f, 0, sizeof(*f));
	f->code = code;
	f->share = NAN;
	f->level = level;
	va_start(ap, fmt);
	vsnprintf(f->text, sizeof(f->text), fmt, ap);
	va_end(ap);
	return f;
}

void finding_cause(struct finding *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(f->cause, sizeof(f->cause), fmt, ap);
	va_end(ap);
}

void finding_next(struct finding *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(f->next, sizeof(f->next), fmt, ap);
	va_end(ap);
}

void finding_evidence(struct finding *f, const char *name, double value, const char *unit)
{
	struct finding_evidence *e = &f->evidence[f->evidences];

	if (f->evidences >= FINDING_EVIDENCE)
		return;
	f->evidences++;
	snprintf(e->name, sizeof(e->name), "%s", name);
	e->value = value;
	e->unit = unit;
}

/* Does A stand before B? */
static bool leads(const struct finding *a, const struct finding *b)
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
		for (at = i; at && leads(&moved, &list->list[at - 1]); at--)
			list->list[at] = list->list[at - 1];
		list->list[at] = moved;
	}
}

const char *finding_level_name(enum finding_level level)
{
	static const char *const names[FINDING_LEVELS] = {
		[FINDING_NOTE] = "note", [FINDING_WARN] = "warn", [FINDING_FAULT] = "fault"};

	return names[level];
}

static json_t *reading_json(const struct finding_evidence *e)
{
	return json_pack("{s:s, s:o, s:s}", "name", e->name, "value",
			 isfinite(e->value) ? json_real(e->value) : json_null(), "unit", e->unit);
}

json_t *finding_to_json(const struct finding *f)
{
	json_t *evidence = json_array(), *to;

	for (unsigned i = 0; i < f->evidences; i++)
		json_array_append_new(evidence, reading_json(&f->evidence[i]));
	to = json_pack("{s:s, s:s, s:s, s:s, s:s, s:o}", "code", f->code, "level",
		       finding_level_name(f->level), "text", f->text, "cause", f->cause, "next",
		       f->next, "evidence", evidence);
	if (f->end)
		json_object_set_new(to, "end", json_string(f->end));
	if (!isnan(f->share))
		json_object_set_new(to, "share", json_real(f->share));
	return to;
}
