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
	return strcmp(port_event_name(event), name) == 0 || port_event_own(event, name);
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

static bool is_wanted(const char *list, enum port_event event)
{
	char name[NAME_BYTES];

	while (next_name(&list, name))
		if (is_name_of(event, name))
			return true;
	return false;
}

/* Print that EVENT at the end WHO changed by what C says. */
static void say_change(const char *who, enum port_event event, const struct port_change *c)
{
	const char *unit = port_event_unit(event), *own = c->own ? c->own : "";
	char name[2 * NAME_BYTES];

	snprintf(name, sizeof(name), "%s%s%s%s", port_event_name(event), *own ? " (" : "", own,
		 *own ? ")" : "");
	if (!port_change_is_known(c))
		terminal_note(stderr, "%s %s: unknown: %s", who, name, port_known_text(c->known));
	else
		terminal_note(stderr, "%s %s: %+" PRId64 "%s%s%s%s", who, name, c->change,
			      *unit ? " " : "", unit, c->known == PORT_EXACT ? "" : ", ",
			      c->known == PORT_EXACT ? "" : port_known_text(c->known));
}

/* What perftest prints of its own end. The driver's name is of a count only if it has no unit. */
static void print_change(enum port_event event, const struct port_change *c)
{
	if (port_change_is_known(c))
		printf("\t%s=%" PRId64 "\n",
		       c->own && !*port_event_unit(event) ? c->own : port_event_name(event),
		       c->change);
}

void report_counters(struct report *r, const struct port_snapshot *snapshot)
{
	const char *list = r->about.options->local.counters;
	bool all = list && strcmp(list, "all") == 0;

	if (!list || !snapshot || (r->about.lines && !report_may_print(r, PORT_EVENTS)))
		return;
	for (int at = 0; at < 2 * PORT_EVENTS; at++) {
		enum result_end end = at < PORT_EVENTS ? RESULT_CLIENT : RESULT_SERVER;
		enum port_event event = at % PORT_EVENTS;
		struct port_change c = port_snapshot_event(&snapshot[end], event);

		if (all ? !c.change : !is_wanted(list, event))
			continue;
		if (!r->perftest && !r->about.lines)
			say_change(result_end_name(end), event, &c);
		else if (r->perftest && (end == RESULT_SERVER) == r->about.server)
			print_change(event, &c);
	}
}
