// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* --report-counters: how what is counted at both ends' ports changed in a round. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/terminal.h"
#include "base/text.h"
#include "host/port_events.h"
#include "report/report.h"

#define NAME_BYTES 64

/* The next name in *LIST, without the folder that perftest's users write; false: none is left. */
static bool next_name(const char **list, char name[NAME_BYTES])
{
	const char *slash;

	if (!text_next(list, name, NAME_BYTES))
		return false;
	slash = strrchr(name, '/');
	if (slash)
		memmove(name, slash + 1, strlen(slash));
	return true;
}

/* True if NAME is EVENT's, or that of a driver's counter for it. */
static bool is_name_of(enum port_event event, const char *name)
{
	return strcmp(port_event_row(event)->name, name) == 0 || port_event_own(event, name);
}

int report_check_counters(const char *list, struct fault *f)
{
	char name[NAME_BYTES];
	int i;

	if (!list || strcmp(list, "all") == 0)
		return 0;
	while (next_name(&list, name)) {
		for (i = 0; i < PORT_EVENTS && !is_name_of(i, name);)
			i++;
		if (i < PORT_EVENTS)
			continue;
		fault_raise(f, FAULT_USAGE, 0, "-W/--report-counters: '%.60s'", name);
		fault_cause(f, "No counter that rdmark reads has that name");
		return fault_fix(f, "give names from rdmark-json(5), such as loss_naks, or a "
				    "driver's, separated by commas, or all");
	}
	return 0;
}

/* True if LIST has EVENT; "all" has those that changed. */
static bool is_wanted(const char *list, enum port_event event, const struct port_change *c)
{
	char name[NAME_BYTES];

	if (strcmp(list, "all") == 0)
		return c->change;
	while (next_name(&list, name))
		if (is_name_of(event, name))
			return true;
	return false;
}

/* Print that EVENT at the end WHO changed by what C says. */
static void say_change(const char *who, enum port_event event, const struct port_change *c)
{
	const char *unit = port_event_row(event)->unit;
	char line[256] = "";

	text_add(line, sizeof(line), "%s %s", who, port_event_row(event)->name);
	if (c->own && *c->own)
		text_add(line, sizeof(line), " (%s)", c->own);
	if (port_change_is_known(c))
		text_add(line, sizeof(line), ": %+" PRId64 "%s%s", c->change, *unit ? " " : "",
			 unit);
	if (c->known != PORT_EXACT)
		text_add(line, sizeof(line), "%s%s", port_change_is_known(c) ? ", " : ": unknown: ",
			 port_known_row(c->known)->text);
	terminal_note(stderr, "%s", line);
}

void report_counters(struct report *r, const struct port_snapshot *snapshot)
{
	const char *list = r->about.options->local.counters;
	bool perftest = r->form->perftest, stays = r->about.options->local.persistent;

	if (!list || !snapshot)
		return;
	for (int at = 0; at < 2 * PORT_EVENTS; at++) {
		enum result_end end = at < PORT_EVENTS ? RESULT_CLIENT : RESULT_SERVER;
		enum port_event event = at % PORT_EVENTS;
		struct port_change c = port_snapshot_event(&snapshot[end], event);

		if (!is_wanted(list, event, &c))
			continue;
		if (!perftest && !stays)
			say_change(result_end_name(end), event, &c);
		/* perftest's own end only. A driver's name is of a count only if that has no unit.
		 */
		if (perftest && (end == RESULT_SERVER) == r->about.server &&
		    port_change_is_known(&c))
			printf("\t%s=%" PRId64 "\n",
			       c.own && !*port_event_row(event)->unit ? c.own
								      : port_event_row(event)->name,
			       c.change);
	}
}
