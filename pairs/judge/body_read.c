// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads lines of files into a body: what they say, or that they say nothing. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "body.h"
#include "scan.h"
#include "wire/json_memory.h"

#define LINE_MAX_BYTES (1 << 20)
#define PREFIX_MAX     300 /* what a launcher writes before a line: "3: ", "[1,3]<stdout>: " */
#define VALUE_MAX      1e12

static uint32_t host_of(struct body *b, const struct scan *s, enum scan_key host,
			enum scan_key rail)
{
	const struct scan_value *h = &s->of[host], *r = &s->of[rail];

	if (h->type != SCAN_TEXT)
		return BODY_NONE;
	return body_player(b, h->text, h->bytes, r->type == SCAN_TEXT ? r->text : NULL,
			   r->type == SCAN_TEXT ? r->bytes : 0);
}

/* The number of the run; one without a name is the run "". */
static uint32_t run_of(struct body *b, const struct scan *s)
{
	const struct scan_value *v = &s->of[SCAN_RUN];
	bool named = v->type == SCAN_TEXT && v->bytes <= 64;

	return body_run(b, named ? v->text : "", named ? v->bytes : 0);
}

static void copy_word(char *to, size_t size, const struct scan_value *v)
{
	char word[64];

	if (*to || v->type != SCAN_TEXT || v->bytes >= sizeof(word))
		return;
	memcpy(word, v->text, v->bytes);
	word[v->bytes] = '\0';
	text_copy(to, size, word);
}

/* Note what RUN measures. Of several answers the first is kept. */
static void note_what(struct body *b, const struct scan *s, uint32_t run)
{
	char unit[16] = "", program[32] = "", what[400] = "", clean[400];
	const json_t *word;
	uint32_t at;
	size_t i;

	if (b->run[run].what != BODY_NO_WHAT)
		return;
	copy_word(unit, sizeof(unit), &s->of[SCAN_UNIT]);
	copy_word(program, sizeof(program), &s->of[SCAN_PROGRAM]);
	text_add(what, sizeof(what), "%s %s", unit, program);
	json_array_foreach (s->options, i, word)
		text_add(what, sizeof(what), " %s",
			 json_is_string(word) ? json_string_value(word) : "?");
	text_copy(clean, sizeof(clean), what);
	at = names_put(&b->whats, clean, strlen(clean));
	if (at != NAMES_NONE)
		b->run[run].what = (uint8_t)at;
	if (at == 0)
		b->latency = strcmp(unit, "us") == 0;
}

static int read_player(struct body *b, const struct scan *s, bool *taken)
{
	uint32_t run = run_of(b, s), at = host_of(b, s, SCAN_HOST, SCAN_RAIL);
	double slot = scan_number(s, SCAN_SLOT, 1e-3, 1e5, 0);
	uint32_t players = (uint32_t)scan_number(s, SCAN_PLAYERS, 1, BODY_PLAYERS_MAX, 0);
	uint32_t rounds = (uint32_t)scan_number(s, SCAN_ROUNDS, 0, 1e6, 0);

	*taken = run != NAMES_NONE && at != BODY_NONE;
	if (!*taken)
		return 0;
	if (rounds > b->run[run].planned)
		b->run[run].planned = rounds;
	note_what(b, s, run);
	copy_word(b->schedule, sizeof(b->schedule), &s->of[SCAN_SCHEDULE]);
	b->run[run].slot_s = fmax(b->run[run].slot_s, slot);
	if (players > b->run[run].players)
		b->run[run].players = players;
	return body_add_note(
		b, &(struct body_note){.kind = BODY_CAME, .player = at, .run = (uint16_t)run});
}

static int read_done(struct body *b, const struct scan *s, bool *taken)
{
	uint32_t run = run_of(b, s), at = host_of(b, s, SCAN_HOST, SCAN_RAIL);
	struct body_note n = {
		.kind = BODY_DONE,
		.player = at,
		.run = (uint16_t)run,
		.rounds = (uint32_t)scan_number(s, SCAN_ROUNDS, 0, 1e6, 0),
		.missed = (uint32_t)scan_number(s, SCAN_MISSED, 0, 1e6, 0),
	};

	*taken = run != NAMES_NONE && at != BODY_NONE;
	return *taken ? body_add_note(b, &n) : 0;
}

