/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * line: the values of a line that the judge needs, found in one pass over its bytes, by a table of
 * its fields. Nothing is allocated for a line, and most are numbers and plain words; what is nested
 * or escaped, which is rare, jansson reads.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define LINE_GBPS_MAX    1e5
#define LINE_SECONDS_MAX 1e10
#define LINE_ROUNDS_MAX  1e6
#define LINE_VALUE_MAX   1e12

/*
 * TEXT(key), FLAG(key), LIST(key) and NUMBER(key, least, most, what it is if it is missing or not in
 * that range), in the order in which `run` writes them, so that the next one is found at once.
 */
#define LINE_FIELDS(TEXT, FLAG, LIST, NUMBER)                                                      \
	TEXT(kind) TEXT(run) TEXT(host) TEXT(rail) NUMBER(round, 0, UINT16_MAX, 0) TEXT(from)      \
	TEXT(to) TEXT(client) FLAG(alone) TEXT(from_rail) TEXT(to_rail) TEXT(part)                 \
	NUMBER(slot, 0, UINT16_MAX, NAN) TEXT(status) NUMBER(value, 1e-9, LINE_VALUE_MAX, NAN)     \
	NUMBER(clock_s, -LINE_SECONDS_MAX, LINE_SECONDS_MAX, NAN) TEXT(node)                       \
	NUMBER(from_cpu_percent, 0, 100, 100) NUMBER(to_cpu_percent, 0, 100, 100)                  \
	NUMBER(from_port_gbps, 1e-3, LINE_GBPS_MAX, 0) NUMBER(to_port_gbps, 1e-3, LINE_GBPS_MAX, 0)\
	TEXT(cause) TEXT(error) TEXT(fix) LIST(findings) NUMBER(rounds, 0, LINE_ROUNDS_MAX, 0)     \
	NUMBER(missed, 0, LINE_ROUNDS_MAX, 0) NUMBER(slot_needed_s, 1e-3, LINE_SECONDS_MAX, 0)     \
	NUMBER(players, 1, UINT16_MAX + 1, 0) TEXT(schedule) NUMBER(slot_s, 1e-3, LINE_SECONDS_MAX, 0)\
	FLAG(both_ways) TEXT(program) LIST(options) TEXT(unit) NUMBER(at_once, 0, 1e9, 0)          \
	NUMBER(port_gbps, 1e-3, LINE_GBPS_MAX, 0) TEXT(title)

enum line_key {
#define LINE_KEY(name, ...) LINE_##name,
	LINE_FIELDS(LINE_KEY, LINE_KEY, LINE_KEY, LINE_KEY)
#undef LINE_KEY
	LINE_KEYS
};

struct line {
	const char *text[LINE_KEYS]; /* of a text or a list; NULL: the line has none, or no valid one */
	double number[LINE_KEYS];    /* of a flag: 0, 1, or NaN if it is missing */
	char *end;                   /* behind the object */
};

/*
 * Read the object at AT, which ends before END, where a newline or a 0 is. Returns false if it is
 * none. Its texts are in the line, which is changed.
 */
bool line_read(struct line *l, char *at, const char *end);

/* True if KEY is the text WORD. */
bool line_is(const struct line *l, enum line_key key, const char *word);

/* The list KEY; a new reference, or NULL. */
json_t *line_list(const struct line *l, enum line_key key);
