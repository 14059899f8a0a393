// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* --repeat and --until-stable, read from the command line. */
#include <string.h>

#include "base/units.h"
#include "measure/repeat.h"

#define LEAST_PPM 100 /* 0.01 % */

/* Refuse options that contradict each other, and runs that would never end. */
static int check_repeat(const struct repeat *r, const struct options *o, struct fault *f)
{
	if (o->experiment.run_infinitely && (r->most || o->output.until_stable))
		return fault_usage(f, "omit --run_infinitely: the first run would never end",
				   "%s cannot be used with --run_infinitely",
				   r->most ? "--repeat" : "--until-stable");
	if (!o->output.until_stable || !r->most || r->most >= STABLE_LEAST)
		return 0;
	fault_raise(f, FAULT_USAGE, 0, "--until-stable needs more runs than --repeat %llu",
		    (unsigned long long)r->most);
	return fault_fix(f, "use --repeat %d or more, which sets the maximum number of runs",
			 STABLE_LEAST);
}

int repeat_read(struct repeat *r, const struct options *o, bool latency, struct fault *f)
{
	const char *text = o->output.until_stable;
	double percent;

	r->latency = latency;
	r->gbits = o->output.gbits;
	r->most = options_given(o, "repeat") ? o->output.repeat : 0;
	if (check_repeat(r, o, f))
		return -1;
	if (!text)
		return 0;
	r->most = r->most ? r->most : REPEAT_UNTIL_MAX;
	if (units_parse_percent(text, &percent) == 0)
		r->within_ppm = (uint64_t)(percent * 1e4 + 0.5);
	if (r->within_ppm >= LEAST_PPM)
		return 0;
	options_invalid("--until-stable", text, f);
	return fault_fix(f, "give a percentage from 0.01 to 100");
}
