// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads lines of files into the evidence: what they say, or that they say nothing. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "evidence.h"
#include "finding/thresholds.h"
#include "line.h"
#include "proto/json_memory.h"

#define LINE_MAX_BYTES (1 << 20)
#define PREFIX_MAX     300 /* what a launcher writes before a line: "3: ", "[1,3]<stdout>: " */
#define VALUE_MAX      1e12
#define ROUNDS_MAX     1e6
#define NAME_BYTES     256
#define TEXT_BYTES     400

/* The number of the run; one without a name is the run "". */
static uint32_t run_of(struct evidence *e, const struct line *l)
{
	char name[65];

	return evidence_run(e, line_text(l, LINE_run, name, sizeof(name)) ? name : "");
}

static uint32_t player_of(struct evidence *e, const struct line *l, enum line_key host,
			  enum line_key rail)
{
	char host_name[NAME_BYTES], rail_name[NAME_BYTES];

	return evidence_player(e, line_text(l, host, host_name, sizeof(host_name)),
			       line_text(l, rail, rail_name, sizeof(rail_name)));
}

static uint32_t put_text(struct evidence *e, const char *said)
{
	char clean[TEXT_BYTES];
	uint32_t at;

	text_copy(clean, sizeof(clean), said);
	at = *clean ? names_put(&e->texts, clean) : NAMES_NONE;
	return at == NAMES_NONE ? EVIDENCE_NONE : at;
}

/* Copy the error of a line, and what mends it. */
static void copy_error(char to[TEXT_BYTES], const struct line *l)
{
	char error[1024], fix[1024];

	*to = '\0';
	if (!line_text(l, LINE_error, error, sizeof(error)) || !*error)
		return;
	text_add(to, TEXT_BYTES, "%s", error);
	/* a pair that did not connect is told how to start a server by hand */
	if (!line_is(l, LINE_cause, "connect") && line_text(l, LINE_fix, fix, sizeof(fix)))
		text_add(to, TEXT_BYTES, "%s Fix: %s.", to[strlen(to) - 1] == '.' ? "" : ".", fix);
}

/* Note what RUN measures. Of several answers the first is kept. */
static void note_what(struct evidence *e, const struct line *l, struct run *run)
{
	char unit[16] = "", program[32] = "", what[TEXT_BYTES] = "";
	json_t *options = line_json(l, LINE_options);
	const json_t *word;
	size_t i;

	line_text(l, LINE_unit, unit, sizeof(unit));
	line_text(l, LINE_program, program, sizeof(program));
	text_add(what, sizeof(what), "%s %s", unit, program);
	json_array_foreach (options, i, word)
		text_add(what, sizeof(what), " %s",
			 json_is_string(word) ? json_string_value(word) : "?");
	json_decref(options);
	text_disarm(what);
	run->what = names_put(&e->whats, what);
	if (run->what)
		return;
	e->latency = strcmp(unit, "us") == 0;
	text_copy(e->program, sizeof(e->program), program);
}

/* Note what a player says of RUN. */
static void note_run(struct evidence *e, const struct line *l, struct run *run)
{
	uint32_t players = (uint32_t)line_number(l, LINE_players, 1, EVIDENCE_PLAYERS, 0);
	uint32_t rounds = (uint32_t)line_number(l, LINE_rounds, 0, ROUNDS_MAX, 0);
	char schedule[64] = "", title[sizeof(e->title)];

	if (run->what == EVIDENCE_NONE)
		note_what(e, l, run);
	line_text(l, LINE_schedule, schedule, sizeof(schedule));
	run->is_plan |= strcmp(schedule, "plan") == 0;
	if (!*e->schedule)
		text_copy(e->schedule, sizeof(e->schedule), schedule);
	if (!*e->title && line_text(l, LINE_title, title, sizeof(title)))
		text_copy(e->title, sizeof(e->title), title);
	e->incast |= strncmp(schedule, "incast=", 7) == 0;
	e->one_way |= l->key[LINE_both_ways].type == 'f' && run == e->run;
	e->at_once |= l->key[LINE_at_once].at != NULL;
	run->planned = rounds > run->planned ? rounds : run->planned;
	e->expected = players > e->expected ? players : e->expected;
	run->slot_s = fmax(run->slot_s, line_number(l, LINE_slot_s, 1e-3, 1e5, 0));
}

