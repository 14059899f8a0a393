// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The words of SIMVERBS_SCRIPT; README.md says what they mean. */
#include "script.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define PS_PER_NS 1000

/* Nanoseconds, with a fraction if need be, up to END (or one of its characters). */
static bool parse_ps(const char **p, const char *end, uint64_t *ps)
{
	char *behind;
	double ns = strtod(*p, &behind);

	if (behind == *p || !(ns >= 0) || ns > 1e15 || (*behind && !strchr(end, *behind)))
		return false;
	*ps = (uint64_t)(ns * PS_PER_NS + 0.5);
	*p = behind;
	return true;
}

static bool parse_count(const char **p, uint64_t *count)
{
	char *behind;

	*count = strtoull(*p, &behind, 10);
	if (behind == *p || !*count)
		return false;
	*p = behind;
	return true;
}

/* NS[~PERCENT%[/ALIKE]][*COUNT],… */
static bool parse_list(const char *p, struct script_list *list)
{
	char *behind;

	for (list->items = 0; list->items < SCRIPT_ITEMS; p++) {
		unsigned i = list->items++;

		list->item[i].count = list->item[i].alike = 1;
		list->item[i].noise = 0;
		if (!parse_ps(&p, "~*,", &list->item[i].ps))
			return false;
		if (*p == '~') {
			list->item[i].noise = strtod(p + 1, &behind) / 100;
			if (*behind != '%')
				return false;
			p = behind + 1;
			if (*p == '/' && (p++, !parse_count(&p, &list->item[i].alike)))
				return false;
		}
		if (*p == '*' && (p++, !parse_count(&p, &list->item[i].count)))
			return false;
		if (!*p)
			return true;
		if (*p != ',')
			return false;
	}
	return false;
}

/* NS/EVERY[+FIRST]@PLACE */
static bool parse_hold(const char *p, struct script *s)
{
	static const char *const place[] = {"before", "after", "clock"};
	struct script_hold *h = &s->hold[s->holds];

	if (s->holds == SCRIPT_HOLDS || !parse_ps(&p, "/", &h->ps) || *p++ != '/' ||
	    !parse_ps(&p, "+@", &h->every) || h->every <= h->ps)
		return false;
	h->next = h->every;
	if (*p == '+' && (p++, !parse_ps(&p, "@", &h->next)))
		return false;
	if (*p++ != '@')
		return false;
	for (unsigned i = 0; i < sizeof(place) / sizeof(*place); i++) {
		if (strcmp(p, place[i]))
			continue;
		h->place = (enum script_place)i;
		s->holds++;
		return true;
	}
	return false;
}

/* AT:[-]NS */
static bool parse_step(const char *p, struct script *s)
{
	uint64_t ps;
	bool back;

	if (s->steps == SCRIPT_STEPS || !parse_ps(&p, ":", &s->step[s->steps].at) || *p++ != ':')
		return false;
	back = *p == '-';
	p += back;
	if (!parse_ps(&p, "", &ps) || *p)
		return false;
	s->step[s->steps++].ps = back ? -(int64_t)ps : (int64_t)ps;
	return true;
}

/* Words whose value is one number. */
static uint64_t *number_of(struct script *s, const char *name, size_t length)
{
	static const struct {
		const char *name;
		size_t at;
	} known[] = {
		{"latency", offsetof(struct script, latency)},
		{"post", offsetof(struct script, post)},
		{"poll", offsetof(struct script, poll)},
		{"completion", offsetof(struct script, completion)},
		{"clock", offsetof(struct script, clock)},
		{"seed", offsetof(struct script, seed)},
	};

	for (unsigned i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (strlen(known[i].name) == length && !strncmp(name, known[i].name, length))
			return (uint64_t *)((char *)s + known[i].at);
	return NULL;
}

static bool is(const char *name, size_t length, const char *wanted)
{
	return strlen(wanted) == length && !strncmp(name, wanted, length);
}

static bool parse_word(struct script *s, const char *word)
{
	size_t length = strcspn(word, "=");
	const char *value = word + length + (word[length] == '=');
	uint64_t *number = number_of(s, word, length);

	if (number)
		return parse_ps(&value, "", number) && !*value;
	if (is(word, length, "gap"))
		return parse_list(value, &s->gap);
	if (is(word, length, "recv"))
		return parse_list(value, &s->recv);
	if (is(word, length, "rtt"))
		return parse_list(value, &s->rtt);
	if (is(word, length, "hold"))
		return parse_hold(value, s);
	return is(word, length, "step") && parse_step(value, s);
}

const char *script_parse(struct script *s, const char *words)
{
	static const char defaults[] =
		"gap=100 latency=2000 post=2 poll=20 completion=5 clock=10 seed=1";
	static char word[1024]; /* what was wrong is in it, for the caller to print */
	const char *from[] = {defaults, words};
	size_t length;

	for (int i = 0; i < 2; i++) {
		for (const char *p = from[i]; *(p += strspn(p, " \t\n")); p += length) {
			length = strcspn(p, " \t\n");
			if (length >= sizeof(word))
				return "a word is too long";
			memcpy(word, p, length);
			word[length] = '\0';
			if (!parse_word(s, word))
				return word;
		}
	}
	s->random[0] = (unsigned short)(s->seed / PS_PER_NS);
	return s->poll && s->clock ? NULL : "poll and clock must not be 0: time would stand still";
}

/* Nearly normal, with mean 0 and variance 1: never beyond 6. */
static double normal(struct script *s)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += erand48(s->random);
	return sum;
}

uint64_t script_draw(struct script_list *list)
{
	unsigned i = list->at;

	if (++list->used == list->item[i].count) {
		list->used = 0;
		list->at = (i + 1) % list->items;
	}
	if (!(list->item[i].noise > 0))
		return list->item[i].ps;
	if (list->drawn++ % list->item[i].alike == 0)
		list->factor = fmax(0.01, 1 + list->item[i].noise * normal(script_get()));
	return (uint64_t)((double)list->item[i].ps * list->factor + 0.5);
}
