// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * --report-counters: the port's counters around all rounds of a run, at each end that asks for
 * them; the "bye" of either end tells them to the other.
 */
#include "session/state.h"

#include <stdio.h>
#include <string.h>

#define COUNTERS_MAX 1024
#define NAME_BYTES   160 /* with the device's */

int counting_start(struct session *s)
{
	const char *list = s->options.local.counters;

	for (unsigned i = 0; list && i < s->rails; i++) {
		const struct hca_port *p = &s->rail[i].hca.info;

		if (counters_start(&s->rail[i].counters, p->device, p->port, list, &s->fault))
			return -1;
	}
	return 0;
}

/* Into TO; where there are several devices, the name says whose. */
static void add(const struct rail *r, bool several, json_t *to)
{
	const struct counters *c = &r->counters;
	char name[NAME_BYTES];

	for (size_t i = 0; i < c->count; i++) {
		const struct counter *k = &c->list[i];

		snprintf(name, sizeof(name), "%s%s%s", several ? r->hca.info.device : "",
			 several ? "/" : "", k->name);
		json_object_set_new(to, name,
				    json_pack("{s:I, s:I, s:I}", "before", (json_int_t)k->before,
					      "after", (json_int_t)k->after, "change",
					      (json_int_t)(k->after - k->before)));
	}
}

void counting_stop(struct session *s, json_t *bye)
{
	json_t *mine;

	if (!s->rails || !s->rail[0].counters.count)
		return;
	mine = json_object();
	for (unsigned i = 0; i < s->rails; i++) {
		counters_stop(&s->rail[i].counters);
		add(&s->rail[i], s->rails > 1, mine);
	}
	report_counters(&s->report, s->report.about.server ? "server" : "client", mine,
			!s->rail[0].counters.all);
	if (bye)
		json_object_set(bye, "counters", mine);
	json_decref(mine);
	for (unsigned i = 0; i < s->rails; i++)
		counters_release(&s->rail[i].counters);
}

static bool is_name(const char *text)
{
	size_t n = strlen(text);

	return n && n < NAME_BYTES &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_/.-") ==
		       n;
}

int counting_hear(struct session *s, const json_t *bye)
{
	json_t *theirs = json_object_get(bye, "counters"), *one;
	const char *name;

	if (!theirs)
		return 0;
	if (message_has(bye, "counters",
			json_is_object(theirs) && json_object_size(theirs) <= COUNTERS_MAX,
			&s->fault))
		return -1;
	json_object_foreach(
		theirs, name,
		one) if (message_has(bye, "counters",
				     is_name(name) && json_object_size(one) == 3 &&
					     json_is_integer(json_object_get(one, "before")) &&
					     json_is_integer(json_object_get(one, "after")) &&
					     json_is_integer(json_object_get(one, "change")),
				     &s->fault)) return -1;
	report_counters(&s->report, s->report.about.server ? "client" : "server", theirs, false);
	return 0;
}
