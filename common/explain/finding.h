/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * finding: a problem or a possible problem: the fact, its cause, what to do next, and the values
 * that it is based on. rdmark(7) has a paragraph for each code.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum finding_level {
	FINDING_NOTE,  /* information; no action is needed */
	FINDING_WARN,  /* costs performance, or will */
	FINDING_FAULT, /* broken: exit status 6 */
	FINDING_LEVELS
};

#define FINDING_EVIDENCE 10

struct finding {
	const char *code; /* "pcie_trained_below": stable, for scripts; static storage */
	enum finding_level level;
	const char *end; /* "client", "server"; NULL: this host. Static storage */
	double share; /* of the run's time that it took, 0 to 1; NaN: unknown, or there is no run */
	char text[384];  /* the fact: "the PCIe link is gen4 x8, and both ends can do gen4 x16" */
	char cause[640]; /* a sentence; "" if the fact is enough */
	char next[512];  /* an order: "reseat the adapter" */
	struct finding_evidence {
		char name[96];
		double value;
		const char *unit; /* "" for a count; static storage */
	} evidence[FINDING_EVIDENCE];
	unsigned evidences;
};

#define FINDINGS_MAX 24

struct findings {
	struct finding list[FINDINGS_MAX];
	size_t count;
};

/*
 * Append a finding with its text (printf) to TO, and return it. If TO is full, it replaces the last
 * one.
 */
struct finding *finding_add(struct findings *to, const char *code, enum finding_level level,
			    const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Set the cause, or what to do next (printf). */
void finding_cause(struct finding *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void finding_next(struct finding *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Add a value to the evidence. Ignored if F has FINDING_EVIDENCE of them. */
void finding_evidence(struct finding *f, const char *name, double value, const char *unit);

/* Faults first, then by the largest share; what is alike stays in its order. */
void findings_sort(struct findings *list);

/* "note", "warn" or "fault". */
const char *finding_level_name(enum finding_level level);

/* Returns {code, level, end and share if known, text, cause, next, evidence[]}, a new reference. */
json_t *finding_to_json(const struct finding *f);
