// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which options a test has; refuses those that the test, or this run of it, does not have. */
#include "cli/options.h"

#include <string.h>

bool options_applies(const struct option_row *row, unsigned traits)
{
	return !traits || ((traits & row->needs) == row->needs && !(traits & row->never));
}

bool options_has_effect(const struct option_row *row, unsigned traits)
{
	return options_applies(row, traits) && !(row->idle & traits);
}

/* Set the fix to the name of a test that has ROW, such as write_bw. Returns -1. */
static int name_another(const struct options *o, const struct option_row *row, struct fault *f)
{
	static const struct {
		unsigned trait;
		const char *name;
	} whats[] = {{TRAIT_WRITES, "write"}, {TRAIT_READS, "read"}, {TRAIT_ATOMICS, "atomic"}};
	bool lat = row->needs & TRAIT_LATENCY ||
		   (o->traits & TRAIT_LATENCY && !(row->needs & TRAIT_BANDWIDTH));
	size_t own = strcspn(o->test, "_");
	const char *what = o->traits & row->never ? "write" : NULL;

	for (size_t i = 0; i < sizeof(whats) / sizeof(whats[0]); i++)
		if (row->needs & whats[i].trait)
			what = whats[i].name;
	if (row->needs & TRAIT_CELLS)
		return fault_fix(f, "use it in gdr_bw, the test that compares cells");
	return fault_fix(f, "use it in %.*s_%s", what ? (int)strlen(what) : (int)own,
			 what ? what : o->test, lat ? "lat" : "bw");
}

int options_refuse(const struct options *o, const struct option_row *row, struct fault *f)
{
	unsigned missing = row->needs & ~o->traits;
	char name[64];

	fault_raise(f, FAULT_USAGE, 0, "%s cannot be used in %s%s",
		    options_name(row, name, sizeof(name)), o->test,
		    missing & TRAIT_BANDWIDTH ? ", a latency test"
		    : missing & TRAIT_LATENCY ? ", a bandwidth test"
					      : "");
	return row->instead ? fault_fix(f, "%s", row->instead) : name_another(o, row, f);
}

int options_check(const struct options *o, unsigned run, struct fault *f)
{
	for (const struct option_row *row = options_table(); row->name; row++) {
		unsigned why = o->given[row - options_table()] ? row->never & run : 0;

		if (!why)
			continue;
		fault_raise(f, FAULT_USAGE, 0, "--%s cannot be used %s", row->name,
			    why & TRAIT_CLIENT ? "in a client" : "without --plain");
		return fault_fix(f, why & TRAIT_CLIENT
					    ? "give it to the server, which is started without a "
					      "host"
					    : "add --plain for a single row, or omit it");
	}
	return 0;
}
