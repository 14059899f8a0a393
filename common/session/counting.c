// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * --report-counters: the port's counters around all rounds of a run, at each end that asks for
 * them; the "bye" of either end tells them to the other.
 */
#include "session/state.h"

#include <string.h>

#define COUNTERS_MAX 1024

int counting_start(struct session *s)
{
	const char *list = s->options.local.counters;

	if (!list)
		return 0;
	return counters_start(&s->counters, s->hca.info.device, s->hca.info.port, list, &s->fault);
}

static json_t *to_json(const struct counters *c)
{
	json_t *to = json_object();

	for (size_t i = 0; i < c->count; i++) {
		const struct counter *k = &c->list[i];

		json_object_set_new(to, k->name,
				    json_pack("{s:I, s:I, s:I}", "before", (json_int_t)k->before,
					      "after", (json_int_t)k->after, "change",
					      (json_int_t)(k->after - k->before)));
	}
	return to;
}

void counting_stop(struct session *s, json_t *bye)
{
	json_t *mine;

	if (!s->counters.count)
		return;
	counters_stop(&s->counters);
	mine = to_json(&s->counters);
	report_counters(&s->report, s->report.about.server ? "server" : "client", mine,
			!s->counters.all);
	if (bye)
		json_object_set(bye, "counters", mine);
	json_decref(mine);
	counters_release(&s->counters);
}

static bool is_name(const char *text)
{
	size_t n = strlen(text);

	return n && n < sizeof(((struct counter *)0)->name) &&
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
