// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "proto/fields.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "proto/json_memory.h"

/* Read the integer of SIZE bytes (1, 2, 4 or 8) at AT. */
static uint64_t load_uint(const void *at, size_t size)
{
	return size == 1   ? *(const uint8_t *)at
	       : size == 2 ? *(const uint16_t *)at
	       : size == 4 ? *(const uint32_t *)at
			   : *(const uint64_t *)at;
}

static void store_uint(void *at, size_t size, uint64_t v)
{
	if (size == 1)
		*(uint8_t *)at = (uint8_t)v;
	else if (size == 2)
		*(uint16_t *)at = (uint16_t)v;
	else if (size == 4)
		*(uint32_t *)at = (uint32_t)v;
	else
		*(uint64_t *)at = v;
}

static double real_at(const void *at)
{
	double v;

	memcpy(&v, at, sizeof(v));
	return v;
}

bool field_is_omitted(const struct field *row, const void *from)
{
	const char *at = (const char *)from;

	if (row->depends_on_size)
		return load_uint(at + row->depends_on, row->depends_on_size) == 0;
	if (row->presence == FIELD_IF_KNOWN)
		return isnan(real_at(at + row->offset));
	return row->presence == FIELD_OPTIONAL &&
	       load_uint(at + row->offset, row->kind == FIELD_TEXT ? 1 : row->size) == 0;
}

const char *field_name(const struct field *row, char *buf, size_t size)
{
	snprintf(buf, size, "%s%s%s", row->group ? row->group : "", row->group ? "_" : "",
		 row->key);
	return buf;
}

const char *field_word(const struct field *row, uint64_t value, char *buf, size_t size)
{
	size_t length;
	const char *word = text_word_at(row->words, value, &length);

	snprintf(buf, size, "%.*s", (int)length, word);
	return buf;
}

json_t *json_text(const char *text)
{
	json_t *to = json_string(text);
	char *copy;

	if (to)
		return to;
	copy = strdup(text);
	if (!copy)
		json_memory_lacked();
	for (char *c = copy; c && *c; c++)
		if ((unsigned char)*c > 127)
			*c = '?';
	to = copy ? json_string(copy) : NULL;
	free(copy);
	return to;
}

const char *json_text_at(const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));

	return text ? text : "";
}

json_t *json_number_or_null(double number)
{
	return isfinite(number) ? json_real(number) : json_null();
}

json_t *json_known_or_null(double number)
{
	return json_number_or_null(number > 0 ? number : NAN);
}

void json_add_parts(json_t *to, const char *key, json_t *parts, size_t least)
{
	if (json_object_size(parts) + json_array_size(parts) >= least)
		json_object_set(to, key, parts);
	json_decref(parts);
}

char *json_line(json_t *d, size_t flags)
{
	char *body = json_dumps(d, flags), *text = NULL;

	if (body && asprintf(&text, "%s\n", body) < 0)
		text = NULL;
	free(body);
	json_decref(d);
	return text;
}

static json_t *value_json(const struct field *row, const void *at)
{
	char word[64];

	switch (row->kind) {
	case FIELD_TEXT:
		return json_text(at);
	case FIELD_POINTER:
		return json_text(*(const char *const *)at);
	case FIELD_FLAG:
		return json_boolean(load_uint(at, row->size));
	case FIELD_REAL:
		return json_number_or_null(real_at(at));
	case FIELD_SIGNED:
		if (row->size == sizeof(int))
			return json_integer((int)load_uint(at, row->size));
		break;
	case FIELD_UNSIGNED:
		if (!row->words)
			break;
		return json_string(field_word(row, load_uint(at, row->size), word, sizeof(word)));
	}
	return json_integer((json_int_t)load_uint(at, row->size));
}

/* The object of TO that ROW's key is in: its group, which is made if it is missing, or TO. */
static json_t *group_object(const struct field *row, json_t *to)
{
	json_t *group;

	if (!row->group)
		return to;
	group = json_object_get(to, row->group);
	if (!group)
		json_object_set_new(to, row->group, group = json_object());
	return group;
}

json_t *fields_write(const struct fields *t, const void *from, json_t *to)
{
	for (size_t i = 0; i < t->count; i++) {
		const struct field *row = &t->row[i];

		if (!field_is_omitted(row, from))
			json_object_set_new(group_object(row, to), row->key,
					    value_json(row, (const char *)from + row->offset));
	}
	return to;
}

