// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads lines of files into the evidence: what they say, or that they say nothing. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "evidence.h"
#include "finding/thresholds.h"
#include "line.h"
#include "proto/json_memory.h"

#define LINE_MAX_BYTES (1 << 20)
#define PREFIX_MAX     300 /* what a launcher writes before a line: "3: ", "[1,3]<stdout>: " */
#define TEXT_BYTES     400

static uint32_t put_text(struct evidence *e, const char *said)
{
	char clean[TEXT_BYTES];

	text_copy(clean, sizeof(clean), said);
	return *clean ? names_put(&e->texts, clean) : NAMES_NONE;
}

/* Copy the error of a line, and what mends it. */
static void copy_error(char to[TEXT_BYTES], const struct line *l)
{
	const char *error = l->text[LINE_error], *fix = l->text[LINE_fix];

	text_copy(to, TEXT_BYTES, error ? error : "");
	/* a pair that did not connect is told how to start a server by hand */
	if (*to && fix && !line_is(l, LINE_cause, "connect"))
		text_add(to, TEXT_BYTES, "%s Fix: %s.", to[strlen(to) - 1] == '.' ? "" : ".", fix);
}

/* Note what RUN measures. Of several answers the first is kept. */
static void note_what(struct evidence *e, const struct line *l, struct run *run)
{
	const char *unit = l->text[LINE_unit], *program = l->text[LINE_program];
	json_t *options = line_list(l, LINE_options);
	char what[TEXT_BYTES] = "";
	const json_t *word;
	size_t i;

	text_add(what, sizeof(what), "%s %s", unit ? unit : "", program ? program : "");
	json_array_foreach (options, i, word)
		text_add(what, sizeof(what), " %s",
			 json_is_string(word) ? json_string_value(word) : "?");
	json_decref(options);
	text_disarm(what);
	run->what = names_put(&e->whats, what);
	if (run->what)
		return;
	e->latency = line_is(l, LINE_unit, "us");
}

/* Note what a player says of RUN. */
static void note_run(struct evidence *e, const struct line *l, struct run *run)
{
	if (run->what == NAMES_NONE)
		note_what(e, l, run);
	if (run->what != 0 && run->what != NAMES_NONE)
		return;
	run->is_plan |= line_is(l, LINE_schedule, "plan");
	if (!*e->title && l->text[LINE_title])
		text_copy(e->title, sizeof(e->title), l->text[LINE_title]);
	e->incast |= run == e->run && !e->latency && l->text[LINE_schedule] &&
		     strncmp(l->text[LINE_schedule], "incast=", 7) == 0;
	e->one_way |= run == e->run && !(l->number[LINE_both_ways] > 0) && !isnan(l->number[LINE_both_ways]);
	e->at_once |= l->number[LINE_at_once] > 0;
	run->planned = (uint32_t)fmax(run->planned, l->number[LINE_rounds]);
	e->expected = (uint32_t)fmax(e->expected, l->number[LINE_players]);
	e->slot_s = fmax(e->slot_s, l->number[LINE_slot_s]);
}

/* Read a line that is about no pair. Returns false if it does not say of which player. */
static bool read_note(struct evidence *e, const struct line *l, uint32_t run)
{
	uint32_t at = evidence_player(e, l->text[LINE_host], l->text[LINE_rail]);
	char error[TEXT_BYTES], said[TEXT_BYTES];
	struct player *p;

	if (at == NAMES_NONE)
		return false;
	p = &e->player[at];
	if (!(p->port_gbps > 0))
		p->port_gbps = (float)l->number[LINE_port_gbps];
	e->slot_needed_s = fmax(e->slot_needed_s, l->number[LINE_slot_needed_s]);
	if (line_is(l, LINE_kind, "server")) { /* its clients know only that they did not reach it */
		copy_error(error, l);
		snprintf(said, sizeof(said), "%.100s: its server: %.280s", evidence_name(e, at),
			 error);
		if (*error)
			p->server_said = put_text(e, said);
		p->no_device |= line_is(l, LINE_cause, "device");
		return true;
	}
	if (line_is(l, LINE_kind, "player"))
		evidence_came(e, at, run);
	else
		evidence_done(e, at, run, (uint32_t)l->number[LINE_rounds],
			      (uint32_t)l->number[LINE_missed]);
	return true;
}

/* Which end of the pair is HOST. */
static uint8_t blame(const struct line *l, const char *host)
{
	return !host			     ? 0
	       : line_is(l, LINE_from, host) ? MARK_FROM_BLAMED
	       : line_is(l, LINE_to, host)   ? MARK_TO_BLAMED
					     : 0;
}

/* What the run said of the pair: its error, or else the first finding. */
static void read_text(struct evidence *e, const struct line *l, struct observation *o)
{
	json_t *findings = line_list(l, LINE_findings);
	const json_t *first = json_array_get(findings, 0);
	const char *host = json_string_value(json_object_get(first, "host"));
	const char *what = json_string_value(json_object_get(first, "text"));
	char said[TEXT_BYTES];

	copy_error(said, l);
	if (!*said && what) {
		snprintf(said, sizeof(said), "%.128s%s%s", host ? host : "", host ? ": " : "",
			 what);
		o->marks |= MARK_FOUND | blame(l, host);
	}
	json_decref(findings);
	o->text = put_text(e, said);
}

