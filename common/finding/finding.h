/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * finding: a conclusion: a code, how sure it is, which end and which share of the time it is about,
 * and the numbers that it is based on. Rules decide on codes and numbers; the words come from one
 * catalogue (catalogue.def), as do rdmark(7)'s list and the JSON schema's enumerations.
 */
#pragma once

#include <jansson.h>
#include <math.h>
#include <stddef.h>

enum finding_code {
#define FINDING(symbol, ...) symbol,
#include "finding/catalogue.def"
#undef FINDING
	FINDING_CODES
};

enum finding_level {
	FINDING_NOTE,  /* information; no action is needed */
	FINDING_WARN,  /* costs performance, or will */
	FINDING_FAULT, /* broken: exit status 6 */
	FINDING_LEVELS
};

enum finding_strength {
	FINDING_IS,          /* every other explanation that is known is refuted */
	FINDING_MAY_BE,      /* the evidence fits it, and something else */
	FINDING_CANNOT_TELL, /* the evidence is not there */
	FINDING_STRENGTHS
};

#define FINDING_VALUES 24

/* What {name} in the catalogue's words stands for. */
struct finding_value {
	const char *name; /* static storage */
	const char *word; /* NULL: it is a number, and evidence */
	double number;    /* NaN: unknown, like a value that is not there */
	/* "" for a count, "Gb/s", "B", "us", "s", "share" for 0 to 1 in per cent; static storage */
	const char *unit;
};

/* clang-format off */
#define FINDING_WORD(name, word)           {name, word, NAN, ""}
#define FINDING_NUMBER(name, number, unit) {name, NULL, number, unit}
/* clang-format on */

/* A conclusion, as a rule draws it. */
struct finding_facts {
	enum finding_code code;
	enum finding_level level;
	enum finding_strength strength;
	const char *end; /* "client", "server"; NULL: this host, or both. Static storage */
	double share;    /* of the run's time that it took, up to 1; 0 or NaN: unknown, or no run */
	struct finding_value value[FINDING_VALUES]; /* the first without a name ends them */
};

struct finding {
	struct finding_facts is; /* without its words, which are the rule's: they are "" */
	char text[384];  /* the fact: "the PCIe link is gen4 x8, and both ends can do gen4 x16" */
	char cause[640]; /* a sentence; "" if the fact is enough */
	char next[512];  /* an order: "reseat the adapter" */
};

/* The reasons why a row is disturbed (finding/quality.h), as bits: of quality_reason(N) for each N. */
#define QUALITY_REASONS (DISTURBED_ABOVE_LINK - DISTURBED_CPU + 1)

/* Those of a thread's CPU: two; and those that ports count: four, from retransmissions to losses. */
#define QUALITY_OF_CPU   0x3U
#define QUALITY_OF_PORTS (0xfU << (DISTURBED_RETRANSMISSIONS - DISTURBED_CPU))

static inline enum finding_code quality_reason(unsigned n)
{
	return (enum finding_code)(DISTURBED_CPU + n);
}

#define FINDINGS_MAX 24

struct findings {
	size_t count;
	struct finding list[FINDINGS_MAX]; /* nothing is read of those after COUNT */
};

/* Make TO the finding of these FACTS, in the catalogue's words. */
void finding_make(struct finding *to, const struct finding_facts *facts);

/* Append it to TO, and return it. If TO is full, it replaces the last one. */
struct finding *finding_add(struct findings *to, const struct finding_facts *facts);

/* The same of members of the facts; and of a code, a level and values, of this host. */
#define FINDING_ADD(to, ...) finding_add(to, &(struct finding_facts){__VA_ARGS__})
#define FINDING_OF_HOST(to, code_, level_, ...) \
	FINDING_ADD(to, .code = code_, .level = level_, .value = {__VA_ARGS__})

/*
 * Write TEMPLATE into the SIZE bytes at TO: {name} becomes that value of FACTS, {end} its end and
 * {share} its share if that is worth saying; [a part] is left out if a value in it is unknown. An
 * unknown value outside of brackets is "?". Returns TO.
 */
char *finding_words(char *to, size_t size, const char *template, const struct finding_facts *facts);

/* Faults first, then by the largest share; what is alike stays in its order. */
void findings_sort(struct findings *list);

/* The first finding of CODE; NULL: there is none. */
const struct finding *findings_find(const struct findings *list, enum finding_code code);

/* "packet_loss": stable, for scripts; and the catalogue's text, and what to do next, unfilled. */
const char *finding_name(enum finding_code code);
const char *finding_text(enum finding_code code);
const char *finding_next(enum finding_code code);

/* "note", "warn" or "fault"; and "is", "may_be" or "cannot_tell". */
const char *finding_level_name(enum finding_level level);
const char *finding_strength_name(enum finding_strength strength);

/*
 * Returns {code, level, strength, end and share if known, text, cause, next, evidence[]}, a new
 * reference.
 */
json_t *finding_to_json(const struct finding *f);
