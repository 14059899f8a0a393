/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * line: the values of a line that the judge needs, found in one pass over its bytes. Nothing is
 * allocated for a line, and most are numbers and plain words; what is nested or escaped, which is
 * rare, jansson reads when it is asked for.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In the order in which `run` writes them, so that the next one is found at once. */
#define LINE_KEYS(X)                                                                             \
	X(kind)                                                                                  \
	X(run)                                                                                   \
	X(player) X(host) X(rail) X(round) X(slot) X(part) X(from) X(to) X(client) X(alone)      \
		X(from_rail) X(to_rail) X(from_port_gbps) X(to_port_gbps) X(status) X(value)     \
			X(p99) X(clock_s) X(node) X(from_cpu_percent) X(to_cpu_percent) X(cause) \
				X(error) X(fix) X(findings) X(rounds) X(missed) X(slot_needed_s) \
					X(players) X(schedule) X(slot_s) X(both_ways) X(program) \
						X(options) X(unit) X(at_once) X(port_gbps) X(title)

enum line_key {
#define LINE_KEY(name) LINE_##name,
	LINE_KEYS(LINE_KEY)
#undef LINE_KEY
	LINE_KEYS_N
};

struct line_value {
	const char *at; /* NULL: the line has not this key */
	size_t bytes;   /* of a string: without its quotes */
	char type;      /* '"', '0', 't', 'f', 'n', '[' or '{' */
	bool plain;     /* of a string: neither escaped nor beyond ASCII */
};

struct line {
	struct line_value key[LINE_KEYS_N];
	enum line_key last;
	const char *at, *end; /* behind what was read; the line's end */
};

/* Read the object at AT, which ends before END, where a newline or a 0 is. Returns false if it is
 * none; the strings in it stay the caller's. */
bool line_read(struct line *l, const char *at, const char *end);

/* True if KEY is the string WORD. */
bool line_is(const struct line *l, enum line_key key, const char *word);

static inline bool line_is_true(const struct line *l, enum line_key key)
{
	return l->key[key].type == 't';
}

/* The string KEY, in BUF of SIZE bytes; NULL: there is none, or it does not fit. */
const char *line_text(const struct line *l, enum line_key key, char *buf, size_t size);

/* The number KEY if it has one from LEAST to MOST, otherwise OTHERWISE. */
double line_number(const struct line *l, enum line_key key, double least, double most,
		   double otherwise);

/* The value KEY; a new reference, or NULL. */
json_t *line_json(const struct line *l, enum line_key key);
