// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads a line in place, or has jansson read it. */
#include "scan.h"

#include <string.h>

#define DIGITS_MAX 15 /* with fewer digits a double holds the number exactly */

/* In the order in which a line has them, so that the next key is mostly the next of these. */
static const char *const names[SCAN_KEYS] = {
	[SCAN_KIND] = "kind",
	[SCAN_RUN] = "run",
	[SCAN_ROUND] = "round",
	[SCAN_FROM] = "from",
	[SCAN_TO] = "to",
	[SCAN_FROM_RAIL] = "from_rail",
	[SCAN_TO_RAIL] = "to_rail",
	[SCAN_CLIENT] = "client",
	[SCAN_ALONE] = "alone",
	[SCAN_STATUS] = "status",
	[SCAN_VALUE] = "value",
	[SCAN_P99] = "p99",
	[SCAN_LATE] = "late_s",
	[SCAN_CLOCK] = "clock_s",
	[SCAN_CAUSE] = "cause",
	[SCAN_NODE] = "node",
	[SCAN_ERROR] = "error",
	[SCAN_FIX] = "fix",
	[SCAN_PLAYER] = "player",
	[SCAN_HOST] = "host",
	[SCAN_RAIL] = "rail",
	[SCAN_PLAYERS] = "players",
	[SCAN_ROUNDS] = "rounds",
	[SCAN_SCHEDULE] = "schedule",
	[SCAN_SLOT] = "slot_s",
	[SCAN_PROGRAM] = "program",
	[SCAN_OPTIONS] = "options",
	[SCAN_UNIT] = "unit",
	[SCAN_MISSED] = "missed",
	[SCAN_FINDINGS] = "findings",
};

/* What is left of a line, and where the last key stands in NAMES. */
struct cursor {
	const char *at, *end;
	size_t last;
};

static void skip_blanks(struct cursor *c)
{
	while (c->at < c->end && (*c->at == ' ' || *c->at == '\t'))
		c->at++;
}

/* Skip blanks and the character WHICH. Returns false if another one comes. */
static bool take(struct cursor *c, char which)
{
	skip_blanks(c);
	if (c->at >= c->end || *c->at != which)
		return false;
	c->at++;
	return true;
}

/* Read a text without escapes, in ASCII. Returns false if it is something else. */
static bool take_text(struct cursor *c, const char **text, size_t *bytes)
{
	if (!take(c, '"'))
		return false;
	*text = c->at;
	while (c->at < c->end && *c->at >= 0x20 && *c->at < 0x7f && *c->at != '"' && *c->at != '\\')
		c->at++;
	*bytes = (size_t)(c->at - *text);
	return c->at < c->end && *c->at++ == '"';
}

static unsigned take_digits(struct cursor *c, double *value)
{
	unsigned count = 0;

	for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++, count++)
		*value = *value * 10 + (*c->at - '0');
	return count;
}

/* Read a number without an exponent that a double holds exactly but for one division. */
static bool take_number(struct cursor *c, double *value)
{
	static const double tens[DIGITS_MAX + 1] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
						    1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
	bool minus = c->at < c->end && *c->at == '-';
	unsigned whole, fraction = 0;
	const char *start;

	c->at += minus;
	start = c->at;
	*value = 0;
	whole = take_digits(c, value);
	if (!whole || (whole > 1 && *start == '0'))
		return false;
	if (c->at < c->end && *c->at == '.') {
		c->at++;
		fraction = take_digits(c, value);
		if (!fraction)
			return false;
	}
	if (whole + fraction > DIGITS_MAX || c->at == c->end || *c->at == 'e' || *c->at == 'E')
		return false;
	*value /= tens[fraction];
	if (minus)
		*value = -*value;
	return true;
}

static bool take_word(struct cursor *c, const char *word)
{
	size_t bytes = strlen(word);

	if ((size_t)(c->end - c->at) < bytes || memcmp(c->at, word, bytes) != 0)
		return false;
	c->at += bytes;
	return true;
}