/* The store_*() functions check a value and store it AT: 0, or -1 if ROW does not allow it. */
static int store_integer(const struct field *row, void *at, json_int_t v)
{
	bool whole = row->kind == FIELD_SIGNED && !row->min && !row->max;
	bool small = row->kind == FIELD_SIGNED && row->size == sizeof(int);
	json_int_t type_max = row->size < 8 ? (INT64_C(1) << 8 * row->size) - 1 : INT64_MAX;
	json_int_t min = whole ? small ? INT_MIN : INT64_MIN : row->min;
	json_int_t max = row->max ? row->max : small ? INT_MAX : type_max;

	if (v < min || v > max || (row->power_of_two && (v & (v - 1))))
		return -1;
	store_uint(at, row->size, (uint64_t)v);
	return 0;
}

static int store_word(const struct field *row, void *at, const char *word)
{
	const char *words = row->words, *known;
	size_t n;

	for (uint64_t v = 0; (known = text_word(&words, '|', &n)); v++)
		if (strlen(word) == n && memcmp(known, word, n) == 0) {
			store_uint(at, row->size, v);
			return 0;
		}
	return -1;
}

static int store_real(const struct field *row, void *at, const json_t *v)
{
	double real = json_number_value(v);

	if (json_is_null(v) && row->may_be_unknown)
		real = NAN;
	else if (!json_is_number(v) || !(real >= (double)row->min) ||
		 real > (row->max ? (double)row->max : FIELDS_REAL_MAX))
		return -1;
	memcpy(at, &real, sizeof(real));
	return 0;
}

/* True if TEXT is of the SIZE characters at FORM, one of a row's. */
static bool is_of_form(const char *text, const char *form, size_t size)
{
	for (; size; size--, form++) {
		size_t n = *form == '#'   ? strspn(text, "0123456789")
			   : *form == '%' ? *text && strchr("0123456789abcdef", *text)
			   : *form == '~' ? *text >= '0' && *text <= '7'
			   : *form == '?' ? *text != '\0'
					  : *form == *text;

		if (*form == '*')
			return true;
		if (!n)
			return false;
		text += n;
	}
	return !*text;
}

static int store_text(const struct field *row, char *at, const char *text)
{
	const char *forms = row->form, *form;
	size_t n;

	text_copy(at, row->size, text);
	while ((form = text_word(&forms, '|', &n)))
		if (is_of_form(at, form, n))
			return 0;
	return row->form ? -1 : 0;
}

static int store_value(const struct field *row, void *at, const json_t *v)
{
	switch (row->kind) {
	case FIELD_TEXT:
		return json_is_string(v) ? store_text(row, at, json_string_value(v)) : -1;
	case FIELD_FLAG:
		*(bool *)at = json_is_true(v);
		return json_is_boolean(v) ? 0 : -1;
	case FIELD_REAL:
		return store_real(row, at, v);
	case FIELD_POINTER:
		return -1;
	case FIELD_SIGNED:
	case FIELD_UNSIGNED:
		break;
	}
	if (row->words)
		return json_is_string(v) ? store_word(row, at, json_string_value(v)) : -1;
	return json_is_integer(v) ? store_integer(row, at, json_integer_value(v)) : -1;
}

/* Read ROW's member from FROM into the struct TO. -1: it is invalid, or missing but required. */
static int read_field(const struct field *row, void *to, const json_t *from)
{
	const json_t *group = row->group ? json_object_get(from, row->group) : from, *v;

	if (row->group && (!group || !json_is_object(group)))
		return group ? -1 : 0;
	v = json_object_get(group, row->key);
	if (!v)
		return row->presence == FIELD_REQUIRED ? -1 : 0;
	return store_value(row, (char *)to + row->offset, v);
}

int fields_raise(const struct fields *t, const json_t *from, const char *key, struct fault *f)
{
	if (json_memory_failed()) /* this end made it, or a part of it, and lacked memory */
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "reading '%s'", key);
	if (t->wrong)
		return fault_raise(f, FAULT_PEER, 0, "%s %s", t->wrong, key);
	fault_raise(f, FAULT_PEER, 0, "the peer's message '%.20s' has no valid '%s'",
		    json_text_at(from, "type"), key);
	return fault_fix(f, "use the same version of rdmark on both ends");
}

int fields_read(const struct fields *t, void *to, const json_t *from, struct fault *f)
{
	char name[64];

	for (size_t i = 0; i < t->count; i++)
		if (read_field(&t->row[i], to, from))
			return fields_raise(t, from, field_name(&t->row[i], name, sizeof(name)), f);
	return 0;
}
