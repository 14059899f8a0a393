// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "measure/counting.h"

#include <stdio.h>
#include <string.h>

#define COUNTERS_MAX 1024
#define NAME_BYTES   160 /* of a counter, with "DEVICE/" before it */

int counting_start(struct measure *ms)
{
	const char *list = ms->options->local.counters;

	for (unsigned i = 0; list && i < ms->ep->rails; i++) {
		const struct hca_port *p = &ms->ep->rail[i].hca.info;

		if (counters_start(&ms->ep->rail[i].counters, p->device, p->port, list, ms->fault))
			return -1;
	}
	return 0;
}

/*
 * Add R's counters to TO, by name, and by device if there are SEVERAL: "after" is null if it could
 * not be read, "change" if it is unknown; "caveat" says why a change is not exact.
 */
static void add_counters(const struct rail *r, bool several, json_t *to)
{
	const struct counters *c = &r->counters;
	char name[NAME_BYTES];

	for (size_t i = 0; i < c->count; i++) {
		const struct counter *k = &c->list[i];
		int64_t change;
		enum counter_caveat caveat = counter_change(k, &change);
		json_t *one = json_pack("{s:I}", "before", (json_int_t)k->before);

		json_object_set_new(one, "after",
				    k->unreadable ? json_null() : json_integer(k->after));
		json_object_set_new(one, "change",
				    caveat > COUNTER_MINIMUM ? json_null() : json_integer(change));
		if (caveat)
			json_object_set_new(one, "caveat",
					    json_string(counter_caveat_name(caveat)));
		snprintf(name, sizeof(name), "%s%s%s", several ? r->hca.info.device : "",
			 several ? "/" : "", k->name);
		json_object_set_new(to, name, one);
	}
}

/* Read and report this end's counters. If BYE is not NULL, add them to that message. */
void counting_stop(struct measure *ms, json_t *bye)
{
	json_t *mine;

	if (!ms->ep->rails || !ms->ep->rail[0].counters.count)
		return;
	mine = json_object();
	for (unsigned i = 0; i < ms->ep->rails; i++) {
		counters_stop(&ms->ep->rail[i].counters);
		add_counters(&ms->ep->rail[i], ms->ep->rails > 1, mine);
	}
	if (bye) /* the peer waits for this message */
		link_alive_start(ms->link);
	report_counters(ms->report, ms->ep->server ? "server" : "client", mine,
			!ms->ep->rail[0].counters.all);
	if (bye) {
		link_alive_stop(ms->link);
		json_object_set(bye, "counters", mine);
	}
	json_decref(mine);
	for (unsigned i = 0; i < ms->ep->rails; i++)
		counters_release(&ms->ep->rail[i].counters);
}

/* Names are the drivers': they may contain spaces ("RNR received"), but only printable ASCII. */
static bool is_counter_name(const char *text)
{
	size_t n = strlen(text);

	for (size_t i = 0; i < n; i++)
		if (text[i] < ' ' || text[i] > '~')
			return false;
	return n && n < NAME_BYTES;
}

static bool is_number_or_null(const json_t *v)
{
	return json_is_integer(v) || json_is_null(v);
}

static bool is_caveat(const json_t *v)
{
	for (int i = COUNTER_EXACT + 1; v && i < COUNTER_CAVEATS; i++)
		if (json_is_string(v) && strcmp(json_string_value(v), counter_caveat_name(i)) == 0)
			return true;
	return !v;
}

/* True if the peer's counter has the keys and types that add_counters() writes. */
static bool is_counter(const char *name, const json_t *one)
{
	const json_t *caveat = json_object_get(one, "caveat");

	return is_counter_name(name) && json_object_size(one) == (caveat ? 4 : 3) &&
	       json_is_integer(json_object_get(one, "before")) &&
	       is_number_or_null(json_object_get(one, "after")) &&
	       is_number_or_null(json_object_get(one, "change")) && is_caveat(caveat);
}

/* Check and report the counters of the peer's BYE, if it has any. */
int counting_read(struct measure *ms, const json_t *bye)
{
	json_t *theirs = json_object_get(bye, "counters"), *one;
	const char *name;

	if (!theirs)
		return 0;
	if (message_has(bye, "counters",
			json_is_object(theirs) && json_object_size(theirs) <= COUNTERS_MAX,
			ms->fault))
		return -1;
	json_object_foreach(theirs, name, one)
	{
		if (message_has(bye, "counters", is_counter(name, one), ms->fault))
			return -1;
	}
	report_counters(ms->report, ms->ep->server ? "client" : "server", theirs, false);
	return 0;
}
