/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * end: the description of one end of a run: host, device, port, addresses, placement. Each end
 * sends its own to the other, so both can show both.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

struct fields;

#define END_ARGV_BYTES 1024

enum end_memory {
	END_HOST,
	END_GPU
};

/* The members are explained in end.def. */
struct end {
#define ROW(type, member, ...)   type member;
#define PART(...)
#define TEXT(bytes, member, ...) char member[bytes];
#include "proto/end.def"
	struct {          /* the command line: end_add_argument() */
		char text[END_ARGV_BYTES]; /* each argument ended by a 0 */
		size_t bytes;
		bool full;
	} argv;
};

/* The table of fields, but for "argv". */
const struct fields *end_fields(void);

/*
 * Append TEXT to E's arguments, disarmed (base/text.h). The first argument that does not fit
 * becomes "...", and later ones are ignored.
 */
void end_add_argument(struct end *e, const char *text);

/* E as a new JSON object. */
json_t *end_to_json(const struct end *e);

/*
 * Read the peer's description: texts are cut to size and disarmed (base/text.h); wrong types,
 * numbers out of range and unknown words are refused. Returns 0, or -1 with the fault raised.
 */
int end_from_json(struct end *e, const json_t *from, struct fault *f);
