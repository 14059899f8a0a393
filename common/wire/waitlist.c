// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "wire/waitlist.h"

#include <string.h>

#include "base/clock.h"
#include "wire/message.h"

bool waitlist_join(struct waitlist *l, const struct oob *o, json_t *first)
{
	if (l->count == WAITLIST_PLACES)
		return false;
	l->place[l->count++] = (struct waitlist_place){.oob = *o, .first = first};
	return true;
}

/* Remove place I and move up those after it. Its contents are the caller's, or released. */
static void remove_place(struct waitlist *l, unsigned i)
{
	l->count--;
	memmove(&l->place[i], &l->place[i + 1], (l->count - i) * sizeof(l->place[0]));
}

static void drop_waiting(struct waitlist *l, unsigned i, const char *why, struct peer_log *log)
{
	struct waitlist_place *p = &l->place[i];

	peer_log(log, p->oob.peer, "dropped %s, which waited in the queue: %s", p->oob.peer, why);
	oob_release(&p->oob);
	json_decref(p->first);
	remove_place(l, i);
}

/* Send M without waiting: it fits the socket's buffer, unless the client does not read. */
static int send_place(struct waitlist_place *p, json_t *m)
{
	struct fault why = {0};

	return oob_send(&p->oob, m, clock_now_ns(), &why);
}

void waitlist_notify_again(struct waitlist *l)
{
	for (unsigned i = 0; i < l->count; i++)
		l->place[i].told = 0;
}

/* Send the client at place I its place, unless it was sent the same less than a second ago. */
static int notify_place(struct waitlist *l, unsigned i, const char *with)
{
	struct waitlist_place *p = &l->place[i];
	uint64_t now = clock_now_ns();

	if (p->told == i + 1 && now < p->due_ns)
		return 0;
	p->told = i + 1;
	p->due_ns = now + WAITLIST_REPEAT_NS;
	return send_place(p, json_pack("{s:s, s:s, s:i}", "type", "busy", "with", with, "place",
				       (int)p->told));
}

void waitlist_notify(struct waitlist *l, const char *with, struct peer_log *log)
{
	for (unsigned i = 0; i < l->count;)
		if (notify_place(l, i, with) == 0)
			i++;
		else
			drop_waiting(l, i, "it does not read its messages", log);
}

/* True if the client at place I is connected and silent; otherwise it is dropped. */
static bool still_waits(struct waitlist *l, unsigned i, struct peer_log *log)
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
		fault_raise(&why, FAULT_PEER, 0, "it sent an unexpected message");
	json_decref(m);
	fault_format(&why, text, sizeof(text));
	drop_waiting(l, i, text, log);
	return false;
}

void waitlist_drop_gone(struct waitlist *l, struct peer_log *log)
{
	for (unsigned i = 0; i < l->count;)
		i += still_waits(l, i, log);
}

nfds_t waitlist_polled(const struct waitlist *l, struct pollfd *p)
{
	for (unsigned i = 0; i < l->count; i++)
		p[i] = (struct pollfd){.fd = l->place[i].oob.fd, .events = POLLIN};
	return l->count;
}

uint64_t waitlist_due_ns(const struct waitlist *l)
{
	uint64_t due = UINT64_MAX;

	for (unsigned i = 0; i < l->count; i++)
		if (l->place[i].due_ns < due)
			due = l->place[i].due_ns;
	return due;
}

bool waitlist_next(struct waitlist *l, struct oob *o, json_t **first, struct peer_log *log)
{
	while (l->count && !still_waits(l, 0, log))
		;
	if (!l->count)
		return false;
	/* This ends the client's deadline to be served, however long the handshake takes. */
	send_place(&l->place[0], message_new("alive"));
	*o = l->place[0].oob;
	*first = l->place[0].first;
	remove_place(l, 0);
	return true;
}

void waitlist_end(struct waitlist *l)
{
	for (unsigned i = 0; i < l->count; i++) {
		send_place(&l->place[i], message_new("ended"));
		oob_release(&l->place[i].oob);
		json_decref(l->place[i].first);
	}
	l->count = 0;
}
