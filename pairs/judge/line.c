// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "line.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "proto/json_memory.h"

#define NESTED_MOST 32

struct field {
	const char *name;
	size_t bytes;
	char type; /* of the value: '"', 't', '[' or '0' */
	double least, most, otherwise;
};

#define TEXT(name)        {#name, sizeof(#name) - 1, '"', 0, 0, NAN},
#define FLAG(name)        {#name, sizeof(#name) - 1, 't', 0, 0, NAN},
#define LIST(name)        {#name, sizeof(#name) - 1, '[', 0, 0, NAN},
#define NUMBER(name, ...) {#name, sizeof(#name) - 1, '0', __VA_ARGS__},
static const struct field fields[LINE_KEYS] = {LINE_FIELDS(TEXT, FLAG, LIST, NUMBER)};

/* A value as it is in the line. */
struct value {
	char *at;     /* of a text: behind its quote */
	size_t bytes; /* and without the other one */
	char type;    /* '"', 't', 'f', 'n', '[' or '0' */
	bool plain;   /* of a text: neither escaped nor beyond ASCII */
};

/* Where the reader is. */
struct reader {
	char *at;
	const char *end;
};

/* Step over blanks, and the character C if it is there. */
static bool take(struct reader *r, char c)
{
	while (*r->at == ' ' || *r->at == '\t' || *r->at == '\r')
		r->at++;
	if (r->at >= r->end || *r->at != c)
		return false;
	r->at++;
	return true;
}

/* True of what ends a string, or does not belong into one of plain ASCII. */
static bool is_special(char c)
{
	static const bool special[256] = {
		[0 ... 0x1f] = true, ['"'] = true, ['\\'] = true, [0x7f ... 0xff] = true};

	return special[(unsigned char)c];
}

/* Read the rest of a string. Behind the line's end is a special character. */
static bool take_string(struct reader *r, struct value *v)
{
	char *at = r->at;

	*v = (struct value){.at = at, .type = '"', .plain = true};
	while (!is_special(*at) || *at != '"') {
		if (is_special(*at)) {
			if (at >= r->end || (unsigned char)*at < ' ')
				return false;
			v->plain = false;
			at += *at == '\\' && at + 1 < r->end;
		}
		at++;
	}
	v->bytes = (size_t)(at - v->at);
	r->at = at + 1;
	return at < r->end;
}

/* Step over the array or object at r->at. That it is one is seen when it is asked for. */
static bool skip_nested(struct reader *r)
{
	struct value ignored;
	unsigned depth = 0;

	do {
		char c = *r->at++;

		if (c == '"' && !take_string(r, &ignored))
			return false;
		depth += c == '[' || c == '{';
		depth -= c == ']' || c == '}';
	} while (depth && depth <= NESTED_MOST && r->at < r->end);
	return !depth;
}

/* The letters of numbers, and of true, false and null. */
static bool is_of_word(char c)
{
	static const bool word[256] = {['0' ... '9'] = true, ['a' ... 'z'] = true, ['E'] = true,
				       ['+'] = true,         ['-'] = true,         ['.'] = true};

	return word[(unsigned char)c];
}

static bool take_value(struct reader *r, struct value *v)
{
	static const char *const words[] = {"true", "false", "null"};

	if (take(r, '"'))
		return take_string(r, v);
	*v = (struct value){.at = r->at, .type = *r->at};
	if (v->type == '[' || v->type == '{')
		return skip_nested(r);
	while (is_of_word(*r->at))
		r->at++;
	v->bytes = (size_t)(r->at - v->at);
	for (size_t i = 0; i < 3; i++)
		if (*words[i] == v->type)
			return strlen(words[i]) == v->bytes && !memcmp(v->at, words[i], v->bytes);
	v->type = '0';
	return v->bytes > 0;
}

/* The number at V; NaN: it is none. */
static double number_of(const struct value *v)
{
	char *end;
	double n = strtod(v->at, &end);

	return end == v->at + v->bytes ? n : NAN;
}

/* End the text V with a 0, in place; what is escaped gets shorter. NULL: it is none. */
static const char *text_of(const struct value *v)
{
	json_t *decoded;

	v->at[v->bytes] = '\0';
	if (v->plain)
		return v->at;
	v->at[v->bytes] = '"';
	decoded = json_memory_load(v->at - 1, v->bytes + 2, JSON_DECODE_ANY, NULL);
	if (decoded)
		strcpy(v->at, json_string_value(decoded));
	json_decref(decoded);
	return decoded ? v->at : NULL;
}

/* Keep V of the field NAME, unless nobody needs it; LAST is the field before. */
static void keep(struct line *l, const struct value *name, const struct value *v, unsigned *last)
{
	const struct field *field = NULL;
	double n;

	for (unsigned i = 0; i < LINE_KEYS && !field; i++) {
		*last = *last + 1 < LINE_KEYS ? *last + 1 : 0;
		if (fields[*last].bytes == name->bytes &&
		    !memcmp(fields[*last].name, name->at, name->bytes))
			field = &fields[*last];
	}
	if (!field || field->type != (v->type == 'f' ? 't' : v->type))
		return;
	if (v->type == '"')
		l->text[*last] = text_of(v);
	else if (v->type == '[')
		l->text[*last] = v->at;
	else if (v->type != '0')
		l->number[*last] = v->type == 't';
	else if ((n = number_of(v)) >= field->least && n <= field->most)
		l->number[*last] = n;
}

bool line_read(struct line *l, char *at, const char *end)
{
	struct reader r = {at + 1, end};
	unsigned last = LINE_KEYS - 1;
	bool whole = take(&r, '}');

	for (unsigned i = 0; i < LINE_KEYS; i++) {
		l->text[i] = NULL;
		l->number[i] = fields[i].otherwise;
	}
	while (!whole) {
		struct value name, value;

		if (!take(&r, '"') || !take_string(&r, &name) || !take(&r, ':') ||
		    !take_value(&r, &value))
			return false;
		keep(l, &name, &value, &last);
		whole = take(&r, '}');
		if (!whole && !take(&r, ','))
			return false;
	}
	l->end = r.at;
	return true;
}

bool line_is(const struct line *l, enum line_key key, const char *word)
{
	return l->text[key] && strcmp(l->text[key], word) == 0;
}

json_t *line_list(const struct line *l, enum line_key key)
{
	return l->text[key] ? json_memory_load(l->text[key], (size_t)(l->end - l->text[key]),
					       JSON_DISABLE_EOF_CHECK, NULL)
			    : NULL;
}
