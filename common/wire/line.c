// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "wire/line.h"

#include <string.h>

#include "base/clock.h"
#include "wire/message.h"

bool line_join(struct line *l, const struct oob *o, json_t *first)
{
	if (l->count == LINE_PLACES)
		return false;
	l->place[l->count++] = (struct line_place){.oob = *o, .first = first};
	return true;
}

/* Close the gap at place I: what stood there is the caller's, or was released. */
static void move_up(struct line *l, unsigned i)
{
	l->count--;
	memmove(&l->place[i], &l->place[i + 1], (l->count - i) * sizeof(l->place[0]));
}

static void drop(struct line *l, unsigned i, const char *why, FILE *log)
{
	struct line_place *p = &l->place[i];

	if (log)
		fprintf(log, "rdmark: dropped %s, which waited in line: %s\n", p->oob.peer, why);
	oob_release(&p->oob);
	json_decref(p->first);
	move_up(l, i);
}

/* It is small, and all that is sent here: a connection that cannot take it is not read from. */
static int say(struct line_place *p, json_t *m)
{
	struct fault why = {0};

	return oob_send(&p->oob, m, clock_now_ns(), &why);
}

void line_forget(struct line *l)
{
	for (unsigned i = 0; i < l->count; i++)
		l->place[i].told = 0;
}

/* Has the client at place I been told so, and not long ago? Else tell it. */
static int tell(struct line *l, unsigned i, const char *with)
{
	struct line_place *p = &l->place[i];
	uint64_t now = clock_now_ns();

	if (p->told == i + 1 && now < p->due_ns)
		return 0;
	p->told = i + 1;
	p->due_ns = now + LINE_REPEAT_NS;
	return say(p, json_pack("{s:s, s:s, s:i}", "type", "busy", "with", with, "place",
				(int)p->told));
}

void line_tell(struct line *l, const char *with, FILE *log)
{
	for (unsigned i = 0; i < l->count;)
		if (tell(l, i, with) == 0)
			i++;
		else
			drop(l, i, "it does not read what it is told", log);
}

/* Is the client at place I still there, and silent? If not it is dropped. */
static bool waits(struct line *l, unsigned i, FILE *log)
{
	struct fault why = {0};
	json_t *m = NULL;
	char text[1024];
	int rc = oob_poll(&l->place[i].oob, &m, &why);

	if (rc == 0)
		return true;
	if (rc > 0 && message_is(m, "error")) /* it says so before it goes */
		fault_raise(&why, FAULT_PEER, 0, "it gave up");
	else if (rc > 0)
		fault_raise(&why, FAULT_PEER, 0, "it spoke out of turn");
	json_decref(m);
	fault_format(&why, text, sizeof(text));
	drop(l, i, text, log);
	return false;
}

void line_look(struct line *l, FILE *log)
{
	for (unsigned i = 0; i < l->count;)
		i += waits(l, i, log);
}

nfds_t line_polled(const struct line *l, struct pollfd *p)
{
	for (unsigned i = 0; i < l->count; i++)
		p[i] = (struct pollfd){.fd = l->place[i].oob.fd, .events = POLLIN};
	return l->count;
}

uint64_t line_due_ns(const struct line *l)
{
	uint64_t due = UINT64_MAX;

	for (unsigned i = 0; i < l->count; i++)
		if (l->place[i].due_ns < due)
			due = l->place[i].due_ns;
	return due;
}

bool line_take(struct line *l, struct oob *o, json_t **first, FILE *log)
{
	while (l->count && !waits(l, 0, log))
		;
	if (!l->count)
		return false;
	/* Its deadline to be served is met, however long this end now takes. */
	say(&l->place[0], message_new("alive"));
	*o = l->place[0].oob;
	*first = l->place[0].first;
	move_up(l, 0);
	return true;
}

void line_end(struct line *l)
{
	for (unsigned i = 0; i < l->count; i++) {
		say(&l->place[i], message_new("ended"));
		oob_release(&l->place[i].oob);
		json_decref(l->place[i].first);
	}
	l->count = 0;
}