static uint32_t put_text(struct body *b, const char *text)
{
	char clean[400];

	text_copy(clean, sizeof(clean), text);
	return *clean ? names_put(&b->texts, clean, strlen(clean)) : BODY_NONE;
}

/* Copy the error of a line, and what mends it. */
static void copy_error(char *to, size_t size, const struct scan *s)
{
	const struct scan_value *error = &s->of[SCAN_ERROR], *fix = &s->of[SCAN_FIX];

	*to = '\0';
	if (error->type == SCAN_TEXT)
		text_add(to, size, "%.*s", (int)error->bytes, error->text);
	if (*to && fix->type == SCAN_TEXT)
		text_add(to, size, "%s Fix: %.*s.", to[strlen(to) - 1] == '.' ? "" : ".",
			 (int)fix->bytes, fix->text);
}

/* A server that ended: its clients know only that they did not reach it. */
static int read_server(struct body *b, const struct scan *s, bool *taken)
{
	uint32_t run = run_of(b, s), at = host_of(b, s, SCAN_HOST, SCAN_RAIL);
	struct body_note n = {
		.kind = BODY_SERVER, .player = at, .run = (uint16_t)run, .text = BODY_NONE};
	char text[400], said[400];

	*taken = run != NAMES_NONE && at != BODY_NONE;
	if (!*taken)
		return 0;
	copy_error(text, sizeof(text), s);
	snprintf(said, sizeof(said), "%.100s: its server: %.280s", b->names.text[at], text);
	n.no_device = scan_is(s, SCAN_CAUSE, "device");
	if (*text)
		n.text = put_text(b, said);
	return body_add_note(b, &n);
}

static enum body_cause cause_of(const struct scan *s)
{
	static const char *const word[BODY_CAUSES] = {"",       "connect", "lost", "device",
						      "clock",  "refused", "data", "missed",
						      "absent", "other"};

	for (enum body_cause c = BODY_CONNECT; c < BODY_CAUSES; c++)
		if (scan_is(s, SCAN_CAUSE, word[c]))
			return c;
	return BODY_OTHER;
}

static bool same_text(const struct scan_value *a, const struct scan_value *b)
{
	return a->type == SCAN_TEXT && b->type == SCAN_TEXT && a->bytes == b->bytes &&
	       memcmp(a->text, b->text, a->bytes) == 0;
}

/* What the run said of the pair: its error, or else the first finding. */
static uint32_t text_of(struct body *b, const struct scan *s, bool *found)
{
	json_t *first = json_array_get(s->findings, 0);
	const char *host = json_string_value(json_object_get(first, "host"));
	const char *what = json_string_value(json_object_get(first, "text"));
	char text[400];

	copy_error(text, sizeof(text), s);
	*found = !*text && what;
	if (*found)
		snprintf(text, sizeof(text), "%.64s%s%.300s", host ? host : "", host ? ": " : "",
			 what);
	return put_text(b, text);
}

/* Read status, value and cause. Returns false if they cannot be so. */
static bool read_figure(const struct scan *s, struct body_try *t)
{
	double value = scan_number(s, SCAN_VALUE, 1e-9, VALUE_MAX, NAN);

	t->p99 = (float)scan_number(s, SCAN_P99, 1e-9, VALUE_MAX, NAN);
	t->clock_s = (float)scan_number(s, SCAN_CLOCK, -1e10, 1e10, NAN);
	t->value = NAN;
	if (same_text(&s->of[SCAN_NODE], &s->of[SCAN_FROM]))
		t->blame = 1;
	else if (same_text(&s->of[SCAN_NODE], &s->of[SCAN_TO]))
		t->blame = 2;
	if (scan_is(s, SCAN_STATUS, "failed")) {
		t->cause = (uint8_t)cause_of(s);
		return true;
	}
	if (!scan_is(s, SCAN_CAUSE, "clock"))
		t->blame = 0;
	t->cut = scan_is(s, SCAN_STATUS, "cut");
	t->value = (float)value;
	return !isnan(value) && (t->cut || scan_is(s, SCAN_STATUS, "measured"));
}