/* Read a line that is about no pair. Returns false if it does not say of which run and player. */
static bool read_note(struct evidence *e, const struct line *l, enum note_kind kind)
{
	struct note n = {
		.kind = kind,
		.run = run_of(e, l),
		.player = player_of(e, l, LINE_host, LINE_rail),
		.rounds = (uint32_t)line_number(l, LINE_rounds, 0, ROUNDS_MAX, 0),
		.missed = (uint32_t)line_number(l, LINE_missed, 0, ROUNDS_MAX, 0),
		.port_gbps = (float)line_number(l, LINE_port_gbps, 1e-3, 1e5, 0),
		.text = EVIDENCE_NONE,
		.no_device = line_is(l, LINE_cause, "device"),
	};
	char error[TEXT_BYTES], said[TEXT_BYTES];

	if (n.run == EVIDENCE_NONE || n.player == EVIDENCE_NONE)
		return false;
	if (kind == NOTE_CAME)
		note_run(e, l, &e->run[n.run]);
	if (kind == NOTE_DONE)
		e->slot_needed_s =
			fmax(e->slot_needed_s, line_number(l, LINE_slot_needed_s, 1e-3, 1e5, 0));
	if (kind == NOTE_SERVER) { /* its clients know only that they did not reach it */
		copy_error(error, l);
		snprintf(said, sizeof(said), "%.100s: its server: %.280s",
			 evidence_name(e, n.player), error);
		if (*error)
			n.text = put_text(e, said);
	}
	evidence_add_note(e, &n);
	return true;
}

static uint8_t cause_of(const struct line *l)
{
	static const char *const word[CAUSES] = {"",
#define WORD(cause, word, ...) word,
						 EVIDENCE_FAILURES(WORD)
#undef WORD
	};

	for (uint8_t c = MEASURED + 1; c < CAUSES; c++)
		if (line_is(l, LINE_cause, word[c]))
			return c;
	return FAILED_OTHER;
}

/* What the run said of the pair: its error, or else the first finding. */
static void read_text(struct evidence *e, const struct line *l, struct observation *o)
{
	json_t *findings = NULL;
	const json_t *first;
	const char *host, *what;
	char said[TEXT_BYTES];

	if (!l->key[LINE_error].at && !l->key[LINE_findings].at)
		return;
	copy_error(said, l);
	if (!*said)
		findings = line_json(l, LINE_findings);
	first = json_array_get(findings, 0);
	host = json_string_value(json_object_get(first, "host"));
	what = json_string_value(json_object_get(first, "text"));
	if (what) {
		snprintf(said, sizeof(said), "%.128s%s%s", host ? host : "", host ? ": " : "",
			 what);
		o->marks |= MARK_FOUND;
	}
	json_decref(findings);
	o->text = put_text(e, said);
}

/* Read status, value and cause. Returns false if they cannot be so. */
static bool read_figure(const struct line *l, struct observation *o)
{
	char node[NAME_BYTES] = "";

	o->p99 = (float)line_number(l, LINE_p99, 1e-9, VALUE_MAX, NAN);
	o->clock_s = (float)line_number(l, LINE_clock_s, -1e10, 1e10, NAN);
	o->value = (float)line_number(l, LINE_value, 1e-9, VALUE_MAX, NAN);
	if (line_is(l, LINE_status, "failed")) {
		o->cause = cause_of(l);
		o->value = o->p99 = NAN;
		if (line_text(l, LINE_node, node, sizeof(node)))
			o->marks |= line_is(l, LINE_from, node) ? MARK_FROM_BLAMED
				    : line_is(l, LINE_to, node) ? MARK_TO_BLAMED
								: 0;
		return true;
	}
	if (line_number(l, LINE_from_cpu_percent, 0, 100, 100) < 100 * CPU_LEAST)
		o->marks |= MARK_FROM_LACKED;
	if (line_number(l, LINE_to_cpu_percent, 0, 100, 100) < 100 * CPU_LEAST)
		o->marks |= MARK_TO_LACKED;
	return !isnan(o->value) &&
	       (line_is(l, LINE_status, "cut") || line_is(l, LINE_status, "measured"));
}

static enum part part_of(const struct line *l)
{
	if (line_is(l, LINE_part, "test"))
		return PART_TEST;
	if (line_is(l, LINE_part, "control"))
		return PART_CONTROL;
	if (line_is(l, LINE_part, "screen"))
		return PART_SCREEN;
	if (line_is(l, LINE_part, "block"))
		return PART_BLOCK;
	return line_is_true(l, LINE_alone) ? PART_AGAIN : PART_LOADED;
}

/* The run knows the rate of the port that it used; the player's line only of one that is sure. */
static void take_rate(struct evidence *e, uint32_t player, const struct line *l, enum line_key key)
{
	double gbps = line_number(l, key, 1e-3, 1e5, 0);

	if (gbps > 0)
		e->player[player].port_gbps = (float)gbps;
}

