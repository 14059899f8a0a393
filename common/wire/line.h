/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * line: the clients that wait for their turn while the server serves another one.
 *
 * A client joins with the connection it came by and the first message it sent, and keeps both: when
 * its turn comes it is served at once, with nothing to be said again. Meanwhile it hears whom the
 * server serves and which place it has, at once when that changes, and every second so that it
 * knows the server is alive. It has nothing to say itself: who speaks, closes or does not read is
 * dropped, and who stands behind moves up.
 *
 * A zeroed object is an empty line. One thread at a time; nothing here waits.
 */
#ifndef RDMARK_WIRE_LINE_H
#define RDMARK_WIRE_LINE_H

#include <jansson.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "wire/oob.h"

#define LINE_PLACES    16
#define LINE_REPEAT_NS UINT64_C(1000000000)

struct line_place {
	struct oob oob;
	json_t *first;   /* what it said when it came; owned */
	unsigned told;   /* the place it knows of; 0: none */
	uint64_t due_ns; /* when it hears its place again */
};

struct line {
	struct line_place place[LINE_PLACES]; /* the first COUNT, in the order they came */
	unsigned count;
};

/*
 * At the end of the line: the client at O, which said FIRST. Returns true and owns both then; false
 * if the line is full.
 */
bool line_join(struct line *l, const struct oob *o, json_t *first);

/* Everybody shall hear anew whom the server serves: it is another one than before. */
void line_forget(struct line *l);

/*
 * Tell those who do not know it, or for whom it is time again, that the server serves WITH. Who is
 * dropped, here and below, has a line in LOG unless that is NULL.
 */
void line_tell(struct line *l, const char *with, FILE *log);

/* Drop who is gone or spoke. */
void line_look(struct line *l, FILE *log);

/* Fill in P, which has room for LINE_PLACES, for poll(2). Returns how many. */
nfds_t line_polled(const struct line *l, struct pollfd *p);

/* When line_tell() is due next; UINT64_MAX: never. */
uint64_t line_due_ns(const struct line *l);

/*
 * The first in line is served now, and hears so: *O and *FIRST are the caller's. False if nobody is
 * there any more.
 */
bool line_take(struct line *l, struct oob *o, json_t **first, FILE *log);

/* The server ends: tell everybody, and close. */
void line_end(struct line *l);

#endif
