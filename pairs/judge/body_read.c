// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads lines of files into a body: what they say, or that they say nothing. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "body.h"
#include "finding/thresholds.h"
#include "proto/json_memory.h"

#define LINE_MAX_BYTES (1 << 20)
#define PREFIX_MAX     300 /* what a launcher writes before a line: "3: ", "[1,3]<stdout>: " */
#define VALUE_MAX      1e12
#define ROUNDS_MAX     1e6
#define ROOM_BYTES     16384 /* what jansson needs for a line of a run, and more */

/* The text KEY of O; NULL: it has none. And whether it is WORD. */
static const char *text(const json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key));
}

static bool is(const json_t *o, const char *key, const char *word)
{
	const char *have = text(o, key);

	return have && strcmp(have, word) == 0;
}

/* The number KEY of O if it has one from LEAST to MOST, otherwise OTHERWISE. */
static double number(const json_t *o, const char *key, double least, double most, double otherwise)
{
	const json_t *v = json_object_get(o, key);
	double n = json_is_number(v) ? json_number_value(v) : NAN;

	return n >= least && n <= most ? n : otherwise;
}

/* The number of the run; one without a name is the run "". */
static uint32_t run_of(struct body *b, const json_t *o)
{
	const char *name = text(o, "run");

	return body_run(b, name && strlen(name) <= 64 ? name : "");
}

static void copy_word(char *to, size_t size, const char *word)
{
	if (!*to && word && strlen(word) < 64)
		text_copy(to, size, word);
}

/* Note what RUN measures. Of several answers the first is kept. */
static void note_what(struct body *b, const json_t *o, struct body_run *run)
{
	char unit[16] = "", program[32] = "", what[400] = "";
	const json_t *word;
	uint32_t at;
	size_t i;

	if (run->what != BODY_NO_WHAT)
		return;
	copy_word(unit, sizeof(unit), text(o, "unit"));
	copy_word(program, sizeof(program), text(o, "program"));
	text_add(what, sizeof(what), "%s %s", unit, program);
	json_array_foreach (json_object_get(o, "options"), i, word)
		text_add(what, sizeof(what), " %s",
			 json_is_string(word) ? json_string_value(word) : "?");
	text_disarm(what);
	at = names_put(&b->whats, what);
	if (at != NAMES_NONE)
		run->what = (uint8_t)at;
	if (at == 0)
		b->latency = strcmp(unit, "us") == 0;
}

/* Note what a player says of RUN. */
static void note_run(struct body *b, const json_t *o, struct body_run *run)
{
	uint32_t players = (uint32_t)number(o, "players", 1, BODY_PLAYERS_MAX, 0);
	uint32_t rounds = (uint32_t)number(o, "rounds", 0, ROUNDS_MAX, 0);
	const char *schedule = text(o, "schedule");

	note_what(b, o, run);
	copy_word(b->schedule, sizeof(b->schedule), schedule);
	if (!*b->title && text(o, "title"))
		text_copy(b->title, sizeof(b->title), text(o, "title"));
	if (run == b->run)
		b->at_once = (uint32_t)number(o, "at_once", 1, BODY_PLAYERS_MAX,
					      json_is_true(json_object_get(o, "alone")));
	b->incast |= schedule && strncmp(schedule, "incast=", 7) == 0;
	run->planned = rounds > run->planned ? rounds : run->planned;
	run->players = players > run->players ? players : run->players;
	run->slot_s = fmax(run->slot_s, number(o, "slot_s", 1e-3, 1e5, 0));
}

static uint32_t put_text(struct body *b, const char *said)
{
	char clean[400];

	text_copy(clean, sizeof(clean), said);
	return *clean ? names_put(&b->texts, clean) : BODY_NONE;
}

/* A text that fills its SIZE bytes was cut: let it end at a word. */
static void end_at_word(char *text, size_t size)
{
	char *end = strlen(text) + 1 < size ? NULL : strrchr(text, ' ');

	if (!end)
		return;
	while (end > text && (size_t)(end - text) + sizeof("...") > size)
		while (--end > text && *end != ' ')
			;
	strcpy(end, end > text ? "..." : "");
}