static int read_try(struct body *b, const struct scan *s, bool *taken)
{
	struct body_try t = {0};
	uint32_t run = run_of(b, s);

	*taken = false;
	if (run == NAMES_NONE || !read_figure(s, &t))
		return 0;
	t.from = host_of(b, s, SCAN_FROM, SCAN_FROM_RAIL);
	t.to = host_of(b, s, SCAN_TO, SCAN_TO_RAIL);
	if (t.from == BODY_NONE || t.to == BODY_NONE || t.from == t.to)
		return 0;
	t.run = (uint16_t)run;
	t.round = (uint16_t)scan_number(s, SCAN_ROUND, 0, UINT16_MAX, 0);
	t.alone = s->of[SCAN_ALONE].type == SCAN_TRUE;
	t.client_is_from = same_text(&s->of[SCAN_CLIENT], &s->of[SCAN_FROM]);
	t.text = text_of(b, s, &t.found);
	b->counts.tries++;
	*taken = true;
	return body_add(b, &t);
}

static int read_object(struct body *b, const struct scan *s)
{
	bool taken = false;
	int failed = 0;

	if (scan_is(s, SCAN_KIND, "pair"))
		failed = read_try(b, s, &taken);
	else if (scan_is(s, SCAN_KIND, "player"))
		failed = read_player(b, s, &taken);
	else if (scan_is(s, SCAN_KIND, "done"))
		failed = read_done(b, s, &taken);
	else if (scan_is(s, SCAN_KIND, "server"))
		failed = read_server(b, s, &taken);
	b->counts.impossible += !taken;
	return failed;
}

/* Read the objects of a line: two, where the line's end between them was lost. */
static int read_line(struct body *b, const char *line, size_t bytes)
{
	size_t left = bytes < PREFIX_MAX ? bytes : PREFIX_MAX;
	const char *at = memchr(line, '{', left), *end = line + bytes;
	int failed = 0;

	b->counts.lines++;
	if (!at)
		b->counts.other_text += bytes > 0;
	while (at && !failed) {
		struct scan s;
		size_t taken = scan_line(&s, at, (size_t)(end - at));

		if (taken)
			failed = read_object(b, &s);
		else
			b->counts.broken++;
		scan_release(&s);
		at = taken ? memchr(at + taken, '{', (size_t)(end - at) - taken) : NULL;
	}
	return failed;
}

/* Read the whole lines of the BYTES at TEXT. Returns the bytes that are left, or -1. */
static ssize_t read_lines(struct body *b, char *text, size_t bytes)
{
	char *at = text, *end;

	while ((end = memchr(at, '\n', bytes - (size_t)(at - text)))) {
		if (read_line(b, at, (size_t)(end - at)))
			return -1;
		at = end + 1;
	}
	bytes -= (size_t)(at - text);
	memmove(text, at, bytes);
	return (ssize_t)bytes;
}

/* True if a text or a player is missing for want of memory, or jansson lacked it. */
static bool lacks_memory(const struct body *b)
{
	return b->no_memory || b->hosts.no_memory || b->names.no_memory || b->runs.no_memory ||
	       b->texts.no_memory || b->whats.no_memory || json_memory_failures();
}

int body_read(struct body *b, FILE *file)
{
	char *text = malloc(LINE_MAX_BYTES);
	ssize_t left = 0;
	bool skip = false;
	size_t got;

	if (!text)
		return -1;
	while (left >= 0 && (got = fread(text + left, 1, LINE_MAX_BYTES - (size_t)left, file))) {
		char *end = skip ? memchr(text, '\n', got) : text;

		if (skip) { /* the rest of a line that is too long */
			if (end)
				memmove(text, end, got -= (size_t)(end - text));
			skip = !end;
			if (skip)
				continue;
		}
		left = read_lines(b, text, (size_t)left + got);
		if (left == LINE_MAX_BYTES) {
			b->counts.broken++;
			skip = true;
			left = 0;
		}
	}
	if (left > 0 && read_line(b, text, (size_t)left)) /* the last line has no end */
		left = -1;
	if (lacks_memory(b))
		left = -1;
	free(text);
	errno = left < 0 ? ENOMEM : errno;
	return left < 0 || ferror(file) ? -1 : 0;
}
