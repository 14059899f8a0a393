/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fields: converts a struct to a JSON object and back, by a table with a row for each member. For
 * the protocol and the document.
 *
 * A row has the key, the member, the range that a peer may send, and whether the key is required.
 * The JSON type follows from the member's type: bool is true or false; char[] is a text; const char
 * * is a text, too, but can only be written; double is a non-negative real number; int and int64_t
 * are integers; every other type is an integer from 0 on, or one of `words`. Rows of
 * one group are in an object of their own.
 *
 * A reader trusts nothing: a value outside the row's range or form is the peer's fault; one within
 * it fits the member, and the document's schema (tests/unit/test_ranges.c). Unknown keys are
 * ignored; a member whose optional key is missing stays as it is.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

#define FIELDS_REAL_MAX 1e15 /* above all measured values, and safe to multiply */

enum field_kind {
	FIELD_UNSIGNED,
	FIELD_SIGNED,
	FIELD_REAL,
	FIELD_FLAG,
	FIELD_TEXT,   /* cut to the member's size */
	FIELD_POINTER /* to a text */
};

enum field_presence {
	FIELD_OPTIONAL, /* written unless it is zero; may be missing */
	FIELD_ALWAYS,   /* always written; may be missing */
	FIELD_IF_KNOWN, /* a real number; written unless it is NaN; may be missing */
	FIELD_REQUIRED  /* always written; required if the group is sent */
};

struct field {
	const char *key;
	enum field_kind kind;
	size_t offset, size;
	enum field_presence presence;
	/* range of a number; max 0: up to what the member holds; both 0: its whole range */
	int64_t min, max;
	bool power_of_two; /* so is an integer */
	/* of a text; NULL: any. "a|b": one of these; # a decimal number, % a hexadecimal digit, ~ an
	 * octal one, ? any byte, * the rest */
	const char *form;
	const char *group; /* key of the enclosing object; NULL: none */
	/* the member is written unless this other one is zero; size 0: always */
	size_t depends_on, depends_on_size;
	const char *words;   /* of an enumeration: "a|b" are those for 0 and 1 */
	bool may_be_unknown; /* NaN is allowed, and is null in JSON */
	bool column;         /* of the CSV */
};

struct fields {
	const struct field *row;
	size_t count;
	/* the start of an error, before the key; NULL: the object is a message, and named */
	const char *wrong;
};

/* A row for MEMBER of TYPE. The key is the member's name, or KEY. More initialisers may follow. */
#define FIELD(type, member, ...) FIELD_AS(#member, type, member, __VA_ARGS__)
#define FIELD_AS(key, type, member, ...) \
	FIELD_OF(FIELD_KIND(((type *)0)->member), key, type, member, __VA_ARGS__)
#define FIELD_OF(kind, key, type, member, ...)                                           \
	{key, kind, offsetof(type, member), sizeof(((type *)0)->member), __VA_ARGS__}

#define FIELD_KIND(member)                                                             \
	_Generic((member), bool: FIELD_FLAG, double: FIELD_REAL, char *: FIELD_TEXT,   \
		const char *: FIELD_POINTER, int: FIELD_SIGNED, int64_t: FIELD_SIGNED, \
		default: FIELD_UNSIGNED)

/* In a row: it is written only if MEMBER of TYPE is not zero; a text, if it is not empty. */
#define FIELD_IF(type, member)          \
	.depends_on = offsetof(type, member), \
	.depends_on_size = sizeof(((type *)0)->member) > 8 ? 1 : sizeof(((type *)0)->member)

/* A table of an array of rows; WRONG as in struct fields. */
#define FIELDS(rows, wrong) {rows, sizeof(rows) / sizeof((rows)[0]), wrong}

/* Write the struct FROM into TO. Returns TO. */
json_t *fields_write(const struct fields *t, const void *from, json_t *to);

/* Read FROM into the struct TO. Returns 0, or -1 with FAULT_PEER for the first invalid key. */
int fields_read(const struct fields *t, void *to, const json_t *from, struct fault *f);

/* Returns a new JSON string of TEXT. If that is no UTF-8, which jansson would refuse and with it the
 * whole message, each byte above 127 becomes '?'. */
json_t *json_text(const char *text);

/* The text KEY of O; "" if it has none. */
const char *json_text_at(const json_t *o, const char *key);

/* Returns a new JSON number; null unless NUMBER is finite. */
json_t *json_number_or_null(double number);

/* The same of a number that is 0 where it is not known. */
json_t *json_known_or_null(double number);

/* Add PARTS (stolen), an array or object, as KEY of TO, if it has at least so many. */
void json_add_parts(json_t *to, const char *key, json_t *parts, size_t least);

/* Returns D (stolen) as a line of text, by json_dumps(); the caller frees it; NULL: no memory. */
char *json_line(json_t *d, size_t flags);

/* The word of ROW for VALUE. Returns BUF. */
const char *field_word(const struct field *row, uint64_t value, char *buf, size_t size);

/* True if ROW of the struct FROM is omitted when FROM is written. */
bool field_is_omitted(const struct field *row, const void *from);

/* "key", or "group_key". Returns BUF. */
const char *field_name(const struct field *row, char *buf, size_t size);

/* Raise the fault that KEY of FROM is invalid, in T's words. Returns -1. */
int fields_raise(const struct fields *t, const json_t *from, const char *key, struct fault *f);
