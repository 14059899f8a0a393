// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "line.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "proto/json_memory.h"

#define NESTED_MOST  32
#define DIGITS_EXACT 15

static const struct {
	const char *name;
	size_t bytes;
} names[LINE_KEYS_N] = {
#define LINE_NAME(name) {#name, sizeof(#name) - 1},
	LINE_KEYS(LINE_NAME)
#undef LINE_NAME
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static void skip_blanks(struct line *l)
{
	while (l->at < l->end && is_blank(*l->at))
		l->at++;
}

/* Step over the character C. */
static bool take(struct line *l, char c)
{
	skip_blanks(l);
	if (l->at == l->end || *l->at != c)
		return false;
	l->at++;
	return true;
}

/* True of what ends a string, or does not belong into one of plain ASCII. */
static bool is_special(char c)
{
	static const bool special[256] = {
		[0 ... 0x1f] = true, ['"'] = true, ['\\'] = true, [0x7f ... 0xff] = true};

	return special[(unsigned char)c];
}

/* Read the string whose first quote is at l->at. Behind the line's end is a special character. */
static bool take_string(struct line *l, struct line_value *v)
{
	const char *at = ++l->at;

	*v = (struct line_value){.at = at, .type = '"', .plain = true};
	while (is_special(*at) ? *at != '"' : true) {
		if (is_special(*at)) {
			if (at >= l->end || (unsigned char)*at < ' ')
				return false;
			v->plain = false;
			at += *at == '\\' && at + 1 < l->end;
		}
		at++;
	}
	if (at >= l->end)
		return false;
	v->bytes = (size_t)(at - v->at);
	l->at = at + 1;
	return true;
}

/* Step over the array or object at l->at. That it is one is seen when it is asked for. */
static bool skip_nested(struct line *l)
{
	struct line_value ignored;
	unsigned depth = 0;

	do {
		char c = *l->at;

		if (c == '"') {
			if (!take_string(l, &ignored))
				return false;
			continue;
		}
		depth += c == '[' || c == '{';
		depth -= c == ']' || c == '}';
		l->at++;
	} while (depth && depth <= NESTED_MOST && l->at < l->end);
	return !depth;
}

static bool take_word(struct line *l, const char *word)
{
	size_t bytes = strlen(word);

	if ((size_t)(l->end - l->at) < bytes || memcmp(l->at, word, bytes) != 0)
		return false;
	l->at += bytes;
	return true;
}

static bool take_number(struct line *l)
{
	const char *at = l->at;

	while (at < l->end && ((*at >= '0' && *at <= '9') || *at == '-' || *at == '.' ||
			       *at == '+' || *at == 'e' || *at == 'E'))
		at++;
	if (at == l->at)
		return false;
	l->at = at;
	return true;
}

static bool take_value(struct line *l, struct line_value *v)
{
	bool is = true;

	skip_blanks(l);
	if (l->at == l->end)
		return false;
	if (*l->at == '"')
		return take_string(l, v);
	*v = (struct line_value){.at = l->at, .type = *l->at};
	switch (*l->at) {
	case '[':
	case '{':
		is = skip_nested(l);
		break;
	case 't':
		is = take_word(l, "true");
		break;
	case 'f':
		is = take_word(l, "false");
		break;
	case 'n':
		is = take_word(l, "null");
		break;
	default:
		v->type = '0';
		is = take_number(l);
	}
	v->bytes = (size_t)(l->at - v->at);
	return is;
}

/* The place of the key NAME; NULL: nobody needs it. */
static struct line_value *place_of(struct line *l, const struct line_value *name)
{
	for (unsigned i = 0; i < LINE_KEYS_N; i++) {
		l->last = l->last + 1 < LINE_KEYS_N ? l->last + 1 : 0;
		if (names[l->last].bytes == name->bytes &&
		    memcmp(names[l->last].name, name->at, name->bytes) == 0)
			return &l->key[l->last];
	}
	return NULL;
}

bool line_read(struct line *l, const char *at, const char *end)
{
	memset(l, 0, sizeof(*l));
	l->last = LINE_KEYS_N - 1;
	l->at = at + 1;
	l->end = end;
	if (take(l, '}'))
		return true;
	do {
		struct line_value name, value, *to;

		skip_blanks(l);
		if (l->at == l->end || *l->at != '"' || !take_string(l, &name) || !take(l, ':') ||
		    !take_value(l, &value))
			return false;
		to = place_of(l, &name);
		if (to)
			*to = value;
	} while (take(l, ','));
	return take(l, '}');
}

bool line_is(const struct line *l, enum line_key key, const char *word)
{
	const struct line_value *v = &l->key[key];

	return v->type == '"' && strlen(word) == v->bytes && memcmp(v->at, word, v->bytes) == 0;
}

json_t *line_json(const struct line *l, enum line_key key)
{
	const struct line_value *v = &l->key[key];
	size_t quote = v->type == '"';

	return v->at ? json_memory_load(v->at - quote, v->bytes + 2 * quote, JSON_DECODE_ANY, NULL)
		     : NULL;
}

const char *line_text(const struct line *l, enum line_key key, char *buf, size_t size)
{
	const struct line_value *v = &l->key[key];
	json_t *decoded;
	bool fits;

	if (v->type != '"')
		return NULL;
	if (v->plain) {
		if (v->bytes >= size)
			return NULL;
		memcpy(buf, v->at, v->bytes);
		buf[v->bytes] = '\0';
		return buf;
	}
	decoded = line_json(l, key);
	fits = decoded && json_string_length(decoded) < size;
	if (fits)
		text_copy(buf, size, json_string_value(decoded));
	json_decref(decoded);
	return fits ? buf : NULL;
}

/* The number at V; NaN: it is none. Up to 15 digits are exact by hand; strtod() takes much longer.
 */
static double number_of(const struct line_value *v)
{
	const char *at = v->at + (*v->at == '-'), *stop = v->at + v->bytes, *point = NULL;
	double n = 0, power = 1;
	char *end;

	for (; at < stop &&
	       (point ? *at >= '0' && *at <= '9' : *at >= '.' && *at <= '9' && *at != '/');
	     at++) {
		if (*at == '.') {
			point = at;
			continue;
		}
		n = n * 10 + (*at - '0');
		power *= point ? 10 : 1;
	}
	if (at == stop && v->bytes <= DIGITS_EXACT && at[-1] >= '0')
		return (*v->at == '-' ? -n : n) / power;
	n = strtod(v->at, &end);
	return end == stop ? n : NAN;
}

double line_number(const struct line *l, enum line_key key, double least, double most,
		   double otherwise)
{
	double n = l->key[key].type == '0' ? number_of(&l->key[key]) : NAN;

	return n >= least && n <= most ? n : otherwise;
}
