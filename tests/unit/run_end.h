/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An end of a run of which nothing is known but its name. */
#ifndef RDMARK_TESTS_UNIT_RUN_END_H
#define RDMARK_TESTS_UNIT_RUN_END_H

#include <math.h>
#include <string.h>

#include "explain/run.h"

static inline void run_end_unknown(struct run_end *e, const char *name)
{
	memset(e, 0, sizeof(*e));
	e->name = name;
	e->pcie_link = "";
	e->rate_gbps = e->pcie_gbps = NAN;
	e->full_share = e->schedule_share = e->busy_share = e->cpu_share = NAN;
	e->preempted = e->stopped = e->stopped_s = NAN;
	e->alone_ns = e->completion_ns = e->counted_s = NAN;
	for (int i = 0; i < PORT_EVENTS; i++)
		e->event[i] = NAN;
}

#endif
