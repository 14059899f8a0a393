/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* notes: lines on stderr about rows: at once, and after the last one. */
#pragma once

#include "measure/result.h"
#include "proto/record.h"

#define STALLS_FELT 1 /* percent of a run in stalls that are told */

struct explained;
struct finding;
struct findings;
struct report;

/* What is to be noted after the last row. */
struct notes {
	struct intervals_shown { /* confidence intervals of the averages */
		unsigned rows;
		double least_percent;
		struct record worst; /* of the row with the widest interval, or without one */
		char worst_name[192];
	} interval;
	struct amount { /* how much was measured */
		unsigned sizes;
		double size_s, shortest_s; /* of the latest size; the minimum of the earlier ones */
		struct record fewest;      /* of the row with the fewest samples */
		double lost; /* the most of its rate that a row lacks because it is short */
	} enough;
	struct explained_rows *why; /* explained.c; owned; NULL: there is no such row */
	bool proved; /* --prove has said what limits the row */
};

/* Add a size, or one of its runs; print what was added; forget it. */
void notes_add(struct report *r, const struct result *result);
void notes_print(struct report *r);
void notes_forget(struct report *r);

/*
 * explained.c: the same of what limits the rows, but for the unknown of a BRIEF run; for the
 * document, as new references: a limit, and findings; a finding as a line. Returns BUF.
 */
void explained_add(struct notes *n, const struct result *result);
void explained_print(const struct report *r, bool brief);
json_t *explained_limit(const struct explained *e);
json_t *findings_json(const struct findings *list);
const char *finding_line(const struct finding *f, char *buf, size_t size);

/* Of a row of the table: what disturbed it; and for how long it was stalled, if that matters. */
void notes_shown(const struct report *r, const struct result_row *row);

/* This end's worst interval, if intervals were not shown; what was measured before a failure. */
void notes_worst(const struct report *r, const struct result_row *row);
void notes_failed(const struct report *r, const struct result_row *row);