/* Copy the error of a line, and what mends it. */
static void copy_error(char *to, size_t size, const json_t *o)
{
	const char *error = text(o, "error"), *fix = error && *error ? text(o, "fix") : NULL;

	*to = '\0';
	if (error)
		text_add(to, size, "%s", error);
	if (fix)
		text_add(to, size, "%s Fix: %s.", to[strlen(to) - 1] == '.' ? "" : ".", fix);
	end_at_word(to, size);
}

/* What a server that ended says: its clients know only that they did not reach it. */
static uint32_t server_text(struct body *b, const json_t *o, uint32_t player)
{
	char error[280], said[400];

	copy_error(error, sizeof(error), o);
	snprintf(said, sizeof(said), "%.100s: its server: %s", b->names.text[player], error);
	return *error ? put_text(b, said) : BODY_NONE;
}

/* Read a line that is about no pair. Returns false if it does not say of which run and player. */
static bool read_note(struct body *b, const json_t *o, enum body_note_kind kind)
{
	uint32_t run = run_of(b, o);
	struct body_note n = {
		.kind = kind,
		.player = body_player(b, text(o, "host"), text(o, "rail")),
		.rounds = (uint32_t)number(o, "rounds", 0, ROUNDS_MAX, 0),
		.missed = (uint32_t)number(o, "missed", 0, ROUNDS_MAX, 0),
		.port_gbps = (float)number(o, "port_gbps", 1e-3, 1e5, 0),
		.text = BODY_NONE,
		.run = (uint16_t)run,
		.no_device = is(o, "cause", "device"),
	};

	if (run == NAMES_NONE || n.player == BODY_NONE)
		return false;
	if (kind == BODY_CAME)
		note_run(b, o, &b->run[run]);
	if (kind == BODY_SERVER)
		n.text = server_text(b, o, n.player);
	body_add_note(b, &n);
	return true;
}

static uint8_t cause_of(const json_t *o)
{
	static const char *const word[BODY_CAUSES] = {"",
#define BODY_WORD(cause, word, ...) word,
						      BODY_FAILURES(BODY_WORD)
#undef BODY_WORD
	};

	for (uint8_t c = BODY_CONNECT; c < BODY_CAUSES; c++)
		if (is(o, "cause", word[c]))
			return c;
	return BODY_OTHER;
}

/* What the run said of the pair: its error, or else the first finding. */
static uint32_t text_of(struct body *b, const json_t *o, bool *found)
{
	const json_t *first = json_array_get(json_object_get(o, "findings"), 0);
	const char *host = text(first, "host"), *what = text(first, "text");
	char said[400];

	copy_error(said, sizeof(said), o);
	*found = !*said && what;
	if (*found) {
		snprintf(said, sizeof(said), "%.64s%s%s", host ? host : "", host ? ": " : "", what);
		end_at_word(said, sizeof(said));
	}
	return put_text(b, said);
}

/* Read status, value and cause. Returns false if they cannot be so. */
static bool read_figure(const json_t *o, struct body_try *t)
{
	const char *status = text(o, "status"), *node = text(o, "node");
	double value = number(o, "value", 1e-9, VALUE_MAX, NAN);

	if (!status)
		return false;
	t->p99 = (float)number(o, "p99", 1e-9, VALUE_MAX, NAN);
	t->clock_s = (float)number(o, "clock_s", -1e10, 1e10, NAN);
	t->value = NAN;
	if (strcmp(status, "failed") == 0)
		t->cause = cause_of(o);
	if (node && t->cause)
		t->blame = is(o, "from", node) ? 1 : is(o, "to", node) ? 2 : 0;
	if (t->cause)
		return true;
	t->value = (float)value;
	return !isnan(value) && (is(o, "status", "cut") || is(o, "status", "measured"));
}

void body_cpu(struct body_try *t, const double percent[2])
{
	for (int i = 0; i < 2; i++)
		t->lacked[i] = percent[i] < 100 * CPU_LEAST;
	if (body_lacked(t))
		t->value = t->p99 = NAN;
}

