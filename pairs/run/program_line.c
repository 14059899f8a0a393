// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "program_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sibling.h"
#include "base/units.h"
#include "cli/options.h"
#include "pairs/pairs.h"

/* What a run sets itself, or what has no place in one. */
static const char *const taken[] = {
	"port",          "json",   "json-lines",   "persistent",     "reversed", "ready-fd",
	"wait",          "list",   "check",        "version",        "help",     "out_json",
	"out_json_file", "csv",    "interval",     "run_infinitely", "timeout",  "connect-timeout",
	"wait_destroy",  "repeat", "until-stable", "confidence",     "prom",
};

static const struct option_row *find_letter(char letter)
{
	for (const struct option_row *row = options_table(); row->name; row++)
		if (row->letter == letter)
			return row;
	return NULL;
}

/* True if the value of ROW is the next word, unless it is in this one. */
static bool takes_next(const struct option_row *row)
{
	return row->kind != OPTION_FLAG && row->kind != OPTION_FILE && row->kind != OPTION_INDEX;
}

static int refuse_word(const char *word, const char *why, struct fault *f)
{
	fault_raise(f, FAULT_USAGE, 0, "'%.80s' after --", word);
	return fault_cause(f, "%s", why);
}

/* The option that WORD is, with *VALUE if that is in the word; NULL with the fault raised. */
static const struct option_row *read_option(char *word, const char **value, struct fault *f)
{
	const struct option_row *row = NULL;
	const char *ignored = NULL;
	size_t n;

	*value = NULL;
	if (word[0] == '-' && word[1] == '-') {
		n = strcspn(word + 2, "=");
		row = options_match(word + 2, n);
		*value = word[2 + n] ? word + 3 + n : NULL;
	} else if (word[0] == '-' && word[1]) {
		row = find_letter(word[1]);
		*value = row && row->kind != OPTION_FLAG && word[2] ? word + 2 : NULL;
	} else {
		refuse_word(word, "only a program and its options stand there", f);
		return NULL;
	}
	if (row)
		row = options_resolve_alias(row, &ignored);
	if (!row)
		refuse_word(word, "no program has this option", f);
	return row;
}

static int use_option(struct program_line *l, const struct option_row *row, const char *value,
		      struct fault *f)
{
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		if (strcmp(row->name, taken[i]) == 0)
			return refuse_word(row->name,
					   "rdmark-pairs sets this option itself, or cannot use it",
					   f);
	if (strcmp(row->name, "duration") == 0 &&
	    (!value || units_parse_seconds(value, &l->duration_ns)))
		return refuse_word(row->name, "it needs a time", f);
	if (strcmp(row->name, "auth") == 0)
		l->auth = value;
	if (strcmp(row->name, "ib-dev") == 0)
		l->device = value;
	if (strcmp(row->name, "ib-port") == 0 && value)
		l->ib_port = (unsigned)strtoul(value, NULL, 10);
	if (strcmp(row->name, "size") == 0 && value && strchr(value, ','))
		return refuse_word(row->name, "a run measures one size, and sweep takes several",
				   f);
	if (strcmp(row->name, "bidirectional") == 0)
		l->both_ways = false;
	return 0;
}

static int read_words(struct program_line *l, char **words, size_t n, struct fault *f)
{
	for (size_t i = 0; i < n; i++) {
		const char *value;
		const struct option_row *row = read_option(words[i], &value, f);
		bool next, about_end, about_way, skip;

		if (!row)
			return -1;
		next = !value && takes_next(row) && i + 1 < n;
		if (use_option(l, row, next ? words[i + 1] : value, f))
			return -1;
		skip = strcmp(row->name, "auth") == 0; /* it is added again */
		about_end = row->scope == SCOPE_LOCAL;
		about_way = row->group == GROUP_PATH || row->group == GROUP_DEVICE ||
			    row->group == GROUP_PEER || row->group == GROUP_SERVING;
		for (size_t k = 0; k <= next; k++) {
			if (l->words == PROGRAM_WORDS_MAX)
				return refuse_word(words[i], "too many options", f);
			l->about_end[l->words] = about_end;
			l->about_way[l->words] = about_way;
			if (!skip)
				l->word[l->words++] = words[i + k];
		}
		i += next;
	}
	return 0;
}