static bool take_value(struct cursor *c, struct scan_value *v)
{
	*v = (struct scan_value){0};
	skip_blanks(c);
	if (c->at >= c->end)
		return false;
	if (*c->at == '"') {
		v->type = SCAN_TEXT;
		return take_text(c, &v->text, &v->bytes);
	}
	if (*c->at == 't') {
		v->type = SCAN_TRUE;
		return take_word(c, "true");
	}
	if (*c->at == 'f') {
		v->type = SCAN_FALSE;
		return take_word(c, "false");
	}
	v->type = SCAN_NUMBER;
	return take_number(c, &v->number);
}

/* The place of a key in NAMES; SCAN_KEYS: not one of them. */
static size_t place_of(struct cursor *c, const char *key, size_t bytes)
{
	for (size_t i = 0, at = c->last; i < SCAN_KEYS; i++) {
		at = at + 1 < SCAN_KEYS ? at + 1 : 0;
		if (strncmp(names[at], key, bytes) == 0 && !names[at][bytes])
			return c->last = at;
	}
	return SCAN_KEYS;
}

static bool take_pair(struct scan *s, struct cursor *c)
{
	struct scan_value other;
	const char *key;
	size_t bytes, at;

	if (!take_text(c, &key, &bytes) || !take(c, ':'))
		return false;
	at = place_of(c, key, bytes);
	return take_value(c, at < SCAN_KEYS ? &s->of[at] : &other);
}

static size_t scan_in_place(struct scan *s, const char *line, size_t bytes)
{
	struct cursor c = {.at = line, .end = line + bytes, .last = SCAN_KEYS - 1};

	if (!take(&c, '{'))
		return 0;
	do {
		if (!take_pair(s, &c))
			return 0;
	} while (take(&c, ','));
	return take(&c, '}') ? (size_t)(c.at - line) : 0;
}

static void take_json(struct scan *s, size_t at, json_t *v)
{
	struct scan_value *to = &s->of[at];

	*to = (struct scan_value){.type = SCAN_OTHER};
	if (json_is_string(v)) {
		to->type = SCAN_TEXT;
		to->text = json_string_value(v);
		to->bytes = json_string_length(v);
	} else if (json_is_number(v)) {
		to->type = SCAN_NUMBER;
		to->number = json_number_value(v);
	} else if (json_is_boolean(v)) {
		to->type = json_is_true(v) ? SCAN_TRUE : SCAN_FALSE;
	} else if (at == SCAN_FINDINGS && json_is_array(v)) {
		s->findings = v;
	} else if (at == SCAN_OPTIONS && json_is_array(v)) {
		s->options = v;
	}
}

size_t scan_line_slowly(struct scan *s, const char *line, size_t bytes)
{
	json_error_t why;

	*s = (struct scan){0};
	s->whole = json_loadb(line, bytes, JSON_DISABLE_EOF_CHECK, &why);
	if (!json_is_object(s->whole))
		return 0;
	for (size_t i = 0; i < SCAN_KEYS; i++) {
		json_t *v = json_object_get(s->whole, names[i]);

		if (v)
			take_json(s, i, v);
	}
	return (size_t)why.position;
}

size_t scan_line(struct scan *s, const char *line, size_t bytes)
{
	size_t taken;

	*s = (struct scan){0};
	taken = scan_in_place(s, line, bytes);
	return taken ? taken : scan_line_slowly(s, line, bytes);
}

void scan_release(struct scan *s)
{
	json_decref(s->whole);
	*s = (struct scan){0};
}

bool scan_is(const struct scan *s, enum scan_key key, const char *word)
{
	const struct scan_value *v = &s->of[key];

	return v->type == SCAN_TEXT && strlen(word) == v->bytes &&
	       memcmp(v->text, word, v->bytes) == 0;
}

double scan_number(const struct scan *s, enum scan_key key, double least, double most,
		   double otherwise)
{
	const struct scan_value *v = &s->of[key];

	return v->type == SCAN_NUMBER && v->number >= least && v->number <= most ? v->number
										 : otherwise;
}