static bool read_try(struct body *b, const json_t *o)
{
	const char *from = text(o, "from");
	struct body_try t = {0};
	uint32_t run = run_of(b, o);

	if (run == NAMES_NONE || !read_figure(o, &t))
		return false;
	t.from = body_player(b, from, text(o, "from_rail"));
	t.to = body_player(b, text(o, "to"), text(o, "to_rail"));
	if (t.from == BODY_NONE || t.to == BODY_NONE || t.from == t.to)
		return false;
	t.run = (uint16_t)run;
	t.round = (uint16_t)number(o, "round", 0, UINT16_MAX, 0);
	t.alone = json_is_true(json_object_get(o, "alone"));
	t.client_is_from = is(o, "client", from);
	t.text = text_of(b, o, &t.found);
	body_cpu(&t, (const double[]){number(o, "from_cpu_percent", 0, 100, 100),
				      number(o, "to_cpu_percent", 0, 100, 100)});
	body_add(b, &t);
	return true;
}

/* Names letter by letter, and not their first labels: "ALL" is every node to scontrol. */
static bool is_known(const struct hosts *known, const char *name)
{
	uint32_t at = name ? hosts_find(known, name) : 0;

	return !name || (at != HOSTS_NONE && strcmp(known->host[at].name, name) == 0);
}

/* Read a line of a kind, unless it is about hosts that are none of the sweep. */
static bool read_object(struct body *b, const json_t *o)
{
	static const char *const note[] = {
		[BODY_CAME] = "player", [BODY_DONE] = "done", [BODY_SERVER] = "server"};
	const struct hosts *known = b->known;

	if (known && known->n &&
	    !(is_known(known, text(o, "host")) && is_known(known, text(o, "from")) &&
	      is_known(known, text(o, "to"))))
		return b->counts.others++, true;
	if (is(o, "kind", "pair"))
		return read_try(b, o);
	for (enum body_note_kind kind = BODY_CAME; kind <= BODY_SERVER; kind++)
		if (is(o, "kind", note[kind]))
			return read_note(b, o, kind);
	return false;
}

/*
 * Read the objects of a line: two, where the line's end between them was lost. Of a million lines,
 * malloc and free would take a fifth of the time.
 */
static void read_line(struct body *b, const char *line, size_t bytes)
{
	_Alignas(max_align_t) char room[ROOM_BYTES];
	size_t left = bytes < PREFIX_MAX ? bytes : PREFIX_MAX;
	const char *at = memchr(line, '{', left), *end = line + bytes;

	b->counts.lines++;
	if (!at)
		b->counts.other_text += bytes > 0;
	while (at) {
		json_error_t why;
		json_t *o;

		json_memory_room(room, sizeof(room));
		o = json_memory_load(at, (size_t)(end - at), JSON_DISABLE_EOF_CHECK, &why);

		b->counts.broken += !o;
		b->counts.impossible += o && !read_object(b, o);
		at = o ? at + why.position : end;
		at = memchr(at, '{', (size_t)(end - at));
		json_decref(o);
	}
	json_memory_room(NULL, 0);
}

/*
 * Read the whole lines of the BYTES at TEXT. SKIP: the first one is the rest of a line that is too
 * long; and then whether the last one is so. Returns the bytes that are left.
 */
static size_t read_lines(struct body *b, char *text, size_t bytes, bool *skip)
{
	char *at = text, *end;

	while ((end = memchr(at, '\n', bytes - (size_t)(at - text)))) {
		if (!*skip)
			read_line(b, at, (size_t)(end - at));
		b->counts.lines += *skip;
		*skip = false;
		at = end + 1;
	}
	bytes -= (size_t)(at - text);
	memmove(text, at, bytes);
	if (bytes < LINE_MAX_BYTES && !*skip)
		return bytes;
	b->counts.broken += !*skip;
	*skip = true;
	return 0;
}

int body_read(struct body *b, FILE *file)
{
	char *text = malloc(LINE_MAX_BYTES);
	size_t got, left = 0;
	bool skip = false;

	if (!text)
		return -1;
	while (!json_memory_failures() &&
	       (got = fread(text + left, 1, LINE_MAX_BYTES - left, file)))
		left = read_lines(b, text, left + got, &skip);
	if (left) /* the last line has no end */
		read_line(b, text, left);
	free(text);
	if (!json_memory_failures())
		return ferror(file) ? -1 : 0;
	errno = ENOMEM;
	return -1;
}
