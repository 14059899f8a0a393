// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Why a watch ends a round. */
#include <errno.h>

#include "base/units.h"
#include "measure/watch.h"

void watch_raise_stuck(struct watch *w, uint64_t messages)
{
	messages += w->before;
	w->stuck = true;
	fault_raise(&w->fault, FAULT_DEADLINE, ETIMEDOUT,
		    "no completion for %s (%llu messages completed before)",
		    units_ns(w->rules.timeout_ns).text, (unsigned long long)messages);
	fault_cause(&w->fault, "The peer answers over TCP, but its RDMA packets do not arrive");
	fault_fix(&w->fault,
		  "check the route between the two GIDs, the firewall (RoCE v2 uses UDP port 4791) "
		  "and the switches' MTU; use a larger --timeout for a link this slow");
}

void watch_raise_silent(struct watch *w)
{
	fault_raise(&w->fault, FAULT_PEER, ETIMEDOUT, "no message from %s for %s", w->oob->peer,
		    units_ns(w->rules.timeout_ns).text);
	fault_cause(&w->fault, "The peer's host is down or unreachable, or its program is stopped");
	fault_fix(&w->fault, "check the other host");
}

/* The removal of a device that the kernel cannot take from its users comes with no event. */
void watch_find_removed(struct watch *w)
{
	for (unsigned i = 0; i < w->devices; i++)
		if (hca_is_removed(w->device[i])) {
			hca_raise_removed(w->device[i], &w->fault);
			w->device_failed = true;
		}
}