/* Read status, value and cause. Returns false if they cannot be so. */
static bool read_figure(const struct line *l, struct observation *o)
{
	static const char *const causes[] = {[FAILED_CONNECT] = "connect",
					     [FAILED_DEVICE] = "device",
					     [FAILED_DATA] = "data",
					     [FAILED_MISSED] = "missed"};

	o->value = (float)l->number[LINE_value];
	if (line_is(l, LINE_status, "failed")) {
		o->cause = FAILED_CONNECT;
		while (o->cause < FAILED_OTHER && !line_is(l, LINE_cause, causes[o->cause]))
			o->cause++;
		o->value = NAN;
		o->marks |= blame(l, l->text[LINE_node]);
		return true;
	}
	if (fmin(l->number[LINE_from_cpu_percent], l->number[LINE_to_cpu_percent]) < 100 * CPU_LEAST)
		o->marks |= MARK_LACKED;
	return !isnan(o->value) &&
	       (line_is(l, LINE_status, "cut") || line_is(l, LINE_status, "measured"));
}

static bool read_pair(struct evidence *e, const struct line *l, uint32_t run)
{
	const char *part = l->text[LINE_part];
	double slot = l->number[LINE_slot];
	struct observation o = {
		.run = (uint16_t)run,
		.slot = (uint16_t)(isnan(slot) ? l->number[LINE_round] : slot),
		.clock_s = (float)l->number[LINE_clock_s],
		.part = part			       ? schedule_part(part)
			: l->number[LINE_alone] > 0 ? PART_SCREEN : PART_LOADED};

	if (!read_figure(l, &o))
		return false;
	o.from = evidence_player(e, l->text[LINE_from], l->text[LINE_from_rail]);
	o.to = evidence_player(e, l->text[LINE_to], l->text[LINE_to_rail]);
	if (o.from == NAMES_NONE || o.to == NAMES_NONE || o.from == o.to)
		return false;
	/*
	 * the run knows the rate of the port that it used; the player's line only of one that is
	 * sure
	 */
	if (l->number[LINE_from_port_gbps] > 0)
		e->player[o.from].port_gbps = (float)l->number[LINE_from_port_gbps];
	if (l->number[LINE_to_port_gbps] > 0)
		e->player[o.to].port_gbps = (float)l->number[LINE_to_port_gbps];
	if (l->text[LINE_client] && line_is(l, LINE_from, l->text[LINE_client]))
		o.marks |= MARK_FROM_CLIENT;
	read_text(e, l, &o);
	evidence_add(e, &o);
	return true;
}

/* Read a line of a kind, unless it is of another experiment. Returns false if it cannot be so. */
static bool read_object(struct evidence *e, const struct line *l)
{
	bool pair = line_is(l, LINE_kind, "pair"), came = line_is(l, LINE_kind, "player");
	uint32_t run;

	if (!pair && !came && !line_is(l, LINE_kind, "done") && !line_is(l, LINE_kind, "server"))
		return false;
	run = evidence_run(e, l->text[LINE_run] ? l->text[LINE_run] : "");
	if (run == NAMES_NONE)
		return false;
	if (came)
		note_run(e, l, &e->run[run]);
	if (e->run[run].what && e->run[run].what != NAMES_NONE) {
		e->counts[COUNT_OTHER_UNIT] += pair;
		return true;
	}
	return pair ? read_pair(e, l, run) : read_note(e, l, run);
}

/* Read the objects of a line: two, where the line's end between them was lost. */
static void read_line(struct evidence *e, char *text, size_t bytes)
{
	char *at = memchr(text, '{', bytes < PREFIX_MAX ? bytes : PREFIX_MAX), *end = text + bytes;

	e->counts[COUNT_OTHER_TEXT] += !at && bytes > 0;
	while (at) {
		struct line l;
		bool whole = line_read(&l, at, end);

		e->counts[COUNT_BROKEN] += !whole;
		e->counts[COUNT_IMPOSSIBLE] += whole && !read_object(e, &l);
		at = whole ? memchr(l.end, '{', (size_t)(end - l.end)) : NULL;
	}
}

int evidence_read(struct evidence *e, FILE *file)
{
	char *text = malloc(LINE_MAX_BYTES);
	bool rest = false; /* what is read is the rest of a line that is too long */

	while (text && !json_memory_failures() && fgets(text, LINE_MAX_BYTES, file)) {
		size_t bytes = strlen(text); /* a 0 in a line ends it */
		bool ends = bytes && text[bytes - 1] == '\n';
		bool cut = !ends && bytes == LINE_MAX_BYTES - 1;

		if (!rest && !cut)
			read_line(e, text, bytes - ends);
		e->counts[COUNT_BROKEN] += cut && !rest;
		rest = cut;
	}
	free(text);
	if (text && !json_memory_failures())
		return ferror(file) ? -1 : 0;
	errno = ENOMEM;
	return -1;
}