const char *run_sizes(char **words)
{
	struct fault ignored = {0};
	const struct option_row *row = NULL;
	const char *value;

	for (size_t i = 1; words[0] && words[i]; i++) {
		row = read_option(words[i], &value, &ignored);
		if (row && !value && takes_next(row) && words[i + 1])
			value = words[++i];
		if (row && value && strcmp(row->name, "size") == 0 && strchr(value, ','))
			return value;
	}
	return NULL;
}

int program_line_read(struct program_line *l, char **words, size_t n, struct fault *f)
{
	static char usual[] = "-D0.5";
	size_t length;

	*l = (struct program_line){.program = n ? words[0] : "write_bw"};
	if (!sibling_known(l->program)) {
		fault_raise(f, FAULT_USAGE, 0, "'%.80s' is no program that measures", l->program);
		return fault_fix(f, "write one of those after --: %s", sibling_names());
	}
	length = strlen(l->program);
	l->latency = strcmp(l->program + length - 4, "_lat") == 0;
	l->both_ways = !l->latency && strcmp(l->program, "gdr_bw") != 0;
	l->to_client = strncmp(l->program, "read_", 5) == 0;
	if (n)
		return read_words(l, words + 1, n - 1, f);
	l->duration_ns = UNITS_NS_PER_S / 2;
	l->word[l->words++] = usual;
	return 0;
}

void program_line_victim(struct program_line *victim, const struct program_line *l)
{
	bool sends = strncmp(l->program, "send_", 5) == 0;

	*victim = (struct program_line){.program = sends ? "send_lat" : "write_lat",
					.latency = true,
					.duration_ns = l->duration_ns};
	for (size_t i = 0; i < l->words; i++)
		if (l->about_way[i]) {
			victim->about_end[victim->words] = l->about_end[i];
			victim->word[victim->words++] = l->word[i];
		}
	snprintf(victim->lasts, sizeof(victim->lasts), "-D%.3f", (double)l->duration_ns / 1e9);
	victim->word[victim->words++] = victim->lasts;
}

/* Add the words of L to TO; of a server, those about an end. Returns how many. */
static size_t add_words(const struct program_line *l, bool server, struct program_words *to)
{
	size_t n = 0;

	to->argv[n++] = (char *)l->program;
	for (size_t i = 0; i < l->words; i++)
		if (!server || l->about_end[i])
			to->argv[n++] = l->word[i];
	return n;
}

void program_line_write(const struct program_line *l, const struct program_call *call,
			struct program_words *to)
{
	size_t n = add_words(l, !call->address, to);

	snprintf(to->text[0], sizeof(to->text[0]), "--port=%u", call->port);
	snprintf(to->text[1], sizeof(to->text[1]), "--timeout=%.3f",
		 (double)call->timeout_ns / 1e9);
	snprintf(to->text[2], sizeof(to->text[2]), "--auth=%s", call->auth);
	snprintf(to->text[3], sizeof(to->text[3]), "--ib-dev=%s", call->rail);
	snprintf(to->text[4], sizeof(to->text[4]), "--connect-timeout=%.3f",
		 (double)call->connect_ns / 1e9);
	to->argv[n++] = to->text[0];
	to->argv[n++] = to->text[1];
	to->argv[n++] = to->text[2];
	to->argv[n++] = "--quiet";
	to->argv[n++] = "--json";
	if (*call->rail)
		to->argv[n++] = to->text[3];
	if (call->address)
		to->argv[n++] = to->text[4];
	else
		to->argv[n++] = "--persistent";
	if (call->reversed)
		to->argv[n++] = "--reversed";
	if (call->address)
		to->argv[n++] = (char *)call->address;
	to->argv[n] = NULL;
}