static bool read_pair(struct evidence *e, const struct line *l)
{
	struct observation o = {.text = EVIDENCE_NONE, .part = (uint8_t)part_of(l)};
	uint32_t run = run_of(e, l);
	char client[NAME_BYTES];

	if (run == EVIDENCE_NONE || !read_figure(l, &o))
		return false;
	o.from = player_of(e, l, LINE_from, LINE_from_rail);
	o.to = player_of(e, l, LINE_to, LINE_to_rail);
	if (o.from == EVIDENCE_NONE || o.to == EVIDENCE_NONE || o.from == o.to)
		return false;
	o.run = (uint16_t)run;
	o.slot = (uint16_t)line_number(l, l->key[LINE_slot].at ? LINE_slot : LINE_round, 0,
				       UINT16_MAX, 0);
	take_rate(e, o.from, l, LINE_from_port_gbps);
	take_rate(e, o.to, l, LINE_to_port_gbps);
	if (line_text(l, LINE_client, client, sizeof(client)) && line_is(l, LINE_from, client))
		o.marks |= MARK_FROM_CLIENT;
	read_text(e, l, &o);
	evidence_add(e, &o);
	return true;
}

/* Names letter by letter, and not their first labels: "ALL" is every node to scontrol. */
static bool is_known(const struct hosts *known, const struct line *l, enum line_key key)
{
	char name[NAME_BYTES];
	uint32_t at;

	if (!l->key[key].at)
		return true;
	at = line_text(l, key, name, sizeof(name)) ? hosts_find(known, name) : HOSTS_NONE;
	return at != HOSTS_NONE && strcmp(known->host[at].name, name) == 0;
}

/* Read a line of a kind, unless it is about hosts that are none of the sweep. */
static bool read_object(struct evidence *e, const struct line *l)
{
	static const char *const note[] = {
		[NOTE_CAME] = "player", [NOTE_DONE] = "done", [NOTE_SERVER] = "server"};
	const struct hosts *known = e->known;

	if (known && known->n &&
	    !(is_known(known, l, LINE_host) && is_known(known, l, LINE_from) &&
	      is_known(known, l, LINE_to)))
		return e->counts.others++, true;
	if (line_is(l, LINE_kind, "pair"))
		return read_pair(e, l);
	for (enum note_kind kind = NOTE_CAME; kind <= NOTE_SERVER; kind++)
		if (line_is(l, LINE_kind, note[kind]))
			return read_note(e, l, kind);
	return false;
}

/* Read the objects of a line: two, where the line's end between them was lost. */
static void read_line(struct evidence *e, const char *text, size_t bytes)
{
	const char *at = memchr(text, '{', bytes < PREFIX_MAX ? bytes : PREFIX_MAX);
	const char *end = text + bytes;

	e->counts.lines++;
	if (!at)
		e->counts.other_text += bytes > 0;
	while (at) {
		struct line l;
		bool whole = line_read(&l, at, end);

		e->counts.broken += !whole;
		e->counts.impossible += whole && !read_object(e, &l);
		at = whole ? memchr(l.at, '{', (size_t)(end - l.at)) : NULL;
	}
}

/*
 * Read the whole lines of the BYTES at TEXT. SKIP: the first one is the rest of a line that is too
 * long; and then whether the last one is so. Returns the bytes that are left.
 */
static size_t read_lines(struct evidence *e, char *text, size_t bytes, bool *skip)
{
	char *at = text, *end;

	while ((end = memchr(at, '\n', bytes - (size_t)(at - text)))) {
		if (!*skip)
			read_line(e, at, (size_t)(end - at));
		e->counts.lines += *skip;
		*skip = false;
		at = end + 1;
	}
	bytes -= (size_t)(at - text);
	memmove(text, at, bytes);
	if (bytes < LINE_MAX_BYTES && !*skip)
		return bytes;
	e->counts.broken += !*skip;
	*skip = true;
	return 0;
}

int evidence_read(struct evidence *e, FILE *file)
{
	char *text = malloc(LINE_MAX_BYTES + 1);
	size_t got, left = 0;
	bool skip = false;

	if (!text)
		return -1;
	while (!json_memory_failures() &&
	       (got = fread(text + left, 1, LINE_MAX_BYTES - left, file)))
		left = read_lines(e, text, left + got, &skip);
	text[left] = '\0'; /* a number at the very end has an end, too */
	if (left)          /* the last line has no end */
		read_line(e, text, left);
	free(text);
	if (!json_memory_failures())
		return ferror(file) ? -1 : 0;
	errno = ENOMEM;
	return -1;
}
